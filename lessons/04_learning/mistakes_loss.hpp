// The wrong answers to exercise 04 that the grader knows by name: the loss and its gradient.
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

}  // namespace mistakes
