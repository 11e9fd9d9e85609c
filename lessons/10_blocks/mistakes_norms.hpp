// The wrong answers to exercise 10 that the grader knows by name: the norms.
#pragma once

#include "lessons/10_blocks/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
Tensor normalise(const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon);
Tensor normalise_backward(const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon);
Tensor rms_normalise(const Tensor& x, const Tensor& gain, real epsilon);
Tensor post_norm_block(const Tensor& x, const Sublayer& attend, const Sublayer& feed_forward,
                       const Sublayer& first_norm, const Sublayer& second_norm);
Tensor pre_norm_block(const Tensor& x, const Sublayer& attend, const Sublayer& feed_forward,
                      const Sublayer& first_norm, const Sublayer& second_norm);
Tensor drop_out(const Tensor& x, const Tensor& u, real p, bool training);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::Sublayer;

// Means over `axis`, or over everything at once.
constexpr int everything = -3;
inline Tensor mean_of(const Tensor& x, int axis) {
  return axis == everything ? mean(x) : mean(x, axis, true);
}
inline Tensor centred(const Tensor& x, int axis) { return x - mean_of(x, axis); }
inline Tensor variance_of(const Tensor& x, int axis) {
  const Tensor d = centred(x, axis);
  return mean_of(d * d, axis);
}

inline const coach::Mistakes<decltype(exercise::normalise)> normalise = {
    {.name = "normalised over time",
     .why = "Mean and variance run over the tokens, for each channel. Then a token depends on its "
            "neighbours, on the padding and, when writing, on the future.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain, const Tensor& bias,
                  real epsilon) { return centred(x, 0) / sqrt(variance_of(x, 0) + epsilon) * gain + bias; }},
    {.name = "one mean for everything",
     .why = "Mean and variance were taken over all tokens together. Each token has its own: a loud one must "
            "not make the others silent.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
           return centred(x, everything) / sqrt(variance_of(x, everything) + epsilon) * gain + bias;
         }},
    {.name = "unbiased variance",
     .why = "The squares were divided by C − 1. That corrects an estimate from a sample; here the C channels "
            "are all there are, so it is C (and with C = 1 it would be 0/0).",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
           const real C = real(x.size(1));
           return centred(x, 1) / sqrt(variance_of(x, 1) * (C / (C - 1)) + epsilon) * gain + bias;
         }},
    {.name = "ε outside the root",
     .why = "√variance + ε is not √(variance + ε): inside, an ε of 1e-5 means a deviation of at least 0.003; "
            "outside, of 0.00001, and weights trained with one give other numbers with the other.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
           return centred(x, 1) / (sqrt(variance_of(x, 1)) + epsilon) * gain + bias;
         }},
    {.name = "ε forgotten",
     .why = "A token whose channels are all equal has variance 0, and 0/0 is NaN.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain, const Tensor& bias,
                  real) { return centred(x, 1) / sqrt(variance_of(x, 1)) * gain + bias; }},
    {.name = "divided by the variance",
     .why = "It is the deviation, the root of the variance, that has the unit of x.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain, const Tensor& bias,
                  real epsilon) { return centred(x, 1) / (variance_of(x, 1) + epsilon) * gain + bias; }},
    {.name = "the mean not subtracted",
     .why = "The deviation is right, but x itself was divided by it: the result does not have mean 0.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain, const Tensor& bias,
                  real epsilon) { return x / sqrt(variance_of(x, 1) + epsilon) * gain + bias; }},
    {.name = "RMSNorm",
     .why = "This divides by the root of the mean square: RMSNorm, with a bias. LayerNorm first takes the "
            "mean away.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain, const Tensor& bias,
                  real epsilon) { return x / sqrt(mean(x * x, 1, true) + epsilon) * gain + bias; }},
    {.name = "no gain and bias",
     .why = "Without gain and bias every layer would be bound to mean 0 and deviation 1; they let it choose "
            "otherwise.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor&, const Tensor&,
                  real epsilon) { return centred(x, 1) / sqrt(variance_of(x, 1) + epsilon); }},
    {.name = "bias before gain",
     .why = "The gain multiplies the normalised number alone; the bias is added after it.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
           return (centred(x, 1) / sqrt(variance_of(x, 1) + epsilon) + bias) * gain;
         }},
    {.name = "the squares not divided by C",
     .why = "A variance is a mean: the sum of the squares grows with the number of channels.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
           return centred(x, 1) / sqrt(variance_of(x, 1) * real(x.size(1)) + epsilon) * gain + bias;
         }},
    {.name = "the mean square for the variance",
     .why = "The variance is the mean square of x − mean: the squares were taken before the mean was "
            "subtracted.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
           return centred(x, 1) / sqrt(mean(x * x, 1, true) + epsilon) * gain + bias;
         }},
    {.name = "sums that run on from token to token",
     .why = "Mean and variance were not set back to 0 for the next token: only the first one is right.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
           const real C = real(x.size(1));
           real mean = 0, variance = 0;
           Tensor out = empty(x.shape());
           for (Index t = 0; t < x.size(0); ++t) {
             for (Index c = 0; c < x.size(1); ++c) mean += x(t, c) / C;
             for (Index c = 0; c < x.size(1); ++c) variance += (x(t, c) - mean) * (x(t, c) - mean) / C;
             for (Index c = 0; c < x.size(1); ++c)
               out(t, c) = (x(t, c) - mean) / std::sqrt(variance + epsilon) * gain(c) + bias(c);
           }
           return out;
         }},
    {.name = "mean and variance in one loop",
     .why = "The variance was computed around a mean that was not finished yet: it takes two passes over the "
            "channels.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
           const real C = real(x.size(1));
           Tensor out = empty(x.shape());
           for (Index t = 0; t < x.size(0); ++t) {
             real mean = 0, variance = 0;
             for (Index c = 0; c < x.size(1); ++c) {
               mean += x(t, c) / C;
               variance += (x(t, c) - mean) * (x(t, c) - mean) / C;
             }
             for (Index c = 0; c < x.size(1); ++c)
               out(t, c) = (x(t, c) - mean) / std::sqrt(variance + epsilon) * gain(c) + bias(c);
           }
           return out;
         }},
    {.name = "bias forgotten",
     .why = "The bias lets a channel have another mean than 0. It is added at the end.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain, const Tensor&,
                  real epsilon) { return centred(x, 1) / sqrt(variance_of(x, 1) + epsilon) * gain; }},
};

