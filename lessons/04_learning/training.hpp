// How lesson 04 trains its network again and again: runs, and what an optimizer does in several of them.
#pragma once

#include <functional>  // function
#include <memory>      // unique_ptr

#include "lessons/04_learning/pictures.hpp"  // Band
#include "lessons/04_learning/spirals.hpp"
#include "optim/optimizer.hpp"

namespace attn {

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const ParameterList&)>;

struct TrainingPlan {
  Index steps, batch = 100;
  double rate;
  bool until_learned = false;  // stop as soon as 99% of the examples are right, and keep no losses
};
struct Trained {
  std::vector<double> losses;  // over all examples, every 25 steps
  double steps;                // until 99% of the examples were right, or all, if they never were
  bool learned = false;
};

// All that is random in a run comes from its seed: examples, first weights, batches.
struct Run {
  Rng rng;
  Spirals data, fresh;  // 500 examples, and 500 more that are never learned from
  Network network;

  explicit Run(std::uint64_t seed, Index hidden_layers = 2, Activation activation = Activation::tanh)
      : rng(seed),
        data(make_spirals(500, rng)),
        fresh(make_spirals(500, rng)),
        network(rng, hidden_layers, activation) {}

  Tensor batch_loss(Index batch);  // of that many examples, at random
  Trained train(const MakeOptimizer& make, const TrainingPlan& plan);
};

struct Contestant {
  std::string name;
  std::vector<double> rates;
  MakeOptimizer make;
};

// How a rate did in the runs with these seeds.
struct Score {
  double rate, mean, fewest, most;  // steps until 99% of the examples were right
  Index learned;                    // runs that got there
};
Score try_rate(const Contestant& contestant, double rate, const std::vector<std::uint64_t>& seeds,
               Index most_steps);

// The loss along the way: the median of the runs, the lowest and the highest.
Band loss_curve(const Contestant& contestant, double rate, const std::vector<std::uint64_t>& seeds,
                Index steps);

}  // namespace attn
