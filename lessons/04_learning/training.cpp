#include "lessons/04_learning/training.hpp"

#include <algorithm>  // sort
#include <numeric>    // accumulate

namespace attn {

Tensor Run::batch_loss(Index batch) {
  std::vector<int> rows(batch);
  IntTensor answers({batch});
  for (Index i = 0; i < batch; ++i) {
    rows[i] = int(rng.below(data.points.size(0)));
    answers[i] = data.classes[rows[i]];
  }
  const Tensor logits = network(take_rows(data.points, rows));  // (batch, 2)
  return cross_entropy(logits, answers);
}

Trained Run::train(const MakeOptimizer& make, const TrainingPlan& plan) {
  Trained trained{.losses = {}, .steps = double(plan.steps)};
  const std::unique_ptr<Optimizer> optimizer = make(parameters_of(network));
  for (Index step = 1; step <= plan.steps; ++step) {
    const Tensor loss = batch_loss(plan.batch);
    backward(loss);
    optimizer->step(plan.rate);
    if (step % 25) continue;
    if (!plan.until_learned) {
      const NoGrad no_grad;
      trained.losses.push_back(cross_entropy(network(data.points), data.classes).item());
    }
    if (trained.learned || accuracy_of(network, data) < 0.99) continue;
    trained.learned = true;
    trained.steps = double(step);
    if (plan.until_learned) break;
  }
  return trained;
}

Score try_rate(const Contestant& contestant, double rate, const std::vector<std::uint64_t>& seeds,
               Index most_steps) {
  std::vector<double> steps;
  Index learned = 0;
  for (const std::uint64_t seed : seeds) {
    const Trained trained =
        Run(seed).train(contestant.make, {.steps = most_steps, .rate = rate, .until_learned = true});
    steps.push_back(trained.steps);
    learned += trained.learned;
  }
  std::sort(steps.begin(), steps.end());
  const double mean = std::accumulate(steps.begin(), steps.end(), 0.0) / double(steps.size());
  return {rate, mean, steps.front(), steps.back(), learned};
}

Band loss_curve(const Contestant& contestant, double rate, const std::vector<std::uint64_t>& seeds,
                Index steps) {
  std::vector<std::vector<double>> losses;
  for (const std::uint64_t seed : seeds)
    losses.push_back(Run(seed).train(contestant.make, {.steps = steps, .rate = rate}).losses);
  Band band{contestant.name, {}, {}, {}, {}};
  for (std::size_t i = 0; i < losses[0].size(); ++i) {
    std::vector<double> at;
    for (const std::vector<double>& run : losses) at.push_back(run[i]);
    std::sort(at.begin(), at.end());
    band.x.push_back(double(25 * (i + 1)));
    band.low.push_back(at.front()), band.middle.push_back(at[at.size() / 2]), band.high.push_back(at.back());
  }
  return band;
}

}  // namespace attn
