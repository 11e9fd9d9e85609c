// Grades exercise 20. The right answers take other ways: ops on whole tensors, lists cut in half, the ring as
// its receivers see it.
#include "mistakes/20_many_machines.hpp"  // made from mistakes.diff

#include <iterator>  // ssize
#include <numeric>   // accumulate, iota

using namespace attn;
using coach::Cases;
using coach::Question;

namespace oracle {

Tensor weighted_mean(const Tensor& gradients, const std::vector<Index>& tokens) {
  const Index total = std::accumulate(tokens.begin(), tokens.end(), Index(0));
  if (total == 0) throw std::invalid_argument("no tokens");
  const std::vector<real> shares(tokens.begin(), tokens.end());
  return sum(gradients * from_values({gradients.size(0), 1}, shares), 0) / real(total);
}

real tree_sum(const std::vector<Index>& shard, const std::vector<real>& values) {
  if (values.size() == 1) return values[0];
  const Index left = (std::ssize(values) + 1) / 2;  // so many shards, counted from 0
  std::vector<Index> shards[2];
  std::vector<real> halves[2];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool right = shard[i] >= left;
    shards[right].push_back(right ? shard[i] - left : shard[i]);
    halves[right].push_back(values[i]);
  }
  return tree_sum(shards[0], halves[0]) + tree_sum(shards[1], halves[1]);
}

// Asked from the receiver's side: which chunk comes from the left neighbour?
Tensor ring_step(const Tensor& held, Index step) {
  const Index N = held.size(0);
  std::vector<Tensor> ranks;
  for (Index to = 0; to < N; ++to) {
    const Index from = to == 0 ? N - 1 : to - 1, back = step < N - 1 ? step : step - N;
    const Index chunk = ((from - back) % N + N) % N;
    std::vector<Tensor> chunks;
    for (Index c = 0; c < N; ++c) {
      const Tensor own = held[to][c], sent = held[from][c];
      chunks.push_back(c != chunk ? own : step < N - 1 ? own + sent : sent);
    }
    ranks.push_back(stack(chunks, 0));
  }
  return stack(ranks, 0);
}

std::pair<Index, Index> kept_part(Index n, Index chunk, Index ranks, Index rank) {
  const Index chunks = n / chunk + (n % chunk != 0);
  const auto cut = [&](Index r) { return std::min(n, chunk * ((chunks * r - chunks * r % ranks) / ranks)); };
  return {cut(rank), cut(rank + 1)};
}

Index dropout_stream(Index step, Index shards, Index ranks, Index rank, Index i) {
  return shards * step + kept_part(shards, 1, ranks, rank).first + i;
}

}  // namespace oracle

