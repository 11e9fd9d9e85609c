#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "nn/text/batching.hpp"

using namespace attn;

namespace {

std::vector<EncodedPair> pairs_of_many_lengths(int count) {
  std::vector<EncodedPair> pairs;
  for (int i = 0; i < count; ++i)
    pairs.push_back({std::vector<int>(static_cast<std::size_t>(1 + i * 7 % 13), i),
                     std::vector<int>(static_cast<std::size_t>(2 + i * 5 % 11), i)});
  return pairs;
}

std::vector<Index> sorted_rows(const std::vector<std::vector<Index>>& plan) {
  std::vector<Index> rows;
  for (const auto& batch : plan) rows.insert(rows.end(), batch.begin(), batch.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

Index width(const EncodedPair& pair) {
  return static_cast<Index>(std::max(pair.source.size(), pair.target.size()));
}

}  // namespace

TEST_CASE("a batch is as wide as its longest sequence, filled up with pad, and knows what is real") {
  const Batch batch = pad_batch({{5, 6, 7}, {8}, {}, {9, 0}});
  CHECK(batch.rows == 4);
  CHECK(batch.cols == 3);
  CHECK(batch.ids == std::vector<int>{5, 6, 7, 8, 0, 0, 0, 0, 0, 9, 0, 0});
  CHECK(batch.lengths == std::vector<int>{3, 1, 0, 2});
  CHECK(batch.mask() == std::vector<int>{1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0});  // an id of 0 can be real
  CHECK(batch.at(1, 0) == 8);
  CHECK(batch.is_real(3, 1));
  CHECK_FALSE(batch.is_real(3, 2));
  CHECK(pad_batch({}).ids.empty());
  CHECK(pad_batch({{1, 2}, {}}, 9).ids == std::vector<int>{1, 2, 9, 9});
}

TEST_CASE("encoded pairs end with eos, and the target starts with bos") {
  const WordVocabulary words = WordVocabulary::learn({"a b", "c"});
  const auto pairs = encode_pairs({{"a b", "c"}}, words, words);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].source == std::vector<int>{words.id("a"), words.id("b"), Vocabulary::eos});
  CHECK(pairs[0].target == std::vector<int>{Vocabulary::bos, words.id("c"), Vocabulary::eos});
}

TEST_CASE("every pair is in a plan exactly once, under any limit") {
  const auto pairs = pairs_of_many_lengths(101);
  for (const BatchOptions& options :
       {BatchOptions{.sentences = 7}, BatchOptions{.sentences = 0, .tokens = 40},
        BatchOptions{.sentences = 5, .tokens = 33}, BatchOptions{.shuffle = false},
        BatchOptions{.sentences = 0, .tokens = 1}, BatchOptions{.sentences = 0}}) {
    const auto rows = sorted_rows(plan_batches(pairs, options));
    REQUIRE(rows.size() == 101);
    for (Index i = 0; i < 101; ++i) CHECK(rows[static_cast<std::size_t>(i)] == i);
  }
  CHECK(plan_batches(std::vector<EncodedPair>{}, {}).empty());
  CHECK_THROWS_AS(plan_batches(pairs, {.sentences = -1}), Error);
}

TEST_CASE("batches keep to the limits of sentences and tokens") {
  const auto pairs = pairs_of_many_lengths(101);
  for (const auto& rows : plan_batches(pairs, {.sentences = 6, .tokens = 50})) {
    CHECK(rows.size() <= 6);
    Index widest = 0;
    for (const Index row : rows) widest = std::max(widest, width(pairs[static_cast<std::size_t>(row)]));
    CHECK((rows.size() == 1 || static_cast<Index>(rows.size()) * widest <= 50));
  }
}

TEST_CASE("batching by length leaves little padding") {
  const auto pairs = pairs_of_many_lengths(1000);
  Index cells = 0, real = 0;
  for (const auto& rows : plan_batches(pairs, {.sentences = 16})) {
    const PairBatch batch = make_batch(pairs, rows);
    cells += batch.source.rows * batch.source.cols;
    for (const int length : batch.source.lengths) real += length;
  }
  CHECK(static_cast<double>(real) > 0.95 * static_cast<double>(cells));
}

TEST_CASE("the same seed gives the same batches, another seed others") {
  const auto pairs = pairs_of_many_lengths(101);
  const auto plan = plan_batches(pairs, {.sentences = 8, .seed = 3});
  CHECK(plan == plan_batches(pairs, {.sentences = 8, .seed = 3}));
  CHECK(plan != plan_batches(pairs, {.sentences = 8, .seed = 4}));
}

TEST_CASE("single sequences are batched as pairs are") {
  const std::vector<std::vector<int>> sequences = {{1, 1, 1}, {2}, {3, 3}, {4}};
  CHECK(plan_batches(sequences, {.sentences = 2, .shuffle = false}) ==
        std::vector<std::vector<Index>>{{1, 3}, {2, 0}});
}

TEST_CASE("pairs that are too long on either side are dropped and counted") {
  std::vector<EncodedPair> pairs = {{{1, 2}, {1}}, {{1}, {1, 2, 3}}, {{1, 2, 3, 4}, {1}}};
  CHECK(drop_long(pairs, 3) == 1);
  CHECK(pairs.size() == 2);
  CHECK(drop_long(pairs, 2) == 1);
  CHECK(pairs[0].source == std::vector<int>{1, 2});
}
