#include "nn/linear.hpp"

#include "core/error.hpp"
#include "nn/initialization.hpp"

namespace attn {

Linear::Linear(Index in, Index out, Rng& rng, bool with_bias, Initialization initialization)
    : weight(initial_weight(in, out, rng, initialization)) {
  if (with_bias) bias = zeros({out}).requires_grad();
}

void Linear::quantise() {
  if (!weight) return;  // a layer that the model does not have, or that is quantised already
  int8 = attn::quantise(weight);
  weight = Tensor();
}

void Linear::parameters(ParameterList& list) const {
  if (int8) fail("linear: its weights are int8, which can be neither trained nor saved");
  list.add("weight", weight);
  list.add("bias", bias);
}

}  // namespace attn
