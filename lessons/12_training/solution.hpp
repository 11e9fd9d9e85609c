// Solution 12: what a training step is made of.
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// log p(v) = score(v) − log Σ exp(score). With the largest score taken out first nothing overflows.
real smoothed_loss(const Tensor& scores, int target, real smoothing) {
  const Index V = scores.size(0);
  real largest = scores(0), sum = 0, loss = 0;
  for (Index v = 1; v < V; ++v) largest = std::max(largest, scores(v));
  for (Index v = 0; v < V; ++v) sum += std::exp(scores(v) - largest);
  for (Index v = 0; v < V; ++v) {
    const real wanted = (v == target ? 1 - smoothing : 0) + smoothing / real(V);
    loss -= wanted * (scores(v) - largest - std::log(sum));
  }
  return loss;
}

// Sum and count leave out the same places: padding neither costs nor makes the mean smaller.
real sentence_loss(const Tensor& logits, const IntTensor& targets, real smoothing) {
  real total = 0;
  Index counted = 0;
  for (Index t = 0; t < targets.numel(); ++t) {
    if (targets[t] == 0) continue;
    total += smoothed_loss(logits[t], targets[t], smoothing);
    ++counted;
  }
  return counted ? total / real(counted) : 0;
}

// The two curves cross at step = warmup, where both are warmup^−½.
real learning_rate(Index step, Index d_model, Index warmup) {
  if (step < 1) throw std::invalid_argument("learning_rate: steps count from 1");
  const real s = real(step), w = real(warmup);
  return std::min(1 / std::sqrt(s), s * std::pow(w, real(-1.5))) / std::sqrt(real(d_model));
}

// One factor for everything: the gradient becomes shorter and points the same way.
real clip_gradients(std::vector<Tensor>& gradients, real limit) {
  real squares = 0;
  for (const Tensor& g : gradients)
    for (Index i = 0; i < g.numel(); ++i) squares += g.data()[i] * g.data()[i];
  const real norm = std::sqrt(squares);
  if (norm > limit)
    for (const Tensor& g : gradients)
      for (Index i = 0; i < g.numel(); ++i) g.data()[i] *= limit / norm;
  return norm;
}

// Every word counts the same, so a batch counts by its words; e comes last.
real perplexity(const std::vector<real>& losses, const std::vector<Index>& words) {
  real total = 0, count = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    total += losses[i] * real(words[i]);
    count += real(words[i]);
  }
  return std::exp(total / count);
}

// What was said minus what was wanted, as in lesson 04; smoothing only changes what is wanted.
Tensor sentence_loss_backward(const Tensor& logits, const IntTensor& targets, real smoothing) {
  const Index T = logits.size(0), V = logits.size(1);
  Index counted = 0;
  for (Index t = 0; t < T; ++t) counted += targets[t] != 0;
  const Tensor p = softmax(logits);
  Tensor gradient = zeros({T, V});
  for (Index t = 0; t < T; ++t) {
    if (targets[t] == 0) continue;
    for (Index v = 0; v < V; ++v) {
      const real wanted = (v == targets[t] ? 1 - smoothing : 0) + smoothing / real(V);
      gradient(t, v) = (p(t, v) - wanted) / real(counted);
    }
  }
  return gradient;
}

}  // namespace exercise
