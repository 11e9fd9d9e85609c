// The wrong answers to exercise 16 that the grader knows by name: the part about gaps and pairs.
#pragma once

#include "lessons/16_bert/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
Gaps mask_tokens(const std::vector<int>& tokens, const std::vector<double>& choose,
                 const std::vector<double>& lot, const std::vector<int>& other);
double mlm_loss(const Tensor& logits, const std::vector<int>& words, const std::vector<int>& asked);
PairRow join_pair(const std::vector<int>& first, const std::vector<int>& second);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::cls, exercise::first_word, exercise::Gaps, exercise::mask, exercise::pad, exercise::PairRow,
    exercise::sep;
using Ids = std::vector<int>;
using Lots = std::vector<double>;

// How gaps are made, with everything that can be got wrong as a setting.
struct Making {
  bool specials = false;               // may be chosen as well
  bool known_specials = false;         // only pad, cls and sep may not
  bool ends_included = false;          // 0.15, 0.8 and 0.9 themselves
  bool others_chosen = false;          // the 85%
  double masked = 0.8, swapped = 0.9;  // ends of the two intervals
  bool ask_all = false, ask_kept = true, ask_swapped = true;
};
inline Gaps make(const Ids& tokens, const Lots& choose, const Lots& lot, const Ids& other,
                 const Making& how) {
  Gaps gaps{tokens, Ids(tokens.size(), how.ask_all ? 1 : 0)};
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const auto below = [&](double x, double end) { return how.ends_included ? x <= end : x < end; };
    const bool is_word = how.known_specials ? tokens[t] != pad && tokens[t] != cls && tokens[t] != sep
                                            : tokens[t] >= first_word;
    if ((!is_word && !how.specials) || below(choose.at(t), 0.15) == how.others_chosen) continue;
    const bool is_mask = below(lot.at(t), how.masked), is_swapped = !is_mask && below(lot.at(t), how.swapped);
    if (is_mask) gaps.reads[t] = mask;
    if (is_swapped) gaps.reads[t] = other.at(t);
    gaps.asked[t] = is_mask || (is_swapped ? how.ask_swapped : how.ask_kept) || how.ask_all ? 1 : 0;
  }
  return gaps;
}

