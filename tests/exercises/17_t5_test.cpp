// Grades exercise 17. The right answers are plain loops over marks on the tokens.
#include "mistakes/17_t5.hpp"  // made from mistakes.diff

using namespace attn;
using coach::Cases;
using coach::Question;

namespace oracle {

std::pair<Index, Index> span_counts(Index length, double fraction, double mean_length) {
  const auto rounded = [](double x, Index most) {
    return std::max<Index>(1, std::min(most, Index(std::floor(x + 0.5))));
  };
  const Index taken = rounded(double(length) * fraction, length - 1);
  return {taken, rounded(double(taken) / mean_length, length - taken)};
}

// First the number of the span that each token is in (-1: none), then one walk over the tokens.
std::pair<std::vector<int>, std::vector<int>> corrupt_at(const std::vector<int>& tokens,
                                                         const std::vector<std::pair<Index, Index>>& spans,
                                                         int first_sentinel) {
  std::vector<int> span_of(tokens.size(), -1), input, target;
  for (std::size_t n = 0; n < spans.size(); ++n)
    for (Index i = 0; i < spans[n].second; ++i)
      span_of[static_cast<std::size_t>(spans[n].first + i)] = static_cast<int>(n);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool begins = span_of[i] >= 0 && (i == 0 || span_of[i - 1] != span_of[i]);
    if (begins) {
      input.push_back(first_sentinel + span_of[i]);
      target.push_back(first_sentinel + span_of[i]);
    }
    (span_of[i] < 0 ? input : target).push_back(tokens[i]);
  }
  target.push_back(first_sentinel + static_cast<int>(spans.size()));
  return {input, target};
}

std::vector<int> rebuild(const std::vector<int>& input, const std::vector<int>& target, int first_sentinel) {
  std::vector<int> text;
  for (const int token : input) {
    if (token < first_sentinel) {
      text.push_back(token);
      continue;
    }
    bool found = false, inside = false;
    for (const int word : target) {
      if (word >= first_sentinel)
        inside = word == token, found = found || inside;
      else if (inside)
        text.push_back(word);
    }
    if (!found) throw std::invalid_argument("a sentinel of the input is not in the target");
  }
  return text;
}

std::vector<int> byte_ids(const std::string& text) {
  std::vector<int> ids;
  for (const char c : text) ids.push_back((c + 256) % 256 + 3);
  ids.push_back(1);
  return ids;
}

}  // namespace oracle

