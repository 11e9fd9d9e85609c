// Moving lanes between vectors: a square of lanes x lanes transposed in registers, and many sums at once.
#pragma once

#include "core/kernels/vector.hpp"

namespace attn::ATTN_TARGET {

// One stage of both: of every 2 S lanes, `low` takes the first S of a then the first S of b, `high` the
// second halves. For floats and S = 1 it takes pairs instead (a0 b0 a1 b1 and a2 b2 a3 b3), since x86 has an
// instruction for that: columns 1 and 2 of every four then change places, and `column` undoes it.
constexpr bool pairs = sizeof(real) == 4;
constexpr int shuffled(int s, bool high, int lane) {
  if (pairs && s == 1) return (lane & ~3) + (lane & 3) / 2 + 2 * high + (lane & 1) * lanes;
  return (lane & s) ? (lane - s * !high) + lanes : lane + s * high;
}
template <int S, bool high, int... Lane>
ATTN_INLINE vec stage(const vec& a, const vec& b, std::integer_sequence<int, Lane...>) {
  return __builtin_shufflevector(a, b, shuffled(S, high, Lane)...);
}
template <int S>
ATTN_INLINE vec low(const vec& a, const vec& b) {
  return stage<S, false>(a, b, Lanes());
}
template <int S>
ATTN_INLINE vec high(const vec& a, const vec& b) {
  return stage<S, true>(a, b, Lanes());
}
constexpr int column(int c) { return pairs ? (c & ~3) | (c & 1) << 1 | (c & 2) >> 1 : c; }

// Rows become columns: afterwards column c of the square is x[column(c)].
template <int S = 1>
ATTN_INLINE void transpose_square(vec (&x)[lanes]) {
  if constexpr (S < lanes) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
      if (i & S) continue;
      const vec a = x[i], b = x[i + S];
      x[i] = low<S>(a, b);
      x[i + S] = high<S>(a, b);
    }
    transpose_square<2 * S>(x);
  }
}

// Lane i of the result is the sum of the lanes of x[i].
template <int S = 1>
ATTN_INLINE vec sums(vec (&x)[lanes]) {
  if constexpr (S < lanes) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i += 2 * S) x[i] = low<S>(x[i], x[i + S]) + high<S>(x[i], x[i + S]);
    return sums<2 * S>(x);
  }
  return x[0];
}

}  // namespace attn::ATTN_TARGET
