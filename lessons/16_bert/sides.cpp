#include "lessons/16_bert/sides.hpp"

#include <algorithm>  // max, stable_sort
#include <cmath>      // fabs, log
#include <iterator>   // ssize

#include "core/autograd.hpp"
#include "lessons/16_bert/race.hpp"  // fit

namespace attn {

Gpt train_causal(const Data& data, bool fast, std::uint64_t seed) {
  Rng init(seed);
  const Gpt model(
      gpt_config({.vocabulary = data.words.vocabulary.size(), .d_model = 64, .layers = 2, .max_length = 48}),
      init);
  const std::uint64_t base = seed * 1000003;
  fit(parameters_of(model), "causal LM", fast ? 100 : 160, 4e-3, [&](Index batch) {
    Rng rng(base + std::uint64_t(batch));
    const Tokens tokens = tokens_of(pick(data.training, fast ? 16 : 32, rng.bits64()));
    const Index B = tokens.ids.shape()[0], T = tokens.ids.shape()[1];
    IntTensor targets({B, T});
    for (Index b = 0; b < B; ++b)
      for (Index t = 0; t < T; ++t)
        targets(b, t) = t + 1 < tokens.lengths[b] ? tokens.ids(b, t + 1) : not_asked;
    return StepLoss{cross_entropy(model(tokens, {.training = true}), targets, {.ignore = not_asked}), B * T};
  });
  return model;
}

std::vector<double> fill(const Bert& model, const Words& words, std::vector<int> ids, Index place) {
  const NoGrad no_grad;
  ids[place] = words.mask;
  const Tensor p = softmax(model.mlm_logits(model(ids)));  // (1, T, V)
  const real* row = p.data() + place * p.size(2);
  return {row, row + p.size(2)};
}

std::vector<double> fill(const Gpt& model, const Words&, const std::vector<int>& ids, Index place) {
  const NoGrad no_grad;
  const Tensor p = softmax(model(ids));  // (1, T, V): row t is for place t + 1
  const real* row = p.data() + (place - 1) * p.size(2);
  return {row, row + p.size(2)};
}

Sides compare_sides(const Data& data, const Bert& bert, const Gpt& gpt, Index sentences) {
  Sides sides;
  Rng rng(77);
  for (Index i = 0; i < sentences; ++i) {
    const std::vector<int>& ids = data.test[i].ids;
    const Index place = 1 + rng.below(std::ssize(ids) - 2);
    const Index word = ids[place];
    sides.both -= std::log(fill(bert, data.words, ids, place)[word]) / double(sentences);
    sides.left -= std::log(fill(gpt, data.words, ids, place)[word]) / double(sentences);
  }
  return sides;
}

double largest_change(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (Index i = 0; i < std::ssize(a); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

std::vector<viz::Token> best_words(const std::vector<double>& p, const Words& words, int color) {
  std::vector<int> order(p.size());
  for (Index i = 0; i < std::ssize(order); ++i) order[i] = int(i);
  const auto more = [&](int a, int b) { return p[a] > p[b]; };
  std::stable_sort(order.begin(), order.end(), more);
  std::vector<viz::Token> tokens;
  for (int i = 0; i < 6; ++i)
    tokens.emplace_back(words.vocabulary.token(order[i]), color, fmt::format("{:.2f}", p[order[i]]));
  return tokens;
}

}  // namespace attn
