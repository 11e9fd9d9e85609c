// The wrong answers to exercise 04 that the grader knows by name.
#pragma once

#include "lessons/04_learning/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
real batch_loss(const Tensor& logits, const std::vector<int>& targets);
Tensor batch_loss_backward(const Tensor& logits, const std::vector<int>& targets);
void sgd_step(Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum);
void adam_step(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& settings);
void adamw_step(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& settings,
                real decay);

inline auto fields(AdamState& state) {
  return std::tuple{coach::field("m", state.m), coach::field("v", state.v), coach::field("step", state.step)};
}
inline auto fields(AdamSettings& settings) {
  return std::tuple{coach::field("rate", settings.rate), coach::field("beta1", settings.beta1),
                    coach::field("beta2", settings.beta2), coach::field("epsilon", settings.epsilon)};
}
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::AdamSettings;
using exercise::AdamState;
using Targets = std::vector<int>;

// The sum over all rows of what `price(row, right answer)` says.
template <class Price>
real total_price(const Tensor& logits, const Targets& targets, const Price& price) {
  real total = 0;
  for (Index i = 0; i < logits.size(0); ++i) {
    std::vector<real> row;
    for (Index j = 0; j < logits.size(1); ++j) row.push_back(logits(i, j));
    total += price(row, targets[i]);
  }
  return total;
}
inline real largest_of(const std::vector<real>& row) { return *std::max_element(row.begin(), row.end()); }
inline real exponentials(const std::vector<real>& row, real shift) {
  real sum = 0;
  for (const real z : row) sum += std::exp(z - shift);
  return sum;
}
inline real right_price(const std::vector<real>& row, int right) {
  return std::log(exponentials(row, largest_of(row))) + largest_of(row) - row[right];
}

inline const coach::Mistakes<decltype(exercise::batch_loss)> batch_loss = {
    {.name = "no maximum subtracted",
     .why = "exp(1000) is infinite, and infinity divided by infinity is NaN. Subtracting the largest logit "
            "of the row "
            "changes no probability and keeps every exponential at most 1.",
     .where = "Large logits",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return total_price(logits, targets,
                              [](const std::vector<real>& row, int right) {
                                return -std::log(std::exp(row[right]) / exponentials(row, 0));
                              }) /
                  real(targets.size());
         }},
    {.name = "no maximum subtracted in the logarithm",
     .why = "log Σ exp(z) − z_right is right on paper, but exp(1000) is infinite and exp(−1000) is 0. The "
            "largest logit "
            "has to be taken out of the sum first.",
     .where = "Large logits",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return total_price(logits, targets,
                              [](const std::vector<real>& row, int right) {
                                return std::log(exponentials(row, 0)) - row[right];
                              }) /
                  real(targets.size());
         }},
    {.name = "logarithm of a probability that became 0",
     .why = "The softmax is stable, but exp(−2000) is 0 all the same, and −log 0 is infinite where the price "
            "is 2000. Take "
            "the logarithm of the formula, not of the number.",
     .where = "Large logits",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return total_price(logits, targets,
                              [](const std::vector<real>& row, int right) {
                                const real largest = largest_of(row);
                                return -std::log(std::exp(row[right] - largest) / exponentials(row, largest));
                              }) /
                  real(targets.size());
         }},
    {.name = "one maximum for all rows",
     .why = "In a row far below the largest logit of the batch every exponential is 0, and its logarithm is "
            "infinite. Each "
            "row needs its own maximum.",
     .where = "Large logits",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           const real largest = max(logits).item();
           return total_price(logits, targets,
                              [&](const std::vector<real>& row, int right) {
                                return std::log(exponentials(row, largest)) + largest - row[right];
                              }) /
                  real(targets.size());
         }},
    {.name = "a maximum that starts at 0",
     .why = "In a row of large negative logits 0 is none of them: every exponential is 0 then, and so is "
            "their sum. Start from "
            "the row's first logit.",
     .where = "Large logits",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return total_price(logits, targets,
                              [](const std::vector<real>& row, int right) {
                                const real largest = std::max(real(0), largest_of(row));
                                return std::log(exponentials(row, largest)) + largest - row[right];
                              }) /
                  real(targets.size());
         }},
    {.name = "1 − p instead of −log p",
     .why = "This counts how much probability is missing, at most 1. −log p goes on growing, so that a sure "
            "and wrong answer "
            "has a large gradient and not a small one.",
     .where = "The price of an answer",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return total_price(logits, targets,
                              [](const std::vector<real>& row, int right) {
                                return 1 - std::exp(-right_price(row, right));
                              }) /
                  real(targets.size());
         }},
    {.name = "maximum not added back",
     .why = "What was subtracted inside of the sum must be put back outside of it: log Σ exp(z) is log Σ "
            "exp(z − largest) + "
            "largest.",
     .where = "The price of an answer",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return total_price(logits, targets,
                              [](const std::vector<real>& row, int right) {
                                return std::log(exponentials(row, largest_of(row))) - row[right];
                              }) /
                  real(targets.size());
         }},
    {.name = "sum instead of mean",
     .why = "The prices of the batch are added up but not divided by N: a batch of twice the size would take "
            "steps of twice "
            "the size.",
     .where = "The mean over a batch",
     .answer = [](const Tensor& logits,
                  const Targets& targets) { return total_price(logits, targets, right_price); }},
    {.name = "mean over all logits",
     .why = "There is one price for each answer, not for each logit: divide by N, not by N·V.",
     .where = "The mean over a batch",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return total_price(logits, targets, right_price) / real(logits.numel());
         }},
    {.name = "sign flipped",
     .why = "log p is negative, and a loss that should fall would rise: the price is −log p.",
     .where = "The price of an answer",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return -total_price(logits, targets, right_price) / real(targets.size());
         }},
    {.name = "the network's own answer taken for the right one",
     .why = "This is the price of the most likely answer, whatever was right: the targets take no part, and "
            "the network "
            "learns to be sure rather than right.",
     .where = "The price of an answer",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return total_price(logits, targets,
                              [](const std::vector<real>& row, int) {
                                return right_price(
                                    row,
                                    static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin()));
                              }) /
                  real(targets.size());
         }},
};