inline const coach::Mistakes<decltype(exercise::mask_tokens)> mask_tokens = {
    {.name = "masking specials",
     .why = "[CLS], [SEP] and padding were chosen like words. They carry no meaning to be guessed, and the "
            "model needs them to see where sentences begin and end.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.specials = true}); }},
    {.name = "loss on unmasked tokens",
     .why = "Every token is asked for. Where nothing was hidden the answer can be read off the input: the "
            "model learns to copy.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.ask_all = true}); }},
    {.name = "every chosen word becomes [MASK]",
     .why = "Later, in use, there is no [MASK] at all. If it stood at every gap, the model would learn to "
            "work only where it sees one.",
     .where = "Making the gaps",
     .answer =
         [](const Ids& tokens, const Lots& choose, const Lots& lot, const Ids& other) {
           return make(tokens, choose, lot, other, {.masked = 2, .swapped = 2});
         }},
    {.name = "words that stay are not asked for",
     .why = "A chosen word that stays is asked for like the others. That is what makes the model form an "
            "opinion of words that it can see.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.ask_kept = false}); }},
    {.name = "only [MASK] is asked for",
     .why = "Replaced and kept words are asked for as well: otherwise they would be nothing but noise.",
     .where = "Making the gaps",
     .answer =
         [](const Ids& tokens, const Lots& choose, const Lots& lot, const Ids& other) {
           return make(tokens, choose, lot, other, {.ask_kept = false, .ask_swapped = false});
         }},
    {.name = "85% chosen",
     .why = "The comparison is the wrong way round: with 85% of the words hidden there is nothing left to "
            "guess from.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.others_chosen = true}); }},
    {.name = "nothing kept",
     .why = "The rest of the chosen words were all replaced. Half of that rest has to stay as it is.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.swapped = 2}); }},
    {.name = "nothing replaced",
     .why = "The rest of the chosen words all stayed. Half of that rest has to become another word, so that "
            "no word the model reads can be trusted blindly.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.swapped = 0}); }},
    {.name = "[MASK] instead of another word",
     .why =
         "90% became [MASK]. One chosen word in ten has to be replaced by other[t] instead, so that no word "
         "the model reads can be trusted blindly.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.masked = 0.9}); }},
    {.name = "other special tokens taken for words",
     .why = "pad, cls and sep are left alone, but there are more special tokens: everything below first_word "
            "is one, mask itself, too.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.known_specials = true}); }},
    {.name = "<= instead of <",
     .why = "The intervals are [0, 0.15), [0, 0.8) and [0.8, 0.9): their upper ends do not belong to them.",
     .where = "Making the gaps",
     .answer = [](const Ids& tokens, const Lots& choose, const Lots& lot,
                  const Ids& other) { return make(tokens, choose, lot, other, {.ends_included = true}); }},
    {.name = "asked holds the word",
     .why = "asked says yes or no, 1 or 0. The true word is in `tokens`, where the loss finds it.",
     .where = "Making the gaps",
     .answer =
         [](const Ids& tokens, const Lots& choose, const Lots& lot, const Ids& other) {
           Gaps gaps = make(tokens, choose, lot, other, {});
           for (std::size_t t = 0; t < tokens.size(); ++t) gaps.asked[t] *= tokens[t];
           return gaps;
         }},
};

// The surprise at each place.
inline Lots surprises(const Tensor& logits, const Ids& words) {
  const Tensor log_p = log_softmax(logits);
  Lots out;
  for (Index t = 0; t < logits.size(0); ++t) out.push_back(-double(log_p(t, words.at(std::size_t(t)))));
  return out;
}
struct Summed {
  double loss = 0, gaps = 0;
};
inline Summed over_gaps(const Tensor& logits, const Ids& words, const Ids& asked, int wanted = 1) {
  const Lots all = surprises(logits, words);
  Summed summed;
  for (std::size_t t = 0; t < all.size(); ++t)
    if (asked.at(t) == wanted) summed.loss += all[t], summed.gaps += 1;
  return summed;
}

inline const coach::Mistakes<decltype(exercise::mlm_loss)> mlm_loss = {
    {.name = "loss on unmasked tokens",
     .why =
         "All places count here. Where nothing was hidden the word can be read off the input, and the loss "
         "is falsely low.",
     .where = "Making the gaps",
     .answer =
         [](const Tensor& logits, const Ids& words, const Ids&) {
           double loss = 0;
           for (const double one : surprises(logits, words)) loss += one;
           return loss / double(words.size());
         }},
    {.name = "divided by all tokens",
     .why = "The sum is over the gaps and so is the mean: dividing by T makes the loss about seven times too "
            "small, and different for every number of gaps.",
     .where = "Making the gaps",
     .answer = [](const Tensor& logits, const Ids& words,
                  const Ids& asked) { return over_gaps(logits, words, asked).loss / double(words.size()); }},
    {.name = "sum instead of mean",
     .why = "Divide by the number of gaps: a sentence with more of them would count more, and step sizes "
            "would depend on the length.",
     .where = "Making the gaps",
     .answer = [](const Tensor& logits, const Ids& words,
                  const Ids& asked) { return over_gaps(logits, words, asked).loss; }},
    {.name = "loss where nothing was asked",
     .why = "The condition is the wrong way round: it leaves out the gaps and counts everything else.",
     .where = "Making the gaps",
     .answer =
         [](const Tensor& logits, const Ids& words, const Ids& asked) {
           const Summed rest = over_gaps(logits, words, asked, 0);
           return rest.gaps > 0 ? rest.loss / rest.gaps : 0;
         }},
    {.name = "sign forgotten",
     .why = "Logarithms of probabilities are negative; the loss is −log P.",
     .where = "Making the gaps",
     .answer =
         [](const Tensor& logits, const Ids& words, const Ids& asked) {
           const Summed gaps = over_gaps(logits, words, asked);
           return gaps.gaps > 0 ? -gaps.loss / gaps.gaps : 0;
         }},
    {.name = "no gaps, no number",
     .why = "In a sentence without gaps this divides 0 by 0. One such batch makes every parameter NaN.",
     .where = "Making the gaps",
     .answer =
         [](const Tensor& logits, const Ids& words, const Ids& asked) {
           const Summed gaps = over_gaps(logits, words, asked);
           return gaps.loss / gaps.gaps;
         }},
    {.name = "no logarithm",
     .why = "This is the mean of 1 − P: it hardly punishes a probability of nearly 0.",
     .where = "Making the gaps",
     .answer =
         [](const Tensor& logits, const Ids& words, const Ids& asked) {
           const Lots all = surprises(logits, words);
           double loss = 0, gaps = 0;
           for (std::size_t t = 0; t < all.size(); ++t)
             if (asked.at(t)) loss += 1 - std::exp(-all[t]), gaps += 1;
           return gaps > 0 ? loss / gaps : 0;
         }},
    {.name = "the words counted by gap",
     .why = "The word of gap n is not words[n]: words has an entry for every place, and the gap at t asks "
            "for words[t].",
     .where = "Making the gaps",
     .answer =
         [](const Tensor& logits, const Ids& words, const Ids& asked) {
           const Tensor log_p = log_softmax(logits);
           double loss = 0;
           std::size_t gaps = 0;
           for (Index t = 0; t < logits.size(0); ++t)
             if (asked.at(std::size_t(t))) loss -= double(log_p(t, words.at(gaps++)));
           return gaps ? loss / double(gaps) : 0;
         }},
    {.name = "the share of wrong answers",
     .why = "This counts how often the likeliest word is wrong. It cannot be learned from: a little more "
            "probability for the right word changes nothing in it.",
     .where = "Making the gaps",
     .answer =
         [](const Tensor& logits, const Ids& words, const Ids& asked) {
           const IntTensor best = argmax(logits);
           double wrong = 0, gaps = 0;
           for (std::size_t t = 0; t < words.size(); ++t)
             if (asked.at(t)) wrong += best[Index(t)] != words[t], gaps += 1;
           return gaps > 0 ? wrong / gaps : 0;
         }},
};

// A row from its pieces, the segment of each beside it.
inline PairRow row_of(const std::vector<std::pair<Ids, int>>& pieces) {
  PairRow row;
  for (const auto& piece : pieces) {
    row.tokens.insert(row.tokens.end(), piece.first.begin(), piece.first.end());
    row.segments.insert(row.segments.end(), piece.first.size(), piece.second);
  }
  return row;
}

inline const coach::Mistakes<decltype(exercise::join_pair)> join_pair = {
    {.name = "the separator in the second sentence",
     .why = "The sep in between closes the first sentence, so its segment is 0.",
     .where = "Did it follow? Segments and [CLS]",
     .answer =
         [](const Ids& first, const Ids& second) {
           return row_of({{{cls}, 0}, {first, 0}, {{sep}, 1}, {second, 1}, {{sep}, 1}});
         }},
    {.name = "no closing separator",
     .why = "The second sentence ends with a sep, too: the model is told where each one stops.",
     .where = "Did it follow? Segments and [CLS]",
     .answer =
         [](const Ids& first, const Ids& second) {
           return row_of({{{cls}, 0}, {first, 0}, {{sep}, 0}, {second, 1}});
         }},
    {.name = "a [CLS] for each sentence",
     .why = "There is one cls, for the pair as a whole: it is asked whether the two belong together.",
     .where = "Did it follow? Segments and [CLS]",
     .answer =
         [](const Ids& first, const Ids& second) {
           return row_of({{{cls}, 0}, {first, 0}, {{sep}, 0}, {{cls}, 1}, {second, 1}, {{sep}, 1}});
         }},
    {.name = "segments counted from 1",
     .why = "The table of segments has two rows, 0 and 1. Row 2 does not exist.",
     .where = "Did it follow? Segments and [CLS]",
     .answer =
         [](const Ids& first, const Ids& second) {
           return row_of({{{cls}, 1}, {first, 1}, {{sep}, 1}, {second, 2}, {{sep}, 2}});
         }},
    {.name = "sentences swapped",
     .why = "The first sentence stands first: whether one follows the other depends on the order.",
     .where = "Did it follow? Segments and [CLS]",
     .answer =
         [](const Ids& first, const Ids& second) {
           return row_of({{{cls}, 0}, {second, 0}, {{sep}, 0}, {first, 1}, {{sep}, 1}});
         }},
    {.name = "one segment for all",
     .why = "All segments are 0, so nothing but the sep tells the two sentences apart.",
     .where = "Did it follow? Segments and [CLS]",
     .answer =
         [](const Ids& first, const Ids& second) {
           return row_of({{{cls}, 0}, {first, 0}, {{sep}, 0}, {second, 0}, {{sep}, 0}});
         }},
    {.name = "the last separator in the first sentence",
     .why = "The last sep closes the second sentence, so its segment is 1.",
     .where = "Did it follow? Segments and [CLS]",
     .answer =
         [](const Ids& first, const Ids& second) {
           return row_of({{{cls}, 0}, {first, 0}, {{sep}, 0}, {second, 1}, {{sep}, 0}});
         }},
    {.name = "no [CLS]",
     .why = "cls has to stand in front: its state is what the answer is read from.",
     .where = "Did it follow? Segments and [CLS]",
     .answer =
         [](const Ids& first, const Ids& second) {
           return row_of({{first, 0}, {{sep}, 0}, {second, 1}, {{sep}, 1}});
         }},
};

}  // namespace mistakes
