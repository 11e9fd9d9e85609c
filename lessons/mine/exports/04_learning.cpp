#include EXERCISE

#include "lessons/mine/exports.hpp"

using namespace attn;

void export_functions(mine::Exports& exports) {
  exports.add("batch_loss", exercise::batch_loss);
  exports.add("batch_loss_backward", exercise::batch_loss_backward);
  exports.add("relu_backward", exercise::relu_backward);
  exports.add("adam_step", [](Tensor& p, const Tensor& gradient, mine::AdamMemory& memory,
                              const mine::AdamRates& rates) {
    exercise::AdamState state{memory.m, memory.v, memory.step};
    exercise::adam_step(
        p, gradient, state,
        {.rate = rates.rate, .beta1 = rates.beta1, .beta2 = rates.beta2, .epsilon = rates.epsilon});
    memory = {state.m, state.v, state.step};
  });
}
