// Grades exercise 05. Where the library has a function, it is the right answer.
#include "mistakes/05_tokens.hpp"  // made from mistakes.diff
#include "tests/exercises/oracle.hpp"

namespace exercise {
inline auto fields(PaddedBatch& batch) {
  return std::tuple{coach::field("ids", batch.ids), coach::field("mask", batch.mask)};
}
}  // namespace exercise

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::Ids;
using exercise::Merges;
using exercise::PaddedBatch;

namespace oracle {

// For each pair, from the smallest ids on, counts it in the whole sequence.
std::pair<int, int> frequent_pair(const Ids& ids) {
  if (ids.size() < 2) throw std::invalid_argument("no pair");
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) pairs.emplace_back(ids[i], ids[i + 1]);
  std::sort(pairs.begin(), pairs.end());
  const auto count = [&](const auto& pair) { return std::count(pairs.begin(), pairs.end(), pair); };
  return *std::max_element(pairs.begin(), pairs.end(),
                           [&](const auto& a, const auto& b) { return count(a) < count(b); });
}

// As a text is searched and replaced.
Ids merge_once(const Ids& ids, int left, int right, int merged) {
  std::u32string text(ids.begin(), ids.end());
  const std::u32string pair = {char32_t(left), char32_t(right)};
  for (std::size_t at = 0; (at = text.find(pair, at)) != std::u32string::npos; ++at)
    text.replace(at, 2, 1, char32_t(merged));
  return {text.begin(), text.end()};
}

Ids bpe_encode(const std::string& text, const Merges& merges) {
  Ids ids;
  for (const unsigned char byte : text) ids.push_back(byte);
  int merged = 256;
  for (const auto& [left, right] : merges) ids = oracle::merge_once(ids, left, right, merged++);
  return ids;
}

std::string text_of(int id, const Merges& merges) {
  if (id < 256) return {static_cast<char>(id)};
  return text_of(merges[id - 256].first, merges) + text_of(merges[id - 256].second, merges);
}
std::string bpe_decode(const Ids& ids, const Merges& merges) {
  std::string text;
  for (const int id : ids) text += text_of(id, merges);
  return text;
}

PaddedBatch pad_rows(const std::vector<Ids>& sequences, int pad) {
  Index longest = 0;
  for (const Ids& ids : sequences) longest = std::max(longest, std::ssize(ids));
  const Shape shape{std::ssize(sequences), longest};
  const std::vector<int> padding(shape.numel(), pad), none(shape.numel(), 0);
  PaddedBatch batch{IntTensor(shape, padding), IntTensor(shape, none)};
  for (Index i = 0; i < shape[0]; ++i)
    for (Index t = 0; t < std::ssize(sequences[i]); ++t)
      batch.ids(i, t) = sequences[i][t], batch.mask(i, t) = 1;
  return batch;
}

Tensor lookup_backward(const Ids& ids, const Tensor& gradient, Index vocabulary) {
  const IntTensor rows({std::ssize(ids)}, ids);
  return pulled_back([&](const Tensor& table) { return embedding(table, rows); },
                     zeros({vocabulary, gradient.size(1)}), gradient);
}

}  // namespace oracle

Ids random_ids(Index count, Index below, Rng& rng) {
  Ids ids;
  for (Index i = 0; i < count; ++i) ids.push_back(static_cast<int>(rng.below(below)));
  return ids;
}

std::string random_text(Index length, Index letters, Rng& rng) {
  std::string text;
  for (Index i = 0; i < length; ++i) text += static_cast<char>('a' + rng.below(letters));
  return text;
}

Merges learned(const std::string& text, int count) {
  Ids ids = oracle::bpe_encode(text, {});
  Merges merges;
  for (int n = 0; n < count; ++n) {
    merges.push_back(oracle::frequent_pair(ids));
    ids = oracle::merge_once(ids, merges.back().first, merges.back().second, 256 + n);
  }
  return merges;
}

// Few different bytes, so that pairs repeat: letters, bytes beyond ASCII, and the byte 0.
using Alphabet = std::vector<int>;
const std::vector<Alphabet> alphabets = {{'a', 'b'}, {'a', 'b', 'c'}, {0xC3, 0xA9, 't'}, {0, 'x', 255}};

std::string drawn_text(coach::Draw& draw, const Alphabet& alphabet) {
  std::string text;
  for (Index i = 3 * draw.size(0); i > 0; --i) text += static_cast<char>(draw.one_of(alphabet));
  return text;
}
// Merges of bytes and of merged tokens; some do not occur in a text.
Merges drawn_merges(coach::Draw& draw, const Alphabet& alphabet) {
  Alphabet tokens = alphabet;
  Merges merges;
  for (Index n = 0, count = draw.size(0); n < count; ++n) {
    merges.emplace_back(draw.one_of(tokens), draw.one_of(tokens));
    tokens.push_back(256 + int(n));
  }
  return merges;
}

