// How much of a batch is padding.
#pragma once

#include <vector>  // vector

#include "core/rng.hpp"

namespace attn {

using Batches = std::vector<std::vector<Index>>;  // the lengths of the sentences in each batch

// Sentences of random length, as texts have them: most are short, a few are long.
std::vector<std::vector<int>> random_sentences(Index count, Rng& rng);

struct Padding {
  double share;              // of all positions that are computed
  double smallest, largest;  // number of real words in a batch
};
Padding padding_of(const Batches& batches);

}  // namespace attn
