// The wrong answers to exercise 04 that the grader knows by name. Here the optimizers; the loss and its
// gradient in mistakes_loss.hpp.
#pragma once

#include "lessons/04_learning/mistakes_loss.hpp"

namespace mistakes {

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
