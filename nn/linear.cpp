#include "nn/linear.hpp"

#include <cmath>  // sqrt

namespace attn {

Tensor xavier_uniform(const Shape& shape, Rng& rng) {
  const real bound = std::sqrt(real{6} / static_cast<real>(shape[0] + shape[1]));
  return uniform(shape, rng, -bound, bound).requires_grad();
}

Tensor initial_weight(const Shape& shape, Initialization initialization, Rng& rng) {
  if (initialization == Initialization::xavier) return xavier_uniform(shape, rng);
  return normal(shape, rng, 0, real(0.02)).requires_grad();
}

Linear::Linear(Index in, Index out, Rng& rng, bool with_bias, Initialization initialization)
    : weight(initial_weight({out, in}, initialization, rng)) {
  if (with_bias) bias = zeros({out}).requires_grad();
}

void Linear::parameters(ParameterList& list) const {
  list.add("weight", weight);
  list.add("bias", bias);
}

}  // namespace attn
