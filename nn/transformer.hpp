// The Transformer: blocks of attention and feed-forward, stacked into an encoder and a decoder.
//
//   Block     sublayers with residuals around them:   post-norm  x = LN(x + f(x))   the paper
//                                                     pre-norm   x = x + f(LN(x))   trains deep models
//   Stack     N blocks, the positions and, with pre-norm, one more norm at the end
//   Transformer   an encoder that reads the source, a decoder that writes the target
//
// GPT, BERT and T5 (nn/gpt.hpp, nn/bert.hpp, nn/t5.hpp) are the same stacks used in other ways.
#pragma once

#include "nn/attention.hpp"
#include "nn/embedding.hpp"
#include "nn/feed_forward.hpp"
#include "nn/norm.hpp"
#include "nn/positions.hpp"

namespace attn {

// What a stack has computed so far for a sentence that is being written, a token at a time.
struct DecoderCache {
  std::vector<KeyValueCache> self, cross;  // one for each layer
  Index length() const { return self.empty() ? 0 : self[0].length(); }
  void reorder(const std::vector<int>& rows);  // row i becomes what row rows[i] was: for beam search
};

struct Block {
  bool pre_norm = false, causal = false, has_cross = false;
  real dropout = 0;
  MultiHeadAttention self, cross;
  FeedForward feed_forward;
  Norm self_norm, cross_norm, feed_forward_norm;

  Block() = default;
  Block(const TransformerConfig& config, bool causal, bool has_cross, Rng& rng);

  // x (B, T, C); with cross-attention, memory (B, S, C) is the encoder's output.
  Tensor operator()(const Tensor& x, const Mask& mask, const Tensor& memory, const Mask& memory_mask,
                    Context& context, int layer, KeyValueCache* self_cache = nullptr,
                    KeyValueCache* cross_cache = nullptr) const;
  void parameters(ParameterList& list) const;

 private:
  template <class Sublayer>
  Tensor residual(const Tensor& x, const Norm& norm, Context& context, const Sublayer& sublayer) const;
};

struct Stack {
  bool causal = false;
  PositionScheme positions;
  real dropout = 0;
  std::vector<Block> blocks;
  Norm embedding_norm;  // of embeddings and positions together: BERT has one
  Norm final_norm;      // pre-norm only

  Stack() = default;
  Stack(const TransformerConfig& config, Index layers, bool causal, bool has_cross, Rng& rng);

  // Embeddings in, states out, (B, T, C). lengths (B), or empty: tokens from there on are padding.
  Tensor operator()(const Tensor& embeddings, const IntTensor& lengths, Context& context,
                    const Tensor& memory = {}, const IntTensor& memory_lengths = {},
                    DecoderCache* cache = nullptr) const;
  void parameters(ParameterList& list) const;
};

struct Transformer {
  TransformerConfig config;
  Embedding source_embedding, target_embedding;
  Stack encoder, decoder;
  Linear projection;  // to the vocabulary, if it is not tied to the target embedding

  Transformer(const TransformerConfig& config, Rng& rng);

  Tensor encode(const IntTensor& source, const IntTensor& lengths,
                Context& context) const;  // (B,S) -> (B,S,C)
  // The target so far (B, T), memory from encode -> logits (B, T, V): at t, for the token after t.
  Tensor decode(const IntTensor& target, const IntTensor& target_lengths, const Tensor& memory,
                const IntTensor& source_lengths, Context& context, DecoderCache* cache = nullptr) const;
  Tensor operator()(const IntTensor& source, const IntTensor& source_lengths, const IntTensor& target,
                    const IntTensor& target_lengths, Context& context) const;
  void parameters(ParameterList& list) const;
};

// The decoder's input for a target: the start token, then the target without its last token, (B, T) too.
IntTensor shift_right(const IntTensor& target, int start);

// Numbers by part of a model: the part is the parameter's name up to the first '.', or all of it up to
// `depth` dots.
struct PartCount {
  std::string part;
  Index count;
};
std::vector<PartCount> count_by_part(const ParameterList& list, int depth = 1);

}  // namespace attn
