// A program of somebody else's: a linear layer learns y = 2x + 1 with the installed library.
#include <fmt/core.h>  // print

#include <core/autograd.hpp>
#include <core/ops.hpp>
#include <nn/linear.hpp>
#include <optim/optimizer.hpp>

int main() {
  attn::Rng rng(1);
  const attn::Linear layer(1, 1, rng);
  attn::Adam adam(attn::parameters_of(layer));
  const attn::Tensor x = attn::uniform({64, 1}, rng, -1, 1), y = x * 2 + 1;
  for (int step = 0; step < 300; ++step) {
    const attn::Tensor error = layer(x) - y;
    attn::backward(attn::mean(error * error));
    adam.step(0.05);
  }
  fmt::print("w = {:.2f}, b = {:.2f}\n", layer.weight.item(), layer.bias.item());
}