inline Tensor one_hot(const Tensor& logits, const Targets& targets) {
  Tensor out = zeros(logits.shape());
  for (Index i = 0; i < logits.size(0); ++i) out(i, targets[i]) = 1;
  return out;
}

inline const coach::Mistakes<decltype(exercise::batch_loss_backward)> batch_loss_backward = {
    {.name = "not divided by N",
     .why = "This is the gradient of the sum of all prices. The loss is their mean.",
     .where = "The mean over a batch",
     .answer = [](const Tensor& logits,
                  const Targets& targets) { return softmax(logits) - one_hot(logits, targets); }},
    {.name = "divided by all logits",
     .why = "The mean is taken over N answers; that each has V logits does not make its price smaller.",
     .where = "The mean over a batch",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return (softmax(logits) - one_hot(logits, targets)) / real(logits.numel());
         }},
    {.name = "the right answer forgotten",
     .why = "Without the one-hot every answer is pushed down, the right one most of all where it was likely.",
     .where = "The mean over a batch",
     .answer = [](const Tensor& logits,
                  const Targets& targets) { return softmax(logits) / real(targets.size()); }},
    {.name = "sign flipped",
     .why =
         "one-hot − p is the direction to go. The gradient points uphill, and an optimizer goes against it.",
     .where = "The mean over a batch",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return (one_hot(logits, targets) - softmax(logits)) / real(targets.size());
         }},
    {.name = "only the right answer's logit",
     .why = "The wrong answers have a gradient, too: each of them made the right one less likely, by p.",
     .where = "The mean over a batch",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return (softmax(logits) - 1) * one_hot(logits, targets) / real(targets.size());
         }},
    {.name = "softmax over the batch",
     .why = "Each row is one answer, and its probabilities sum to 1. Here the columns do.",
     .where = "The price of an answer",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return (transpose(softmax(transpose(logits))) - one_hot(logits, targets)) / real(targets.size());
         }},
    {.name = "softmax over everything",
     .why = "Each row sums to 1 by itself: its exponentials are divided by the sum of that row, not of the "
            "whole batch.",
     .where = "The price of an answer",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return (exp(logits) / sum(exp(logits)) - one_hot(logits, targets)) / real(targets.size());
         }},
    {.name = "logits taken for probabilities",
     .why =
         "z − one-hot is the gradient of a squared error. Cross-entropy has p − one-hot, after the softmax.",
     .where = "The mean over a batch",
     .answer =
         [](const Tensor& logits, const Targets& targets) {
           return (logits - one_hot(logits, targets)) / real(targets.size());
         }},
};

