// The wrong answers to exercise 12 that the grader knows by name. Here the learning rate, clipping and
// perplexity; the losses in mistakes_loss.hpp.
#pragma once

#include "lessons/12_training/mistakes_loss.hpp"

namespace mistakes {

inline real noam(real s, real d, real w) {
  return std::min(1 / std::sqrt(s), s * std::pow(w, real(-1.5))) / std::sqrt(d);
}
inline void refuse(Index step) {
  if (step < 1) throw std::invalid_argument("steps count from 1");
}

inline const coach::Mistakes<decltype(exercise::learning_rate)> learning_rate = {
    {.name = "steps counted from 0",
     .why =
         "The first step is step 1. With 0 the first update has learning rate 0: a whole batch for nothing.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           if (step < 1) throw std::invalid_argument("steps count from 1");
           return step == 1 ? real(0) : noam(real(step - 1), real(d), real(w));
         }},
    {.name = "step 0 not refused",
     .why = "1 / √0 is infinite; only the other part of the minimum hides it. A step 0 means that somebody "
            "counts wrongly, and should be told.",
     .where = "How large a step?",
     .answer = [](Index step, Index d, Index w) { return noam(real(step), real(d), real(w)); }},
    {.name = "the larger of the two",
     .why =
         "With max the rate starts far too high, falls, and then rises without end: the opposite of warm-up.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           refuse(step);
           return std::max(1 / std::sqrt(real(step)), real(step) * std::pow(real(w), real(-1.5))) /
                  std::sqrt(real(d));
         }},
    {.name = "no warm-up",
     .why = "1 / √s alone is largest at step 1, when Adam knows least about the gradients.",
     .where = "With and without warm-up",
     .answer =
         [](Index step, Index d, Index) {
           refuse(step);
           return 1 / std::sqrt(real(step)) / std::sqrt(real(d));
         }},
    {.name = "multiplied by √d_model",
     .why = "A larger model needs smaller steps: the factor is d_model to the power −½.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           refuse(step);
           return noam(real(step), 1, real(w)) * std::sqrt(real(d));
         }},
    {.name = "divided by d_model instead of its root",
     .why = "The factor is d_model^−½, one over the square root.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           refuse(step);
           return noam(real(step), 1, real(w)) / real(d);
         }},
    {.name = "warm-up that ends at 1",
     .why = "s / warmup rises to 1 instead of to warmup^−½: the two parts of the minimum no longer meet at "
            "step warmup. The exponent is −1.5.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           refuse(step);
           return std::min(1 / std::sqrt(real(step)), real(step) / real(w)) / std::sqrt(real(d));
         }},
    {.name = "a straight line that never ends",
     .why = "s · warmup^−1.5 alone rises for ever. After the warm-up the rate has to come down again.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           refuse(step);
           return real(step) * std::pow(real(w), real(-1.5)) / std::sqrt(real(d));
         }},
    {.name = "only step 0 refused",
     .why = "A negative step is as impossible as step 0, and its root is NaN.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           if (step == 0) throw std::invalid_argument("steps count from 1");
           return noam(real(step), real(d), real(w));
         }},
    {.name = "−1/2 of integers",
     .why = "In C++ −1/2 is 0, and everything to the power of 0 is 1. Write −0.5, or take the root.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index, Index w) {
           refuse(step);
           return std::min(real(1), real(step) * std::pow(real(w), real(-1.5)));
         }},
    {.name = "step / warmup of integers",
     .why = "Both are integers, so the quotient is 0 until the warm-up is over: nothing is learned before.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           refuse(step);
           return std::min(1 / std::sqrt(real(step)), real(step / w) / std::sqrt(real(w))) /
                  std::sqrt(real(d));
         }},
    {.name = "d_model in one part only",
     .why = "The factor d_model^−½ belongs to the whole minimum.",
     .where = "How large a step?",
     .answer =
         [](Index step, Index d, Index w) {
           refuse(step);
           return std::min(1 / std::sqrt(real(step)) / std::sqrt(real(d)),
                           real(step) * std::pow(real(w), real(-1.5)));
         }},
};

