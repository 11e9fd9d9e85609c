#include "nn/text/batching.hpp"

#include <algorithm>  // copy, fill_n, max, stable_sort
#include <array>      // array
#include <iterator>   // ssize
#include <numeric>    // iota

#include "core/error.hpp"
#include "core/rng.hpp"  // shuffle

namespace attn {

Tokens pad_batch(const std::vector<std::vector<int>>& sequences, int pad) {
  const Index B = std::ssize(sequences);
  Index T = 0;
  for (const std::vector<int>& sequence : sequences) T = std::max<Index>(T, std::ssize(sequence));
  Tokens tokens(IntTensor({B, T}), IntTensor({B}));
  std::fill_n(tokens.ids.data(), B * T, pad);
  for (Index b = 0; b < B; ++b) {
    std::copy(sequences[b].begin(), sequences[b].end(), tokens.ids.data() + b * T);
    tokens.lengths[b] = int(std::ssize(sequences[b]));
  }
  return tokens;
}

std::vector<EncodedPair> encode_pairs(const std::vector<Pair>& pairs, const Vocabulary& source,
                                      const Vocabulary& target) {
  std::vector<EncodedPair> encoded;
  encoded.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    EncodedPair ids{source.encode(pair.source), target.encode(pair.target)};
    ids.source.push_back(Vocabulary::eos);
    ids.target.insert(ids.target.begin(), Vocabulary::bos);
    ids.target.push_back(Vocabulary::eos);
    encoded.push_back(ids);  // a copy has no room to spare, which over a corpus would be half of the memory
  }
  return encoded;
}

Index drop_long(std::vector<EncodedPair>& pairs, Index tokens) {
  return Index(std::erase_if(pairs, [&](const EncodedPair& pair) {
    return std::max(std::ssize(pair.source), std::ssize(pair.target)) > tokens;
  }));
}

namespace {

using Lengths = std::array<Index, 2>;  // of both sides

std::vector<std::vector<Index>> plan(const std::vector<Lengths>& lengths, const BatchOptions& options) {
  if (options.sentences < 0 || options.tokens < 0)
    fail("plan_batches: {} sentences and {} tokens per batch: neither can be negative", options.sentences,
         options.tokens);
  Rng rng(options.seed);
  std::vector<Index> order(lengths.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (options.shuffle) shuffle(order, rng);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return lengths[a] < lengths[b]; });

  std::vector<std::vector<Index>> batches;
  Index widest = 0;
  for (const Index i : order) {
    const Index width = std::max(lengths[i][0], lengths[i][1]);
    const Index rows = batches.empty() ? 0 : std::ssize(batches.back());
    const bool full = batches.empty() || (options.sentences > 0 && rows == options.sentences) ||
                      (options.tokens > 0 && (rows + 1) * std::max(widest, width) > options.tokens);
    if (full) batches.emplace_back();
    widest = full ? width : std::max(widest, width);
    batches.back().push_back(i);
  }
  if (options.shuffle) shuffle(batches, rng);
  return batches;
}

}  // namespace

std::vector<std::vector<Index>> plan_batches(const std::vector<EncodedPair>& pairs,
                                             const BatchOptions& options) {
  std::vector<Lengths> lengths;
  for (const EncodedPair& pair : pairs) lengths.push_back({std::ssize(pair.source), std::ssize(pair.target)});
  return plan(lengths, options);
}

std::vector<std::vector<Index>> plan_batches(const std::vector<std::vector<int>>& sequences,
                                             const BatchOptions& options) {
  std::vector<Lengths> lengths;
  for (const std::vector<int>& sequence : sequences) lengths.push_back({std::ssize(sequence), 0});
  return plan(lengths, options);
}

Batch make_batch(const std::vector<EncodedPair>& pairs, const std::vector<Index>& rows) {
  std::vector<std::vector<int>> sources, inputs, targets;
  for (const Index row : rows) {
    const EncodedPair& pair = pairs.at(row);
    sources.push_back(pair.source);
    inputs.emplace_back(pair.target.begin(), pair.target.end() - 1);
    targets.emplace_back(pair.target.begin() + 1, pair.target.end());
  }
  return {pad_batch(sources), pad_batch(inputs), pad_batch(targets).ids};
}

}  // namespace attn
