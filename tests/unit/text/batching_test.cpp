#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>  // ssize
#include <string>
#include <vector>

#include "core/error.hpp"
#include "nn/text/batching.hpp"

using namespace attn;

namespace {

std::vector<EncodedPair> pairs_of_many_lengths(int count) {
  std::vector<EncodedPair> pairs;
  for (int i = 0; i < count; ++i)
    pairs.push_back({std::vector<int>(1 + i * 7 % 13, i), std::vector<int>(2 + i * 5 % 11, i)});
  return pairs;
}

std::vector<Index> sorted_rows(const std::vector<std::vector<Index>>& plan) {
  std::vector<Index> rows;
  for (const auto& batch : plan) rows.insert(rows.end(), batch.begin(), batch.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

Index width(const EncodedPair& pair) { return std::max(std::ssize(pair.source), std::ssize(pair.target)); }

}  // namespace

TEST_CASE("tokens come from a tensor, from one sequence, or with their lengths") {
  const Tokens all(IntTensor({2, 2}, {1, 2, 3, 4})), one(std::vector<int>{5, 6, 7});
  CHECK(all.ids.shape() == Shape{2, 2});
  CHECK(all.lengths.numel() == 0);
  CHECK(one.ids.shape() == Shape{1, 3});
  CHECK(one.ids.values() == std::vector<int>{5, 6, 7});
  CHECK(one.lengths.numel() == 0);
}

TEST_CASE("a padded batch is as wide as its longest sequence and knows the length of each") {
  const Tokens batch = pad_batch({{5, 6, 7}, {8}, {}, {9, 0}});
  CHECK(batch.ids.shape() == Shape{4, 3});
  CHECK(batch.ids.values() == std::vector<int>{5, 6, 7, 8, 0, 0, 0, 0, 0, 9, 0, 0});
  CHECK(batch.lengths.values() == std::vector<int>{3, 1, 0, 2});  // an id of 0 can be real
  CHECK(pad_batch({}).ids.numel() == 0);
  CHECK(pad_batch({{1, 2}, {}}, 9).ids.values() == std::vector<int>{1, 2, 9, 9});
}

TEST_CASE("the decoder reads bos and the words, and its targets are each next word up to eos") {
  const std::vector<EncodedPair> pairs = {{{7, 2}, {1, 5, 6, 2}}, {{8, 9, 2}, {1, 4, 2}}, {{6}, {1, 2}}};
  const Batch batch = make_batch(pairs, {0, 1});
  CHECK(batch.source.ids.values() == std::vector<int>{7, 2, 0, 8, 9, 2});
  CHECK(batch.source.lengths.values() == std::vector<int>{2, 3});
  CHECK(batch.decoder_input.ids.values() == std::vector<int>{1, 5, 6, 1, 4, 0});
  CHECK(batch.decoder_input.lengths.values() == std::vector<int>{3, 2});
  CHECK(batch.targets.values() == std::vector<int>{5, 6, 2, 4, 2, 0});
  CHECK(batch.targets.shape() == Shape{2, 3});
  CHECK(make_batch(pairs, {2, 0}).source.ids.values() == std::vector<int>{6, 0, 7, 2});
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
    for (Index i = 0; i < 101; ++i) CHECK(rows[i] == i);
  }
  CHECK(plan_batches(std::vector<EncodedPair>{}, {}).empty());
  CHECK_THROWS_AS(plan_batches(pairs, {.sentences = -1}), Error);
}

TEST_CASE("batches keep to the limits of sentences and tokens") {
  const auto pairs = pairs_of_many_lengths(101);
  for (const auto& rows : plan_batches(pairs, {.sentences = 6, .tokens = 50})) {
    CHECK(rows.size() <= 6);
    Index widest = 0;
    for (const Index row : rows) widest = std::max(widest, width(pairs[row]));
    CHECK((rows.size() == 1 || std::ssize(rows) * widest <= 50));
  }
}

TEST_CASE("batching by length leaves little padding") {
  const auto pairs = pairs_of_many_lengths(1000);
  Index cells = 0, real = 0;
  for (const auto& rows : plan_batches(pairs, {.sentences = 16})) {
    const Batch batch = make_batch(pairs, rows);
    cells += batch.source.ids.numel();
    for (const int length : batch.source.lengths.values()) real += length;
  }
  CHECK(double(real) > 0.95 * double(cells));
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
