// Solution 07: what may be seen.
#pragma once

#include <functional>  // function

#include "lessons/coach/exercise.hpp"

namespace exercise {

// The diagonal is visible: output i is about the token after i, so i itself is no secret.
Tensor causal_mask(Index T) {
  Tensor mask = zeros({T, T});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j <= i; ++j) mask(i, j) = 1;
  return mask;
}

// One row for each sentence serves all of its queries: filler is hidden from everybody.
Tensor padding_mask(const std::vector<int>& lengths, Index S) {
  const Index B = static_cast<Index>(lengths.size());
  Tensor mask = zeros({B, S});
  for (Index b = 0; b < B; ++b)
    for (Index j = 0; j < lengths[static_cast<std::size_t>(b)]; ++j) mask(b, j) = 1;
  return mask;
}

// With 1 and 0, "and" is a product.
Tensor decoder_mask(const std::vector<int>& lengths, Index T) {
  const Tensor causal = causal_mask(T), words = padding_mask(lengths, T);
  Tensor mask = empty({words.size(0), T, T});
  for (Index b = 0; b < words.size(0); ++b)
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j < T; ++j) mask(b, i, j) = causal(i, j) * words(b, j);
  return mask;
}

// Adding -∞ and skipping are the same thing: exp(-∞) = 0. Skipping also keeps hidden scores out of the
// maximum, and a row without any visible key never comes to the division.
Tensor masked_softmax(const Tensor& scores, const Tensor& visible) {
  Tensor weights = zeros(scores.shape());
  for (Index i = 0; i < scores.size(0); ++i) {
    real largest = -std::numeric_limits<real>::infinity(), sum = 0;
    for (Index j = 0; j < scores.size(1); ++j)
      if (visible(i, j) != 0) largest = std::max(largest, scores(i, j));
    for (Index j = 0; j < scores.size(1); ++j)
      if (visible(i, j) != 0) sum += weights(i, j) = std::exp(scores(i, j) - largest);
    if (sum > 0)
      for (Index j = 0; j < scores.size(1); ++j) weights(i, j) /= sum;
  }
  return weights;
}

// A derivative would do as well, but a real change also finds leaks through steps that have no gradient. Each
// channel changes by another amount: a LayerNorm takes away what all channels of a token have in common.
std::vector<int> leaking_tokens(const std::function<Tensor(const Tensor&)>& model, const Tensor& x) {
  const Tensor before = model(x);
  std::vector<int> leaking;
  for (Index t = 0; t < x.size(0); ++t) {
    Tensor changed = from_values(x.shape(), x.values());
    for (Index c = 0; c < x.size(1); ++c) changed(t, c) += real(c + 1);
    const Tensor after = model(changed);
    bool moved = false;
    for (Index i = 0; i < t; ++i)
      for (Index e = 0; e < after.size(1); ++e) moved = moved || std::abs(after(i, e) - before(i, e)) > 1e-9;
    if (moved) leaking.push_back(static_cast<int>(t));
  }
  return leaking;
}

}  // namespace exercise
