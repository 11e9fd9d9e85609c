// Solution 20: one gradient from many machines, and the same one whoever computes it.
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// A mean times its count is a sum, and sums can be added. Dividing once, by all tokens, makes a mean again.
Tensor weighted_mean(const Tensor& gradients, const std::vector<Index>& tokens) {
  const Index shards = gradients.size(0), n = gradients.size(1);
  Index total = 0;
  for (const Index count : tokens) total += count;
  if (total == 0) throw std::invalid_argument("a batch without tokens has no mean");
  Tensor mean = zeros({n});
  for (Index s = 0; s < shards; ++s)
    for (Index j = 0; j < n; ++j) mean(j) += gradients(s, j) * real(tokens[s]);
  for (Index j = 0; j < n; ++j) mean(j) /= real(total);
  return mean;
}

// Of the shards from begin up to, not including, end.
real subtree_sum(const std::vector<real>& values, Index begin, Index end) {
  if (end - begin == 1) return values[begin];
  const Index middle = begin + (end - begin + 1) / 2;
  return subtree_sum(values, begin, middle) + subtree_sum(values, middle, end);
}

// First every number goes to its place, which forgets who came when. Then only the shards decide.
real tree_sum(const std::vector<Index>& shard, const std::vector<real>& values) {
  std::vector<real> in_order(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) in_order[shard[i]] = values[i];
  return subtree_sum(in_order, 0, Index(in_order.size()));
}

// % keeps the sign of a negative number, so N is added first. After N − 1 steps of adding, rank r holds the
// whole sum of chunk r + 1; the steps after that hand the sums round.
Tensor ring_step(const Tensor& held, Index step) {
  const Index N = held.size(0), K = held.size(2);
  const bool adding = step < N - 1;
  Tensor after = held + 0;
  for (Index r = 0; r < N; ++r) {
    const Index sent = adding ? (r - step + N) % N : (r + 1 - (step - (N - 1)) + N) % N;
    const Index to = (r + 1) % N;
    for (Index k = 0; k < K; ++k) after(to, sent, k) = held(r, sent, k) + (adding ? held(to, sent, k) : 0);
  }
  return after;
}

// Where a part ends the next one begins, because both are computed by one formula. Only the last chunk may
// reach beyond n.
std::pair<Index, Index> kept_part(Index n, Index chunk, Index ranks, Index rank) {
  const Index chunks = (n + chunk - 1) / chunk;
  const Index begin = chunks * rank / ranks, end = chunks * (rank + 1) / ranks;
  return {std::min(begin * chunk, n), std::min(end * chunk, n)};
}

// The number of the shard in the whole training. Rank and ranks only tell which shard it is.
Index dropout_stream(Index step, Index shards, Index ranks, Index rank, Index i) {
  const Index shard = kept_part(shards, 1, ranks, rank).first + i;
  return step * shards + shard;
}

}  // namespace exercise
