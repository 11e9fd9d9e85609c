// The wrong answers to exercise 17 that the grader knows by name: the part about taking spans out.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
std::pair<Index, Index> span_counts(Index length, double fraction, double mean_length);
std::pair<std::vector<int>, std::vector<int>> corrupt_at(const std::vector<int>& tokens,
                                                         const std::vector<std::pair<Index, Index>>& spans,
                                                         int first_sentinel);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using Ids = std::vector<int>;
using Spans = std::vector<std::pair<Index, Index>>;
using Counts = std::pair<Index, Index>;
using Both = std::pair<Ids, Ids>;

inline Index bounded(double x, Index low, Index high) {
  return std::clamp<Index>(std::lround(x), low, std::max(low, high));
}

inline const coach::Mistakes<decltype(exercise::span_counts)> span_counts = {
    {.name = "cut off instead of rounded",
     .why = "A conversion to an integer cuts off the decimals: 5.55 becomes 5. Rounded it is 6.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = std::clamp<Index>(Index(double(length) * fraction), 1, length - 1);
           return Counts(taken, std::clamp<Index>(Index(double(taken) / mean), 1, length - taken));
         }},
    {.name = "always rounded up",
     .why = "std::ceil takes out more than the fraction on average. Rounding errs as often one way as the "
            "other.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(std::ceil(double(length) * fraction), 1, length - 1);
           return Counts(taken, bounded(std::ceil(double(taken) / mean), 1, length - taken));
         }},
    {.name = "nothing taken out of short texts",
     .why = "For a short text the fraction rounds to 0: nothing is taken out and there is nothing to learn "
            "from it.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(double(length) * fraction, 0, length - 1);
           return Counts(taken, bounded(double(taken) / mean, 0, length - taken));
         }},
    {.name = "all tokens may be taken",
     .why = "With a large fraction every token is taken out: what is left to tell them from?",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(double(length) * fraction, 1, length);
           return Counts(taken, bounded(double(taken) / mean, 1, length - taken));
         }},
    {.name = "more spans than kept tokens",
     .why = "Spans must not touch, so each needs a kept token before it. More spans than that find no place.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(double(length) * fraction, 1, length - 1);
           return Counts(taken, bounded(double(taken) / mean, 1, taken));
         }},
    {.name = "the fraction counts spans",
     .why = "15% is the share of tokens that are taken out. Here there are that many spans, each several "
            "tokens long: three times as much is lost.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index spans = bounded(double(length) * fraction, 1, length - 1);
           return Counts(bounded(double(spans) * mean, 1, length - 1), spans);
         }},
    {.name = "spans counted over the whole text",
     .why = "The number of spans is that of the tokens taken out, divided by the length of a span; here the "
            "whole text is divided.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(double(length) * fraction, 1, length - 1);
           return Counts(taken, bounded(double(length) / mean, 1, length - taken));
         }},
    {.name = "spans may be none",
     .why = "Fewer tokens than half a span round to no span at all. Something was to be taken out: at least "
            "one span.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(double(length) * fraction, 1, length - 1);
           return Counts(taken, bounded(double(taken) / mean, 0, length - taken));
         }},
    {.name = "spans of the number before rounding",
     .why = "The spans were counted from length · fraction itself. They hold the tokens that are taken out: "
            "the rounded number, within its bounds.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(double(length) * fraction, 1, length - 1);
           return Counts(taken, bounded(double(length) * fraction / mean, 1, length - taken));
         }},
    {.name = "spans and tokens swapped",
     .why = "First the tokens, second the spans.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(double(length) * fraction, 1, length - 1);
           return Counts(bounded(double(taken) / mean, 1, length - taken), taken);
         }},
};

// The right answer, with places where it can go wrong.
struct Slips {
  int step = 1;      // from one sentinel to the next
  int closing = 0;   // 0: the next sentinel; -1: the last one again; -2: none
  bool tail = true;  // what is behind the last span
  bool input_sentinel = true, target_sentinel = true, sentinel_first = true;
  bool words_stay = false;     // in the input, behind the sentinel
  bool every_token = false;    // a sentinel for each token
  bool length_is_end = false;  // (begin, length) taken for (begin, end)
  std::size_t longer = 0;      // so many tokens too many in each span
};

