// The wrong answers to exercise 05 that the grader knows by name: byte pair encoding.
#pragma once

#include <map>  // map

#include "lessons/05_tokens/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
std::pair<int, int> frequent_pair(const Ids& ids);
Ids merge_once(const Ids& ids, int left, int right, int merged);
Ids bpe_encode(const std::string& text, const Merges& merges);
std::string bpe_decode(const Ids& ids, const Merges& merges);
PaddedBatch pad_rows(const std::vector<Ids>& sequences, int pad);
Tensor lookup_backward(const Ids& ids, const Tensor& gradient, Index vocabulary);

inline auto fields(PaddedBatch& batch) {
  return std::tuple{coach::field("ids", batch.ids), coach::field("mask", batch.mask)};
}
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::Ids;
using exercise::Merges;
using exercise::PaddedBatch;
using TokenPair = std::pair<int, int>;

inline void require_pair(const Ids& ids) {
  if (ids.size() < 2) throw std::invalid_argument("refused");
}
// The most frequent of pairs counted elsewhere; with `last`, the last of equals.
inline TokenPair best_of(const std::map<TokenPair, int>& counts, bool last = false) {
  TokenPair best = counts.begin()->first;
  for (const auto& [pair, count] : counts)
    if (count > counts.at(best) || (last && count == counts.at(best))) best = pair;
  return best;
}
inline std::map<TokenPair, int> pair_counts(const Ids& ids, std::size_t step = 1) {
  std::map<TokenPair, int> counts;
  for (std::size_t i = 0; i + 1 < ids.size(); i += step) ++counts[{ids[i], ids[i + 1]}];
  return counts;
}

inline const coach::Mistakes<decltype(exercise::frequent_pair)> frequent_pair = {
    {.name = "the last of equally frequent pairs",
     .why = "With >= a tie goes to the pair that comes last. It must be the smallest one, so that everybody "
            "who learns from "
            "the same text gets the same vocabulary.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids) {
           require_pair(ids);
           return best_of(pair_counts(ids), true);
         }},
    {.name = "ties by place",
     .why = "Of equally frequent pairs this takes the one that is met first in the text. Asked for is the "
            "one with the "
            "smallest ids.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids) {
           require_pair(ids);
           const std::map<TokenPair, int> counts = pair_counts(ids);
           TokenPair best{ids[0], ids[1]};
           for (std::size_t i = 0; i + 1 < ids.size(); ++i)
             if (counts.at({ids[i], ids[i + 1]}) > counts.at(best)) best = {ids[i], ids[i + 1]};
           return best;
         }},
    {.name = "every other place only",
     .why = "The pairs (0,1), (2,3), (4,5) are counted. But a pair may start at any token.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids) {
           require_pair(ids);
           return best_of(pair_counts(ids, 2));
         }},
    {.name = "left and right not told apart",
     .why = "1 2 and 2 1 are counted as one pair. They are different tokens: `no` is not `on`.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids) {
           require_pair(ids);
           std::map<TokenPair, int> counts;
           for (std::size_t i = 0; i + 1 < ids.size(); ++i)
             ++counts[{std::min(ids[i], ids[i + 1]), std::max(ids[i], ids[i + 1])}];
           return best_of(counts);
         }},
    {.name = "the two most frequent tokens",
     .why = "Tokens that are frequent each for itself need not stand side by side. What is counted are "
            "neighbours.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids) {
           require_pair(ids);
           std::map<int, int> counts;
           for (const int id : ids) ++counts[id];
           std::vector<int> order;
           for (const auto& entry : counts) order.push_back(entry.first);
           std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return counts[a] > counts[b]; });
           return TokenPair{order[0], order[order.size() > 1 ? 1 : 0]};
         }},
    {.name = "repeats counted once",
     .why = "In 4 4 4 the pair 4 4 stands at two places, and every place counts, even if they overlap. (That "
            "a token is used "
            "only once matters when merging.)",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids) {
           require_pair(ids);
           std::map<TokenPair, int> counts;
           for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
             ++counts[{ids[i], ids[i + 1]}];
             if (ids[i] == ids[i + 1]) ++i;
           }
           return best_of(counts);
         }},
    {.name = "the last pair left out",
     .why = "The loop ends one pair too early: n tokens have n − 1 pairs.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids) {
           require_pair(ids);
           std::map<TokenPair, int> counts = pair_counts(ids);
           if (--counts[{ids[ids.size() - 2], ids.back()}] == 0)
             counts.erase({ids[ids.size() - 2], ids.back()});
           return counts.empty() ? TokenPair{0, 0} : best_of(counts);
         }},
    {.name = "a sequence without pairs let through",
     .why = "One token has no neighbour. Any pair returned for it is made up.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids) {
           return ids.size() < 2 ? TokenPair{0, 0} : best_of(pair_counts(ids));
         }},
};

