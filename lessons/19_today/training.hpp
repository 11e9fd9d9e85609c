// How the models of lesson 19 are trained and compared: on the windows of lesson 15, briefly, over
// several seeds.
#pragma once

#include <functional>  // function

#include "lessons/15_gpt/text.hpp"
#include "nn/gpt.hpp"

namespace attn {

struct Recipe {
  Index steps = 300, B = 8, T = 32;
  double rate = 8e-3;  // the peak of a cosine with a short warm-up
  bool progress = false;
  std::string label = "training";
};

// The parameters follow the gradient of `loss` on random windows of a text. The same seed, the same windows.
void teach(const ParameterList& parameters, const std::vector<int>& text, const Recipe& recipe,
           std::uint64_t seed, const std::function<Tensor(const Windows&)>& loss);

using Logits = std::function<Tensor(const IntTensor& reads)>;  // (B, T) -> (B, T, V)
// Nats per character on the same 64 windows of a text each time.
double loss_on(const std::vector<int>& text, Index T, const Logits& logits);

// What the whole lesson trains with.
struct Course {
  Text text;
  Recipe recipe;
  std::vector<std::uint64_t> seeds;
};
void train_gpt(const Gpt& model, const Course& course, double rate, std::uint64_t seed);
double unseen_loss(const Gpt& model, const Course& course);

// Stories with other heroes, things and places: the same sentences about dragons and castles.
std::vector<int> fairy_tales(const CharacterVocabulary& vocabulary, std::uint64_t seed);

// What several seeds gave: the mean, and the standard deviation between seeds.
struct Spread {
  double mean = 0, deviation = 0;
  std::string str(int decimals = 3) const;  // "1.234 ± 0.010"
};
Spread spread_of(const std::vector<double>& values);
std::vector<double> difference(const std::vector<double>& a,
                               const std::vector<double>& b);  // a - b, seed by seed
Index count_below(const std::vector<double>& values, double limit);

}  // namespace attn
