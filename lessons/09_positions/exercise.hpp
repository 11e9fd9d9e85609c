// Exercise 09: five ways to know order, four of them written by you.
//
// T positions, S keys, C channels, D the size of a head (even), H heads. Positions are numbered from 0.
// std::pow, std::sin, std::cos, std::log are there; mind that 2 * i / C of integers is rounded down.
//
// Replace every todo(), then: make check-09
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// The fixed table of the paper: PE(p, 2i) = sin(p ω_i), PE(p, 2i+1) = cos(p ω_i), ω_i = 10000^(−2i/C).
//   T, C (even) -> (T,C)
//   sinusoids(2, 4) = [[0, 1, 0, 1], [0.8415, 0.5403, 0.0100, 1.0000]]      (ω_0 = 1, ω_1 = 0.01)
Tensor sinusoids(Index T, Index C) {
  todo();  // your answer
}

// RoPE, as in RoFormer: turns each pair of neighbours (2i, 2i+1) of row t by the angle t·ω_i, where
// ω_i = 10000^(−2i/D): (a, b) becomes (a cos − b sin, a sin + b cos).
//   x (T,D) -> (T,D)
//   rotate_pairs([[1, 0], [1, 0]]) = [[1, 0], [0.5403, 0.8415]]
Tensor rotate_pairs(const Tensor& x) {
  todo();  // your answer
}

// Attention with RoPE, on one head and without a mask: softmax(q' k'ᵀ / √D) v, where q' and k' are q and k
// turned by their positions.
//   q (T,D), k (T,D), v (T,E) -> (T,E)
//   rope_attend([[1, 2]], [[3, 4]], [[5, 6, 7]]) = [[5, 6, 7]]      (one token: its own value, as it is)
Tensor rope_attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  todo();  // your answer
}

// ALiBi: what is added to the scores, −m_h · |i − j|, with the slopes m_h = 2^(−8h/H) for h = 1 … H (H is a
// power of two here). Head number 0 of the result has h = 1.
//   -> (H,T,T)
//   alibi(2, 2) = [[[0, -0.0625], [-0.0625, 0]], [[0, -0.0039], [-0.0039, 0]]]      (2^−4 and 2^−8)
Tensor alibi(Index heads, Index T) {
  todo();  // your answer
}

// T5's bucket of a distance (key − query), of 32, with distances up to 128.
// bidirectional: keys to the right (distance > 0) have buckets 16 … 31, all others 0 … 15; n = |distance|.
//   Of the 16, n = 0 … 7 have a bucket each, and from 8 on it is 8 + ⌊8 · log(n/8) / log(128/8)⌋, at most 15.
// causal: n is how far back the key lies, 0 for a key to the right. n = 0 … 15 have a bucket each, and from
//   16 on it is 16 + ⌊16 · log(n/16) / log(128/16)⌋, at most 31.
//   t5_bucket(-3, true) = 3, t5_bucket(3, true) = 19, t5_bucket(-20, true) = 10, t5_bucket(-20, false) = 17
int t5_bucket(Index distance, bool bidirectional) {
  todo();  // your answer
}

// The backward of rotate_pairs: the gradient with respect to x, given the one with respect to its result. The
// transpose of a rotation is the rotation back, so each pair turns by the same angle the other way.
//   gradient (T,D), D even -> (T,D)
//   rotate_back([[1, 0], [0.5403, 0.8415]]) = [[1, 0], [1, 0]]      (row 1 by an angle of −1)
Tensor rotate_back(const Tensor& gradient) {
  todo();  // your answer
}

}  // namespace exercise
