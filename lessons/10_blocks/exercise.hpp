// Exercise 10: the parts of a block.
//
// T tokens in rows, C channels. x(t, c) is an element; tensors add with +. Sublayer (types.hpp) is a function
// from a tensor to one of the same shape: call it as f(x).
//
// Replace every todo(), then: make check-10
#pragma once

#include "lessons/10_blocks/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// LayerNorm of each token: (x − mean) / √(variance + epsilon) · gain + bias, where mean and variance run over
// the C channels of that token and the variance is divided by C.
//   x (T,C), gain (C), bias (C) -> (T,C)
//   normalise([[1, 3]], [1, 1], [0, 10], 0) = [[-1, 11]]      (mean 2, variance 1)
Tensor normalise(const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
  todo();  // your answer
}

// Its backward: the gradient with respect to x, given the one with respect to the result. For each token,
// with s = √(variance + epsilon), y_c = (x_c − mean) / s and h_c = gradient_c · gain_c:
//   dx_c = (h_c − mean(h) − y_c · mean(h∘y)) / s,   where the means run over the channels
//   x (T,C), gain (C), gradient (T,C) -> (T,C)
//   normalise_backward([[0, 1, 2]], [1, 1, 1], [[1, 0, 0]], 0) = [[0.2041, -0.4082, 0.2041]]
Tensor normalise_backward(const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
  todo();  // your answer
}

// RMSNorm of each token: x / √(mean of x² + epsilon) · gain.
//   x (T,C), gain (C) -> (T,C)
//   rms_normalise([[1, 7]], [1, 2], 0) = [[0.2, 2.8]]      (the mean of 1 and 49 is 25)
Tensor rms_normalise(const Tensor& x, const Tensor& gain, real epsilon) {
  todo();  // your answer
}

// A block as in the paper, post-norm: x = norm(x + f(x)), first with attention and the first norm, then with
// the feed-forward network and the second norm.
//   x (T,C) -> (T,C)
//   post_norm_block([[1]], doubles, adds 3, negates, halves) = [[-1.5]]
//   (the sum 1 + 2, negated, is −3; then the sum −3 + 0, halved)
Tensor post_norm_block(const Tensor& x, const Sublayer& attend, const Sublayer& feed_forward,
                       const Sublayer& first_norm, const Sublayer& second_norm) {
  todo();  // your answer
}

// A block as in most models since, pre-norm: x = x + f(norm(x)), with the same two sublayers
// in the same order.
//   x (T,C) -> (T,C)
//   pre_norm_block([[1]], doubles, adds 3, negates, halves) = [[1.5]]
//   (1 negated and doubled is −2, and 1 − 2 = −1; then −1 halved and 3 added is 2.5, and −1 + 2.5)
Tensor pre_norm_block(const Tensor& x, const Sublayer& attend, const Sublayer& feed_forward,
                      const Sublayer& first_norm, const Sublayer& second_norm) {
  todo();  // your answer
}

// Dropout, with the lots already drawn: u is uniform in [0, 1). In training an element is dropped (0) where
// u < p, and what stays is divided by 1 − p. Otherwise nothing happens.
//   x (T,C), u (T,C), 0 <= p < 1 -> (T,C)
//   drop_out([[4, 5]], [[0.1, 0.9]], 0.2, true) = [[0, 6.25]]
Tensor drop_out(const Tensor& x, const Tensor& u, real p, bool training) {
  todo();  // your answer
}

}  // namespace exercise