inline bool pair_at(const Ids& ids, std::size_t i, int left, int right) {
  return i + 1 < ids.size() && ids[i] == left && ids[i + 1] == right;
}
inline Ids merged_right(const Ids& ids, int left, int right, int merged) {
  Ids out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool pair = pair_at(ids, i, left, right);
    out.push_back(pair ? merged : ids[i]);
    if (pair) ++i;
  }
  return out;
}
inline Ids merged_first_only(const Ids& ids, int left, int right, int merged) {
  Ids out = ids;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i)
    if (pair_at(ids, i, left, right)) {
      out[i] = merged;
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      break;
    }
  return out;
}
inline Ids merged_overlapping(const Ids& ids, int left, int right, int merged) {
  Ids out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (pair_at(ids, i, left, right))
      out.push_back(merged);
    else if (i == 0 || !pair_at(ids, i - 1, left, right))
      out.push_back(ids[i]);
  }
  return out;
}

inline const coach::Mistakes<decltype(exercise::merge_once)> merge_once = {
    {.name = "overlapping pairs merged twice",
     .why = "In a a a the middle one belongs to both pairs, and was used for both: the text has become "
            "longer. A token that was "
            "merged is gone.",
     .where = "Overlaps and order",
     .answer = merged_overlapping},
    {.name = "the right half kept",
     .why = "The pair was replaced, but its right half is still there, behind the merged token: skip it.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids, int left, int right, int merged) {
           Ids out;
           for (std::size_t i = 0; i < ids.size(); ++i)
             out.push_back(pair_at(ids, i, left, right) ? merged : ids[i]);
           return out;
         }},
    {.name = "only the first place",
     .why = "The pair may stand in many places, and all of them are merged.",
     .where = "Byte pair encoding",
     .answer = merged_first_only},
    {.name = "from right to left",
     .why = "a a a became a aa. From left to right it is aa a; whoever merges differently cuts the same word "
            "differently.",
     .where = "Overlaps and order",
     .answer =
         [](const Ids& ids, int left, int right, int merged) {
           Ids reversed(ids.rbegin(), ids.rend());
           Ids out = merged_right(reversed, right, left, merged);
           return Ids(out.rbegin(), out.rend());
         }},
    {.name = "either order merged",
     .why = "right, left was merged, too. The new token stands for left and then right, and nothing else.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids, int left, int right, int merged) {
           Ids out;
           for (std::size_t i = 0; i < ids.size(); ++i) {
             const bool pair = pair_at(ids, i, left, right) || pair_at(ids, i, right, left);
             out.push_back(pair ? merged : ids[i]);
             if (pair) ++i;
           }
           return out;
         }},
    {.name = "the last token lost",
     .why = "The loop stops before the last token, since it has no neighbour. It must be kept all the same, "
            "unless it was "
            "merged.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids, int left, int right, int merged) {
           Ids out;
           for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
             const bool pair = pair_at(ids, i, left, right);
             out.push_back(pair ? merged : ids[i]);
             if (pair) ++i;
           }
           return out;
         }},
};

inline Ids bytes_of(const std::string& text) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}
template <class Merge>
Ids in_order(Ids ids, const Merges& merges, const Merge& merge) {
  for (std::size_t n = 0; n < merges.size(); ++n)
    ids = merge(ids, merges[n].first, merges[n].second, 256 + static_cast<int>(n));
  return ids;
}