namespace {

std::vector<int> words(Index count, Rng& rng) {
  std::vector<int> out;
  for (Index i = 0; i < count; ++i) out.push_back(static_cast<int>(rng.below(90)));
  return out;
}

// Spans that do not touch, in order; often none, often one at the very beginning or end.
std::vector<std::pair<Index, Index>> drawn_spans(coach::Draw& draw, Index length) {
  std::vector<std::pair<Index, Index>> spans;
  for (Index begin = draw.between(0, 2); begin < length;) {
    const Index size = draw.between(1, std::min<Index>(3, length - begin));
    spans.emplace_back(begin, size);
    begin += size + draw.between(1, 3);
  }
  return spans;
}

// What a model might write: its spans in any order, some empty, not always closed, now and then one missing.
std::tuple<std::vector<int>, std::vector<int>, int> drawn_answer(coach::Draw& draw) {
  const int first = int(draw.between(90, 500)), spans = int(draw.size(0));
  std::vector<int> input = words(draw.size(0), draw.rng), target, order;
  for (int n = 0; n < spans; ++n) {
    order.insert(order.begin() + draw.rng.below(n + 1), n);
    input.push_back(first + n);
    for (const int word : words(draw.between(0, 2), draw.rng)) input.push_back(word);
  }
  if (!order.empty() && draw.rng.below(5) == 0) order.pop_back();
  for (const int n : order) {
    target.push_back(first + n);
    for (const int word : words(draw.between(0, 3), draw.rng)) target.push_back(word);
  }
  if (draw.coin()) target.push_back(first + spans);
  return {input, target, first};
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "17_t5",
      {Question<decltype(exercise::span_counts)>{
           .name = "span_counts",
           .answer = exercise::span_counts,
           .oracle = oracle::span_counts,
           .arguments = {"length", "fraction", "mean_length"},
           .cases = [](Rng&) -> Cases<decltype(exercise::span_counts)> {
             return {{3, 0.15, 3.0},  {11, 0.15, 3.0}, {4, 0.9, 3.0},    {7, 0.9, 1.0},     {37, 0.15, 3.0},
                     {43, 0.15, 3.0}, {63, 0.4, 2.0},  {100, 0.15, 3.0}, {512, 0.15, 20.0}, {2, 0.9, 1.0},
                     {6, 0.99, 2.0},  {13, 0.2, 1.9},  {17, 0.3, 1.0},   {9, 0.39, 1.0},    {4, 0.5, 1.0}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::span_counts)> {
             return {draw.count(600, 2), double(draw.between(1, 99)) / 100,
                     1 + double(draw.between(0, 40)) / 10};
           },
           .mistakes = mistakes::span_counts,
           .notice = "15% in spans of 3 are one hole in twenty tokens: the decoder has little to write, and "
                     "each word of it teaches."},
       Question<decltype(exercise::corrupt_at)>{
           .name = "corrupt_at",
           .answer = exercise::corrupt_at,
           .oracle = oracle::corrupt_at,
           .arguments = {"tokens", "spans", "first_sentinel"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::corrupt_at)> {
             return {{words(3, rng), {{1, 1}}, 100},
                     {words(5, rng), {{1, 2}, {4, 1}}, 100},
                     {words(7, rng), {{0, 2}, {3, 3}}, 90},
                     {words(4, rng), {}, 100},
                     {words(17, rng), {{2, 1}, {5, 4}, {11, 3}}, 1000}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::corrupt_at)> {
             const Index length = draw.size() + draw.size(0);
             return {words(length, draw.rng), drawn_spans(draw, length), int(draw.between(90, 1000))};
           },
           .mistakes = mistakes::corrupt_at,
           .notice = "Nothing is lost: input and target together are the text. That is what the next "
                     "function shows."},
       Question<decltype(exercise::rebuild)>{
           .name = "rebuild",
           .answer = exercise::rebuild,
           .oracle = oracle::rebuild,
           .arguments = {"input", "target", "first_sentinel"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::rebuild)> {
             const std::vector<int> text = words(17, rng);
             const auto holes = oracle::corrupt_at(text, {{0, 2}, {5, 4}, {11, 3}}, 90);
             return {{{5, 100, 8}, {100, 6, 7, 101}, 100},
                     {{5, 100, 8, 101}, {100, 6, 7, 101, 9, 102}, 100},
                     {{100, 3, 101, 4}, {101, 7, 8, 100, 1, 2, 102}, 100},  // in another order
                     {{1, 100, 2, 101, 3}, {100, 101, 9, 102}, 100},        // an empty span
                     {{1, 100, 2}, {100, 8, 9}, 100},                       // not closed
                     {{1, 100, 2, 101}, {100, 8, 102}, 100},                // a span is missing
                     {holes.first, holes.second, 90}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::rebuild)> { return drawn_answer(draw); },
           .mistakes = mistakes::rebuild,
           .notice = "A target is only text, so a model can write a bad one: whoever reads answers of models "
                     "has to be ready for that."},
       Question<decltype(exercise::byte_ids)>{
           .name = "byte_ids",
           .answer = exercise::byte_ids,
           .oracle = oracle::byte_ids,
           .arguments = {"text"},
           .cases = [](Rng&) -> Cases<decltype(exercise::byte_ids)> {
             return {
                 {"hi"},      {"a b"}, {"é"}, {""}, {"나는 cat"}, {" two  Blanks "}, {std::string("a\0b", 3)},
                 {"\xFD\xFF"}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::byte_ids)> {
             std::string text;
             for (Index i = draw.size(0); i > 0; --i) text += static_cast<char>(draw.rng.below(256));
             return {text};
           },
           .mistakes = mistakes::byte_ids,
           .notice =
               "`나는 cat` has six characters and became eleven tokens: no vocabulary, but longer texts."}}};
}