struct Parts {
  Tensor y, h, deviation;
};
inline Parts parts_of(const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
  const Tensor deviation = sqrt(variance_of(x, 1) + epsilon);
  return {centred(x, 1) / deviation, gradient * gain, deviation};
}

inline const coach::Mistakes<decltype(exercise::normalise_backward)> normalise_backward = {
    {.name = "the deviation taken for a constant",
     .why = "The last term is missing: the deviation depends on every channel, and its share of the gradient "
            "has to come back through it.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return (p.h - mean(p.h, 1, true)) / p.deviation;
         }},
    {.name = "the mean taken for a constant",
     .why = "mean(h) is missing: the mean depends on every channel, so a gradient comes back through it.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return (p.h - p.y * mean(p.h * p.y, 1, true)) / p.deviation;
         }},
    {.name = "elementwise",
     .why = "Each channel was treated as if mean and deviation were constants. A norm ties the channels "
            "together: adding 1 to all of them changes nothing, so the gradients of a token must sum to 0.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return p.h / p.deviation;
         }},
    {.name = "gain forgotten",
     .why =
         "The result was multiplied by the gain, so its gradient is, too, before it goes through the norm.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor&, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, ones({x.size(1)}), gradient, epsilon);
           return (p.h - mean(p.h, 1, true) - p.y * mean(p.h * p.y, 1, true)) / p.deviation;
         }},
    {.name = "gain applied at the end",
     .why = "The gain differs between channels: it has to be multiplied in before the means are taken, not "
            "after.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, ones({x.size(1)}), gradient, epsilon);
           return (p.h - mean(p.h, 1, true) - p.y * mean(p.h * p.y, 1, true)) / p.deviation * gain;
         }},
    {.name = "not divided by the deviation",
     .why = "The norm divided x by the deviation, and the gradient is divided by it likewise.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return p.h - mean(p.h, 1, true) - p.y * mean(p.h * p.y, 1, true);
         }},
    {.name = "sums instead of means",
     .why = "Mean and variance were averages over C channels: what comes back through them is divided by C, "
            "too.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return (p.h - sum(p.h, 1, true) - p.y * sum(p.h * p.y, 1, true)) / p.deviation;
         }},
    {.name = "means over time",
     .why = "The means of h run over the tokens here. Tokens do not know of each other in a norm, and "
            "neither do their gradients.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return (p.h - mean(p.h, 0, true) - p.y * mean(p.h * p.y, 0, true)) / p.deviation;
         }},
    {.name = "a plus for a minus",
     .why = "The last term is subtracted: where y is large, growing x makes the deviation grow, and "
            "everybody else smaller.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return (p.h - mean(p.h, 1, true) + p.y * mean(p.h * p.y, 1, true)) / p.deviation;
         }},
    {.name = "x for y",
     .why = "The last term has y, the normalised numbers, twice; here it has x as it came in.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return (p.h - mean(p.h, 1, true) - x * mean(p.h * x, 1, true)) / p.deviation;
         }},
    {.name = "y not divided by the deviation",
     .why = "y is (x − mean) / s: here the mean was taken away and nothing divided.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return (p.h - mean(p.h, 1, true) - centred(x, 1) * mean(p.h * centred(x, 1), 1, true)) /
                  p.deviation;
         }},
    {.name = "divided by the variance",
     .why = "It is the deviation, the root of the variance, by which the norm divided.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
           const Parts p = parts_of(x, gain, gradient, epsilon);
           return (p.h - mean(p.h, 1, true) - p.y * mean(p.h * p.y, 1, true)) / (p.deviation * p.deviation);
         }},
};