inline const coach::Mistakes<decltype(exercise::bpe_encode)> bpe_encode = {
    {.name = "merge order ignored",
     .why = "The first pair from the left that can be merged is merged. But a merge learned earlier comes "
            "first, wherever it "
            "stands: in aab it is a b, if that was learned before a a.",
     .where = "Overlaps and order",
     .answer =
         [](const std::string& text, const Merges& merges) {
           Ids ids = bytes_of(text);
           for (std::size_t i = 0; i + 1 < ids.size();) {
             const auto found = std::find(merges.begin(), merges.end(), TokenPair{ids[i], ids[i + 1]});
             if (found == merges.end()) {
               ++i;
               continue;
             }
             ids[i] = 256 + static_cast<int>(found - merges.begin());
             ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
             i = 0;
           }
           return ids;
         }},
    {.name = "the last merge first",
     .why = "The merges are applied backwards. Later ones are made of the results of earlier ones, which do "
            "not exist yet.",
     .where = "Overlaps and order",
     .answer =
         [](const std::string& text, const Merges& merges) {
           Ids ids = bytes_of(text);
           for (std::size_t n = merges.size(); n-- > 0;)
             ids = merged_right(ids, merges[n].first, merges[n].second, 256 + static_cast<int>(n));
           return ids;
         }},
    {.name = "bytes only",
     .why = "The text is cut into bytes, and no merge is applied: that is a byte vocabulary.",
     .where = "Bytes",
     .answer = [](const std::string& text, const Merges&) { return bytes_of(text); }},
    {.name = "signed bytes",
     .why = "A char may be negative: the first byte of é became −61 instead of 195. Make it an unsigned char "
            "first.",
     .where = "Bytes",
     .answer =
         [](const std::string& text, const Merges& merges) {
           Ids ids;
           for (const char c : text) ids.push_back(static_cast<signed char>(c));
           return in_order(ids, merges, merged_right);
         }},
    {.name = "merged tokens numbered from 0",
     .why = "The numbers 0 to 255 belong to the bytes: merge number n makes token 256 + n.",
     .where = "Byte pair encoding",
     .answer =
         [](const std::string& text, const Merges& merges) {
           Ids ids = in_order(bytes_of(text), merges, merged_right);
           for (int& id : ids) id = id >= 256 ? id - 256 : id;
           return ids;
         }},
    {.name = "each merge at one place only",
     .why = "Every merge was applied once and not wherever it fits.",
     .where = "Byte pair encoding",
     .answer = [](const std::string& text,
                  const Merges& merges) { return in_order(bytes_of(text), merges, merged_first_only); }},
    {.name = "overlapping pairs merged twice",
     .why = "In aaa the middle a was used for both pairs: decoded, the text has become longer.",
     .where = "Overlaps and order",
     .answer = [](const std::string& text,
                  const Merges& merges) { return in_order(bytes_of(text), merges, merged_overlapping); }},
};

// The text of each token by its number; `join` makes one of two.
template <class Join>
std::string decoded(const Ids& ids, const Merges& merges, const Join& join) {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.push_back(std::string(1, static_cast<char>(byte)));
  for (const auto& [left, right] : merges) texts.push_back(join(texts[left], texts[right]));
  std::string text;
  for (const int id : ids) text += texts[id];
  return text;
}

inline const coach::Mistakes<decltype(exercise::bpe_decode)> bpe_decode = {
    {.name = "opened once only",
     .why = "The halves of a merged token may be merged tokens themselves. They have to be opened, too, down "
            "to bytes.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids, const Merges& merges) {
           std::string text;
           for (const int id : ids) {
             if (id < 256) {
               text += static_cast<char>(id);
             } else {
               text += static_cast<char>(merges[id - 256].first);
               text += static_cast<char>(merges[id - 256].second);
             }
           }
           return text;
         }},
    {.name = "right before left",
     .why = "The halves of a merged token were written in the wrong order.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids, const Merges& merges) {
           return decoded(ids, merges,
                          [](const std::string& left, const std::string& right) { return right + left; });
         }},
    {.name = "merged tokens left out",
     .why = "Only the bytes were written; tokens from 256 on hold most of the text.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids, const Merges& merges) {
           return decoded(ids, merges, [](const std::string&, const std::string&) { return std::string(); });
         }},
    {.name = "a space between tokens",
     .why = "Tokens are pieces of words. Spaces are tokens, or parts of them, like any other byte.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids, const Merges& merges) {
           std::string text;
           for (const int id : ids)
             text += (text.empty() ? "" : " ") +
                     decoded({id}, merges,
                             [](const std::string& left, const std::string& right) { return left + right; });
           return text;
         }},
    {.name = "only the left half",
     .why = "A merged token stands for two tokens, and the right one was lost.",
     .where = "Byte pair encoding",
     .answer =
         [](const Ids& ids, const Merges& merges) {
           return decoded(ids, merges, [](const std::string& left, const std::string&) { return left; });
         }},
};

}  // namespace mistakes
