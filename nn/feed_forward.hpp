// FeedForward: the same two-layer network applied to every token on its own.
//
//   ReLU     max(0, x W1 + b1) W2 + b2                     the paper: 512 -> 2048 -> 512
//   GELU     the same with a smoother bend                  BERT, GPT
//   SwiGLU   (silu(x Wg) ∘ x W1) W2                         a gate decides what passes; three matrices
//
// Attention only mixes tokens by weighted averages; this is where each token is worked on.
#pragma once

#include "nn/context.hpp"
#include "nn/linear.hpp"

namespace attn {

struct FeedForward {
  FeedForwardKind kind = FeedForwardKind::relu;
  real dropout = 0;
  Linear first, gate, second;  // (d_ff, C), (d_ff, C) for SwiGLU only, (C, d_ff)

  FeedForward() = default;
  FeedForward(const TransformerConfig& config, Rng& rng)
      : kind(config.feed_forward),
        dropout(config.dropout),
        first(config.d_model, config.d_ff, rng, config.bias, config.initialization),
        second(config.d_ff, config.d_model, rng, config.bias, config.initialization) {
    if (kind == FeedForwardKind::swiglu)
      gate = Linear(config.d_model, config.d_ff, rng, config.bias, config.initialization);
  }

  Tensor operator()(const Tensor& x, Context& context) const {  // (B, T, C) -> (B, T, C)
    Tensor hidden;                                              // (B, T, d_ff)
    if (kind == FeedForwardKind::swiglu)
      hidden = gate(x, Activation::silu) * first(x);
    else
      hidden = first(x, kind == FeedForwardKind::relu ? Activation::relu : Activation::gelu);
    return second(context.drop(hidden, dropout));
  }

  void parameters(ParameterList& list) const {
    list.add_layer("first", first);
    if (gate.weight) list.add_layer("gate", gate);
    list.add_layer("second", second);
  }
};

}  // namespace attn
