// The wrong answers to exercise 17 that the grader knows by name.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
std::pair<Index, Index> span_counts(Index length, double fraction, double mean_length);
std::pair<std::vector<int>, std::vector<int>> corrupt_at(const std::vector<int>& tokens,
                                                         const std::vector<std::pair<Index, Index>>& spans,
                                                         int first_sentinel);
std::vector<int> rebuild(const std::vector<int>& input, const std::vector<int>& target, int first_sentinel);
std::vector<int> byte_ids(const std::string& text);
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
            "tokens long: "
            "three times as much is lost.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index spans = bounded(double(length) * fraction, 1, length - 1);
           return Counts(bounded(double(spans) * mean, 1, length - 1), spans);
         }},
    {.name = "spans counted over the whole text",
     .why = "The number of spans is that of the tokens taken out, divided by the length of a span; here the "
            "whole text "
            "is divided.",
     .where = "Taking spans out",
     .answer =
         [](Index length, double fraction, double mean) {
           const Index taken = bounded(double(length) * fraction, 1, length - 1);
           return Counts(taken, bounded(double(length) / mean, 1, length - taken));
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
};

inline Both corrupt_with_slips(const Ids& tokens, const Spans& spans, int first_sentinel,
                               const Slips& slips) {
  Both out;
  int sentinel = first_sentinel;
  std::size_t next = 0;
  for (const auto& span : spans) {
    const std::size_t begin = std::size_t(span.first);
    const std::size_t end = std::size_t(slips.length_is_end ? span.second : span.first + span.second);
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
            "many words are "
            "missing, and the target becomes twice as long.",
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
            "last span "
            "again.",
     .where = "Taking spans out",
     .answer = [](const Ids& tokens, const Spans& spans,
                  int first) { return corrupt_with_slips(tokens, spans, first, {.closing = -1}); }},
    {.name = "sentinels counted down: the other convention",
     .why = "Not wrong everywhere: in T5's own vocabulary the sentinels are the last tokens and count down. "
            "Here they "
            "count up; what matters is that both sides agree.",
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
};

// The words behind `sentinel` in the target; nothing if it is not there.
inline Ids words_behind(const Ids& target, int sentinel, int first_sentinel) {
  Ids words;
  auto word = std::find(target.begin(), target.end(), sentinel);
  if (word == target.end()) return words;
  for (++word; word != target.end() && *word < first_sentinel; ++word) words.push_back(*word);
  return words;
}
inline void refuse_missing(const Ids& input, const Ids& target, int first_sentinel) {
  for (const int token : input)
    if (token >= first_sentinel && std::find(target.begin(), target.end(), token) == target.end())
      throw std::invalid_argument("the target has no span for a sentinel");
}
template <class Words>
Ids replace_sentinels(const Ids& input, int first_sentinel, const Words& words) {
  Ids text;
  for (const int token : input) {
    if (token < first_sentinel) {
      text.push_back(token);
      continue;
    }
    const Ids span = words(token);
    text.insert(text.end(), span.begin(), span.end());
  }
  return text;
}

inline const coach::Mistakes<decltype(exercise::rebuild)> rebuild = {
    {.name = "sentinels left in the text",
     .why = "The words are put back, but the sentinels stay. They are names of holes, not words.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first);
           return replace_sentinels(input, first, [&](int sentinel) {
             Ids words = words_behind(target, sentinel, first);
             words.insert(words.begin(), sentinel);
             return words;
           });
         }},
    {.name = "one word for each sentinel",
     .why = "Only the first word behind the sentinel is put back. A span goes on up to the next sentinel, "
            "and may be "
            "empty.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first);
           return replace_sentinels(input, first, [&](int sentinel) {
             Ids words = words_behind(target, sentinel, first);
             if (words.size() > 1) words.resize(1);
             return words;
           });
         }},
    {.name = "spans taken in order, not by name",
     .why = "The first hole gets the first span, whatever its sentinel says. A model may write them in "
            "another order.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first);
           Ids order;
           for (const int token : target)
             if (token >= first) order.push_back(token);
           std::size_t next = 0;
           return replace_sentinels(input, first,
                                    [&](int) { return words_behind(target, order.at(next++), first); });
         }},
    {.name = "the next sentinel put back, too",
     .why = "The span ends before the next sentinel; here that sentinel is taken along.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first);
           return replace_sentinels(input, first, [&](int sentinel) {
             Ids words = words_behind(target, sentinel, first);
             const auto place = std::find(target.begin(), target.end(), sentinel) - target.begin();
             const std::size_t end = std::size_t(place) + 1 + words.size();
             if (end < target.size()) words.push_back(target.at(end));
             return words;
           });
         }},
    {.name = "a missing span not refused",
     .why = "A sentinel of the input that is nowhere in the target is passed over in silence. The two do not "
            "belong "
            "together, and the contract says to throw.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           return replace_sentinels(input, first,
                                    [&](int sentinel) { return words_behind(target, sentinel, first); });
         }},
    {.name = "a span without a closing sentinel lost",
     .why = "The last span is put back only if a sentinel follows it. A target that was cut short has none.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first);
           Ids closed = target;
           while (!closed.empty() && closed.back() < first) closed.pop_back();
           return replace_sentinels(input, first,
                                    [&](int sentinel) { return words_behind(closed, sentinel, first); });
         }},
    {.name = "the words put at the end",
     .why = "All missing words are there, but behind the text. Each span belongs where its sentinel stands.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first);
           Ids text = replace_sentinels(input, first, [](int) { return Ids(); });
           for (const int token : target)
             if (token < first) text.push_back(token);
           return text;
         }},
    {.name = "holes left empty",
     .why = "The sentinels are gone from the input, and nothing came in their place.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first);
           return replace_sentinels(input, first, [](int) { return Ids(); });
         }},
    {.name = "the first sentinel taken for a word",
     .why =
         "Every token from first_sentinel on is a sentinel, first_sentinel itself included: > has to be >=.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first + 1);
           return replace_sentinels(input, first + 1,
                                    [&](int sentinel) { return words_behind(target, sentinel, first + 1); });
         }},
};

