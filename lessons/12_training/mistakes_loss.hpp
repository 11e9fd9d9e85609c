// The wrong answers to exercise 12 that the grader knows by name: the losses.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
real smoothed_loss(const Tensor& scores, int target, real smoothing);
real sentence_loss(const Tensor& logits, const IntTensor& targets, real smoothing);
real learning_rate(Index step, Index d_model, Index warmup);
real clip_gradients(std::vector<Tensor>& gradients, real limit);
real perplexity(const std::vector<real>& losses, const std::vector<Index>& words);
}  // namespace exercise

namespace mistakes {

using namespace attn;

// −Σ wanted · log p, with `right` wanted of the target and `other` of every other word.
inline real loss_with(const Tensor& scores, int target, real right, real other) {
  const Tensor log_p = log_softmax(scores);
  real loss = 0;
  for (Index v = 0; v < scores.size(0); ++v) loss -= (v == target ? right : other) * log_p(v);
  return loss;
}
inline real size_of(const Tensor& scores) { return real(scores.size(0)); }

inline const coach::Mistakes<decltype(exercise::smoothed_loss)> smoothed_loss = {
    {.name = "ε spread over the V − 1 others, the other convention",
     .why =
         "Here smoothing / V goes to all V words, the right one too (as in PyTorch and the lesson); you gave "
         "smoothing / (V − 1) to the wrong ones only. Some papers do: the two differ by a rescaled ε.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target,
                  real e) { return loss_with(s, target, 1 - e, size_of(s) > 1 ? e / (size_of(s) - 1) : 0); }},
    {.name = "no smoothing",
     .why = "Only the right word counts: the target stayed all on one word.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target, real) { return loss_with(s, target, 1, 0); }},
    {.name = "the right word without its share",
     .why = "ε / V went to the others only, and 1 − ε to the right word: the target sums to less than 1.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target,
                  real e) { return loss_with(s, target, 1 - e, e / size_of(s)); }},
    {.name = "a target that sums to more than 1",
     .why = "ε / V was added everywhere, but the right word still has 1: what is given to all must be taken "
            "from it.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target,
                  real e) { return loss_with(s, target, 1 + e / size_of(s), e / size_of(s)); }},
    {.name = "only the right word, scaled",
     .why = "(1 − ε) · −log p of the right word: the ε that belongs to all words was left out.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target, real e) { return loss_with(s, target, 1 - e, 0); }},
    {.name = "ε on every word instead of ε / V",
     .why = "Each of the V words got the whole ε. It is shared among them.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target, real e) { return loss_with(s, target, 1, e); }},
    {.name = "no max subtraction",
     .why = "exp of a score like 1000 is infinite, of −1000 it is 0, and then the logarithm is lost. "
            "Differences of scores are all that counts: take the largest out first.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& s, int target, real e) {
           real sum = 0, loss = 0;
           for (Index v = 0; v < s.size(0); ++v) sum += std::exp(s(v));
           for (Index v = 0; v < s.size(0); ++v)
             loss -= ((v == target ? 1 - e : 0) + e / size_of(s)) * std::log(std::exp(s(v)) / sum);
           return loss;
         }},
    {.name = "the sign forgotten",
     .why = "log p is negative: a cost is its opposite. Minimising this one makes the right word unlikely.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target,
                  real e) { return -loss_with(s, target, 1 - e + e / size_of(s), e / size_of(s)); }},
    {.name = "smoothed probability instead of smoothed target",
     .why = "The model's probability was mixed with 1 / V before the logarithm. It is the target that is "
            "smoothed, not the guess.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target,
                  real e) { return -std::log((1 - e) * softmax(s)(target) + e / size_of(s)); }},
    {.name = "the largest score taken out once only",
     .why = "log p is score − largest − log Σ exp(score − largest): the largest score is missing in one of "
            "the two places.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& s, int target, real e) {
           const Tensor largest = max(s);
           return loss_with(s, target, 1 - e + e / size_of(s), e / size_of(s)) - largest.item();
         }},
    {.name = "probabilities instead of their logarithms",
     .why = "The cost of a guess is −log p, not −p: a p of 0.01 must cost far more than one of 0.1.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& s, int target, real e) {
           const Tensor p = softmax(s);
           real loss = 0;
           for (Index v = 0; v < s.size(0); ++v) loss -= ((v == target ? 1 - e : 0) + e / size_of(s)) * p(v);
           return loss;
         }},
    {.name = "ε and 1 − ε exchanged",
     .why = "The right word got ε, and 1 − ε was spread over all.",
     .where = "What a guess costs",
     .answer = [](const Tensor& s, int target,
                  real e) { return loss_with(s, target, e + (1 - e) / size_of(s), (1 - e) / size_of(s)); }},
    {.name = "the maximum starts at 0",
     .why = "If all scores are far below 0, the largest of them and 0 is 0, and every exponential vanishes. "
            "It has to start at one of the scores.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& s, int target, real e) {
           real largest = 0, sum = 0, loss = 0;
           for (Index v = 0; v < s.size(0); ++v) largest = std::max(largest, s(v));
           for (Index v = 0; v < s.size(0); ++v) sum += std::exp(s(v) - largest);
           for (Index v = 0; v < s.size(0); ++v)
             loss -= ((v == target ? 1 - e : 0) + e / size_of(s)) * (s(v) - largest - std::log(sum));
           return loss;
         }},
    {.name = "divided by V",
     .why = "The sum over the words is weighted by a target that sums to 1: it is a mean already.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& s, int target, real e) {
           return loss_with(s, target, 1 - e + e / size_of(s), e / size_of(s)) / size_of(s);
         }},
};

