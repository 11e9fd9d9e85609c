// Linear: y = x Wᵀ + b, the layer that everything else is made of.
//
// weight is (out, in), so that row i holds what output i looks for. Cost: 2 * rows * in * out operations
// forward, twice that backward (one product for x, one for W).
#pragma once

#include "core/ops.hpp"
#include "core/parameters.hpp"
#include "nn/config.hpp"

namespace attn {

// Glorot and Bengio: uniform in ±sqrt(6 / (in + out)), which keeps the variance of activations and gradients
// about the same from layer to layer.
Tensor xavier_uniform(const Shape& shape, Rng& rng);
Tensor initial_weight(const Shape& shape, Initialization initialization,
                      Rng& rng);  // or normal, deviation 0.02

struct Linear {
  Tensor weight, bias;  // (out, in), (out) or empty

  Linear() = default;
  Linear(Index in, Index out, Rng& rng, bool with_bias = true,
         Initialization initialization = Initialization::xavier);

  // (..., in) -> (..., out), with the activation in the same node.
  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    return linear(x, weight, bias, activation);
  }
  void parameters(ParameterList& list) const;
};

}  // namespace attn