inline Ids bytes_with(const std::string& text, int offset, bool end) {
  Ids ids;
  for (const unsigned char byte : text) ids.push_back(byte + offset);
  if (end) ids.push_back(1);
  return ids;
}

inline const coach::Mistakes<decltype(exercise::byte_ids)> byte_ids = {
    {.name = "signed bytes",
     .why = "char is signed here: the bytes of é or 나 come out negative, and are no rows of any embedding.",
     .where = "Bytes instead of words",
     .answer =
         [](const std::string& text) {
           Ids ids;
           for (const char byte : text) ids.push_back(static_cast<signed char>(byte) + 3);
           ids.push_back(1);
           return ids;
         }},
    {.name = "no room for the special tokens",
     .why = "The bytes are not moved up by 3, so that byte 1 would be the end token.",
     .where = "Bytes instead of words",
     .answer = [](const std::string& text) { return bytes_with(text, 0, true); }},
    {.name = "no end token",
     .why = "Nothing says where the text ends.",
     .where = "Bytes instead of words",
     .answer = [](const std::string& text) { return bytes_with(text, 3, false); }},
    {.name = "blanks left out",
     .why =
         "A blank is a byte like any other; without it words run together and the text cannot be read back.",
     .where = "Bytes instead of words",
     .answer =
         [](const std::string& text) {
           Ids ids;
           for (const unsigned char byte : text)
             if (byte != ' ') ids.push_back(byte + 3);
           ids.push_back(1);
           return ids;
         }},
    {.name = "unknown beyond ASCII",
     .why = "Bytes above 127 became the unknown token. That nothing is unknown is why one uses bytes.",
     .where = "Bytes instead of words",
     .answer =
         [](const std::string& text) {
           Ids ids;
           for (const unsigned char byte : text) ids.push_back(byte < 128 ? byte + 3 : 2);
           ids.push_back(1);
           return ids;
         }},
    {.name = "the end token in front",
     .why = "The end token stands at the beginning.",
     .where = "Bytes instead of words",
     .answer =
         [](const std::string& text) {
           Ids ids = bytes_with(text, 3, false);
           ids.insert(ids.begin(), 1);
           return ids;
         }},
    {.name = "the end token moved up, too",
     .why = "The 3 is added to the end token as well: 4 is the byte 1, not the end.",
     .where = "Bytes instead of words",
     .answer =
         [](const std::string& text) {
           Ids ids = bytes_with(text, 3, false);
           ids.push_back(4);
           return ids;
         }},
};

}  // namespace mistakes
