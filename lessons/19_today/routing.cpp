#include "lessons/19_today/routing.hpp"

#include <algorithm>  // max_element

#include "core/autograd.hpp"  // NoGrad

namespace attn {

constexpr double rate = 12e-3;

Routed train_dense(const Course& course, const TransformerConfig& config) {
  Routed result;
  for (const std::uint64_t seed : course.seeds) {
    Rng rng(seed);
    const Gpt model = fresh_gpt(config, rng);
    train_gpt(model, course, rate, seed);
    result.losses.push_back(unseen_loss(model, course));
    result.parameters = parameters_of(model).count();
  }
  return result;
}

Routed train_experts(const Course& course, const TransformerConfig& config, Index experts, real balance) {
  Routed result;
  Recipe recipe = course.recipe;
  recipe.rate = rate;
  const Windows windows = random_windows(course.text.unseen, 64, course.recipe.T, 12345);
  for (const std::uint64_t seed : course.seeds) {
    Rng rng(seed);
    const ExpertGpt model(config, experts, rng);
    teach(parameters_of(model), course.text.training, recipe, seed, [&](const Windows& batch) {
      const ExpertGpt::Result routed = model(batch.reads);
      return cross_entropy(routed.logits, batch.writes) + routed.balance * balance;
    });
    result.parameters = parameters_of(model).count();
    const NoGrad no_grad;
    const ExpertGpt::Result last = model(windows.reads);
    result.losses.push_back(cross_entropy(last.logits, windows.writes).item());
    result.busiest.push_back(0);
    for (const std::vector<int>& chosen : last.chosen) {
      std::vector<double> load(experts, 0.0);
      for (const int e : chosen) load[e] += 100.0 / double(chosen.size());
      result.busiest.back() += *std::max_element(load.begin(), load.end()) / double(last.chosen.size());
    }
    if (seed == course.seeds[0]) result.read = windows.reads.values(), result.chosen = last.chosen[0];
  }
  return result;
}

}  // namespace attn
