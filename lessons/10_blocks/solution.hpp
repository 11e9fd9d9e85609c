// Solution 10: the parts of a block.
#pragma once

#include "lessons/10_blocks/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// Two passes over a token: the mean, then the variance around it. Nothing is shared between tokens, so it
// does not matter what stands beside a token, nor how many there are.
Tensor normalise(const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
  const Index T = x.size(0), C = x.size(1);
  Tensor out = empty(x.shape());
  for (Index t = 0; t < T; ++t) {
    real mean = 0, variance = 0;
    for (Index c = 0; c < C; ++c) mean += x(t, c) / real(C);
    for (Index c = 0; c < C; ++c) variance += (x(t, c) - mean) * (x(t, c) - mean) / real(C);
    for (Index c = 0; c < C; ++c)
      out(t, c) = (x(t, c) - mean) / std::sqrt(variance + epsilon) * gain(c) + bias(c);
  }
  return out;
}

// Mean and deviation depend on every channel, so every channel's gradient flows through them, too:
// the two means that are subtracted. What remains has no part along 1 and none along y: those two
// the norm had removed.
Tensor normalise_backward(const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
  const Index T = x.size(0), C = x.size(1);
  Tensor out = empty(x.shape());
  for (Index t = 0; t < T; ++t) {
    real mean = 0, variance = 0, mean_h = 0, mean_hy = 0;
    for (Index c = 0; c < C; ++c) mean += x(t, c) / real(C);
    for (Index c = 0; c < C; ++c) variance += (x(t, c) - mean) * (x(t, c) - mean) / real(C);
    const real deviation = std::sqrt(variance + epsilon);
    for (Index c = 0; c < C; ++c) {
      const real h = gradient(t, c) * gain(c);
      mean_h += h / real(C);
      mean_hy += h * (x(t, c) - mean) / deviation / real(C);
    }
    for (Index c = 0; c < C; ++c) {
      const real y = (x(t, c) - mean) / deviation;
      out(t, c) = (gradient(t, c) * gain(c) - mean_h - y * mean_hy) / deviation;
    }
  }
  return out;
}

// Half of LayerNorm: no mean to subtract, no bias to add.
Tensor rms_normalise(const Tensor& x, const Tensor& gain, real epsilon) {
  Tensor out = empty(x.shape());
  for (Index t = 0; t < x.size(0); ++t) {
    real square = 0;
    for (Index c = 0; c < x.size(1); ++c) square += x(t, c) * x(t, c) / real(x.size(1));
    for (Index c = 0; c < x.size(1); ++c) out(t, c) = x(t, c) / std::sqrt(square + epsilon) * gain(c);
  }
  return out;
}

// The norm stands on the main path: every block ends normalised.
Tensor post_norm_block(const Tensor& x, const Sublayer& attend, const Sublayer& feed_forward,
                       const Sublayer& first_norm, const Sublayer& second_norm) {
  const Tensor middle = first_norm(x + attend(x));
  return second_norm(middle + feed_forward(middle));
}

// The norm stands before the sublayer, off the main path: x itself goes through by additions alone.
Tensor pre_norm_block(const Tensor& x, const Sublayer& attend, const Sublayer& feed_forward,
                      const Sublayer& first_norm, const Sublayer& second_norm) {
  const Tensor middle = x + attend(first_norm(x));
  return middle + feed_forward(second_norm(middle));
}

// E[result] = (1 − p) · x / (1 − p) = x: the same on average, so evaluation needs no correction.
Tensor drop_out(const Tensor& x, const Tensor& u, real p, bool training) {
  Tensor out = empty(x.shape());
  for (Index t = 0; t < x.size(0); ++t)
    for (Index c = 0; c < x.size(1); ++c)
      out(t, c) = !training ? x(t, c) : u(t, c) < p ? 0 : x(t, c) / (1 - p);
  return out;
}

}  // namespace exercise
