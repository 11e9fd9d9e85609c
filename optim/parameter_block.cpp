#include "optim/parameter_block.hpp"

#include <algorithm>  // fill, min
#include <cmath>      // sqrt

#include "core/error.hpp"

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

const real* ParameterBlock::gradients() const {
  real* gradient = gradients_.data();
  for (const Parameter& parameter : list_) {
    real* end = gradient + parameter.tensor.numel();
    if (!parameter.tensor.has_grad() || !parameter.tensor.needs_grad()) std::fill(gradient, end, real{0});
    gradient = end;
  }
  return gradients_.data();
}

double ParameterBlock::gradient_norm() const {
  const real* g = gradients();
  double sum = 0;
  constexpr Index chunk = 4096;  // each summed in real, the chunks in double
  for (Index i = 0; i < size(); i += chunk) {
    const Index n = std::min(chunk, size() - i);
    sum += double(kernels().dot(n, g + i, g + i));
  }
  return std::sqrt(sum);
}

double clip_scale(double norm, double limit) {
  if (!(limit >= 0)) fail("clip: the limit {} is not 0 or more", limit);
  return limit > 0 && norm > limit ? limit / norm : 1;
}

}  // namespace attn
