// Solution 14: choosing a sentence.
#pragma once

#include "lessons/14_decoding/types.hpp"

namespace exercise {

// log P falls with every word, so it is divided by something that grows with the length. α = 0 turns it off.
double length_score(double log_probability, int length, double alpha) {
  return log_probability / std::pow((5.0 + length) / 6.0, alpha);
}

struct Hypothesis {
  std::vector<int> words;  // with bos
  double log_probability;
};
bool likelier(const Hypothesis& a, const Hypothesis& b) { return a.log_probability > b.log_probability; }

// Ended hypotheses are kept apart; what is left of the width is for the open ones. Logarithms are added, as
// products of many probabilities would be 0 in no time.
std::vector<int> search_beam(const Model& model, int width, int max_length, double alpha) {
  std::vector<Hypothesis> open = {{{bos}, 0}}, ended;
  for (int step = 0; step < max_length && !open.empty(); ++step) {
    std::vector<Hypothesis> candidates;
    for (const Hypothesis& hypothesis : open) {
      const std::vector<double> log_p = model(hypothesis.words);
      for (std::size_t v = 0; v < log_p.size(); ++v) {
        candidates.push_back({hypothesis.words, hypothesis.log_probability + log_p[v]});
        candidates.back().words.push_back(int(v));
      }
    }
    std::sort(candidates.begin(), candidates.end(), likelier);
    candidates.resize(std::min(candidates.size(), std::size_t(width) - ended.size()));
    open.clear();
    for (const Hypothesis& kept : candidates) (kept.words.back() == eos ? ended : open).push_back(kept);
  }
  ended.insert(ended.end(), open.begin(), open.end());  // cut off at max_length
  const auto score = [&](const Hypothesis& h) {
    return length_score(h.log_probability, int(h.words.size()) - 1, alpha);
  };
  std::vector<int> best = std::max_element(ended.begin(), ended.end(), [&](const auto& a, const auto& b) {
                            return score(a) < score(b);
                          })->words;
  best.erase(best.begin());
  if (!best.empty() && best.back() == eos) best.pop_back();
  return best;
}

// The k-th largest is the threshold.
std::vector<double> keep_top_k(const std::vector<double>& probabilities, int k) {
  std::vector<double> sorted = probabilities, kept = probabilities;
  std::sort(sorted.rbegin(), sorted.rend());
  const double threshold = sorted[std::min(sorted.size(), std::size_t(k)) - 1];
  double sum = 0;
  for (double& p : kept) sum += p = p < threshold ? 0 : p;
  for (double& p : kept) p /= sum;
  return kept;
}

// From the likeliest down, until p is reached: the number of words depends on how sure the model is.
std::vector<double> keep_top_p(const std::vector<double>& probabilities, double p) {
  std::vector<double> sorted = probabilities;
  std::sort(sorted.rbegin(), sorted.rend());
  int count = 0;
  for (double reached = 0; count < int(sorted.size()) && reached < p; ++count)
    reached += sorted[std::size_t(count)];
  return keep_top_k(probabilities, count);
}

// The past is read, not computed: one query, one new key, one new value. Because its place is the length of
// the cache, the numbers are those of a pass over the whole sentence.
Tensor cached_step(const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
  const Tensor placed = x + positions[Index(cache.keys.size())];
  const Tensor q = matmul(placed, w.query);
  cache.keys.push_back(matmul(placed, w.key));
  cache.values.push_back(matmul(placed, w.value));
  const Tensor scores = matmul(stack(cache.keys), q) / std::sqrt(real(x.size(0)));  // (T)
  return matmul(softmax(scores), stack(cache.values));                              // (C)
}

}  // namespace exercise
