// Positions: how attention knows order. Without them a sentence is a bag of words.
//
//   learned      a table (max_length, C) added to the embeddings; no position after its last row
//   sinusoidal   a fixed table added to the embeddings: sines and cosines of falling frequency
//   t5           a learned number for each bucket of distance and head, added to the scores
//   alibi        a fixed penalty -m·|i - j| on the scores, with a slope m for each head
//   rope         queries and keys are rotated by their position (an op: core/ops.hpp): their product depends
//                on distance alone
//
// The first two mark where a token *is*; the others mark the distance *between* two tokens, and act in
// self-attention only: the distance between a source word and a target word means nothing.
#pragma once

#include "core/ops.hpp"
#include "core/parameters.hpp"
#include "nn/config.hpp"

namespace attn {

// PE(p, 2i) = sin(p ω_i), PE(p, 2i+1) = cos(p ω_i), with ω_i = 10000^(-2i/C), for p = first, first + 1, …
Tensor sinusoidal_table(Index length, Index channels, Index first_position = 0);  // (length, C)

// The slopes 2^(-8i/H), i = 1 … H, of ALiBi; for H not a power of two, those of the next lower power of two
// and then every other one of the next higher.
std::vector<real> alibi_slopes(Index heads);
// -m_h · |p - j| for queries at p = first, …, first + T - 1 and keys at j = 0 … S-1.  (H, T, S)
Tensor alibi_bias(Index heads, Index T, Index S, Index first_position = 0);

// T5's bucket for the distance key - query. Half of the buckets hold one small distance each, the others grow
// logarithmically up to max_distance. If both directions are visible, keys to the right have other buckets.
int t5_bucket(Index distance, bool bidirectional, Index buckets = 32, Index max_distance = 128);

// T5's bias: one table for a whole stack of layers.
struct T5Bias {
  Tensor table;  // (buckets, H)
  bool bidirectional = false;
  Index max_distance = 128;

  T5Bias() = default;
  T5Bias(Index heads, bool bidirectional, Rng& rng);  // T5's 32 buckets
  T5Bias(const TransformerConfig& config, bool bidirectional, Rng& rng);
  Tensor operator()(Index T, Index S, Index first_position = 0) const;  // (H, T, S)
  void parameters(ParameterList& list) const { list.add("table", table); }
};

// What a stack of layers does about positions, whichever scheme it has.
struct PositionScheme {
  Positions kind = Positions::none;
  Index heads = 1;
  Tensor table;  // learned: (max_length, C); sinusoidal: its first rows
  T5Bias t5;

  PositionScheme() = default;
  PositionScheme(const TransformerConfig& config, bool bidirectional, Rng& rng);
  // The embeddings x (B, T, C) plus the table's rows for positions first, first + 1, …, if there is a table.
  Tensor add_to(const Tensor& x, Index first_position = 0) const;
  // The bias on the scores of self-attention: (H, T, S), or empty if the scheme has none.
  Tensor bias(Index T, Index S, Index first_position = 0) const;
  void parameters(ParameterList& list) const;
};

}  // namespace attn
