#include "optim/group.hpp"

#include <doctest/doctest.h>

#include <atomic>  // atomic
#include <cmath>   // sin

#include "core/error.hpp"
#include "optim/shards.hpp"

using namespace attn;

namespace {

std::string text_of(const std::vector<Range>& ranges) {
  std::string text;
  for (const Range& range : ranges) text += fmt::format("[{},{})", range.begin, range.end);
  return text;
}

// The sum over the tree as its definition says it: halves, and their sums. For one number per shard.
real tree_sum(const std::vector<real>& values, Index begin, Index end) {
  if (end - begin == 1) return values[begin];
  const Index half = begin + (end - begin + 1) / 2;
  return tree_sum(values, begin, half) + tree_sum(values, half, end);
}

}  // namespace

TEST_CASE("a process alone is rank 0 of 1, and has nobody to write to") {
  Group& group = alone();
  CHECK(group.rank() == 0);
  CHECK(group.size() == 1);
  CHECK(group.is_root());
  group.barrier();
  CHECK(group.largest(-3) == -3);
  std::vector<int> numbers = {1, 2};
  group.all_gather(numbers.data(), {{0, 2}});
  CHECK(numbers == std::vector<int>{1, 2});
  CHECK_THROWS_WITH_AS(group.send(1, {}), "group: there is no rank 1", Error);
}

TEST_CASE("messages arrive in order, by sender and tag") {
  simulate(3, [](Group& group) {
    const int mine[] = {int(10 * group.rank()), int(10 * group.rank() + 1)};
    int first[3] = {}, second[3] = {};
    for (Index other = 0; other < 3; ++other) {
      if (other == group.rank()) continue;
      group.receive(other, Group::bytes_of(second, {other, other + 1}), 7);  // asked for first, sent last
      group.receive(other, Group::bytes_of(first, {other, other + 1}));
      group.send(other, std::as_bytes(std::span(mine, 1)));
      group.send(other, std::as_bytes(std::span(mine + 1, 1)), 7);
    }
    group.wait();
    for (Index other = 0; other < 3; ++other)
      if (other != group.rank() && (first[other] != 10 * other || second[other] != 10 * other + 1))
        fail("rank {} got {} and {} from {}", group.rank(), first[other], second[other], other);
  });
}

TEST_CASE("a broadcast reaches every rank from any other") {
  for (const Index ranks : {1, 2, 3, 5, 8})
    simulate(ranks, [&](Group& group) {
      for (Index from = 0; from < ranks; ++from) {
        std::string text = group.rank() == from ? fmt::format("from rank {}", from) : "nothing";
        group.broadcast(text, from);
        double number = group.rank() == from ? 1.5 : 0;
        group.broadcast(number, from);
        if (text != fmt::format("from rank {}", from) || number != 1.5) fail("{}: {}", group.rank(), text);
      }
      if (group.largest(double(group.rank() % 3)) != double(std::min<Index>(2, ranks - 1)))
        fail("the largest");
    });
}

TEST_CASE("nobody passes a barrier before everybody is there") {
  for (const Index ranks : {2, 3, 5}) {
    std::atomic<Index> arrived = 0;
    simulate(ranks, [&](Group& group) {
      for (Index round = 1; round <= 20; ++round) {
        ++arrived;
        group.barrier();
        if (arrived < round * ranks) fail("round {}: {} of {}", round, arrived.load(), round * ranks);
        group.barrier();
      }
    });
  }
}

TEST_CASE("a rank that fails ends the others, and its error is the one that is seen") {
  CHECK_THROWS_WITH_AS(simulate(3,
                                [](Group& group) {
                                  if (group.rank() == 1) fail("the disk is full");
                                  group.barrier();
                                }),
                       "the disk is full", Error);
}

TEST_CASE("ranks share the shards, and each has whole subtrees") {
  CHECK(text_of(subtrees(4, {0, 4})) == "[0,4)");
  CHECK(text_of(subtrees(4, {2, 4})) == "[2,4)");
  CHECK(text_of(subtrees(4, {1, 4})) == "[1,2)[2,4)");
  CHECK(text_of(subtrees(8, shards_of(8, 1, 3))) == "[2,4)[4,5)");
  CHECK(text_of(subtrees(5, {0, 5})) == "[0,5)");
  CHECK(text_of(subtrees(5, {1, 5})) == "[1,2)[2,3)[3,5)");
  for (const Index shards : {1, 2, 3, 4, 7, 8, 16, 33})
    for (Index ranks = 1; ranks <= shards; ++ranks) {
      Index next = 0;
      for (Index rank = 0; rank < ranks; ++rank) {
        CHECK(shards_of(shards, rank, ranks).begin < shards_of(shards, rank, ranks).end);
        for (const Range& subtree : subtrees(shards, shards_of(shards, rank, ranks))) {
          CHECK(subtree.begin == next);
          next = subtree.end;
        }
      }
      CHECK(next == shards);
    }
}