coach::Exercise coach::exercise() {
  return {
      "05_tokens",
      {Question<decltype(exercise::frequent_pair)>{
           .name = "frequent_pair",
           .answer = exercise::frequent_pair,
           .oracle = oracle::frequent_pair,
           .arguments = {"ids"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::frequent_pair)> {
             return {{{1, 2, 3, 1, 2}},
                     {{7, 3, 2, 5}},
                     {{0, 1, 2, 0, 1, 2, 1, 2}},
                     {{4, 4, 4, 5, 4, 5, 6}},
                     {{4, 4, 4, 2, 3, 2, 5}},
                     {{1, 2, 1, 3, 2, 1, 4, 5, 4, 5}},
                     {{5, 6, 3, 4, 3, 4}},
                     {{1, 5, 1, 6, 1, 7, 2, 8, 2, 9, 2}},
                     {{1}},
                     {{}},
                     {random_ids(40, 3, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::frequent_pair)> {
             // Few different ids, so that pairs repeat; every other time beyond a byte.
             const Index first = draw.coin() ? 0 : draw.one_of<Index>({200, 255, 256, 70000});
             return {draw.ints(3 * draw.size(0), first, first + draw.between(0, 3))};
           },
           .mistakes = mistakes::frequent_pair,
           .notice = "Learning a vocabulary is only this, a merge, and again."},
       Question<decltype(exercise::merge_once)>{
           .name = "merge_once",
           .answer = exercise::merge_once,
           .oracle = oracle::merge_once,
           .arguments = {"ids", "left", "right", "merged"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::merge_once)> {
             return {{{1, 2}, 1, 2, 9},
                     {{3, 1, 2, 3}, 1, 2, 9},
                     {{1, 1, 1}, 1, 1, 9},
                     {{1, 2, 3, 1, 2, 2, 1}, 1, 2, 9},
                     {{}, 1, 2, 9},
                     {{5}, 5, 5, 9},
                     {random_ids(20, 2, rng), 0, 1, 9},
                     {random_ids(20, 2, rng), 1, 1, 9}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::merge_once)> {
             const int left = int(draw.rng.below(3)), right = int(draw.rng.below(3));
             return {draw.ints(2 * draw.size(0), 0, 2), left, right, int(draw.between(3, 400))};
           },
           .mistakes = mistakes::merge_once,
           .notice = "Put every 9 back as its pair and the old sequence is there again: nothing is lost by "
                     "merging."},
       Question<decltype(exercise::bpe_encode)>{
           .name = "bpe_encode",
           .answer = exercise::bpe_encode,
           .oracle = oracle::bpe_encode,
           .arguments = {"text", "merges"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::bpe_encode)> {
             const std::string text = random_text(40, 2, rng);
             return {{"ab", {{'a', 'b'}}},
                     {"aab", {{'a', 'b'}, {'a', 'a'}}},
                     {"aaa", {{'a', 'a'}}},
                     {"abab", {{'a', 'b'}, {256, 256}}},
                     {"", {{'a', 'b'}}},
                     {"\xC3\xA9t\xC3\xA9", {{0xC3, 0xA9}}},
                     {random_text(30, 2, rng), learned(text, 6)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::bpe_encode)> {
             const Alphabet alphabet = draw.one_of(alphabets);
             return {drawn_text(draw, alphabet), drawn_merges(draw, alphabet)};
           },
           .mistakes = mistakes::bpe_encode,
           .notice = "Any bytes can be encoded, even those of a language that the merges have never seen."},
       Question<decltype(exercise::bpe_decode)>{
           .name = "bpe_decode",
           .answer = exercise::bpe_decode,
           .oracle = oracle::bpe_decode,
           .arguments = {"ids", "merges"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::bpe_decode)> {
             const std::string text = random_text(40, 3, rng);
             const Merges merges = learned(text, 6);
             return {{{'a', 256}, {{'a', 'b'}}},
                     {{257, 'c'}, {{'a', 'b'}, {256, 256}}},
                     {{256, 't', 256}, {{0xC3, 0xA9}}},
                     {{}, {{'a', 'b'}}},
                     {oracle::bpe_encode(text, merges), merges}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::bpe_decode)> {
             const Alphabet alphabet = draw.one_of(alphabets);
             const Merges merges = drawn_merges(draw, alphabet);
             return {oracle::bpe_encode(drawn_text(draw, alphabet), merges), merges};
           },
           .mistakes = mistakes::bpe_decode,
           .notice = "decode(encode(text)) is the text, always. The reverse need not hold: other tokens can "
                     "spell the same text."},
       Question<decltype(exercise::pad_rows)>{
           .name = "pad_rows",
           .answer = exercise::pad_rows,
           .oracle = oracle::pad_rows,
           .arguments = {"sequences", "pad"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::pad_rows)> {
             return {{{{5, 6}, {7}}, 0},
                     {{{7}, {5, 6, 8}}, 0},
                     {{{3, 9}, {4, 9, 2}, {}}, 9},
                     {{random_ids(3, 5, rng), random_ids(7, 5, rng), random_ids(1, 5, rng),
                       random_ids(5, 5, rng)},
                      2}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::pad_rows)> {
             std::vector<Ids> sequences(std::size_t(draw.size()));
             for (Ids& sequence : sequences) sequence = draw.ints(draw.size(0), 0, 5);
             return {sequences, int(draw.rng.below(4))};
           },
           .mistakes = mistakes::pad_rows,
           .notice = "Every cell of the rectangle costs the same time, real or not: sort by length and there "
                     "is less of it."},
       Question<decltype(exercise::lookup_backward)>{
           .name = "lookup_backward",
           .answer = exercise::lookup_backward,
           .oracle = oracle::lookup_backward,
           .arguments = {"ids", "gradient", "vocabulary"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::lookup_backward)> {
             return {{{1}, tidy({1, 2}, rng), 2},
                     {{2, 0, 2}, tidy({3, 1}, rng), 3},
                     {{1, 0, 1, 3, 1}, tidy({5, 3}, rng), 5},
                     {random_ids(9, 4, rng), normal({9, 7}, rng), 6}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::lookup_backward)> {
             const Index T = draw.size(0), V = draw.size(), C = draw.size();
             return {draw.ints(T, 0, V - 1), draw.tidy({T, C}), V};
           },
           .mistakes = mistakes::lookup_backward,
           .notice = "It is one-hot transposed times the gradient: the backward of a matrix product, as in "
                     "lesson 02."}}};
}