inline real squares(const Tensor& g) {
  real sum = 0;
  for (Index i = 0; i < g.numel(); ++i) sum += g.data()[i] * g.data()[i];
  return sum;
}
inline real global_norm(const std::vector<Tensor>& gradients) {
  real sum = 0;
  for (const Tensor& g : gradients) sum += squares(g);
  return std::sqrt(sum);
}
inline void scale(const Tensor& g, real factor) {
  for (Index i = 0; i < g.numel(); ++i) g.data()[i] *= factor;
}

inline const coach::Mistakes<decltype(exercise::clip_gradients)> clip_gradients = {
    {.name = "each tensor clipped alone",
     .why = "Each tensor got a factor of its own: the gradient as a whole now points elsewhere. There is one "
            "norm and one factor for all.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = global_norm(gradients);
           for (const Tensor& g : gradients) {
             const real own = std::sqrt(squares(g));
             if (own > limit) scale(g, limit / own);
           }
           return norm;
         }},
    {.name = "each number clipped alone",
     .why =
         "Cutting every number at ±limit changes the direction, and a gradient with many numbers stays long.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = global_norm(gradients);
           for (const Tensor& g : gradients)
             for (Index i = 0; i < g.numel(); ++i) g.data()[i] = std::clamp(g.data()[i], -limit, limit);
           return norm;
         }},
    {.name = "always scaled to the limit",
     .why = "Short gradients were made longer. Near the end of training they should be short.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = global_norm(gradients);
           if (norm > 0)
             for (const Tensor& g : gradients) scale(g, limit / norm);
           return norm;
         }},
    {.name = "no root",
     .why = "The sum of the squares is not the norm: its root is. The gradient became far too short.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = global_norm(gradients) * global_norm(gradients);
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, limit / norm);
           return norm;
         }},
    {.name = "returns the norm after clipping",
     .why =
         "The norm as it was is wanted: a curve of clipped norms is flat at the limit and hides the spikes.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = global_norm(gradients);
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, limit / norm);
           return std::min(norm, limit);
         }},
    {.name = "divided by the norm only",
     .why = "The gradient got length 1, whatever the limit is.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = global_norm(gradients);
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, 1 / norm);
           return norm;
         }},
    {.name = "norms added instead of squares",
     .why = "The norm of all is not the sum of the tensors' norms: squares add up, then comes one root.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           real norm = 0;
           for (const Tensor& g : gradients) norm += std::sqrt(squares(g));
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, limit / norm);
           return norm;
         }},
    {.name = "nothing changed",
     .why = "The norm is right, but the gradients are as long as before: write into the tensors given.",
     .where = "Clipping",
     .answer = [](std::vector<Tensor>& gradients, real) { return global_norm(gradients); }},
    {.name = "the sum of the sizes",
     .why = "The sizes of all numbers were added. The norm is the root of the sum of the squares.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           real norm = 0;
           for (const Tensor& g : gradients)
             for (Index i = 0; i < g.numel(); ++i) norm += std::abs(g.data()[i]);
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, limit / norm);
           return norm;
         }},
    {.name = "the largest number for the norm",
     .why = "The largest number alone says little: many small ones make a long gradient, too.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           real norm = 0;
           for (const Tensor& g : gradients)
             for (Index i = 0; i < g.numel(); ++i) norm = std::max(norm, std::abs(g.data()[i]));
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, limit / norm);
           return norm;
         }},
    {.name = "the mean of the squares",
     .why = "The squares were divided by how many there are. A norm is a length: the root of their sum.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           Index count = 0;
           for (const Tensor& g : gradients) count += g.numel();
           const real norm = global_norm(gradients) / std::sqrt(real(count));
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, limit / norm);
           return norm;
         }},
    {.name = "the first tensor for all",
     .why = "The norm was taken of the first tensor alone. All of them together have one.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = std::sqrt(squares(gradients.at(0)));
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, limit / norm);
           return norm;
         }},
    {.name = "norm / limit",
     .why = "The factor is upside down: long gradients become longer still.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = global_norm(gradients);
           if (norm > limit)
             for (const Tensor& g : gradients) scale(g, norm / limit);
           return norm;
         }},
    {.name = "returns the factor",
     .why = "The gradients are right. What is to be returned is the norm as it was.",
     .where = "Clipping",
     .answer =
         [](std::vector<Tensor>& gradients, real limit) {
           const real norm = global_norm(gradients), factor = norm > limit ? limit / norm : 1;
           for (const Tensor& g : gradients) scale(g, factor);
           return factor;
         }},
};

