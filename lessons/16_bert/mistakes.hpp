// The wrong answers to exercise 16 that the grader knows by name.
#pragma once

#include "lessons/16_bert/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
Gaps mask_tokens(const std::vector<int>& tokens, const std::vector<double>& choose,
                 const std::vector<double>& lot, const std::vector<int>& other);
double mlm_loss(const Tensor& logits, const std::vector<int>& words, const std::vector<int>& asked);
PairRow join_pair(const std::vector<int>& first, const std::vector<int>& second);
Tensor classify(const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                const Tensor& head_b);
double distillation_loss(const Tensor& student, const Tensor& teacher, double temperature);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::cls, exercise::first_word, exercise::Gaps, exercise::mask, exercise::PairRow, exercise::sep;
using Ids = std::vector<int>;
using Lots = std::vector<double>;

// How gaps are made, with everything that can be got wrong as a setting.
struct Making {
  bool specials = false;               // may be chosen as well
  bool others_chosen = false;          // the 85%
  double masked = 0.8, swapped = 0.9;  // ends of the two intervals
  bool ask_all = false, ask_kept = true, ask_swapped = true;
};
inline Gaps make(const Ids& tokens, const Lots& choose, const Lots& lot, const Ids& other,
                 const Making& how) {
  Gaps gaps{tokens, Ids(tokens.size(), how.ask_all ? 1 : 0)};
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if ((tokens[t] < first_word && !how.specials) || (choose.at(t) < 0.15) == how.others_chosen) continue;
    const bool is_mask = lot.at(t) < how.masked, is_swapped = !is_mask && lot.at(t) < how.swapped;
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

inline Tensor headed(const Tensor& h, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                     const Tensor& head_b) {
  return linear(tanh(linear(h, pool_w, pool_b)), head_w, head_b);
}

inline const coach::Mistakes<decltype(exercise::classify)> classify = {
    {.name = "the mean of all tokens",
     .why = "The states of all tokens were averaged. BERT has a token of its own for the sentence, cls, at "
            "place 0 (and an average would count padding).",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                  const Tensor& head_b) { return headed(mean(states, 1), pool_w, pool_b, head_w, head_b); }},
    {.name = "the last token",
     .why = "The last token is a sep or padding. That is where GPT's knowledge would be; BERT's is at cls, "
            "place 0.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return headed(select(states, 1, states.size(1) - 1), pool_w, pool_b, head_w, head_b);
         }},
    {.name = "no tanh",
     .why = "Without it pooler and head are two matrices in a row, which are no more than one.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return linear(linear(select(states, 1, 0), pool_w, pool_b), head_w, head_b);
         }},
    {.name = "no pooler",
     .why = "The head read the state of cls itself; the pooler, tanh(pool_w h + pool_b), stands in between.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& states, const Tensor&, const Tensor&, const Tensor& head_w,
                  const Tensor& head_b) { return linear(select(states, 1, 0), head_w, head_b); }},
    {.name = "the pooler's matrix transposed",
     .why =
         "pool_w h: row i of the matrix gives component i. That the transpose runs at all is an accident of "
         "its square shape.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return headed(select(states, 1, 0), transpose(pool_w), pool_b, head_w, head_b);
         }},
    {.name = "no bias",
     .why = "pool_b and head_b were left out.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& states, const Tensor& pool_w, const Tensor&, const Tensor& head_w,
                  const Tensor&) { return headed(select(states, 1, 0), pool_w, {}, head_w, {}); }},
    {.name = "softmax applied",
     .why = "Logits are asked for; the loss does the softmax itself.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return softmax(headed(select(states, 1, 0), pool_w, pool_b, head_w, head_b));
         }},
    {.name = "tanh at the end",
     .why = "The tanh belongs behind the pooler. Around the logits it keeps them within ±1: the model could "
            "never be sure.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
            const Tensor& head_b) {
           return tanh(linear(linear(select(states, 1, 0), pool_w, pool_b), head_w, head_b));
         }},
};

// Mean over the rows of Σ p log(p / q), each at its own temperature.
inline double divergence(const Tensor& p_logits, double p_temperature, const Tensor& q_logits,
                         double q_temperature) {
  const Tensor log_p = log_softmax(p_logits / real(p_temperature));
  const Tensor log_q = log_softmax(q_logits / real(q_temperature));
  return double(mean(sum(exp(log_p) * (log_p - log_q), -1)).item());
}

inline const coach::Mistakes<decltype(exercise::distillation_loss)> distillation_loss = {
    {.name = "temperature forgotten",
     .why = "Without it a sure teacher says nearly 0 and 1, no more than a label. The temperature brings out "
            "what it thinks of the other classes.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& student, const Tensor& teacher,
                  double) { return divergence(teacher, 1, student, 1); }},
    {.name = "τ² forgotten",
     .why = "Softened by τ, the gradients are about τ² times smaller. Without the factor the student hardly "
            "learns at a high temperature.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer = [](const Tensor& student, const Tensor& teacher,
                  double temperature) { return divergence(teacher, temperature, student, temperature); }},
    {.name = "τ instead of τ²",
     .why = "The gradient shrinks once through the division of the logits and once because the softened "
            "answers lie closer together: twice τ.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * divergence(teacher, temperature, student, temperature);
         }},
    {.name = "τ² without the softening",
     .why = "The factor is there to make up for the softening, but the logits were not divided.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, 1, student, 1);
         }},
    {.name = "teacher and student swapped",
     .why = "This weighs with the student's probabilities. Where the student says 0 it would never be told "
            "that the teacher does not.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(student, temperature, teacher, temperature);
         }},
    {.name = "only the teacher softened",
     .why = "Both have to be softened: a student that equals its teacher has to have loss 0.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, temperature, student, 1);
         }},
    {.name = "multiplied by the temperature",
     .why =
         "The logits are divided by τ. Multiplied, a temperature of 2 makes the answers harder, not softer.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, 1 / temperature, student, 1 / temperature);
         }},
    {.name = "hard labels",
     .why =
         "Only the teacher's first choice was used. That is what a label gives; what it thinks of the other "
         "classes is lost.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature *
                  double(cross_entropy(student / real(temperature), argmax(teacher)).item());
         }},
    {.name = "cross-entropy instead of the divergence",
     .why = "Σ p log p is missing: it changes no gradient, but the loss is then not 0 for a perfect student.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           const Tensor p = softmax(teacher / real(temperature));
           return -temperature * temperature *
                  double(mean(sum(p * log_softmax(student / real(temperature)), -1)).item());
         }},
    {.name = "sum over the batch",
     .why = "The mean over the rows is asked for: otherwise a larger batch makes larger steps.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return double(student.size(0)) * temperature * temperature *
                  divergence(teacher, temperature, student, temperature);
         }},
    {.name = "mean over the classes as well",
     .why = "A divergence is a sum over the classes. Only the rows are averaged.",
     .where = "Fine-tuned, frozen, from scratch, distilled",
     .answer =
         [](const Tensor& student, const Tensor& teacher, double temperature) {
           return temperature * temperature * divergence(teacher, temperature, student, temperature) /
                  double(student.size(1));
         }},
};

}  // namespace mistakes
