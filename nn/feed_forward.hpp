// FeedForward: the same two-layer network applied to every token on its own.
//
//   plain    f(x W1 + b1) W2 + b2             f = ReLU: the paper, 512 -> 2048 -> 512; GELU: BERT, GPT
//   gated    (f(x Wg + bg) ∘ (x W1 + b1)) W2 + b2      f = SiLU: SwiGLU; GELU: GeGLU (Shazeer, 2020)
//
// A gate decides, unit by unit, what passes; it costs a third matrix. Attention only mixes tokens by weighted
// averages; here each token is transformed.
#pragma once

#include "nn/context.hpp"
#include "nn/linear.hpp"

namespace attn {

struct FeedForward {
  FeedForwardKind kind;
  real dropout = 0;
  Linear first, gate, second;  // (d_ff, C), (d_ff, C) if gated, (C, d_ff)

  FeedForward() = default;
  FeedForward(const TransformerConfig& config, Rng& rng)
      : kind(config.feed_forward),
        dropout(config.dropout),
        first(config.d_model, config.d_ff, rng, config.bias, config.initialization),
        second(config.d_ff, config.d_model, rng, config.bias, config.initialization) {
    if (kind.gated) gate = Linear(config.d_model, config.d_ff, rng, config.bias, config.initialization);
  }

  // The neurons: (B, T, C) -> (B, T, d_ff).
  Tensor hidden(const Tensor& x, const Context& context = {}) const {
    if (!kind.gated) return first(x, kind.activation, context.dropping(dropout));
    return context.drop(gate(x, kind.activation) * first(x), dropout);
  }
  // (B, T, C) -> (B, T, C); the result is dropped, too, if one says so.
  Tensor operator()(const Tensor& x, const Context& context = {}, const Dropping& dropping = {}) const {
    return second(hidden(x, context), Activation::none, dropping);
  }

  void parameters(ParameterList& list) const {
    list.add_layer("first", first);
    if (kind.gated) list.add_layer("gate", gate);
    list.add_layer("second", second);
  }
};

}  // namespace attn
