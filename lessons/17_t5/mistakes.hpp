// The wrong answers to exercise 17 that the grader knows by name. More of them: mistakes_spans.hpp
#pragma once

#include "lessons/17_t5/mistakes_spans.hpp"

namespace exercise {
std::vector<int> rebuild(const std::vector<int>& input, const std::vector<int>& target, int first_sentinel);
std::vector<int> byte_ids(const std::string& text);
}  // namespace exercise

namespace mistakes {

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
            "and may be empty.",
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
            "belong together, and the contract says to throw.",
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
    {.name = "an empty span refused",
     .why = "A sentinel with nothing behind it is an empty span: the model found that nothing is missing "
            "there. Only a sentinel that is not there at all is refused.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           return replace_sentinels(input, first, [&](int sentinel) {
             const Ids words = words_behind(target, sentinel, first);
             if (words.empty()) throw std::invalid_argument("an empty span");
             return words;
           });
         }},
    {.name = "an open end refused",
     .why = "The closing sentinel may be missing; then the last span goes on to the end of the target.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           refuse_missing(input, target, first);
           if (target.empty() || target.back() < first) throw std::invalid_argument("not closed");
           return replace_sentinels(input, first,
                                    [&](int sentinel) { return words_behind(target, sentinel, first); });
         }},
    {.name = "a missing span left as a sentinel",
     .why = "A sentinel that the target does not have stays in the text. The two do not belong together, and "
            "the contract says to throw.",
     .where = "Taking spans out",
     .answer =
         [](const Ids& input, const Ids& target, int first) {
           return replace_sentinels(input, first, [&](int sentinel) {
             const bool there = std::find(target.begin(), target.end(), sentinel) != target.end();
             return there ? words_behind(target, sentinel, first) : Ids{sentinel};
           });
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
    {.name = "characters instead of bytes",
     .why = "é became one token, its number in Unicode. ByT5 has one for each byte of its UTF-8, of which é "
            "has two: 256 tokens are enough for everything.",
     .where = "Bytes instead of words",
     .answer =
         [](const std::string& text) {
           Ids ids;
           for (const unsigned char byte : text) {
             if (byte >= 0xC0)
               ids.push_back(byte & (byte < 0xE0 ? 0x1F : byte < 0xF0 ? 0x0F : 0x07));
             else if (byte >= 0x80)
               ids.back() = ids.back() * 64 + (byte & 0x3F);
             else
               ids.push_back(byte);
           }
           for (int& id : ids) id += 3;
           ids.push_back(1);
           return ids;
         }},
    {.name = "no end for an empty text",
     .why = "An empty text ends, too: its only token is the end token.",
     .where = "Bytes instead of words",
     .answer = [](const std::string& text) { return bytes_with(text, 3, !text.empty()); }},
    {.name = "stopped at a zero byte",
     .why = "A std::string may hold the byte 0; read as a C string it ends there. Nothing is unknown to "
            "ByT5, not even 0.",
     .where = "Bytes instead of words",
     .answer = [](const std::string& text) { return bytes_with(text.c_str(), 3, true); }},
    {.name = "256 and more wrapped around",
     .why = "byte + 3 was kept in a byte, and so 253 became 0, which is padding. The tokens go up to 258.",
     .where = "Bytes instead of words",
     .answer =
         [](const std::string& text) {
           Ids ids = bytes_with(text, 3, false);
           for (int& id : ids) id %= 256;
           ids.push_back(1);
           return ids;
         }},
};

}  // namespace mistakes
