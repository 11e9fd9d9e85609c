// The Transformer: blocks of attention and feed-forward, stacked into an encoder and a decoder.
//
//   Block     sublayers with residuals around them:   post-norm  x = LN(x + f(x))   the paper
//                                                     pre-norm   x = x + f(LN(x))   trains deep models
//   Stack     N blocks, the positions and, with pre-norm, one more norm at the end
//   Transformer   an encoder that reads the source, a decoder that writes the target
//
//   model(source, target)                           all logits at once, (B, T, V)
//   model.decode(target, model.encode(source))      the same in two steps
//
// GPT, BERT and T5 (nn/gpt.hpp, nn/bert.hpp, nn/t5.hpp) are the same stacks used in other ways.
#pragma once

#include "nn/attention.hpp"
#include "nn/embedding.hpp"
#include "nn/feed_forward.hpp"
#include "nn/norm.hpp"
#include "nn/positions.hpp"
#include "nn/tokens.hpp"

namespace attn {

enum class BlockKind {
  encoder,       // every token sees every token
  decoder,       // causal, with cross-attention to a memory: the paper's decoder
  decoder_only,  // causal, without cross-attention: GPT
};

// What the encoder made of the source, for the decoder to look at.
struct Memory {
  Tensor states{};      // (B, S, C)
  IntTensor lengths{};  // (B), or empty: as in Tokens
};

// What a decoder has computed so far for sequences that grow token by token.
struct DecoderCache {
  struct Layer {
    KeyValueCache self{}, cross{};
  };
  std::vector<Layer> layers;
  Index length() const { return layers.empty() ? 0 : layers[0].self.length(); }
  void reorder(const std::vector<int>& rows);  // row i becomes what row rows[i] was: for beam search
};

struct BlockInputs {
  Mask mask{};      // of self-attention
  Memory memory{};  // of a decoder
  DecoderCache::Layer* cache = nullptr;
};

//   block(x)   block(x, {.mask = {.causal = true}})   block(x, {.mask = …, .memory = memory}, context)
struct Block {
  BlockKind kind;
  bool pre_norm;
  real dropout;
  MultiHeadAttention self, cross;  // cross: of a decoder
  FeedForward feed_forward;
  Norm self_norm, cross_norm, feed_forward_norm;

  // `layer` counts the blocks of a stack from 0: it labels the attention maps.
  Block(const TransformerConfig& config, BlockKind kind, Rng& rng, Index layer = 0);

  Tensor operator()(const Tensor& x, const BlockInputs& inputs = {},
                    const Context& context = {}) const;  // (B, T, C) -> (B, T, C)
  void parameters(ParameterList& list) const;

 private:
  template <class Sublayer>
  Tensor residual(const char* name, const Tensor& x, const Norm& norm, const Context& context,
                  const Sublayer& sublayer) const;
};

struct StackInputs {
  IntTensor lengths{};            // (B), or empty: as in Tokens
  Memory memory{};                // of a decoder
  DecoderCache* cache = nullptr;  // the embeddings continue what it holds
};

struct Stack {
  BlockKind kind = BlockKind::encoder;
  PositionScheme positions;
  bool causal = false;  // no token sees those after it: as the kind says, unless one wants to see the leak
  real dropout = 0;
  std::vector<Block> blocks;
  Norm embedding_norm;  // of embeddings and positions together: BERT has one
  Norm final_norm;      // pre-norm only

  Stack() = default;
  // Has config.encoder_layers blocks, or config.decoder_layers.
  Stack(const TransformerConfig& config, BlockKind kind, Rng& rng);

  Tensor operator()(const Tensor& embeddings, const StackInputs& inputs = {},
                    const Context& context = {}) const;  // (B, T, C) -> states (B, T, C)
  void parameters(ParameterList& list) const;

 private:
  void shrink_residuals();
};

struct Transformer {
  TransformerConfig config;
  Embedding source_embedding, target_embedding;
  Stack encoder, decoder;
  Linear projection;  // to the vocabulary, if it is not tied to the target embedding

  Transformer(const TransformerConfig& config, Rng& rng);

  // source (B, S), target (B, T) -> logits (B, T, V): at t, for the token after t.
  Tensor operator()(const Tokens& source, const Tokens& target, const Context& context = {}) const;
  Memory encode(const Tokens& source, const Context& context = {}) const;
  Tensor decode(const Tokens& target, const Memory& memory, const Context& context = {}) const;
  Tensor decode(const Tokens& newest, const Memory& memory, DecoderCache& cache,
                const Context& context = {}) const;  // after the cached
  Tensor logits(const Tensor& states) const;         // (B, T, C) -> (B, T, V)
  void parameters(ParameterList& list) const;
};

// The decoder's input for a target: the start token, then the target without its last token, (B, T) too.
IntTensor shift_right(const IntTensor& target, int start);

// How many numbers a Transformer of these settings learns: known before it is built.
Index parameter_count(const TransformerConfig& config);

// The number of parameters in each part of a model: parameters whose names agree up to dot number `depth`.
struct PartCount {
  std::string part;
  Index count;
};
std::vector<PartCount> count_by_part(const ParameterList& list, int depth = 1);

}  // namespace attn
