// Solution 06: self-attention, step by step.
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// The sum has D terms. With queries and keys of variance 1 its variance is D, so √D brings it back to 1 and
// the softmax that follows stays where it can still learn.
Tensor scores(const Tensor& q, const Tensor& k) {
  const Index T = q.size(0), S = k.size(0), D = q.size(1);
  Tensor out = empty({T, S});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < S; ++j) {
      real dot = 0;
      for (Index d = 0; d < D; ++d) dot += q(i, d) * k(j, d);
      out(i, j) = dot / std::sqrt(real(D));
    }
  return out;
}

// Three passes over a row: its maximum, the exponentials and their sum, the division. With the maximum
// subtracted the largest exponent is 0: nothing overflows, and the sum is at least 1.
Tensor row_softmax(const Tensor& s) {
  Tensor out = empty(s.shape());
  for (Index i = 0; i < s.size(0); ++i) {
    real largest = s(i, 0), sum = 0;
    for (Index j = 1; j < s.size(1); ++j) largest = std::max(largest, s(i, j));
    for (Index j = 0; j < s.size(1); ++j) sum += out(i, j) = std::exp(s(i, j) - largest);
    for (Index j = 0; j < s.size(1); ++j) out(i, j) /= sum;
  }
  return out;
}

// Row i of the result is a mixture of the rows of v: no value leaves the range of what was there.
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor weights = row_softmax(scores(q, k));  // (T, S)
  Tensor out = zeros({q.size(0), v.size(1)});
  for (Index i = 0; i < out.size(0); ++i)
    for (Index j = 0; j < v.size(0); ++j)
      for (Index e = 0; e < v.size(1); ++e) out(i, e) += weights(i, j) * v(j, e);
  return out;
}

// What a token looks for, what it offers and what it hands over may differ: hence three matrices.
// Cross-attention is the same with keys and values from another sequence.
Tensor self_attention(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
  return attend(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v));
}

// A score is made of one query and one key, so its gradient goes to both, each times the other. The division
// by √D is a constant factor: it stands in the backward, too.
std::pair<Tensor, Tensor> scores_backward(const Tensor& q, const Tensor& k, const Tensor& gradient) {
  Tensor dq = zeros(q.shape()), dk = zeros(k.shape());
  for (Index i = 0; i < q.size(0); ++i)
    for (Index j = 0; j < k.size(0); ++j) {
      const real g = gradient(i, j) / std::sqrt(real(q.size(1)));
      for (Index d = 0; d < q.size(1); ++d) {
        dq(i, d) += g * k(j, d);
        dk(j, d) += g * q(i, d);
      }
    }
  return {dq, dk};
}

}  // namespace exercise