inline const coach::Mistakes<decltype(exercise::rms_normalise)> rms_normalise = {
    {.name = "the mean subtracted",
     .why = "That is LayerNorm without a bias. RMSNorm leaves the mean where it is.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real epsilon) { return centred(x, 1) / sqrt(variance_of(x, 1) + epsilon) * gain; }},
    {.name = "divided by the deviation",
     .why = "The root mean square is not the deviation: no mean is taken away before squaring.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real epsilon) { return x / sqrt(variance_of(x, 1) + epsilon) * gain; }},
    {.name = "sum of squares instead of their mean",
     .why = "This makes the length of the vector 1; its numbers then shrink as C grows. The mean keeps them "
            "near 1.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real epsilon) { return x / sqrt(sum(x * x, 1, true) + epsilon) * gain; }},
    {.name = "ε outside the root",
     .why = "√mean + ε is not √(mean + ε).",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real epsilon) { return x / (sqrt(mean(x * x, 1, true)) + epsilon) * gain; }},
    {.name = "no root",
     .why = "The mean of the squares has the unit of x²: its root is the size of x.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real epsilon) { return x / (mean(x * x, 1, true) + epsilon) * gain; }},
    {.name = "normalised over time",
     .why = "The mean runs over the tokens, for each channel. Each token is normalised by itself.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real epsilon) { return x / sqrt(mean(x * x, 0, true) + epsilon) * gain; }},
    {.name = "gain forgotten",
     .why = "Without the gain every channel would be bound to the same size.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor&,
                  real epsilon) { return x / sqrt(mean(x * x, 1, true) + epsilon); }},
    {.name = "ε forgotten",
     .why = "A token of zeros has the mean square 0, and 0/0 is NaN.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real) { return x / sqrt(mean(x * x, 1, true)) * gain; }},
    {.name = "the square of the mean",
     .why = "The numbers were averaged before squaring: then +5 and −5 are as small as 0 and 0.",
     .where = "LayerNorm: one token at a time",
     .answer =
         [](const Tensor& x, const Tensor& gain, real epsilon) {
           const Tensor average = mean(x, 1, true);
           return x / sqrt(average * average + epsilon) * gain;
         }},
    {.name = "the mean of the sizes",
     .why = "This divides by the mean of |x|. Asked for is the root of the mean of x².",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real epsilon) { return x / (mean(relu(x) + relu(-x), 1, true) + epsilon) * gain; }},
    {.name = "one mean for everything",
     .why = "The mean square was taken over all tokens together. Each token has its own.",
     .where = "LayerNorm: one token at a time",
     .answer = [](const Tensor& x, const Tensor& gain,
                  real epsilon) { return x / sqrt(mean(x * x) + epsilon) * gain; }},
};

}  // namespace mistakes
