// Solution 18: attention that never holds its matrix, and two ways to look at less.
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// The old sum was measured against the old maximum, so it is too large by exp(new − old). At the start
// exp(−∞) = 0 meets a sum of 0: no special case.
void absorb_tile(real& largest, real& sum, const std::vector<real>& tile) {
  const real before = largest;
  for (const real score : tile) largest = std::max(largest, score);
  sum *= std::exp(before - largest);
  for (const real score : tile) sum += std::exp(score - largest);
}

// The output is one more sum with the same factors, so it shrinks together with `sum`. Dividing once at the
// end is what makes it a mean.
Tensor tiled_attend(const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
  const Index T = q.size(0), S = k.size(0), D = q.size(1), E = v.size(1);
  Tensor out = zeros({T, E});
  for (Index i = 0; i < T; ++i) {
    real largest = -std::numeric_limits<real>::infinity(), sum = 0;
    for (Index begin = 0; begin < S; begin += tile) {
      std::vector<real> scores;
      for (Index j = begin; j < std::min(begin + tile, S); ++j) {
        real dot = 0;
        for (Index d = 0; d < D; ++d) dot += q(i, d) * k(j, d);
        scores.push_back(dot / std::sqrt(real(D)));
      }
      const real before = largest;
      absorb_tile(largest, sum, scores);
      for (Index e = 0; e < E; ++e) out(i, e) *= std::exp(before - largest);
      for (std::size_t n = 0; n < scores.size(); ++n)
        for (Index e = 0; e < E; ++e) out(i, e) += std::exp(scores[n] - largest) * v(begin + Index(n), e);
    }
    for (Index e = 0; e < E; ++e) out(i, e) /= sum;
  }
  return out;
}

// "Less than w steps away" counts the token itself: a window of 1 is the diagonal.
Tensor window_mask(Index T, Index window, bool causal) {
  Tensor visible = zeros({T, T});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < T; ++j) {
      const bool near = std::abs(i - j) < window, past = j <= i;
      if (near && (past || !causal)) visible(i, j) = 1;
    }
  return visible;
}

// A group is heads / kv neighbouring query heads: integer division finds its number. The op `attention` does
// the same without the copies, by letting several query heads read through one pointer.
Tensor share_heads(const Tensor& k, Index heads) {
  const Index kv = k.size(0), S = k.size(1), D = k.size(2);
  if (heads % kv != 0) throw std::invalid_argument("the query heads cannot be shared evenly");
  Tensor out = empty({heads, S, D});
  for (Index h = 0; h < heads; ++h)
    for (Index j = 0; j < S; ++j)
      for (Index d = 0; d < D; ++d) out(h, j, d) = k(h / (heads / kv), j, d);
  return out;
}

// The number of query heads only decides how large a head is.
Index cache_bytes(Index layers, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index bytes_a_number) {
  const Index D = d_model / heads;
  return 2 * layers * tokens * kv_heads * D * bytes_a_number;
}

}  // namespace exercise