TEST_CASE("the sum of the shards has the bits of the tree on any number of ranks") {
  for (const Index n : {1, 17, 4096, 4097, 20011})
    for (const Index shards : {1, 2, 3, 4, 7, 8}) {
      Rng rng(std::uint64_t(n + shards));
      std::vector<std::vector<real>> numbers(shards, std::vector<real>(n));
      for (std::vector<real>& shard : numbers)
        for (real& number : shard) number = real(rng.normal());
      std::vector<real> expected(n);
      for (Index i = 0; i < n; ++i) {
        std::vector<real> column;
        for (const std::vector<real>& shard : numbers) column.push_back(shard[i]);
        expected[i] = tree_sum(column, 0, shards);
      }
      for (Index ranks = 1; ranks <= std::min<Index>(shards, 5); ++ranks) {
        CAPTURE(n);
        CAPTURE(shards);
        CAPTURE(ranks);
        std::atomic<int> right = 0, right_parts = 0;
        simulate(ranks, [&](Group& group) {
          ShardSum sum(group, shards, n);
          std::vector<real> total(n);
          const auto add = [&] {
            for (Index s = sum.mine().begin; s < sum.mine().end; ++s) {
              std::copy(numbers[s].begin(), numbers[s].end(), total.begin());
              sum.add(s, total.data());
            }
          };
          for (int step = 0; step < 2; ++step) {  // the second one has the buffers of the first
            add();
            sum.finish(total.data());
            right += total == expected;
          }
          add();
          sum.finish(total.data(), false);
          right_parts += std::equal(total.begin() + sum.part().begin, total.begin() + sum.part().end,
                                    expected.begin() + sum.part().begin);
        });
        CHECK(right == 2 * ranks);
        CHECK(right_parts == ranks);
      }
    }
}

TEST_CASE("numbers that set out while others are still computed give the same sum") {
  const Index n = 700'001, shards = 3;  // several pieces for each rank
  const auto number = [](Index shard, Index i) { return real(std::sin(double(i + 1) * double(shard + 1))); };
  std::vector<real> expected(n);
  for (Index i = 0; i < n; ++i) expected[i] = tree_sum({number(0, i), number(1, i), number(2, i)}, 0, shards);
  for (Index ranks = 1; ranks <= 3; ++ranks) {
    std::atomic<int> right = 0;
    simulate(ranks, [&](Group& group) {
      ShardSum sum(group, shards, n);
      std::vector<real> total(n);
      for (int step = 0; step < 2; ++step) {
        for (Index s = sum.mine().begin; s < sum.mine().end; ++s) {
          const bool last = s + 1 == sum.mine().end;
          if (last) sum.add(s, total.data());
          for (Index end = n; end > 0; end -= 5003) {  // from the back, as backward does
            const Range range{std::max<Index>(0, end - 5003), end};
            for (Index i = range.begin; i < range.end; ++i) total[i] = number(s, i);
            if (last && range.begin > 10'000 * group.rank()) sum.complete(range);  // `finish` takes the rest
          }
          if (!last) sum.add(s, total.data());
        }
        sum.finish(total.data());
        right += total == expected;
      }
    });
    CHECK(right == 2 * ranks);
  }
}

TEST_CASE("there is a shard for every rank, or the group is refused") {
  CHECK_THROWS_WITH_AS(simulate(3, [](Group& group) { ShardSum(group, 2, 10); }),
                       "shards: 3 processes have only 2 shards to share", Error);
  CHECK_THROWS_WITH_AS(ShardSum(alone(), 0, 10), "shards: a batch cannot be cut into 0", Error);
}

TEST_CASE("the random numbers of a shard depend on seed, step and shard") {
  const auto draws = [](std::uint64_t seed, Index step, Index shard) {
    Rng rng = shard_rng(seed, step, shard);
    return std::vector<std::uint64_t>{rng.bits64(), rng.bits64()};
  };
  CHECK(draws(1, 2, 3) == draws(1, 2, 3));
  CHECK(draws(1, 2, 3) != draws(2, 2, 3));
  CHECK(draws(1, 2, 3) != draws(1, 3, 3));
  CHECK(draws(1, 2, 3) != draws(1, 2, 0));
}
