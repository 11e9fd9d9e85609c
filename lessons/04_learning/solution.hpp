// Solution 04: how a network learns.
#pragma once

#include "lessons/04_learning/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// The logarithm and the exponential of the right answer cancel, so its probability is never computed: nothing
// can overflow, and nothing that should have a logarithm becomes 0.
real batch_loss(const Tensor& logits, const std::vector<int>& targets) {
  const Index N = logits.size(0), V = logits.size(1);
  real total = 0;
  for (Index i = 0; i < N; ++i) {
    real largest = logits(i, 0), sum = 0;
    for (Index j = 1; j < V; ++j) largest = std::max(largest, logits(i, j));
    for (Index j = 0; j < V; ++j) sum += std::exp(logits(i, j) - largest);
    total += std::log(sum) + largest - logits(i, targets[i]);
  }
  return total / real(N);
}

// What was said minus what was right. A row sums to 0: what is taken from one answer is given to the others.
Tensor batch_loss_backward(const Tensor& logits, const std::vector<int>& targets) {
  const Index N = logits.size(0), V = logits.size(1);
  Tensor gradient = softmax(logits);
  for (Index i = 0; i < N; ++i) {
    gradient(i, targets[i]) -= 1;
    for (Index j = 0; j < V; ++j) gradient(i, j) /= real(N);
  }
  return gradient;
}

// The velocity is a sum of all gradients so far, each counting for less with every step: with momentum 0.9 a
// steady gradient is worth ten of its steps.
void sgd_step(Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
  for (Index i = 0; i < p.numel(); ++i) {
    velocity(i) = momentum * velocity(i) + gradient(i);
    p(i) -= rate * velocity(i);
  }
}

// Only the ratio of m̂ and √v̂ counts: multiply all gradients by 1000 and the step is the same.
void adam_step(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& settings) {
  ++state.step;
  const real correction1 = 1 - std::pow(settings.beta1, real(state.step));
  const real correction2 = 1 - std::pow(settings.beta2, real(state.step));
  for (Index i = 0; i < p.numel(); ++i) {
    const real g = gradient(i);
    state.m(i) = settings.beta1 * state.m(i) + (1 - settings.beta1) * g;
    state.v(i) = settings.beta2 * state.v(i) + (1 - settings.beta2) * g * g;
    const real mean = state.m(i) / correction1, square = state.v(i) / correction2;
    p(i) -= settings.rate * mean / (std::sqrt(square) + settings.epsilon);
  }
}

// Decoupled: the decay is not divided by √v̂, so it is the same for all weights.
void adamw_step(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& settings,
                real decay) {
  for (Index i = 0; i < p.numel(); ++i) p(i) -= settings.rate * decay * p(i);
  adam_step(p, gradient, state, settings);
}

// A gate that x opens and the gradient passes: the sign of the gradient itself does not matter.
Tensor relu_backward(const Tensor& x, const Tensor& gradient) {
  Tensor out = empty(x.shape());
  for (Index i = 0; i < x.size(0); ++i)
    for (Index j = 0; j < x.size(1); ++j) out(i, j) = x(i, j) > 0 ? gradient(i, j) : 0;
  return out;
}

}  // namespace exercise
