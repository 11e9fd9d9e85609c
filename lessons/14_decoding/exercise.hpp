// Exercise 14: choosing a sentence.
//
// bos = 1 and eos = 2 are tokens. A Model is called with what is written so far, model({1, 5}), and returns a
// vector of V logarithms of probabilities. Each function may use the ones above it.
//
// Replace every todo(), then: make check-14
#pragma once

#include "lessons/14_decoding/types.hpp"

namespace exercise {

// What a hypothesis is worth: its log-probability divided by ((5 + length) / 6)^alpha.
//   length_score(-6, 7, 1) = -3      length_score(-6, 7, 0) = -6
double length_score(double log_probability, int length, double alpha) {
  todo();  // your answer
}

// Beam search. Begin with one hypothesis, {bos}, of log-probability 0. In each step extend every hypothesis
// that has not ended by each of the V words: its log-probability grows by that of the word. Of all these keep
// the best by log-probability: as many as `width` less the number of those that have ended before. The kept
// ones whose last word is eos have ended: they keep their place in the beam and are not extended. Stop when
// none is left to extend, or after max_length steps. The answer is the hypothesis (ended or not) with the
// best length_score, length being its words without bos but with eos, if it has one; return its words without
// bos and eos.
//   search_beam(model, 2, 10, 0.6) = {4, 5}      if the probabilities are 3: 0.6, 4: 0.4 after {1};
//                                                5: 0.5, 6: 0.5 after {1,3}; 5: 0.9, 6: 0.1 after {1,4};
//                                                and eos: 1 after that
std::vector<int> search_beam(const Model& model, int width, int max_length, double alpha) {
  todo();  // your answer
}

// Top-k: the k largest probabilities stay, divided by their sum so that they sum to 1; the others become 0. k
// is at least 1; if it is more than there are, all stay. No two are equal.
//   keep_top_k({0.15, 0.5, 0.05, 0.3}, 2) = {0, 0.625, 0, 0.375}
std::vector<double> keep_top_k(const std::vector<double>& probabilities, int k) {
  todo();  // your answer
}

// Top-p: the likeliest words stay, as few as together reach at least p (the one that crosses p stays),
// divided by their sum; the others become 0. 0 < p ≤ 1. No two are equal.
//   keep_top_p({0.15, 0.5, 0.05, 0.3}, 0.6) = {0, 0.625, 0, 0.375}
std::vector<double> keep_top_p(const std::vector<double>& probabilities, double p) {
  todo();  // your answer
}

// One step of self-attention with a cache. x is the newest word's embedding. Its place is the number of words
// in the cache: add that row of `positions`. Make its query, key and value (matmul(x, w.query), …), append
// key and value to the cache, and return the attention of the query to all words in the cache, itself
// included: softmax of q·k / √C, times the values.
//   x (C), positions (P,C) -> (C); cache.keys and cache.values grow by one (C) each
//   cached_step(x, positions, w, cache) = (x + positions[0]) w.value, if the cache was empty
Tensor cached_step(const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
  todo();  // your answer
}

}  // namespace exercise
