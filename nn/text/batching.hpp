// Batching: sequences of different lengths as rectangles, with as little padding as possible.
//
//   std::vector<EncodedPair> pairs = encode_pairs(text_pairs, english, french);
//   for (const std::vector<Index>& rows : plan_batches(pairs, {.tokens = 4096, .seed = epoch})) {
//     const Batch batch = make_batch(pairs, rows);
//     const Tensor logits = model(batch.source, batch.decoder_input);                        // (B, T, V)
//     const Tensor loss = cross_entropy(logits, batch.targets, {.ignore = Vocabulary::pad});
//   }
//
// A plan sorts by length (sequences of equal length in random order), cuts into batches, and shuffles these.
// The same seed gives the same order on any machine. Every sequence is used exactly once.
#pragma once

#include <cstdint>  // uint64_t
#include <vector>   // vector

#include "nn/text/corpus.hpp"
#include "nn/text/vocabulary.hpp"
#include "nn/tokens.hpp"

namespace attn {

// (B, T) with T the length of the longest sequence; shorter ones are filled up with `pad`.
Tokens pad_batch(const std::vector<std::vector<int>>& sequences, int pad = Vocabulary::pad);

// A pair as a corpus keeps it: the source ends with <eos>, the target starts with <bos> and ends with <eos>.
struct EncodedPair {
  std::vector<int> source, target;
};
std::vector<EncodedPair> encode_pairs(const std::vector<Pair>& pairs, const Vocabulary& source,
                                      const Vocabulary& target);
// Removes the pairs that are longer than `tokens` on either side; returns how many.
Index drop_long(std::vector<EncodedPair>& pairs, Index tokens);

struct BatchOptions {
  Index sentences = 64;  // the most rows of a batch; 0: no limit
  Index tokens = 0;      // the most tokens of a batch, padding included, on its wider side; 0: no limit.
                         // A sequence that exceeds it on its own gets a batch to itself.
  bool shuffle = true;
  std::uint64_t seed = 0;
};
std::vector<std::vector<Index>> plan_batches(const std::vector<EncodedPair>& pairs,
                                             const BatchOptions& options);
std::vector<std::vector<Index>> plan_batches(const std::vector<std::vector<int>>& sequences,
                                             const BatchOptions& options);

// What a model reads and what it should predict: the targets are the decoder's input shifted left by one.
struct Batch {
  Tokens source;         // (B, S)   the cat sleeps . <eos>
  Tokens decoder_input;  // (B, T)   <bos> le chat dort .
  IntTensor targets;     // (B, T)   le chat dort . <eos>     padded with <pad>, which the loss ignores
};
Batch make_batch(const std::vector<EncodedPair>& pairs, const std::vector<Index>& rows);

}  // namespace attn
