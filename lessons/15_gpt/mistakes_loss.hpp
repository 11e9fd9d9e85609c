// The wrong answers to exercise 15 that the grader knows by name: the part about windows and their loss.
#pragma once

#include "lessons/15_gpt/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
Windows next_token_windows(const std::vector<int>& text, const std::vector<int>& starts, int T);
double next_token_loss(const Tensor& logits, const std::vector<int>& writes);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::Block, exercise::Model, exercise::TinyGpt, exercise::Windows;
using Ids = std::vector<int>;

// Windows whose reads and writes begin so many tokens after each start; `room`: tokens a window must have.
inline Windows cut(const Ids& text, const Ids& starts, int T, int reads_from, int writes_from, int room) {
  Windows windows{IntTensor({Index(starts.size()), T}), IntTensor({Index(starts.size()), T})};
  for (std::size_t b = 0; b < starts.size(); ++b) {
    if (starts[b] < 0 || starts[b] + room > int(text.size())) throw std::invalid_argument("outside");
    for (int t = 0; t < T; ++t) {
      windows.reads(b, t) = text.at(std::size_t(starts[b] + t + reads_from));
      windows.writes(b, t) = text.at(std::size_t(starts[b] + t + writes_from));
    }
  }
  return windows;
}

inline const coach::Mistakes<decltype(exercise::next_token_windows)> next_token_windows = {
    {.name = "target not shifted",
     .why = "The model writes the very token it reads. Copying is easy, the loss falls to nearly 0, and what "
            "was learned says nothing about what comes next.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 0, 0, T + 1); }},
    {.name = "target not shifted, and no room asked for it",
     .why = "The model writes the very token it reads, and so a window of T tokens seemed enough. The target "
            "of the last one is the token behind it: T + 1 tokens of the text.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 0, 0, T); }},
    {.name = "shifted the wrong way",
     .why = "Reads and writes are exchanged: the model learns to say the token before, which it has just "
            "seen.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 1, 0, T + 1); }},
    {.name = "shifted by two",
     .why =
         "Beside each token stands the one after the next: written text would leave out every other token.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 0, 2, T + 1); }},
    {.name = "the window closed to a ring",
     .why = "The last target is the window's first token. In the text something else comes next: take one "
            "token more than T.",
     .where = "A text is its own teacher",
     .answer =
         [](const Ids& text, const Ids& starts, int T) {
           const Windows windows = cut(text, starts, T, 0, 1, T + 1);
           for (Index b = 0; b < Index(starts.size()); ++b)
             if (T > 0) windows.writes(b, T - 1) = windows.reads(b, 0);
           return windows;
         }},
    {.name = "no target for the last token",
     .why = "The last target was left at 0. It exists: the token of the text right behind the window.",
     .where = "A text is its own teacher",
     .answer =
         [](const Ids& text, const Ids& starts, int T) {
           const Windows windows = cut(text, starts, T, 0, 1, T + 1);
           for (Index b = 0; b < Index(starts.size()); ++b)
             if (T > 0) windows.writes(b, T - 1) = 0;
           return windows;
         }},
    {.name = "the last window refused",
     .why = "A window takes T + 1 tokens, and one that ends exactly with the text is fine.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 0, 1, T + 2); }},
    {.name = "starts counted in windows",
     .why = "A start is a place in the text, not the number of a window: do not multiply it by T.",
     .where = "A text is its own teacher",
     .answer =
         [](const Ids& text, const Ids& starts, int T) {
           Ids scaled = starts;
           for (int& start : scaled) start *= T;
           return cut(text, scaled, T, 0, 1, T + 1);
         }},
};

inline double mean_loss(const Tensor& logits, const Ids& writes) {
  return double(cross_entropy(logits, IntTensor({Index(writes.size())}, writes)).item());
}

inline const coach::Mistakes<decltype(exercise::next_token_loss)> next_token_loss = {
    {.name = "sum instead of mean",
     .why = "A sum grows with the window: losses of different lengths could not be compared, and a longer "
            "window would mean larger steps.",
     .where = "A text is its own teacher",
     .answer = [](const Tensor& logits,
                  const Ids& writes) { return mean_loss(logits, writes) * double(writes.size()); }},
    {.name = "sign forgotten",
     .why = "Logarithms of probabilities are negative. The loss is how surprised the model is: −log P.",
     .where = "A text is its own teacher",
     .answer = [](const Tensor& logits, const Ids& writes) { return -mean_loss(logits, writes); }},
    {.name = "no logarithm",
     .why = "This is the mean of 1 − P. It hardly punishes a probability of nearly 0, and is no longer the "
            "surprise.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           const Tensor p = softmax(logits);
           double loss = 0;
           for (Index t = 0; t < p.size(0); ++t) loss += 1 - p(t, writes.at(std::size_t(t)));
           return loss / double(writes.size());
         }},
    {.name = "no softmax",
     .why =
         "Logits are no probabilities: the negative logit alone can be made as small as one likes by adding "
         "to all of them.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           double loss = 0;
           for (Index t = 0; t < logits.size(0); ++t) loss -= logits(t, writes.at(std::size_t(t)));
           return loss / double(writes.size());
         }},
    {.name = "averaged over the vocabulary as well",
     .why =
         "There are T surprises to average, one for each place. The number of tokens in the vocabulary has "
         "no part in it.",
     .where = "A text is its own teacher",
     .answer = [](const Tensor& logits,
                  const Ids& writes) { return mean_loss(logits, writes) / double(logits.size(1)); }},
    {.name = "bits instead of nats",
     .why =
         "This is the logarithm to base 2. It is a fair measure of surprise, but the contract asks for the "
         "natural one.",
     .where = "Sampled while it trains",
     .answer = [](const Tensor& logits,
                  const Ids& writes) { return mean_loss(logits, writes) / std::log(2.0); }},
    {.name = "no maximum subtracted",
     .why =
         "exp(1000) is infinite, and so is the loss then. Subtract the row's largest logit first: it changes "
         "no probability.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           double loss = 0;
           for (Index t = 0; t < logits.size(0); ++t) {
             double sum = 0;
             for (Index v = 0; v < logits.size(1); ++v) sum += std::exp(logits(t, v));
             loss -= std::log(std::exp(logits(t, writes.at(std::size_t(t)))) / sum);
           }
           return loss / double(writes.size());
         }},
    {.name = "one maximum for the whole table",
     .why = "The largest logit of all rows was subtracted. In a row that lies far below it every exp is 0, "
            "and its logarithm −∞: each row has a maximum of its own.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           double largest = logits(0, 0), loss = 0;
           for (Index i = 0; i < logits.numel(); ++i) largest = std::max(largest, double(logits.data()[i]));
           for (Index t = 0; t < logits.size(0); ++t) {
             double sum = 0;
             for (Index v = 0; v < logits.size(1); ++v) sum += std::exp(logits(t, v) - largest);
             loss += largest + std::log(sum) - logits(t, writes.at(std::size_t(t)));
           }
           return loss / double(writes.size());
         }},
    {.name = "the maximum begins at 0",
     .why = "The search for the row's largest logit starts from 0. If all are far below, 0 is subtracted, "
            "every exp is 0, and the loss infinite.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           double loss = 0;
           for (Index t = 0; t < logits.size(0); ++t) {
             double largest = 0, sum = 0;
             for (Index v = 0; v < logits.size(1); ++v) largest = std::max(largest, double(logits(t, v)));
             for (Index v = 0; v < logits.size(1); ++v) sum += std::exp(logits(t, v) - largest);
             loss += largest + std::log(sum) - logits(t, writes.at(std::size_t(t)));
           }
           return loss / double(writes.size());
         }},
    {.name = "the maximum taken from the sum alone",
     .why = "The largest logit was subtracted in the sum, but not from the right token's logit: both belong "
            "to one fraction.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           double loss = mean_loss(logits, writes);
           for (Index t = 0; t < logits.size(0); ++t) {
             double largest = logits(t, 0);
             for (Index v = 1; v < logits.size(1); ++v) largest = std::max(largest, double(logits(t, v)));
             loss -= largest / double(writes.size());
           }
           return loss;
         }},
    {.name = "softmax over time",
     .why = "Each column was made to sum to 1. The probabilities of all tokens at one place do: a row.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           const Tensor log_p = transpose(log_softmax(transpose(logits)));
           double loss = 0;
           for (Index t = 0; t < logits.size(0); ++t) loss -= log_p(t, writes.at(std::size_t(t)));
           return loss / double(writes.size());
         }},
};

}  // namespace mistakes
