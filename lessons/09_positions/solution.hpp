// Solution 09: five ways to know order, four of them written by you.
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// c / 2 * 2 is 2i for both channels of a pair: they share a frequency and differ in sine and cosine.
Tensor sinusoids(Index T, Index C) {
  Tensor table = empty({T, C});
  for (Index p = 0; p < T; ++p)
    for (Index c = 0; c < C; ++c) {
      const double angle = double(p) * std::pow(10000.0, -double(c / 2 * 2) / double(C));
      table(p, c) = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return table;
}

// A turn changes no length: positions never drown the words.
Tensor rotate_pairs(const Tensor& x) {
  const Index D = x.size(1);
  Tensor out = empty(x.shape());
  for (Index t = 0; t < x.size(0); ++t)
    for (Index i = 0; i < D / 2; ++i) {
      const double angle = double(t) * std::pow(10000.0, -2.0 * double(i) / double(D));
      const double cosine = std::cos(angle), sine = std::sin(angle);
      out(t, 2 * i) = x(t, 2 * i) * cosine - x(t, 2 * i + 1) * sine;
      out(t, 2 * i + 1) = x(t, 2 * i) * sine + x(t, 2 * i + 1) * cosine;
    }
  return out;
}

// Both are turned the same way: in the product the two turns then cancel but for the distance.
Tensor rope_attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores = matmul(rotate_pairs(q), rotate_pairs(k), Transpose::second);  // (T, T)
  return matmul(softmax(scores / std::sqrt(real(q.size(1)))), v);
}

// A penalty: the farther, the lower the score. Steep slopes make a head near-sighted.
Tensor alibi(Index heads, Index T) {
  Tensor bias = empty({heads, T, T});
  for (Index h = 0; h < heads; ++h) {
    const double slope = std::pow(2.0, -8.0 * double(h + 1) / double(heads));
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j < T; ++j) bias(h, i, j) = -slope * double(std::abs(i - j));
  }
  return bias;
}

// One rule for both: half of the buckets that a direction has are exact, the others logarithmic.
int t5_bucket(Index distance, bool bidirectional) {
  const int buckets = bidirectional ? 16 : 32, exact = buckets / 2;
  const int first = bidirectional && distance > 0 ? 16 : 0;
  const Index n = bidirectional ? std::abs(distance) : std::max<Index>(-distance, 0);
  if (n < exact) return first + int(n);
  const double reached = std::log(double(n) / exact) / std::log(128.0 / exact);  // 0 at `exact`, 1 at 128
  return first + std::min(exact + int(reached * exact), buckets - 1);
}

// Only the sign of the sine differs: rotate_back(rotate_pairs(x)) is x.
Tensor rotate_back(const Tensor& gradient) {
  const Index D = gradient.size(1);
  Tensor out = empty(gradient.shape());
  for (Index t = 0; t < gradient.size(0); ++t)
    for (Index i = 0; i < D / 2; ++i) {
      const double turned = double(t) * std::pow(10000.0, -2.0 * double(i) / double(D));
      const double a = gradient(t, 2 * i), b = gradient(t, 2 * i + 1);
      out(t, 2 * i) = a * std::cos(turned) + b * std::sin(turned);
      out(t, 2 * i + 1) = b * std::cos(turned) - a * std::sin(turned);
    }
  return out;
}

}  // namespace exercise