inline const coach::Mistakes<decltype(exercise::sgd_step)> sgd_step = {
    {.name = "uphill",
     .why = "The gradient says where the loss grows. A step goes against it.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
           for (Index i = 0; i < p.numel(); ++i) {
             velocity(i) = momentum * velocity(i) + gradient(i);
             p(i) += rate * velocity(i);
           }
         }},
    {.name = "momentum ignored",
     .why = "This is plain SGD: the velocity takes no part, and a gentle slope is only crept along.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, Tensor&, real rate, real) {
           for (Index i = 0; i < p.numel(); ++i) p(i) -= rate * gradient(i);
         }},
    {.name = "velocity not kept",
     .why =
         "The step is right, but the new velocity is not stored: the next step will start from the old one.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
           for (Index i = 0; i < p.numel(); ++i) p(i) -= rate * (momentum * velocity(i) + gradient(i));
         }},
    {.name = "a step with the old velocity",
     .why =
         "p moves before the velocity has heard of the new gradient: every gradient arrives one step late.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
           for (Index i = 0; i < p.numel(); ++i) {
             p(i) -= rate * velocity(i);
             velocity(i) = momentum * velocity(i) + gradient(i);
           }
         }},
    {.name = "the running mean",
     .why = "(1 − momentum) · gradient makes the velocity a mean of gradients instead of a sum. Some "
            "programs do so, with "
            "rates ten times larger; here the gradient counts in full.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
           for (Index i = 0; i < p.numel(); ++i) {
             velocity(i) = momentum * velocity(i) + (1 - momentum) * gradient(i);
             p(i) -= rate * velocity(i);
           }
         }},
    {.name = "the rate inside of the velocity",
     .why = "The other convention: velocity = momentum · velocity + rate · gradient, p −= velocity. It "
            "differs as soon as the "
            "rate changes from step to step, since old gradients keep their old rate.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
           for (Index i = 0; i < p.numel(); ++i) {
             velocity(i) = momentum * velocity(i) + rate * gradient(i);
             p(i) -= velocity(i);
           }
         }},
    {.name = "Nesterov's step",
     .why = "gradient + momentum · velocity looks one step ahead: a good algorithm, by Nesterov, but not the "
            "one asked for.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
           for (Index i = 0; i < p.numel(); ++i) {
             velocity(i) = momentum * velocity(i) + gradient(i);
             p(i) -= rate * (gradient(i) + momentum * velocity(i));
           }
         }},
    {.name = "friction forgotten",
     .why = "The velocity adds up all gradients and loses nothing: without the factor `momentum` it never "
            "comes to rest.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real) {
           for (Index i = 0; i < p.numel(); ++i) {
             velocity(i) += gradient(i);
             p(i) -= rate * velocity(i);
           }
         }},
};

// Adam with its last line given: step(p, gradient, m, v, correction1, correction2) for each parameter.
template <class Step>
void adam_with(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& settings, Step step) {
  ++state.step;
  const real correction1 = 1 - std::pow(settings.beta1, real(state.step));
  const real correction2 = 1 - std::pow(settings.beta2, real(state.step));
  for (Index i = 0; i < p.numel(); ++i) {
    state.m(i) = settings.beta1 * state.m(i) + (1 - settings.beta1) * gradient(i);
    state.v(i) = settings.beta2 * state.v(i) + (1 - settings.beta2) * gradient(i) * gradient(i);
    step(p(i), gradient(i), state.m(i), state.v(i), correction1, correction2);
  }
}
inline void right_adam(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
  adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real c1, real c2) {
    x -= s.rate * (m / c1) / (std::sqrt(v / c2) + s.epsilon);
  });
}

