// Two games to train a Transformer on: copy a row of letters, and write it backwards.
//
// A row has 8 letters, each one of a to h. The target ends with <eos>, so T = S + 1.
#pragma once

#include <cstdint>  // uint64_t
#include <string>   // string
#include <utility>  // pair
#include <vector>   // vector

#include "lessons/12_training/pictures.hpp"  // LetterMap
#include "nn/transformer.hpp"
#include "optim/trainer.hpp"  // History

namespace attn {

constexpr int pad = 0, bos = 1, eos = 2, first_letter = 3;
constexpr Index letters = 8, V = first_letter + letters, length = 8;

// Runs that differ in their random numbers only: the median, the best and the worst.
struct Spread {
  double median, low, high;

  explicit Spread(std::vector<double> values);
  std::string text(int decimals = 2) const;  // 1.09 [1.08 1.10]
};

enum class Game { copy, reverse };

struct GameBatch {
  IntTensor source, target;  // (B, S), (B, T)
};
GameBatch make_game(Game game, Index B, Rng& rng);

Transformer make_model(Rng& rng, Index layers = 1, real dropout = 0);

// The loss with teacher forcing: at each position the decoder reads the right letters before it.
Tensor teach(const Transformer& model, const GameBatch& batch, const Context& context = {},
             real smoothing = 0);

// What a model can do, on 100 rows that it has never seen.
struct Exam {
  double letters_taught, letters_alone;  // right of 100: it reads the right letters, it reads its own
  double rows_alone, perplexity;
  std::vector<std::pair<std::string, std::string>> examples;  // source, written
};
Exam examine(const Transformer& model, Game game, std::uint64_t seed);

struct Course {
  std::vector<double> losses;
  std::vector<LetterMap> maps;  // cross-attention for the letters a to h, while it learns
  double perplexity_before;
  Exam early, end;  // after a quarter of the steps, and after all
};
Course learn(Game game, Index steps, std::uint64_t seed);

// The first step at which the mean of ten losses is below the limit; the number of steps if there is none.
double steps_to(double limit, const std::vector<double>& losses);
// The share of attention on the letter that is to be written next, when it learns to reverse.
double on_anti_diagonal(const viz::Matrix& weights);
// The loss of a model that is certain and right, with smoothed targets: their entropy.
double smoothed_floor(double smoothing);

// A deeper model, 3 + 3 layers, learns to copy: its losses.
std::vector<double> losses_with(Index warmup, double rate, Index steps, std::uint64_t seed);

std::vector<double> losses_of(const History& history);
double mean_of_last(const std::vector<double>& losses, Index count);
viz::Series median_losses(const std::string& name, const std::vector<std::vector<double>>& runs);

}  // namespace attn
