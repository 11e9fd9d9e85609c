// GPT: a decoder alone. It reads tokens and predicts, at each one, the next.
//
//   h_0 = embedding + positions,   h_l = Block_l(h_{l-1}) with a causal mask,   logits = norm(h_N) Eᵀ
//
// Pre-norm, so there is one more norm at the end; E is the embedding, tied. gpt_config: GPT-2's settings,
// with its initialisation, so that a new model takes all tokens for about equally likely: loss about log V.
#pragma once

#include "nn/transformer.hpp"

namespace attn {

struct GptSize {
  Index vocabulary, d_model = 128, heads = 4, layers = 4, max_length = 64;
};
TransformerConfig gpt_config(const GptSize& size);

struct Gpt {
  TransformerConfig config;
  Embedding token_embedding;
  Stack stack;
  Linear projection;  // if it is not tied

  Gpt(const TransformerConfig& config, Rng& rng);

  // (B, T) -> logits (B, T, V): at t, for the token after t.
  Tensor operator()(const Tokens& tokens, const Context& context = {}) const;
  Tensor operator()(const Tokens& newest, DecoderCache& cache) const;  // after the cached ones
  Tensor logits(const Tensor& states) const;                           // (B, T, C) -> (B, T, V)
  void parameters(ParameterList& list) const;
};

}  // namespace attn
