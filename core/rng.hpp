// Rng: random numbers that repeat anywhere, from Philox, a counter-based generator.
//
// The n-th number is a function of (seed, n) alone: no hidden state but the counter. So a mask can be
// recomputed instead of stored, threads can share a range, and a checkpoint stores two integers.
#pragma once

#include <cstdint>   // uint32_t, uint64_t
#include <iterator>  // ssize
#include <utility>   // exchange, swap
#include <vector>    // vector

#include "core/index.hpp"

namespace attn {

class Rng {
 public:
  explicit Rng(std::uint64_t seed = 0) : key(seed) {}

  std::uint32_t bits();    // 32 random bits
  std::uint64_t bits64();  // two draws, the first one on top
  double uniform();        // in [0, 1), 53 bits
  double normal();         // mean 0, variance 1
  Index below(Index n);    // in 0 … n-1, each equally likely; n at least 1

  // Sets the next `n` draws aside for the caller: returns the counter of the first.
  std::uint64_t reserve(Index n) { return std::exchange(counter, counter + std::uint64_t(n)); }

  std::uint64_t key, counter = 0;  // the whole state
};

// The 32 bits at one position of the stream.
std::uint32_t philox(std::uint64_t key, std::uint64_t counter);

// Fisher and Yates. Not std::shuffle, whose order differs from library to library.
template <class Value>
void shuffle(std::vector<Value>& values, Rng& rng) {
  for (Index i = std::ssize(values); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

}  // namespace attn
