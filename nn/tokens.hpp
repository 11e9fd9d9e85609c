// Tokens: a batch of token sequences, and where each one ends.
//
//   model(ids)                            an IntTensor (B, T): every token is real
//   model(std::vector<int>{5, 8, 2})      one sequence: (1, 3)
//   model(pad_batch(sequences))           sequences of different lengths: nn/text/batching.hpp
#pragma once

#include <iterator>  // ssize
#include <vector>    // vector

#include "core/tensor.hpp"

namespace attn {

struct Tokens {
  IntTensor ids;      // (B, T)
  IntTensor lengths;  // (B): in row b, the tokens from lengths[b] on are padding. Empty: there is no padding

  Tokens() = default;
  Tokens(const IntTensor& ids, const IntTensor& lengths = {}) : ids(ids), lengths(lengths) {}
  Tokens(const std::vector<int>& sequence) : ids({1, std::ssize(sequence)}, sequence) {}
};

}  // namespace attn
