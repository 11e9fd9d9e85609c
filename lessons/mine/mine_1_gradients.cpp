/// Lesson 04 trained a small network to tell two spirals apart, with the library's ops. Now the library does
/// none of the work: the products and sums of the forward pass, every gradient of the backward pass, the loss
/// and Adam are the functions that you wrote in exercises 01, 02 and 04. What you have not written yet is
/// ours, and the table says so.
#include <cmath>  // cos, sin

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/mine/milestone.hpp"
#include "lessons/mine/ops.hpp"
#include "lessons/mine/training.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

struct Spirals {
  Tensor points;      // (N, 2)
  IntTensor classes;  // (N)
};

// Two arms of almost two turns each, the second half a turn ahead.
Spirals spirals(Index count, Rng& rng) {
  Spirals data{empty({count, 2}), IntTensor({count})};
  for (Index i = 0; i < count; ++i) {
    const int arm = int(i % 2);
    const double radius = 0.1 + 0.9 * rng.uniform(), angle = 4 * M_PI * radius + M_PI * arm;
    data.points(i, 0) = real(3 * radius * std::cos(angle) + 0.06 * rng.normal());
    data.points(i, 1) = real(3 * radius * std::sin(angle) + 0.06 * rng.normal());
    data.classes[i] = arm;
  }
  return data;
}

// 2 -> 48 -> 48 -> 2, with ReLU between the layers.
struct Network {
  Linear first, second, third;
  explicit Network(std::uint64_t seed) {
    Rng rng(seed);
    first = Linear(2, 48, rng), second = Linear(48, 48, rng), third = Linear(48, 2, rng);
  }

  Tensor operator()(const Tensor& points) const {  // by the library
    return third(second(first(points, Activation::relu), Activation::relu));
  }
  Tensor operator()(const mine::Parts& parts, const Tensor& points) const {     // by parts
    const Tensor once = mine::relu(parts, mine::linear(parts, points, first));  // (N, 48)
    const Tensor twice = mine::relu(parts, mine::linear(parts, once, second));
    return mine::linear(parts, twice, third);  // (N, 2)
  }
  void parameters(ParameterList& list) const {
    list.add_layer("first", first);
    list.add_layer("second", second);
    list.add_layer("third", third);
  }
};

struct Task {
  Spirals train, fresh;
  Index steps;
  std::uint64_t seed;
  static constexpr double rate = 0.005;
};

// The probability of the second arm at each place of a grid, asked of the network by parts.
viz::Matrix decisions(const mine::Parts& parts, const Network& network, const viz::Grid& grid) {
  const NoGrad no_grad;
  Tensor places = empty({grid.rows * grid.cols, 2});
  for (Index i = 0; i < grid.rows * grid.cols; ++i) {
    places(i, 0) = real(grid.x(i % grid.cols));
    places(i, 1) = real(grid.y(i / grid.cols));
  }
  const Tensor p = softmax(network(parts, places));
  viz::Matrix map(grid.rows, grid.cols);
  for (Index i = 0; i < p.size(0); ++i) map.values[i] = float(p(i, 1));
  return map;
}

void learn(const mine::Parts& parts, const Task& task, const Network& network, mine::Trained& result) {
  mine::Trainer trainer(parts, parameters_of(network),
                        {.rate = Task::rate, .adam = {0, real(0.9), real(0.999), real(1e-8)}});
  for (Index step = 0; step < task.steps; ++step)
    result.losses.push_back(
        trainer.step(mine::batch_loss(parts, network(parts, task.train.points), task.train.classes)));
  const NoGrad no_grad;
  const IntTensor answers = argmax(network(parts, task.fresh.points));
  for (Index i = 0; i < answers.numel(); ++i)
    result.score += double(answers[i] == task.fresh.classes[i]) / double(answers.numel());
  result.map = decisions(parts, network, {-3.5, 3.5, -3.5, 3.5, 40, 40});
}

