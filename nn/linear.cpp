#include "nn/linear.hpp"

#include <cmath>  // sqrt

namespace attn {
namespace {

// Xavier (Glorot and Bengio, 2010): uniform in ±sqrt(6 / (in + out)), which keeps the variance of activations
// and gradients about the same from layer to layer. Normal: standard deviation 0.02, as in GPT-2.
Tensor initial_weight(Index in, Index out, Initialization initialization, Rng& rng) {
  if (initialization == Initialization::normal) return normal({out, in}, rng, 0, real(0.02));
  const real bound = std::sqrt(6 / real(in + out));
  return uniform({out, in}, rng, -bound, bound);
}

}  // namespace

Linear::Linear(Index in, Index out, Rng& rng, bool with_bias, Initialization initialization)
    : weight(initial_weight(in, out, initialization, rng).requires_grad()) {
  if (with_bias) bias = zeros({out}).requires_grad();
}

void Linear::parameters(ParameterList& list) const {
  list.add("weight", weight);
  list.add("bias", bias);
}

}  // namespace attn