namespace {

using coach::Draw;

// Numbers for which the order counts: large ones that cancel, and small ones that they swallow.
std::vector<real> uneven(Index n, Rng& rng) {
  std::vector<real> values;
  for (Index i = 0; i < n; ++i) {
    const real large[] = {real(1e16), real(-1e16), real(3e15), real(-7e15)};
    values.push_back(rng.below(2) ? large[rng.below(4)] : real(1 + rng.below(9)));
  }
  return values;
}

std::vector<Index> shuffled(Index n, Rng& rng) {
  std::vector<Index> order(std::size_t(n), 0);
  std::iota(order.begin(), order.end(), Index(0));
  for (Index i = n - 1; i > 0; --i) std::swap(order[i], order[rng.below(i + 1)]);
  return order;
}

coach::Case<decltype(exercise::tree_sum)> arrivals(Index n, Rng& rng) {
  return {shuffled(n, rng), uneven(n, rng)};
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "20_many_machines",
      {Question<decltype(exercise::weighted_mean)>{
           .name = "weighted_mean",
           .answer = exercise::weighted_mean,
           .oracle = oracle::weighted_mean,
           .arguments = {"gradients", "tokens"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::weighted_mean)> {
             return {{from_values({2, 1}, {1, 5}), {3, 1}},
                     {tidy({1, 3}, rng), {7}},
                     {tidy({2, 2}, rng), {4, 4}},
                     {tidy({3, 2}, rng), {2, 0, 5}},
                     {tidy({2, 2}, rng), {0, 0}},
                     {normal({4, 3}, rng), {1, 2, 3, 4}},
                     {normal({7, 5}, rng), {100, 3, 17, 0, 1, 64, 9}},
                     {normal({3, 1}, rng), {1, 1, 1}}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::weighted_mean)> {
             const Index shards = draw.size(), n = draw.size();
             std::vector<Index> tokens;
             for (Index s = 0; s < shards; ++s) tokens.push_back(draw.size(0));
             return {draw.tidy({shards, n}), tokens};
           },
           .mistakes = mistakes::weighted_mean,
           .notice = "However the batch is cut, the result is the same: that is what makes shards harmless."},
       Question<decltype(exercise::tree_sum)>{
           .name = "tree_sum",
           .answer = exercise::tree_sum,
           .oracle = oracle::tree_sum,
           .arguments = {"shard", "values"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::tree_sum)> {
             Cases<decltype(exercise::tree_sum)> cases = {
                 {{0}, {real(2.5)}},
                 {{2, 0, 1}, {30, 10, 20}},
                 {{3, 2, 1, 0}, {real(1e20), real(-1e20), 1, 1}},
                 {{0, 1, 2, 3, 4}, {real(1e16), 1, real(-1e16), 1, 1}},
                 {{4, 2, 0, 3, 1}, {3, real(1e16), 1, real(-1e16), 5}}};
             for (const Index n : {2, 3, 5, 6, 7, 8, 9, 11, 13, 16, 17, 32, 33})
               cases.push_back(arrivals(n, rng));
             return cases;
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::tree_sum)> {
             return arrivals(draw.size() + draw.size(0), draw.rng);
           },
           .mistakes = mistakes::tree_sum,
           .notice = "Only the shards decide who meets whom: 1, 2, 3 or 4 ranks, whoever is late, the same "
                     "bits. ShardSum (optim/shards.hpp) does this to whole gradients.",
           .tolerance = 0},
       Question<decltype(exercise::ring_step)>{
           .name = "ring_step",
           .answer = exercise::ring_step,
           .oracle = oracle::ring_step,
           .arguments = {"held", "step"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::ring_step)> {
             Cases<decltype(exercise::ring_step)> cases = {{from_values({2, 2, 1}, {1, 2, 30, 40}), 0},
                                                           {from_values({2, 2, 1}, {1, 42, 31, 40}), 1}};
             for (Index step = 0; step < 4; ++step) cases.push_back({places({3, 3, 1}) + 1, step});
             for (Index step = 0; step < 6; ++step) cases.push_back({tidy({4, 4, 2}, rng), step});
             for (const Index step : {0, 3, 5, 6, 7, 11}) cases.push_back({normal({7, 7, 3}, rng), step});
             return cases;
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::ring_step)> {
             const Index N = draw.size(2), K = draw.size();
             return {draw.tidy({N, N, K}), draw.between(0, 2 * N - 3)};
           },
           .mistakes = mistakes::ring_step,
           .notice =
               "After 2 (N − 1) such steps all ranks hold the sum, and each has sent 2 (N − 1) / N of a "
               "vector: less than two, however many they are."},
       Question<decltype(exercise::kept_part)>{
           .name = "kept_part",
           .answer = exercise::kept_part,
           .oracle = oracle::kept_part,
           .arguments = {"n", "chunk", "ranks", "rank"},
           .cases = [](Rng&) -> Cases<decltype(exercise::kept_part)> {
             return {{4, 1, 2, 0},
                     {4, 1, 2, 1},
                     {3, 1, 2, 0},
                     {3, 1, 2, 1},
                     {10, 1, 4, 0},
                     {10, 1, 4, 1},
                     {10, 1, 4, 2},
                     {10, 1, 4, 3},
                     {10, 4, 2, 0},
                     {10, 4, 2, 1},
                     {11, 3, 4, 0},
                     {11, 3, 4, 1},
                     {11, 3, 4, 2},
                     {11, 3, 4, 3},
                     {7, 5, 1, 0},
                     {2, 1, 5, 0},
                     {2, 1, 5, 2},
                     {2, 1, 5, 4},
                     {100, 7, 9, 4},
                     {13, 1, 7, 3},
                     {0, 3, 3, 1},
                     {17, 2, 5, 4},
                     {17, 2, 5, 3},
                     {100, 8, 7, 6},
                     {100, 1, 8, 5},
                     {124439808, 4096, 8, 7},
                     {175000000000, 4096, 1024, 1000}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::kept_part)> {
             const Index ranks = draw.size() + draw.size(0);
             const Index n = draw.coin() ? draw.size(0) + draw.size(0) : draw.count(200000000000);
             return {n, draw.size(), ranks, draw.between(0, ranks - 1)};
           },
           .mistakes = mistakes::kept_part,
           .notice = "Adam's averages of GPT-2 are 1 GB: 8 ranks keep 124 MB each."},
       Question<decltype(exercise::dropout_stream)>{
           .name = "dropout_stream",
           .answer = exercise::dropout_stream,
           .oracle = oracle::dropout_stream,
           .arguments = {"step", "shards", "ranks", "rank", "i"},
           .cases = [](Rng&) -> Cases<decltype(exercise::dropout_stream)> {
             return {{0, 4, 2, 1, 0},    {5, 4, 2, 1, 0},
                     {0, 4, 1, 0, 2},    {5, 4, 1, 0, 2},
                     {3, 8, 4, 2, 1},    {1, 4, 4, 3, 0},
                     {2, 8, 3, 0, 2},    {2, 8, 3, 1, 2},
                     {2, 8, 3, 2, 1},    {7, 5, 2, 1, 1},
                     {9, 7, 5, 3, 0},    {1, 1, 1, 0, 0},
                     {100, 32, 8, 5, 3}, {1000000000, 1024, 64, 63, 15}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::dropout_stream)> {
             const Index ranks = draw.size(), shards = ranks + draw.size(0) + draw.size(0);
             const Index rank = draw.between(0, ranks - 1);
             const auto [begin, end] = oracle::kept_part(shards, 1, ranks, rank);
             return {draw.count(10000000000, 0), shards, ranks, rank, draw.between(0, end - begin - 1)};
           },
           .mistakes = mistakes::dropout_stream,
           .notice = "The rank is only used to find the shard. So a run can stop on four machines and go on "
                     "with one, and nobody can tell."}}};
}