inline real right_loss(const Tensor& s, int target, real e) {
  return loss_with(s, target, 1 - e + e / size_of(s), e / size_of(s));
}

inline const coach::Mistakes<decltype(exercise::sentence_loss)> sentence_loss = {
    {.name = "padding targets counted",
     .why = "The model is asked to guess padding, too. That is easy, and a low loss then says little about "
            "the words.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& logits, const IntTensor& targets, real e) {
           real total = 0;
           for (Index t = 0; t < targets.numel(); ++t) total += right_loss(logits[t], targets[t], e);
           return total / real(targets.numel());
         }},
    {.name = "averaged over padding",
     .why = "Padding costs nothing here but is in the divisor: the same sentence gets a smaller loss in a "
            "wider batch.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& logits, const IntTensor& targets, real e) {
           real total = 0;
           for (Index t = 0; t < targets.numel(); ++t)
             if (targets[t] != 0) total += right_loss(logits[t], targets[t], e);
           return total / real(targets.numel());
         }},
    {.name = "a sum, not a mean",
     .why = "The losses are added up and not divided: a long sentence pulls harder than a short one, and the "
            "learning rate would have to follow the batch's size.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& logits, const IntTensor& targets, real e) {
           real total = 0;
           for (Index t = 0; t < targets.numel(); ++t)
             if (targets[t] != 0) total += right_loss(logits[t], targets[t], e);
           return total;
         }},
    {.name = "NaN for a sentence of padding alone",
     .why = "0 / 0: one row without a word would turn the whole model into NaN.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& logits, const IntTensor& targets, real e) {
           real total = 0, count = 0;
           for (Index t = 0; t < targets.numel(); ++t)
             if (targets[t] != 0) total += right_loss(logits[t], targets[t], e), count += 1;
           return total / count;
         }},
    {.name = "stops at the first padding",
     .why = "What stands behind the first 0 is left out. Padding is where the target is 0, wherever that is.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& logits, const IntTensor& targets, real e) {
           real total = 0, count = 0;
           for (Index t = 0; t < targets.numel() && targets[t] != 0; ++t)
             total += right_loss(logits[t], targets[t], e), count += 1;
           return count > 0 ? total / count : 0;
         }},
    {.name = "smoothing forgotten",
     .why = "The smoothing was not handed on to smoothed_loss.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& logits, const IntTensor& targets, real) {
           real total = 0, count = 0;
           for (Index t = 0; t < targets.numel(); ++t)
             if (targets[t] != 0) total += right_loss(logits[t], targets[t], 0), count += 1;
           return count > 0 ? total / count : 0;
         }},
    {.name = "the last place left out",
     .why = "The loop ends one too early: the last place has a target, too.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& logits, const IntTensor& targets, real e) {
           real total = 0, count = 0;
           for (Index t = 0; t + 1 < targets.numel(); ++t)
             if (targets[t] != 0) total += right_loss(logits[t], targets[t], e), count += 1;
           return count > 0 ? total / count : 0;
         }},
    {.name = "targets one place further",
     .why = "Row t was compared with the target of place t + 1. The shift has been made already, in what the "
            "decoder reads; logits and targets go together.",
     .where = "What a guess costs",
     .answer =
         [](const Tensor& logits, const IntTensor& targets, real e) {
           real total = 0, count = 0;
           for (Index t = 0; t + 1 < targets.numel(); ++t)
             if (targets[t + 1] != 0) total += right_loss(logits[t], targets[t + 1], e), count += 1;
           return count > 0 ? total / count : 0;
         }},
};

}  // namespace mistakes
