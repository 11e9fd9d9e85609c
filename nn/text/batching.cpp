#include "nn/text/batching.hpp"

#include <algorithm>  // copy, max, stable_sort
#include <array>      // array
#include <numeric>    // iota
#include <utility>    // move

#include "core/error.hpp"

namespace attn {

std::vector<int> Batch::mask() const {
  std::vector<int> mask(ids.size(), 0);
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      mask[static_cast<std::size_t>(row * cols + col)] = is_real(row, col);
  return mask;
}

Batch pad_batch(const std::vector<std::vector<int>>& sequences, int pad) {
  Batch batch;
  batch.rows = static_cast<Index>(sequences.size());
  for (const auto& sequence : sequences) {
    batch.cols = std::max(batch.cols, static_cast<Index>(sequence.size()));
    batch.lengths.push_back(static_cast<int>(sequence.size()));
  }
  batch.ids.assign(static_cast<std::size_t>(batch.rows * batch.cols), pad);
  for (Index row = 0; row < batch.rows; ++row) {
    const auto& sequence = sequences[static_cast<std::size_t>(row)];
    std::copy(sequence.begin(), sequence.end(), batch.ids.begin() + row * batch.cols);
  }
  return batch;
}

std::vector<EncodedPair> encode_pairs(const std::vector<Pair>& pairs, const Vocabulary& source,
                                      const Vocabulary& target) {
  std::vector<EncodedPair> encoded;
  encoded.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    encoded.push_back({source.encode(pair.source), {Vocabulary::bos}});
    encoded.back().source.push_back(Vocabulary::eos);
    std::vector<int>& target_ids = encoded.back().target;
    const std::vector<int> ids = target.encode(pair.target);
    target_ids.insert(target_ids.end(), ids.begin(), ids.end());
    target_ids.push_back(Vocabulary::eos);
  }
  return encoded;
}

Index drop_long(std::vector<EncodedPair>& pairs, Index tokens) {
  const auto too_long = [&](const EncodedPair& pair) {
    return static_cast<Index>(std::max(pair.source.size(), pair.target.size())) > tokens;
  };
  return static_cast<Index>(std::erase_if(pairs, too_long));
}

namespace {

using Lengths = std::array<Index, 2>;  // of both sides

std::vector<std::vector<Index>> plan(const std::vector<Lengths>& lengths, const BatchOptions& options) {
  if (options.sentences < 0 || options.tokens < 0)
    fail("plan_batches: {} sentences and {} tokens a batch: neither can be negative", options.sentences,
         options.tokens);
  Rng rng(options.seed);
  std::vector<Index> order(lengths.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (options.shuffle) shuffle(order, rng);
  const auto of = [&](Index i) { return lengths[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return of(a) < of(b); });

  std::vector<std::vector<Index>> batches;
  Index widest = 0;
  for (const Index i : order) {
    const Index width = std::max(of(i)[0], of(i)[1]);
    const Index rows = batches.empty() ? 0 : static_cast<Index>(batches.back().size());
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
  for (const EncodedPair& pair : pairs)
    lengths.push_back({static_cast<Index>(pair.source.size()), static_cast<Index>(pair.target.size())});
  return plan(lengths, options);
}

std::vector<std::vector<Index>> plan_batches(const std::vector<std::vector<int>>& sequences,
                                             const BatchOptions& options) {
  std::vector<Lengths> lengths;
  for (const auto& sequence : sequences) lengths.push_back({static_cast<Index>(sequence.size()), 0});
  return plan(lengths, options);
}

PairBatch make_batch(const std::vector<EncodedPair>& pairs, const std::vector<Index>& rows) {
  std::vector<std::vector<int>> sources, targets;
  for (const Index row : rows) {
    const EncodedPair& pair = pairs.at(static_cast<std::size_t>(row));
    sources.push_back(pair.source);
    targets.push_back(pair.target);
  }
  return {pad_batch(sources), pad_batch(targets)};
}

}  // namespace attn
