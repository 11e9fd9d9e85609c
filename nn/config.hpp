// TransformerConfig: the settings of a model. One struct serves the whole family (encoder-decoder, GPT, BERT,
// T5), because they are the same blocks put together differently. The defaults are the paper's base model.
#pragma once

#include <string>  // string

#include "core/ops.hpp"  // Activation, RopeOptions

namespace attn {

// How a model knows the order of its tokens: see nn/positions.hpp.
enum class Positions { none, learned, sinusoidal, t5, alibi, rope };
enum class NormKind { layer, rms };
// See nn/initialization.hpp; with `normal` and pre-norm, what is added to the residual stream is smaller
// still (see Stack). `none` is for a model whose weights come from a file.
enum class Initialization { xavier, normal, none };
// Which activation the feed-forward network has, and whether it gates: see nn/feed_forward.hpp.
struct FeedForwardKind {
  Activation activation = Activation::relu;
  bool gated = false;
  bool operator==(const FeedForwardKind&) const = default;
};

struct TransformerConfig {
  Index source_vocabulary = 0;  // encoder-decoder only
  Index vocabulary = 0;         // of the output: the target's, or the only one
  Index d_model = 512;          // C
  Index heads = 8;              // H
  Index head_dim = 0;           // D; 0 means d_model / heads
  Index kv_heads = 0;           // 0: as many as heads; fewer: grouped-query attention; 1: multi-query
  Index encoder_layers = 6;     // N
  Index decoder_layers = 6;
  Index d_ff = 2048;
  real dropout = real(0.1);
  Positions positions = Positions::sinusoidal;
  Index max_length = 512;  // rows of the learned position table: no other scheme has a limit
  Index window = 0;        // if positive, self-attention sees only keys less than `window` steps away
  // Of the schemes that have settings of their own.
  RopeOptions rope{};
  Index t5_buckets = 32, t5_max_distance = 128;
  bool pre_norm = false;  // false: LN(x + f(x)), the paper; true: x + f(LN(x)), and a norm at the end
  NormKind norm = NormKind::layer;
  real norm_epsilon = real(1e-5);
  FeedForwardKind feed_forward{};  // SwiGLU: {.activation = Activation::silu, .gated = true}
  bool bias = true;                // in the linear layers
  bool scale_scores = true;        // ÷ √d_k; T5 leaves it out
  bool tie_embeddings = true;      // the output projection is the embedding, transposed
  bool share_embeddings = false;   // source and target have one embedding (their vocabularies are one)
  bool scale_embeddings = true;    // × √C: see nn/embedding.hpp
  bool scale_logits = false;       // ÷ √C, before a tied projection: T5
  Initialization initialization = Initialization::xavier;

  Index head_size() const { return head_dim ? head_dim : d_model / heads; }  // D
  Index query_size() const { return heads * head_size(); }
  Index kv_size() const { return (kv_heads ? kv_heads : heads) * head_size(); }
  void check() const;  // throws if the settings do not fit together
  bool operator==(const TransformerConfig&) const = default;
};

std::string to_json(const TransformerConfig& config);
TransformerConfig config_from_json(const std::string& text);  // throws, naming what is missing or unknown

// By the name that options and files use ("rope", "sinusoidal", …). An unknown name throws and lists them.
Positions positions_from_name(const std::string& name);
const char* name_of(Positions positions);

}  // namespace attn
