// Batching: sequences of different lengths as rectangles, with as little padding as can be.
//
//   std::vector<EncodedPair> pairs = encode_pairs(text_pairs, english, french);
//   for (const auto& rows : plan_batches(pairs, {.tokens = 4096, .seed = epoch})) {
//     PairBatch batch = make_batch(pairs, rows);     // batch.source.ids: (rows, cols), 0 for padding
//   }
//
// A plan sorts by length (sequences of one length in random order), cuts, and shuffles the batches: another
// seed, another order; the same seed, the same order on any machine. Every sequence is used exactly once.
#pragma once

#include <cstdint>  // uint64_t
#include <vector>   // vector

#include "core/rng.hpp"
#include "core/shape.hpp"  // Index
#include "nn/text/corpus.hpp"
#include "nn/text/vocabulary.hpp"

namespace attn {

struct Batch {
  Index rows = 0, cols = 0;
  std::vector<int> ids;      // (rows, cols), short rows filled up with padding
  std::vector<int> lengths;  // (rows), how many of them are real

  int at(Index row, Index col) const { return ids[static_cast<std::size_t>(row * cols + col)]; }
  bool is_real(Index row, Index col) const { return col < lengths[static_cast<std::size_t>(row)]; }
  std::vector<int> mask() const;  // (rows, cols), 1 for a real token and 0 for padding
};
Batch pad_batch(const std::vector<std::vector<int>>& sequences, int pad = Vocabulary::pad);

// The source ends with <eos>; the target starts with <bos> and ends with <eos>, so that the decoder reads all
// but its last token and learns to write all but its first.
struct EncodedPair {
  std::vector<int> source, target;
};
std::vector<EncodedPair> encode_pairs(const std::vector<Pair>& pairs, const Vocabulary& source,
                                      const Vocabulary& target);
// Removes the pairs that are longer than `tokens` on either side; returns how many.
Index drop_long(std::vector<EncodedPair>& pairs, Index tokens);

struct BatchOptions {
  Index sentences = 64;  // at most so many rows; 0: no limit
  Index tokens = 0;      // at most so many cells, padding included, on the wider side; 0: no limit.
                         // A sequence that alone exceeds it gets a batch of its own.
  bool shuffle = true;
  std::uint64_t seed = 0;
};
std::vector<std::vector<Index>> plan_batches(const std::vector<EncodedPair>& pairs,
                                             const BatchOptions& options);
std::vector<std::vector<Index>> plan_batches(const std::vector<std::vector<int>>& sequences,
                                             const BatchOptions& options);

struct PairBatch {
  Batch source, target;
};
PairBatch make_batch(const std::vector<EncodedPair>& pairs, const std::vector<Index>& rows);

}  // namespace attn
