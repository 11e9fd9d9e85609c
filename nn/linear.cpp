#include "nn/linear.hpp"

#include "nn/initialization.hpp"

namespace attn {

Linear::Linear(Index in, Index out, Rng& rng, bool with_bias, Initialization initialization)
    : weight(initial_weight(in, out, rng, initialization)) {
  if (with_bias) bias = zeros({out}).requires_grad();
}

void Linear::parameters(ParameterList& list) const {
  list.add("weight", weight);
  list.add("bias", bias);
}

}  // namespace attn
