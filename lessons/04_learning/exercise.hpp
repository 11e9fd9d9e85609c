// Exercise 04: how a network learns.
//
// N answers of V logits each; parameters and gradients are lists of shape (n). Elements are z(i, j) and p(i);
// z.size(0) is N. types.hpp has AdamState (m, v, step) and AdamSettings (rate, beta1, beta2, epsilon).
// Each function may use the ones above it. Replace every todo(), then: make check-04
#pragma once

#include "lessons/04_learning/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// Cross-entropy: the mean over all answers of −log of the probability that softmax gives to the right one.
// Logits may be as large as ±1000, where exp overflows and where a probability of 0 has no logarithm: use
// −log p_right = log Σ exp(z_j − largest) + largest − z_right.
//   logits (N,V), targets (N): the right answer of each, 0 to V − 1 -> a number
//   batch_loss([[0, 1.0986]], [1]) = 0.2877         (−log 0.75; 1.0986 is log 3)
real batch_loss(const Tensor& logits, const std::vector<int>& targets) {
  todo();  // your answer
}

// The gradient of batch_loss with respect to the logits: (p − one-hot) / N, with p the softmax of each row.
//   logits (N,V), targets (N) -> (N,V)
//   batch_loss_backward([[0, 1.0986]], [1]) = [[0.25, -0.25]]
Tensor batch_loss_backward(const Tensor& logits, const std::vector<int>& targets) {
  todo();  // your answer
}

// One step of SGD with momentum: velocity = momentum · velocity + gradient, then p −= rate · velocity.
//   p (n), gradient (n), velocity (n); p and velocity are changed
//   sgd_step([1], [2], [10], 0.1, 0.5) leaves 0.3 in p and 7 in velocity         (0.5·10 + 2 = 7)
void sgd_step(Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
  todo();  // your answer
}

// One step of Adam. With t the number of this step, counted from 1:
//   m = β₁ m + (1 − β₁) g        v = β₂ v + (1 − β₂) g²
//   p −= rate · m̂ / (√v̂ + ε)     with m̂ = m / (1 − β₁ᵗ) and v̂ = v / (1 − β₂ᵗ)
// m, v and step of the state are kept for the next call; m̂ and v̂ are not.
//   p (n), gradient (n); p and state are changed
//   adam_step([1], [5], {[0], [0], 0}, {.rate = 0.1}) leaves 0.9 in p and 1 in step   (a first step: rate)
void adam_step(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& settings) {
  todo();  // your answer
}

// One step of AdamW: every weight first shrinks, p −= rate · decay · p, then takes a step of Adam. The
// gradient knows nothing of the decay.
//   p (n), gradient (n); p and state are changed
//   adamw_step([1], [5], {[0], [0], 0}, {.rate = 0.1}, 0.5) leaves 0.85 in p    (0.95, then the step of 0.1)
void adamw_step(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& settings,
                real decay) {
  todo();  // your answer
}

// The backward of ReLU, max(0, x), which stands between the layers of most networks: where x is above 0 the
// gradient passes as it is; where it is not, nothing passes.
//   x (N,C), gradient (N,C) -> (N,C)
//   relu_backward([[-1, 2]], [[5, -7]]) = [[0, -7]]
Tensor relu_backward(const Tensor& x, const Tensor& gradient) {
  todo();  // your answer
}

}  // namespace exercise