inline real weighted(const std::vector<real>& values, const std::vector<Index>& words) {
  real total = 0, count = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    total += values[i] * real(words[i]), count += real(words[i]);
  return total / count;
}
inline std::vector<real> exponentials(std::vector<real> values) {
  for (real& value : values) value = std::exp(value);
  return values;
}

inline const coach::Mistakes<decltype(exercise::perplexity)> perplexity = {
    {.name = "every batch the same say",
     .why =
         "The mean over batches lets a batch of 10 words count as much as one of 30. The mean is over words.",
     .where = "What a guess costs",
     .answer =
         [](const std::vector<real>& losses, const std::vector<Index>& words) {
           return std::exp(weighted(losses, std::vector<Index>(words.size(), 1)));
         }},
    {.name = "mean of perplexities",
     .why = "e of each batch's loss, then the mean: one bad batch dominates. The mean comes first, e last.",
     .where = "What a guess costs",
     .answer = [](const std::vector<real>& losses,
                  const std::vector<Index>& words) { return weighted(exponentials(losses), words); }},
    {.name = "mean of perplexities, every batch the same say",
     .why = "Two things at once: e belongs after the mean, and the mean is over words, not over batches.",
     .where = "What a guess costs",
     .answer =
         [](const std::vector<real>& losses, const std::vector<Index>& words) {
           return weighted(exponentials(losses), std::vector<Index>(words.size(), 1));
         }},
    {.name = "the loss itself",
     .why = "That is the mean loss. The perplexity is e to its power: a number of words.",
     .where = "What a guess costs",
     .answer = [](const std::vector<real>& losses,
                  const std::vector<Index>& words) { return weighted(losses, words); }},
    {.name = "2 instead of e",
     .why = "2 to the power of the loss is right for losses in bits. These are natural logarithms.",
     .where = "What a guess costs",
     .answer = [](const std::vector<real>& losses,
                  const std::vector<Index>& words) { return std::pow(real(2), weighted(losses, words)); }},
    {.name = "e to the minus loss",
     .why = "That is the typical probability of the right word, one over the perplexity.",
     .where = "What a guess costs",
     .answer = [](const std::vector<real>& losses,
                  const std::vector<Index>& words) { return std::exp(-weighted(losses, words)); }},
    {.name = "integer division",
     .why = "words[i] / all of integers is 0 (or 1 if there is one batch only): make real numbers of them "
            "first.",
     .where = "What a guess costs",
     .answer =
         [](const std::vector<real>& losses, const std::vector<Index>& words) {
           Index count = 0;
           real loss = 0;
           for (const Index n : words) count += n;
           for (std::size_t i = 0; i < losses.size(); ++i) loss += real(words[i] / count) * losses[i];
           return std::exp(loss);
         }},
    {.name = "a sum, not a mean",
     .why = "The losses of the batches were added up: the perplexity grows with the number of batches.",
     .where = "What a guess costs",
     .answer =
         [](const std::vector<real>& losses, const std::vector<Index>&) {
           real loss = 0;
           for (const real each : losses) loss += each;
           return std::exp(loss);
         }},
    {.name = "divided by the number of batches",
     .why = "The losses were multiplied by their words, and so the sum has to be divided by the number of "
            "all words.",
     .where = "What a guess costs",
     .answer =
         [](const std::vector<real>& losses, const std::vector<Index>& words) {
           real total = 0;
           for (std::size_t i = 0; i < losses.size(); ++i) total += losses[i] * real(words[i]);
           return std::exp(total / real(losses.size()));
         }},
};

}  // namespace mistakes
