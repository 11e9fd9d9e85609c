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

  Tensor hidden(const Tensor& x) const {  // (B, T, C) -> (B, T, d_ff): the neurons
    return kind.gated ? gate(x, kind.activation) * first(x) : first(x, kind.activation);
  }
  Tensor operator()(const Tensor& x, const Context& context = {}) const {  // (B, T, C) -> (B, T, C)
    const bool plain_relu = kind.activation == Activation::relu && !kind.gated;
    if (plain_relu && context.drops(dropout)) return second(relu_dropout(first(x), dropout, *context.rng));
    return second(context.drop(hidden(x), dropout));
  }

  void parameters(ParameterList& list) const {
    list.add_layer("first", first);
    if (kind.gated) list.add_layer("gate", gate);
    list.add_layer("second", second);
  }
};

}  // namespace attn
