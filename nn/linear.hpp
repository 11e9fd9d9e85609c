// Linear: y = x Wᵀ + b, the layer that everything else is made of.
//
// weight is (out, in): row i holds what output i looks for. Cost: 2 * rows * in * out operations forward,
// twice that backward (one product for x, one for W).
//
// For inference, quantise() replaces the weight by int8 with a scale per row (core/int8.hpp). Then there are
// no floats left to train or to save: parameters() says so.
#pragma once

#include "core/int8.hpp"
#include "core/ops.hpp"
#include "core/parameters.hpp"
#include "nn/config.hpp"

namespace attn {

struct Linear {
  Tensor weight, bias;  // (out, in), (out) or empty
  Int8Matrix int8;      // instead of the weight, after quantise()

  Linear() = default;
  Linear(Index in, Index out, Rng& rng, bool with_bias = true,
         Initialization initialization = Initialization::xavier);

  // (..., in) -> (..., out), with the activation and the dropout in the same node.
  Tensor operator()(const Tensor& x, Activation activation = Activation::none,
                    const Dropping& dropping = {}) const {
    if (!int8) return linear(x, weight, bias, activation, dropping);
    const Tensor y = linear(x, int8, bias, activation);
    return dropping.p == 0 ? y : dropout(y, dropping.p, *dropping.rng);
  }
  void quantise();
  void parameters(ParameterList& list) const;
};

}  // namespace attn
