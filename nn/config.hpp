// TransformerConfig: the settings of a model. One struct serves the whole family (encoder-decoder, GPT, BERT,
// T5), because they are the same blocks put together differently. The defaults are the paper's base model.
#pragma once

#include <string>  // string

#include "core/kernels.hpp"  // Activation

namespace attn {

// How a model knows the order of its tokens: see nn/positions.hpp.
enum class Positions { none, learned, sinusoidal, t5, alibi, rope };
enum class NormKind { layer, rms };
enum class FeedForwardKind { relu, gelu, swiglu };
enum class Initialization { xavier, normal };

struct TransformerConfig {
  Index source_vocabulary = 0;  // encoder-decoder only
  Index vocabulary = 0;         // of what comes out: the target's, or the only one
  Index d_model = 512;          // C
  Index heads = 8;              // H
  Index kv_heads = 0;           // 0: as many as heads; fewer: grouped-query attention; 1: multi-query
  Index encoder_layers = 6;     // N
  Index decoder_layers = 6;
  Index d_ff = 2048;
  real dropout = real(0.1);
  Positions positions = Positions::sinusoidal;
  Index max_length = 512;  // of the learned position table, the only scheme that ends
  Index window = 0;        // if positive, self-attention sees only keys less than so many steps away
  bool pre_norm = false;   // false: LN(x + f(x)), the paper; true: x + f(LN(x)), and a norm at the end
  NormKind norm = NormKind::layer;
  FeedForwardKind feed_forward = FeedForwardKind::relu;
  bool bias = true;               // in the linear layers
  bool scale_scores = true;       // ÷ √d_k; T5 leaves it out
  bool tie_embeddings = true;     // the output projection is the embedding, transposed
  bool share_embeddings = false;  // source and target have one embedding (their vocabularies are one)
  Initialization initialization = Initialization::xavier;

  Index head_size() const { return d_model / heads; }  // D
  Index kv_size() const { return (kv_heads ? kv_heads : heads) * head_size(); }
  void check() const;  // throws when the settings do not fit together
  bool operator==(const TransformerConfig&) const = default;
};

std::string to_json(const TransformerConfig& config);
TransformerConfig config_from_json(const std::string& text);  // throws, naming what is missing or unknown

// Names as they are written in options and files: "rope", "sinusoidal", …; throws, listing the names there
// are.
Positions positions_from_name(const std::string& name);
const char* name_of(Positions positions);
FeedForwardKind feed_forward_from_name(const std::string& name);
const char* name_of(FeedForwardKind kind);

}  // namespace attn
