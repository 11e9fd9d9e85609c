#include "optim/parameter_block.hpp"

#include <algorithm>  // fill, min
#include <cmath>      // sqrt

#include "core/error.hpp"
#include "core/op.hpp"  // grad_target

namespace attn {

ParameterBlock::ParameterBlock(const ParameterList& list)
    : list_(list), values_(empty({list.count()})), gradients_(zeros({list.count()})) {
  for (const Parameter& parameter : list_)
    if (parameter.tensor.in_block())
      fail("parameters: {} is already part of another block; end its optimizer first", parameter.name);
  Index offset = 0;
  for (const Parameter& parameter : list_) {
    parameter.tensor.move_to_block(values_, gradients_, offset);
    offset += parameter.tensor.numel();
  }
}

ParameterBlock::~ParameterBlock() {
  for (const Parameter& parameter : list_) parameter.tensor.leave_block();
}

real* ParameterBlock::gradients() const {
  real* gradient = gradients_.data();
  for (const Parameter& parameter : list_) {
    real* end = gradient + parameter.tensor.numel();
    if (!parameter.tensor.has_grad() || !parameter.tensor.needs_grad()) std::fill(gradient, end, real{0});
    gradient = end;
  }
  return gradients_.data();
}

double ParameterBlock::gradient_norm() const {
  gradients();
  double sum = 0;
  for (Index chunk = 0; chunk * norm_chunk < size(); ++chunk) sum += squares(chunk);
  return std::sqrt(sum);
}

double ParameterBlock::squares(Index chunk) const {
  const Index begin = chunk * norm_chunk, end = std::min(begin + norm_chunk, size());
  const real* g = gradients_.data() + begin;
  return double(kernels().dot(end - begin, g, g));
}

Range ParameterBlock::range_of(const Tensor& parameter) const {
  const Index begin = grad_data(parameter) - gradients_.data();
  if (!parameter.in_block() || begin < 0 || begin >= size()) return {0, 0};
  return {begin, begin + parameter.numel()};
}

real* ParameterBlock::given_gradients() const {
  for (const Parameter& parameter : list_)
    if (parameter.tensor.needs_grad()) grad_target(parameter.tensor);  // it has one now
  return gradients_.data();
}

double clip_scale(double norm, double limit) {
  if (!(limit >= 0)) fail("clip: the limit {} is not 0 or more", limit);
  return limit > 0 && norm > limit ? limit / norm : 1;
}

}  // namespace attn
