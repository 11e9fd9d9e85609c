// BERT and a causal model of the same size in lesson 16: the same gaps, with and without the right side.
#pragma once

#include "core/viz/tokens.hpp"
#include "lessons/16_bert/data.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/bert.hpp"
#include "nn/gpt.hpp"

namespace attn {

// A GPT of words: every position is asked for the next word.
Gpt train_causal(const Data& data, bool fast, std::uint64_t seed);

// Probabilities of all words for the gap at `place`: by BERT, which reads on, and by GPT, which cannot.
std::vector<double> fill(const Bert& model, const Words& words, std::vector<int> ids, Index place);
std::vector<double> fill(const Gpt& model, const Words& words, const std::vector<int>& ids, Index place);

struct Sides {
  double both = 0, left = 0;  // mean surprise in nats
};
// One gap in each unseen sentence, at a random position.
Sides compare_sides(const Data& data, const Bert& bert, const Gpt& gpt, Index sentences);

double largest_change(const std::vector<double>& a, const std::vector<double>& b);

// The six likeliest words, each with its probability.
std::vector<viz::Token> best_words(const std::vector<double>& p, const Words& words, int color);

}  // namespace attn
