// What lesson 09 trains: one small model with each position scheme, on one task.
//
// Symbols, some of them marked. At each position: which symbol was the last to be marked? The marks are
// content, "the last" is order.
#pragma once

#include <cstdint>  // uint64_t
#include <vector>   // vector

#include "nn/transformer.hpp"

namespace attn {

constexpr int symbols = 6;
constexpr Index short_length = 16;  // of the rows in training

struct Batch {
  IntTensor tokens,
      targets;  // (B, T); a token is its symbol, or symbol + 6 if it is marked; the first one is
};
// B rows of T tokens, with marks only at positions before `marks_end`.
Batch make_batch(Index B, Index T, std::uint64_t seed, Index marks_end);

struct LastMarked {
  Embedding tokens;
  Stack stack;
  Linear output;

  LastMarked(Positions scheme, Index max_length, std::uint64_t seed);
  Tensor operator()(const IntTensor& ids) const { return output(stack(tokens(ids))); }  // (B, T) -> (B, T, V)
  void parameters(ParameterList& list) const {
    list.add_layer("tokens", tokens), list.add_layer("stack", stack), list.add_layer("output", output);
  }

 private:
  LastMarked(const TransformerConfig& config, Rng rng);
};

struct Training {
  Positions scheme;
  double rate;              // of learning, at its peak
  Index steps, max_length;  // rows of the learned table
  Index marks_end = short_length;
};
LastMarked train_model(const Training& training, std::uint64_t seed);

// The percentage of right answers at positions from `first` on, in rows of T tokens that were not trained on.
double accuracy(const LastMarked& model, Index T, Index first, std::uint64_t seed, Index marks_end);

}  // namespace attn
