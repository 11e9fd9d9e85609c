// A batch of sequences as a rectangle, for exercise 05.
#pragma once

#include <utility>  // pair
#include <vector>   // vector

#include "core/tensor.hpp"

namespace exercise {

using Ids = std::vector<int>;  // tokens as numbers

// The merges of a byte pair encoding in the order they were learned. Bytes have the ids 0 to 255, and merge
// number n makes the token 256 + n of the two it names.
using Merges = std::vector<std::pair<int, int>>;

struct PaddedBatch {
  attn::IntTensor ids, mask;  // (B,T), (B,T)
};

}  // namespace exercise