inline Both corrupt_with_slips(const Ids& tokens, const Spans& spans, int first_sentinel,
                               const Slips& slips) {
  Both out;
  int sentinel = first_sentinel;
  std::size_t next = 0;
  for (const auto& span : spans) {
    const std::size_t begin = std::size_t(span.first);
    const std::size_t end =
        std::min(tokens.size(),
                 slips.longer + std::size_t(slips.length_is_end ? span.second : span.first + span.second));
    for (; next < begin; ++next) out.first.push_back(tokens.at(next));
    if (slips.every_token) {
      for (; next < end; ++next, ++sentinel) {
        out.first.push_back(sentinel);
        out.second.insert(out.second.end(), {sentinel, tokens.at(next)});
      }
      continue;
    }
    if (slips.input_sentinel) out.first.push_back(sentinel);
    if (slips.target_sentinel && slips.sentinel_first) out.second.push_back(sentinel);
    for (std::size_t i = begin; i < end; ++i) {
      out.second.push_back(tokens.at(i));
      if (slips.words_stay) out.first.push_back(tokens.at(i));
    }
    if (slips.target_sentinel && !slips.sentinel_first) out.second.push_back(sentinel);
    next = end;
    sentinel += slips.step;
  }
  if (slips.tail)
    for (; next < tokens.size(); ++next) out.first.push_back(tokens.at(next));
  if (slips.closing > -2) out.second.push_back(sentinel + slips.closing);
  return out;
}

inline const coach::Mistakes<decltype(exercise::corrupt_at)> corrupt_at = {
    {.name = "one sentinel per token",
     .why = "A span leaves one sentinel, however long it is. With one for each token the input tells how "
            "many words are missing, and the target becomes twice as long.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.every_token = true}); }},
    {.name = "sentinels reused",
     .why = "All spans have the same sentinel: the target no longer says which words belong to which hole.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.step = 0}); }},
    {.name = "no closing sentinel",
     .why = "The target ends with the last span's words, and nothing says that the span ends there.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.closing = -2}); }},
    {.name = "the closing sentinel repeats the last",
     .why = "The target closes with a sentinel of its own, the next number. Repeated, it would begin the "
            "last span again.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.closing = -1}); }},
    {.name = "sentinels counted down: the other convention",
     .why = "Not wrong everywhere: in T5's own vocabulary the sentinels are the last tokens and count down. "
            "Here they count up; what matters is that both sides agree.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.step = -1}); }},
    {.name = "the end of the text lost",
     .why = "What stands behind the last span is not in the input. The loop over spans ends there, the text "
            "does not.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.tail = false}); }},
    {.name = "holes that cannot be seen",
     .why = "The spans are cut out of the input without a sentinel: the model does not know where something "
            "is missing.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.input_sentinel = false}); }},
    {.name = "a target without sentinels",
     .why = "The words of all spans run together: where one ends and the next begins is lost.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& tokens, const Spans& spans, int first) {
           return corrupt_with_slips(tokens, spans, first, {.target_sentinel = false});
         }},
    {.name = "the sentinel behind its words",
     .why = "A sentinel stands before its words, so that the decoder knows which hole it is filling while it "
            "writes.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.sentinel_first = false}); }},
    {.name = "the answer left in the input",
     .why = "The words of a span are still in the input, behind their sentinel: the model learns to copy.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.words_stay = true}); }},
    {.name = "the length taken for the end",
     .why = "A span is (begin, length): it ends at begin + length, not at the second number.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.length_is_end = true}); }},
    {.name = "spans one too long",
     .why = "A span of length n has the tokens begin to begin + n − 1. Here one more is taken out.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.longer = 1}); }},
    {.name = "sentinels counted from 1",
     .why = "The first span has sentinel 0, which is first_sentinel itself.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first + 1, {}); }},
    {.name = "input and target swapped",
     .why = "First the input, the text with holes; second the target, what was in them.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& tokens, const Spans& spans, int first) {
           const Both right = corrupt_with_slips(tokens, spans, first, {});
           return Both(right.second, right.first);
         }},
    {.name = "the closing sentinel in the input as well",
     .why = "The last sentinel closes the target. In the input it would be one more hole.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& tokens, const Spans& spans, int first) {
           Both out = corrupt_with_slips(tokens, spans, first, {});
           out.first.push_back(out.second.back());
           return out;
         }},
    {.name = "nothing to close without spans",
     .why = "A target without spans is the closing sentinel alone, not nothing at all.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& tokens, const Spans& spans, int first) {
           return corrupt_with_slips(tokens, spans, first, {.closing = spans.empty() ? -2 : 0});
         }},
};

}  // namespace mistakes