std::vector<double> library_losses(const Task& task) {
  const Network network(task.seed);
  Adam adam(parameters_of(network));
  const History history =
      train(adam, {.steps = task.steps, .schedule = {.peak = Task::rate}, .clip = 0, .progress = false},
            {.loss = [&](Index) {
              return StepLoss{cross_entropy(network(task.train.points), task.train.classes), 0};
            }});
  std::vector<double> losses;
  for (const TrainPoint& point : history.steps) losses.push_back(point.loss);
  return losses;
}

viz::Image boundary(const mine::Parts& parts, const Network& network, const Spirals& data,
                    const std::string& title) {
  viz::Points points{.classes = data.classes.values(), .class_names = {"first arm", "second arm"}};
  for (Index i = 0; i < data.points.size(0); ++i) {
    points.x.push_back(data.points(i, 0));
    points.y.push_back(data.points(i, 1));
  }
  const viz::Grid grid{-3.5, 3.5, -3.5, 3.5, 120, 120};
  return viz::scatter(points, {.title = title, .grid = grid, .background = decisions(parts, network, grid)});
}

/// ## Two spirals, by your own code
///
/// The network has two hidden layers of 48 units with ReLU. Every step goes through all points: `product` and
/// `broadcast_add` forwards, `batch_loss`, then backwards `batch_loss_backward`, `matmul_backward`,
/// `broadcast_backward` and `relu_backward`, and at last `adam_step`.
void spirals_by_parts(Lesson& lesson, const mine::Parts& parts, const mine::Mistaken& mistakes) {
  Rng rng(lesson.seed);
  const Task task{spirals(400, rng), spirals(400, rng), lesson.fast ? 150 : 1200, lesson.seed + 1};
  const Network network(task.seed);
  const viz::Image before = boundary(parts, network, task.train, "before");
  mine::Trained yours;
  learn(parts, task, network, yours);
  const std::vector<double> ours = library_losses(task);

  lesson.picture("losses.png",
                 viz::line_chart({{.name = "by the library", .y = ours},
                                  {.name = "by your parts", .y = yours.losses, .dashed = true}},
                                 {.title = "Two spirals: your curve on ours",
                                  .x_title = "step",
                                  .y_title = "loss",
                                  .y_scale = viz::Scale::log10}),
                 "Your curve on ours",
                 "Both start from the same weights. Where only one line can be seen, the two are the same.");
  lesson.picture("spirals.png",
                 viz::row({before, boundary(parts, network, task.train, "after")},
                          {.title = "What your network decides, at each place"}),
                 "Before and after",
                 "The colour is the network's decision: your gradients bent it into two arms.");
  lesson.claim(mine::worst_relative(ours, yours.losses) < 1e-4,
               "the first ten losses are the library's: largest relative difference {:.0e}",
               mine::worst_relative(ours, yours.losses));
  lesson.claim(
      yours.last_loss() < 0.5 * yours.losses.front() && yours.score > (lesson.fast ? 0.7 : 0.98),
      "your code learns: the loss falls from {:.3f} to {:.3f}, and {:.0f}% of 400 points that it never "
      "saw are told apart",
      yours.losses.front(), yours.last_loss(), 100 * yours.score);

  for (const auto& mistaken : mistakes) {
    const mine::Trained broken = mine::run_mistaken(
        [&](mine::Trained& result) { learn(*mistaken, task, Network(task.seed), result); });
    mine::show_mistake(
        lesson, *mistaken, yours, broken,
        {.score = "of unseen points right", .map_title = "what it decides", .x_title = "x", .y_title = "y"});
  }

  /// ## What your parts cost
  ///
  /// The same call, once to your function and once to ours. Yours is compiled with optimisation and without
  /// the checks of `make check`; what is left is the way the loops are written.
  mine::show_times(lesson, parts);
}

}  // namespace

int main(int argc, char** argv) {
  return mine::run_milestone(argc, argv, 1, "Do your gradients learn?", spirals_by_parts);
}
