// The first values of what a model learns.
//
// Xavier (Glorot and Bengio, 2010): uniform in ±sqrt(6 / (in + out)), which keeps the variance of activations
// and gradients about the same from layer to layer. Normal: standard deviation 0.02 everywhere, as in GPT-2.
// None: not written at all, for a model whose weights come from a file.
#pragma once

#include <cmath>  // sqrt

#include "core/tensor.hpp"
#include "nn/config.hpp"

namespace attn {

inline Tensor initial_weight(Index in, Index out, Rng& rng, Initialization initialization) {  // (out, in)
  const real bound = std::sqrt(6 / real(in + out));
  Tensor weight = initialization == Initialization::none     ? empty({out, in})
                  : initialization == Initialization::normal ? normal({out, in}, rng, 0, real(0.02))
                                                             : uniform({out, in}, rng, -bound, bound);
  return weight.requires_grad();
}

// A table whose rows are looked up; `deviation` is its own with Xavier.
inline Tensor initial_table(const Shape& shape, Rng& rng, real deviation, Initialization initialization) {
  if (initialization == Initialization::normal) deviation = real(0.02);
  Tensor table = initialization == Initialization::none ? empty(shape) : normal(shape, rng, 0, deviation);
  return table.requires_grad();
}

}  // namespace attn
