// Solution 16: the games that BERT learns from, its classifier, and its student.
#pragma once

#include "lessons/16_bert/types.hpp"

namespace exercise {

// What is read and what is asked are two things: a word that stays in place is asked for like the others, so
// the model can never be sure that what it reads is what was there.
Gaps mask_tokens(const std::vector<int>& tokens, const std::vector<double>& choose,
                 const std::vector<double>& lot, const std::vector<int>& other) {
  Gaps gaps{tokens, std::vector<int>(tokens.size(), 0)};
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t] < first_word || choose[t] >= 0.15) continue;
    gaps.asked[t] = 1;
    if (lot[t] < 0.8)
      gaps.reads[t] = mask;
    else if (lot[t] < 0.9)
      gaps.reads[t] = other[t];
  }
  return gaps;
}

// The mean is over the gaps, not over the tokens: otherwise a sentence with few gaps would teach less.
double mlm_loss(const Tensor& logits, const std::vector<int>& words, const std::vector<int>& asked) {
  double loss = 0;
  int gaps = 0;
  for (Index t = 0; t < logits.size(0); ++t) {
    if (!asked[std::size_t(t)]) continue;
    double sum = 0;
    for (Index v = 0; v < logits.size(1); ++v) sum += std::exp(double(logits(t, v)));
    loss += std::log(sum) - double(logits(t, words[std::size_t(t)]));
    ++gaps;
  }
  return gaps ? loss / gaps : 0;
}

// The segment is a second way, besides sep, to tell a word which sentence it belongs to.
PairRow join_pair(const std::vector<int>& first, const std::vector<int>& second) {
  PairRow row{{cls}, {}};
  row.tokens.insert(row.tokens.end(), first.begin(), first.end());
  row.tokens.push_back(sep);
  row.segments.assign(row.tokens.size(), 0);
  row.tokens.insert(row.tokens.end(), second.begin(), second.end());
  row.tokens.push_back(sep);
  row.segments.resize(row.tokens.size(), 1);
  return row;
}

// cls has seen all words in every layer; its state is what the model wants to say about the sentence.
Tensor classify(const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                const Tensor& head_b) {
  const Tensor h = select(states, 1, 0);                  // (B, C)
  const Tensor pooled = tanh(linear(h, pool_w, pool_b));  // (B, C)
  return linear(pooled, head_w, head_b);                  // (B, K)
}

// The gradient of the softened loss is 1/τ of the softened difference, which itself is about 1/τ of the plain
// one. Multiplying by τ² makes the step the same size for every temperature.
double distillation_loss(const Tensor& student, const Tensor& teacher, double temperature) {
  const Tensor log_p = log_softmax(teacher / real(temperature));
  const Tensor log_q = log_softmax(student / real(temperature));
  const Tensor divergence = sum(exp(log_p) * (log_p - log_q), -1);  // (B)
  return temperature * temperature * double(mean(divergence).item());
}

}  // namespace exercise
