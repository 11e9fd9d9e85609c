#include "lessons/19_today/training.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // count_if
#include <cctype>     // isalpha
#include <cmath>      // sqrt
#include <iterator>   // ssize
#include <map>        // map

#include "core/autograd.hpp"  // NoGrad
#include "nn/text/toy_languages.hpp"
#include "optim/trainer.hpp"

namespace attn {

void teach(const ParameterList& parameters, const std::vector<int>& text, const Recipe& recipe,
           std::uint64_t seed, const std::function<Tensor(const Windows&)>& loss) {
  Adam optimizer(parameters, adamw());
  train(optimizer,
        {.steps = recipe.steps,
         .schedule = {.kind = ScheduleKind::cosine,
                      .peak = recipe.rate,
                      .warmup = 20,
                      .total = recipe.steps,
                      .floor = recipe.rate / 20},
         .progress = recipe.progress,
         .label = recipe.label},
        {.loss = [&](Index batch) {
          return StepLoss{
              loss(random_windows(text, recipe.B, recipe.T, seed * 1000003 + std::uint64_t(batch))),
              recipe.B * recipe.T};
        }});
}

double loss_on(const std::vector<int>& text, Index T, const Logits& logits) {
  const NoGrad no_grad;
  const Windows windows = random_windows(text, 64, T, 12345);
  return cross_entropy(logits(windows.reads), windows.writes).item();
}

void train_gpt(const Gpt& model, const Course& course, double rate, std::uint64_t seed) {
  Recipe recipe = course.recipe;
  recipe.rate = rate;
  teach(parameters_of(model), course.text.training, recipe, seed, [&](const Windows& windows) {
    return cross_entropy(model(windows.reads, {.training = true}), windows.writes);
  });
}

double unseen_loss(const Gpt& model, const Course& course) {
  return loss_on(course.text.unseen, course.recipe.T, [&](const IntTensor& reads) { return model(reads); });
}

std::string Spread::str(int decimals) const {
  return fmt::format("{:.{}f} ± {:.{}f}", mean, decimals, deviation, decimals);
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) spread.mean += value / double(values.size());
  for (const double value : values)
    spread.deviation += (value - spread.mean) * (value - spread.mean) / double(values.size() - 1);
  spread.deviation = std::sqrt(spread.deviation);
  return spread;
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (Index i = 0; i < std::ssize(a); ++i) result.push_back(a[i] - b[i]);
  return result;
}

Index count_below(const std::vector<double>& values, double limit) {
  return std::count_if(values.begin(), values.end(), [&](double value) { return value < limit; });
}

std::vector<int> fairy_tales(const CharacterVocabulary& vocabulary, std::uint64_t seed) {
  static const std::map<std::string, std::string> words = {
      {"dog", "dragon"},    {"cat", "giant"},     {"fox", "witch"},     {"bear", "troll"},
      {"frog", "prince"},   {"owl", "elf"},       {"rabbit", "wizard"}, {"goat", "ghost"},
      {"mouse", "knight"},  {"duck", "wolf"},     {"ball", "ring"},     {"kite", "crown"},
      {"hat", "sword"},     {"drum", "spell"},    {"book", "scroll"},   {"boat", "ship"},
      {"bell", "mirror"},   {"lamp", "candle"},   {"map", "wand"},      {"box", "chest"},
      {"barn", "tower"},    {"garden", "castle"}, {"park", "palace"},   {"forest", "swamp"},
      {"field", "temple"},  {"hill", "cave"},     {"meadow", "desert"}, {"valley", "island"},
      {"village", "market"}};
  std::string tales, word;
  for (const std::string& story : small_stories(1000, seed))
    for (const char c : story + "\n") {
      if (std::isalpha(static_cast<unsigned char>(c))) {
        word += c;
        continue;
      }
      const auto found = words.find(word);
      tales += found == words.end() ? word : found->second;
      tales += c;
      word.clear();
    }
  return vocabulary.encode(tales);
}

}  // namespace attn
