// Attention: how a token finds what matters to it.
//
//   Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V                      (Vaswani et al. 2017, equation 1)
//
// A Mask (core/ops.hpp) says which keys a query sees: by kind (causal, padding lengths, a window), or by any
// bias on the scores, where -inf hides. Attention is computed in two ways. `scaled_dot_product_attention` is
// the plain one, step by step, as the lessons teach it; it holds the whole matrix of weights. `attention` in
// core/ops.hpp is the fused op that training uses. A test checks that they agree.
#pragma once

#include "nn/context.hpp"
#include "nn/linear.hpp"

namespace attn {

// The mask as numbers to add to the scores: 0 where a key is visible, -inf where it is not, plus the bias.
// (B or 1, H or 1, T, S), or empty if everything is visible.
Tensor mask_bias(const Mask& mask, Index B, Index T, Index S);

Tensor causal_mask(Index T);                             // (T, T): 1 where j <= i, else 0
Tensor padding_mask(const IntTensor& lengths, Index S);  // (B, 1, 1, S): 1 for real keys, else 0
Tensor bias_of(const Tensor& visible);                   // 1 -> 0, 0 -> -inf

// q (B,H,T,D) and k (B,H,S,D) -> q·k × scale + bias, (B,H,T,S); `bias` and `scale` as below.
Tensor attention_scores(const Tensor& q, const Tensor& k, const Tensor& bias = {}, real scale = 0);

struct AttentionResult {
  Tensor output;   // (B, H, T, D)
  Tensor weights;  // (B, H, T, S): each row sums to 1, or is 0 if the query sees nothing
};
// q (B,H,T,D), k and v (B,H,S,D); `bias` as from mask_bias, or empty; scale 0 means 1/√D.
AttentionResult scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Tensor& bias = {}, real scale = 0);

Tensor split_heads(const Tensor& x, Index heads);  // (B, T, H*D) -> (B, H, T, D)
Tensor merge_heads(const Tensor& x);               // (B, H, T, D) -> (B, T, H*D)

// The keys and values of the tokens so far, so that none is computed twice. One for each attention layer.
//
// Each time it is full it moves to twice the room, so a token that joins S others costs the copying of two
// tokens on average, not of S. Two copies of a cache share their numbers until one of them adds to its own.
class KeyValueCache {
 public:
  Index length() const { return length_; }             // S
  const Tensor& keys() const { return keys_; }         // (B, room, kv_heads * D), of which S rows are filled;
  const Tensor& values() const { return values_; }     // empty at the start
  Index numel() const;                                 // the numbers that it holds
  void add(const Tensor& keys, const Tensor& values);  // (B, T, kv_heads * D): of T more tokens
  void forget_from(Index length);                      // of the tokens after these
  void reorder(const std::vector<int>& rows);          // row i becomes what row rows[i] was

 private:
  void append(Tensor& kept, const Tensor& more) const;
  Tensor keys_, values_;
  Index length_ = 0;
};

// What an attention layer does in its model. Its maps are labelled with the name and the layer.
struct AttentionRole {
  const char* name = "self";
  Index layer = 0;
  bool cross = false;  // keys and values come from a memory: positions and window do not apply
};

// What a call may add to its input x.
struct AttentionInputs {
  Mask mask{};
  Tensor memory{};  // (B, S, C), for cross-attention only: where keys and values come from
  // Self-attention adds the keys and values of x to it. Cross-attention fills it from the memory once.
  KeyValueCache* cache = nullptr;
  Dropping dropping{};  // of the result
};

// MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O,  head_i = Attention(Q W_Q,i , K W_K,i , V W_V,i)
//
// The projections of all heads are one matrix each; a head is D of its C columns. With fewer key/value heads
// than query heads (GQA; with a single one, MQA), the query heads of a group share keys and values.
//
//   layer(x)                                                     self-attention: every token sees every token
//   layer(x, {.mask = {.causal = true}, .cache = &cache})        token by token
//   cross(x, {.memory = states})
struct MultiHeadAttention {
  AttentionRole role;
  Index heads = 1, kv_heads = 1, window = 0;
  real dropout = 0, scale = 0;
  bool rotates = false;  // RoPE, in self-attention
  RopeOptions rotation{};
  Linear query, key, value, output;  // (H*D, C), (kv, C), (kv, C), (C, H*D)

  MultiHeadAttention() = default;
  MultiHeadAttention(const TransformerConfig& config, Rng& rng, const AttentionRole& role = {});

  Tensor operator()(const Tensor& x, const AttentionInputs& inputs = {},
                    const Context& context = {}) const;  // (B, T, C) -> (B, T, C)
  void parameters(ParameterList& list) const;
};

}  // namespace attn