inline const coach::Mistakes<decltype(exercise::adam_step)> adam_step = {
    {.name = "no bias correction",
     .why = "m and v start at 0 and are too small at first, v far more than m: the first step is over three "
            "times too "
            "large.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real, real) {
             x -= s.rate * m / (std::sqrt(v) + s.epsilon);
           });
         }},
    {.name = "only m corrected",
     .why = "v starts at 0 as well, and with β₂ = 0.999 it takes a thousand steps to recover.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real c1, real) {
             x -= s.rate * (m / c1) / (std::sqrt(v) + s.epsilon);
           });
         }},
    {.name = "steps counted from 0",
     .why = "The correction is computed before the step is counted. At the first step that is 1 − β⁰ = 0, "
            "and 0 / 0 is NaN.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           const real c1 = 1 - std::pow(s.beta1, real(state.step)),
                      c2 = 1 - std::pow(s.beta2, real(state.step));
           adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real, real) {
             x -= s.rate * (m / c1) / (std::sqrt(v / c2) + s.epsilon);
           });
         }},
    {.name = "the step not counted",
     .why = "state.step stays what it was: every step is corrected as if it were the first.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           right_adam(p, gradient, state, s);
           --state.step;
         }},
    {.name = "corrected means kept",
     .why = "m̂ and v̂ are for this step only. Stored as m and v they would be corrected again and again.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real c1, real c2) {
             m /= c1;
             v /= c2;
             x -= s.rate * m / (std::sqrt(v) + s.epsilon);
           });
         }},
    {.name = "ε inside of the root",
     .why = "√(v̂ + ε) is not √v̂ + ε: for ε = 10⁻⁸ it is as if ε were 10⁻⁴.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real c1, real c2) {
             x -= s.rate * (m / c1) / std::sqrt(v / c2 + s.epsilon);
           });
         }},
    {.name = "no root",
     .why = "v is a mean of squares: without the root, a gradient twice as large makes a step half as long.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real c1, real c2) {
             x -= s.rate * (m / c1) / (v / c2 + s.epsilon);
           });
         }},
    {.name = "the gradient instead of its mean",
     .why = "p moves by this gradient alone, divided by its usual size. That is RMSprop: Adam takes the "
            "running mean m̂.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           adam_with(p, gradient, state, s, [&](real& x, real g, real&, real& v, real, real c2) {
             x -= s.rate * g / (std::sqrt(v / c2) + s.epsilon);
           });
         }},
    {.name = "gradient not squared",
     .why = "v is the mean of g². Of g itself it may be negative, and then its root is NaN.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           const Tensor old = state.v * s.beta2;
           adam_with(p, gradient, state, s,
                     [&, i = Index(0)](real& x, real g, real& m, real& v, real c1, real c2) mutable {
                       v = old(i++) + (1 - s.beta2) * g;
                       x -= s.rate * (m / c1) / (std::sqrt(v / c2) + s.epsilon);
                     });
         }},
    {.name = "old and new weighted the wrong way round",
     .why = "β of the old and 1 − β of the new: a running mean moves slowly. Here it forgets nearly "
            "everything at each step.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           ++state.step;
           for (Index i = 0; i < p.numel(); ++i) {
             const real g = gradient(i);
             state.m(i) = (1 - s.beta1) * state.m(i) + s.beta1 * g;
             state.v(i) = (1 - s.beta2) * state.v(i) + s.beta2 * g * g;
             const real m = state.m(i) / (1 - std::pow(s.beta1, real(state.step)));
             const real v = state.v(i) / (1 - std::pow(s.beta2, real(state.step)));
             p(i) -= s.rate * m / (std::sqrt(v) + s.epsilon);
           }
         }},
    {.name = "betas swapped",
     .why = "β₁ belongs to the mean, β₂ to the square: the size of a gradient is averaged over far longer "
            "than its "
            "direction.",
     .where = "Adam",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           AdamSettings swapped = s;
           std::swap(swapped.beta1, swapped.beta2);
           right_adam(p, gradient, state, swapped);
         }},
    {.name = "uphill",
     .why = "The gradient says where the loss grows. A step goes against it.",
     .where = "SGD and momentum",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
           adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real c1, real c2) {
             x += s.rate * (m / c1) / (std::sqrt(v / c2) + s.epsilon);
           });
         }},
};

inline Tensor scaled(const Tensor& p, real factor) { return p * factor; }

inline const coach::Mistakes<decltype(exercise::adamw_step)> adamw_step = {
    {.name = "weight decay through the gradient",
     .why = "Added to the gradient, the decay is averaged and divided by √v̂ with it: weights with large "
            "gradients hardly "
            "decay. That is Adam with L2; the W is for taking it out.",
     .where = "AdamW",
     .answer = [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s,
                  real decay) { right_adam(p, gradient + scaled(p, decay), state, s); }},
    {.name = "no decay",
     .why = "This is Adam: the weights are free to grow.",
     .where = "AdamW",
     .answer = [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s,
                  real) { right_adam(p, gradient, state, s); }},
    {.name = "decay without the rate",
     .why = "p −= decay · p, whatever the learning rate: when the rate is small the weights vanish faster "
            "than they learn.",
     .where = "AdamW",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s, real decay) {
           p = scaled(p, 1 - decay);
           right_adam(p, gradient, state, s);
         }},
    {.name = "decay after the step",
     .why = "The weight that shrinks is the one that has already moved, so that the step shrinks as well. "
            "Here it is the old "
            "weight.",
     .where = "AdamW",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s, real decay) {
           right_adam(p, gradient, state, s);
           p = scaled(p, 1 - s.rate * decay);
         }},
    {.name = "weights that grow",
     .why = "The decay is added instead of subtracted.",
     .where = "AdamW",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s, real decay) {
           p = scaled(p, 1 + s.rate * decay);
           right_adam(p, gradient, state, s);
         }},
    {.name = "decay towards the sign",
     .why = "Every weight loses the same amount, rate · decay, large or small. Decay takes the same share of "
            "each.",
     .where = "AdamW",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s, real decay) {
           for (Index i = 0; i < p.numel(); ++i) p(i) -= s.rate * decay * real((p(i) > 0) - (p(i) < 0));
           right_adam(p, gradient, state, s);
         }},
    {.name = "decay beside the mean",
     .why =
         "The decay is added to m̂ and so is still divided by √v̂: the same trouble as through the gradient.",
     .where = "AdamW",
     .answer =
         [](Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s, real decay) {
           adam_with(p, gradient, state, s, [&](real& x, real, real& m, real& v, real c1, real c2) {
             x -= s.rate * (m / c1 + decay * x) / (std::sqrt(v / c2) + s.epsilon);
           });
         }},
};

}  // namespace mistakes
