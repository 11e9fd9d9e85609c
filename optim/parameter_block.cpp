#include "optim/parameter_block.hpp"

#include <algorithm>  // copy, fill
#include <cmath>      // sqrt

#include "core/error.hpp"

namespace attn {

ParameterBlock::ParameterBlock(const ParameterList& list)
    : list_(list), values_(empty({list.count()})), gradients_(zeros({list.count()})) {
  for (const Parameter& parameter : list_)
    if (parameter.tensor.body()->fixed_grad)
      fail("parameters: {} is already part of another block; end its optimizer first", parameter.name);
  Index offset = 0;
  for (const Parameter& parameter : list_) {
    TensorBody* body = parameter.tensor.body();
    real *values = values_.data() + offset, *gradient = gradients_.data() + offset;
    std::copy(body->values, body->values + body->numel, values);
    parameter.tensor.zero_grad();
    body->storage->release();
    body->storage = values_.body()->storage;
    body->storage->retain();
    body->values = values;
    body->grad_storage = gradients_.body()->storage;
    body->grad_storage->retain();
    body->grad = gradient;
    body->fixed_grad = true;
    offset += body->numel;
  }
}

ParameterBlock::~ParameterBlock() {
  for (const Parameter& parameter : list_) {
    parameter.tensor.body()->fixed_grad = false;
    parameter.tensor.zero_grad();
  }
}

const real* ParameterBlock::gradients() const {
  for (const Parameter& parameter : list_) {
    TensorBody* body = parameter.tensor.body();
    if (!body->has_grad) std::fill(body->grad, body->grad + body->numel, real{0});
  }
  return gradients_.data();
}

double ParameterBlock::gradient_norm() const {
  const real* g = gradients();
  double sum = 0;
  constexpr Index chunk = 4096;  // each summed in real, the chunks in double
  for (Index i = 0; i < size(); i += chunk) {
    const Index n = std::min(chunk, size() - i);
    sum += static_cast<double>(kernels().dot(n, g + i, g + i));
  }
  return std::sqrt(sum);
}

double clip_scale(double norm, double limit) {
  if (limit < 0) fail("clip: a norm of {} is below 0", limit);
  return limit > 0 && norm > limit ? limit / norm : 1;
}

}  // namespace attn
