// Lesson 04. How does a network learn?
//
// It answers with numbers (logits), softmax makes probabilities of them, and cross-entropy is the price
// of the answer: −log of the probability that it gave to what was right. The gradient of the price
// (lesson 02) says in which direction each weight should go, and an optimizer decides how far. Here are
// the four that matter, each a few lines, then all of them on one small task: two spirals that no
// straight line can separate.
#include <algorithm>  // max, max_element
#include <cmath>      // exp, fabs, log, pow, sqrt
#include <memory>     // make_unique

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"  // set_thread_count
#include "core/text.hpp"      // on_terminal
#include "lessons/support/lesson.hpp"
#include "nn/linear.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

using Numbers = std::vector<double>;

// 1. What does an answer cost?

// p_j = exp(z_j) / Σ exp(z): positive, and they sum to 1. One point more of logit makes it e times as likely.
Numbers softmax_of(const Numbers& logits) {
  double sum = 0;
  Numbers p;
  for (const double z : logits) sum += std::exp(z);
  for (const double z : logits) p.push_back(std::exp(z) / sum);
  return p;
}

// −log p_right, straight from the formula; and without ever computing a large exponential:
//   −log (exp(z_right) / Σ exp(z)) = log Σ exp(z − largest) + largest − z_right
double naive_cross_entropy(const Numbers& logits, int right) { return -std::log(softmax_of(logits)[right]); }

double stable_cross_entropy(const Numbers& logits, int right) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double z : logits) sum += std::exp(z - largest);  // each at most 1, and one of them is 1
  return std::log(sum) + largest - logits[right];
}

void the_price(Lesson& lesson) {
  const std::vector<std::string> animals = {"cat", "dog", "fish"};
  lesson.section("The price of an answer");
  lesson.say(
      "A network looks at a picture and answers with three numbers, one for each animal. They can be "
      "anything; softmax makes probabilities of them:");
  lesson.equation("p_j = exp(z_j) / Σ_m exp(z_m)");
  const Numbers logits = {2.0, 1.0, 0.1}, p = softmax_of(logits);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t j = 0; j < 3; ++j)
    rows.push_back({animals[j], fmt::format("{:.1f}", logits[j]), fmt::format("{:.3f}", p[j]),
                    fmt::format("{:.3f}", -std::log(p[j]))});
  lesson.table({"", "logit", "probability", "price, if it is right"}, rows);
  lesson.say(
      "The price is −log of the probability of what was right, the cross-entropy. To be sure and right is "
      "free; to be sure and wrong costs without limit:");
  lesson.table({"probability of the right answer", "price"},
               {{"1.0", fmt::format("{:.3f}", std::fabs(std::log(1.0)))},
                {"0.9", fmt::format("{:.3f}", -std::log(0.9))},
                {"0.5", fmt::format("{:.3f}", -std::log(0.5))},
                {"0.1", fmt::format("{:.3f}", -std::log(0.1))},
                {"0.001", fmt::format("{:.3f}", -std::log(0.001))}});
  lesson.claim(std::fabs(-std::log(0.9) - 0.105) < 5e-4 && std::fabs(-std::log(0.1) - 2.303) < 5e-4,
               "an answer given 0.9 costs 0.105, one given 0.1 costs 2.303: {:.0f} times as much",
               std::log(0.1) / std::log(0.9));
  const Tensor as_tensor = tensor({{2.0, 1.0, 0.1}});
  const double ours = stable_cross_entropy(logits, 0),
               library = cross_entropy(as_tensor, IntTensor({1}, {0})).item();
  lesson.claim(std::fabs(ours - library) < 1e-6,
               "if it is a cat, our loops say {:.4f} and the library {:.4f}", ours, library);

  lesson.section("Large logits");
  const Numbers large = {1000, 999};
  const double naive = naive_cross_entropy(large, 0), stable = stable_cross_entropy(large, 0);
  lesson.say(
      "exp(1000) is more than any number can hold, and infinity divided by infinity is nothing. But "
      "softmax knows only differences: subtract the largest logit from all, and the largest exponential is "
      "1. For logits 1000 and 999:");
  lesson.claim(!std::isfinite(naive) && std::fabs(stable - std::log(1 + std::exp(-1.0))) < 1e-12,
               "straight from the formula: {}; with the largest subtracted: {:.4f}, the same as for 1 and 0",
               std::isnan(naive) ? "NaN" : "infinity", stable);

  lesson.section("The mean over a batch");
  Rng rng(lesson.seed);
  Tensor batch = normal({5, 3}, rng);  // five answers
  batch.requires_grad();
  const IntTensor right({5}, {0, 2, 1, 1, 0});
  const Tensor loss = cross_entropy(batch, right);
  backward(loss);
  lesson.say(
      "The loss of a batch is the mean of its prices, not the sum: then a batch of twice the size asks for "
      "steps of the same size. And its gradient is as simple as it could be, what was said minus what was "
      "right:");
  lesson.equation("d loss / d logits = (p − one-hot) / N");
  double worst = 0, mean_price = 0;
  for (Index i = 0; i < 5; ++i) {
    const Numbers row = {batch(i, 0), batch(i, 1), batch(i, 2)}, share = softmax_of(row);
    mean_price += stable_cross_entropy(row, right[i]) / 5;
    for (int j = 0; j < 3; ++j)
      worst = std::max(worst, std::fabs((share[j] - (right[i] == j ? 1 : 0)) / 5 - batch.grad()(i, j)));
  }
  const Tensor doubled =
      cross_entropy(concat({batch, batch}), IntTensor({10}, {0, 2, 1, 1, 0, 0, 2, 1, 1, 0}));
  lesson.claim(worst < 1e-6, "the library's gradient is (p − one-hot) / 5: largest difference {:.0e}", worst);
  lesson.claim(std::fabs(loss.item() - mean_price) < 1e-5 && std::fabs(loss.item() - doubled.item()) < 1e-5,
               "every answer twice: the loss was {:.4f} and is {:.4f}", loss.item(), doubled.item());
}

// 2. Four ways downhill

// p: parameters, g: their gradient. Each line is the whole algorithm.

void sgd(Numbers& p, const Numbers& g, double rate) {
  for (std::size_t i = 0; i < p.size(); ++i) p[i] -= rate * g[i];
}

// A ball that keeps 90% of its speed: what pulls the same way again and again adds
// up, what alternates cancels.
void momentum(Numbers& p, const Numbers& g, Numbers& speed, double rate) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    speed[i] = 0.9 * speed[i] + g[i];
    p[i] -= rate * speed[i];
  }
}

// Adam: a running mean of the gradient, divided by the root of a running mean of its square. So each
// parameter gets steps of about the size `rate`, however large its gradients are.
struct AdamState {
  Numbers mean, square;
  int step = 0;
  explicit AdamState(std::size_t size) : mean(size), square(size) {}
};
struct AdamSettings {
  bool correct_bias = true;
  double l2 = 0;     // weight decay through the gradient: g += l2 · p
  double decay = 0;  // AdamW: decay beside the gradient: p -= rate · decay · p
};
void adam(Numbers& p, const Numbers& g, AdamState& state, double rate, const AdamSettings& settings = {}) {
  ++state.step;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double gradient = g[i] + settings.l2 * p[i];
    state.mean[i] = 0.9 * state.mean[i] + 0.1 * gradient;
    state.square[i] = 0.999 * state.square[i] + 0.001 * gradient * gradient;
    // Both means start at 0 and are too small at first. After t steps the weights in them sum to 1 − β^t.
    const double mean =
        settings.correct_bias ? state.mean[i] / (1 - std::pow(0.9, state.step)) : state.mean[i];
    const double square =
        settings.correct_bias ? state.square[i] / (1 - std::pow(0.999, state.step)) : state.square[i];
    p[i] -= rate * settings.decay * p[i];
    p[i] -= rate * mean / (std::sqrt(square) + 1e-8);
  }
}

// A valley: gentle along x, a hundred times steeper along y. loss = (x² + 100 y²) / 2
Numbers valley_gradient(const Numbers& p) { return {p[0], 100 * p[1]}; }

struct Path {
  Numbers x, y;
  double distance() const { return std::hypot(x.back(), y.back()); }
};
template <class Step>
Path walk(int steps, const Step& step) {
  Numbers p = {-9, 0.8};
  Path path{{p[0]}, {p[1]}};
  for (int i = 0; i < steps; ++i) {
    step(p, valley_gradient(p));
    path.x.push_back(p[0]);
    path.y.push_back(p[1]);
  }
  return path;
}

// The same walk with an optimizer of the library.
template <class Make>
Path library_walk(int steps, double rate, const Make& make) {
  Tensor p = tensor({-9, 0.8});
  p.requires_grad();
  ParameterList list;
  list.add("p", p);
  const std::unique_ptr<Optimizer> optimizer = make(list);
  const Tensor steepness = tensor({0.5, 50});
  for (int i = 0; i < steps; ++i) {
    backward(sum(steepness * p * p));
    optimizer->step(rate);
  }
  return {{p(0)}, {p(1)}};
}

void downhill(Lesson& lesson) {
  lesson.section("SGD and momentum");
  const int steps = 60;
  lesson.say(
      "Gradient descent goes against the gradient, a little at a time. (SGD, S for stochastic, because "
      "each batch gives only a rough guess of the gradient.) The trouble is a valley that is steep across "
      "and gentle along: here (x² + 100 y²) / 2. A step that is safe for y is much too small for x. "
      "Momentum remembers its speed:");
  lesson.equation("SGD   p −= η g          momentum   v = μ v + g,   p −= η v");
  const Path plain = walk(steps, [](Numbers& p, const Numbers& g) { sgd(p, g, 0.018); });
  Numbers speed(2);
  const Path rolling = walk(steps, [&](Numbers& p, const Numbers& g) { momentum(p, g, speed, 0.018); });

  AdamState state(2);
  const Path adaptive = walk(steps, [&](Numbers& p, const Numbers& g) { adam(p, g, state, 0.3); });
  lesson.table({fmt::format("after {} steps from (−9, 0.8)", steps), "x", "y", "distance to the bottom"},
               {{"SGD", fmt::format("{:.2f}", plain.x.back()), fmt::format("{:.2f}", plain.y.back()),
                 fmt::format("{:.2f}", plain.distance())},
                {"momentum", fmt::format("{:.2f}", rolling.x.back()), fmt::format("{:.2f}", rolling.y.back()),
                 fmt::format("{:.2f}", rolling.distance())},
                {"Adam", fmt::format("{:.2f}", adaptive.x.back()), fmt::format("{:.2f}", adaptive.y.back()),
                 fmt::format("{:.2f}", adaptive.distance())}});
  lesson.claim(rolling.distance() < plain.distance() / 3,
               "momentum is {:.0f} times nearer to the bottom than SGD",
               plain.distance() / rolling.distance());
  lesson.picture("valley.png",
                 viz::line_chart({{.name = "SGD", .y = plain.y, .x = plain.x, .points = true},
                                  {.name = "momentum", .y = rolling.y, .x = rolling.x, .points = true},
                                  {.name = "Adam", .y = adaptive.y, .x = adaptive.x, .points = true}},
                                 {.title = "Three ways through a valley",
                                  .x_title = "x: gentle",
                                  .y_title = "y: a hundred times steeper",
                                  .x_guides = {{.at = 0, .label = "bottom"}}}),
                 "Three ways through a valley",
                 "SGD jumps from side to side and creeps along; momentum swings but gets there; Adam takes "
                 "both directions at the same pace.");

  lesson.section("Adam");
  lesson.equation("m = β₁ m + (1−β₁) g     v = β₂ v + (1−β₂) g²     p −= η · m̂ / (√v̂ + ε)");
  lesson.say(
      "with m̂ = m / (1 − β₁ᵗ) and v̂ = v / (1 − β₂ᵗ). m and v start at 0, so after one step m holds only "
      "10% of the gradient and v only 0.1% of its square. The division by 1 − βᵗ repairs just that. "
      "Without it the first step is 0.1 / √0.001 times too large. For a first gradient of 1, at η = 0.01:");
  Numbers with = {0}, without = {0};
  AdamState fresh(1), other(1);
  adam(with, {1}, fresh, 0.01);
  adam(without, {1}, other, 0.01, {.correct_bias = false});
  lesson.claim(
      std::fabs(with[0] + 0.01) < 1e-6 && std::fabs(without[0] / with[0] - 0.1 / std::sqrt(0.001)) < 1e-3,
      "with the correction the first step is {:.4f}, without it {:.4f}", -with[0], -without[0]);

  lesson.section("AdamW");
  lesson.say(
      "Weight decay pulls every weight towards 0, so that only what is useful stays. The old way adds it "
      "to the gradient; but Adam divides the gradient by its size, and the decay with it. So weights with "
      "large gradients hardly decay. AdamW takes it out of the division:");
  lesson.equation("AdamW   p −= η λ p,   then Adam with the gradient alone");
  Numbers by_gradient = {1, 1}, decoupled = {1, 1};
  AdamState a(2), b(2);
  for (int i = 0; i < 1000; ++i) {
    const double sign =
        i % 2 ? 1 : -1;  // gradients that pull back and forth: 0.01 for one weight, 10 for the other
    adam(by_gradient, {0.01 * sign, 10 * sign}, a, 0.01, {.l2 = 0.1});
    adam(decoupled, {0.01 * sign, 10 * sign}, b, 0.01, {.decay = 0.1});
  }
  lesson.table({"both start at 1; after 1000 steps", "gradients of 0.01", "gradients of 10"},
               {{"decay in the gradient", fmt::format("{:.2f}", by_gradient[0]),
                 fmt::format("{:.2f}", by_gradient[1])},
                {"AdamW", fmt::format("{:.2f}", decoupled[0]), fmt::format("{:.2f}", decoupled[1])}});
  lesson.claim(std::fabs(decoupled[0] - decoupled[1]) < 0.1 && by_gradient[1] - by_gradient[0] > 0.5,
               "AdamW shrinks both alike, to about (1 − 0.001)^1000 = {:.2f}", std::pow(0.999, 1000));

  const Path library_sgd = library_walk(steps, 0.018, [](const ParameterList& list) {
    return std::make_unique<Sgd>(list, SgdOptions{.momentum = 0.9});
  });
  const Path library_adam =
      library_walk(steps, 0.3, [](const ParameterList& list) { return std::make_unique<Adam>(list); });
  const double worst = std::max(
      {std::fabs(library_sgd.x[0] - rolling.x.back()), std::fabs(library_sgd.y[0] - rolling.y.back()),
       std::fabs(library_adam.x[0] - adaptive.x.back()), std::fabs(library_adam.y[0] - adaptive.y.back())});
  lesson.claim(worst < 1e-3,
               "the library's Sgd and Adam end where our loops ended: largest difference {:.0e}", worst);
}

// 3. Two spirals

struct Spirals {
  Tensor points;      // (N, 2)
  IntTensor classes;  // (N)
};

// Two arms, each of almost two turns, the second half a turn ahead.
Spirals spirals(Index count, Rng& rng) {
  Spirals data{empty({count, 2}), IntTensor({count})};
  for (Index i = 0; i < count; ++i) {
    const int arm = int(i % 2);
    const double radius = 0.1 + 0.9 * rng.uniform(), angle = 4 * M_PI * radius + M_PI * arm;
    data.points(i, 0) = real(radius * std::cos(angle) + 0.02 * rng.normal());
    data.points(i, 1) = real(radius * std::sin(angle) + 0.02 * rng.normal());
    data.classes[i] = arm;
  }
  return data;
}

struct Network {
  Linear first, second, third;
  explicit Network(Rng& rng) : first(2, 48, rng), second(48, 48, rng), third(48, 2, rng) {}

  Tensor operator()(const Tensor& points) const {                     // (N, 2) -> (N, 2) logits
    const Tensor hidden = first(points * real(3), Activation::tanh);  // (N, 48)
    return third(second(hidden, Activation::tanh));
  }
  void parameters(ParameterList& list) const {
    list.add_layer("first", first);
    list.add_layer("second", second);
    list.add_layer("third", third);
  }
};

double accuracy(const Network& network, const Spirals& data) {
  const NoGrad no_grad;
  const IntTensor answers = argmax(network(data.points));
  Index right = 0;
  for (Index i = 0; i < answers.numel(); ++i) right += answers[i] == data.classes[i];
  return double(right) / double(answers.numel());
}

// What the network decides at each place of a grid: the probability of the second arm.
viz::Matrix decisions(const Network& network, const viz::Grid& grid) {
  const NoGrad no_grad;
  Tensor places = empty({grid.rows * grid.cols, 2});
  for (Index i = 0; i < grid.rows * grid.cols; ++i) {
    places(i, 0) = real(grid.x(i % grid.cols));
    places(i, 1) = real(grid.y(i / grid.cols));
  }
  const Tensor p = softmax(network(places));
  viz::Matrix map(grid.rows, grid.cols);
  for (Index i = 0; i < p.size(0); ++i) map.values[i] = float(p(i, 1));
  return map;
}

viz::Image boundary(const Network& network, const Spirals& data, const std::string& title) {
  viz::Points points{.classes = data.classes.values(), .class_names = {"first arm", "second arm"}};
  for (Index i = 0; i < data.points.size(0); ++i) {
    points.x.push_back(data.points(i, 0));
    points.y.push_back(data.points(i, 1));
  }
  const viz::Grid grid{-1.15, 1.15, -1.15, 1.15, 120, 120};
  return viz::scatter(points, {.title = title, .grid = grid, .background = decisions(network, grid)});
}

void two_spirals(Lesson& lesson) {
  lesson.section("Two spirals");
  set_thread_count(
      1);  // so little work is not worth sharing: threads would wait for each other most of the time
  Rng data_rng(lesson.seed);
  const Spirals train_data = spirals(500, data_rng), fresh = spirals(500, data_rng);
  const Index steps = lesson.fast ? 1000 : 3000;
  struct Contestant {
    std::string name;
    double rate;
    std::function<std::unique_ptr<Optimizer>(const ParameterList&)> make;
  };
  const std::vector<Contestant> contestants = {
      {"SGD", 0.1, [](const ParameterList& list) { return std::make_unique<Sgd>(list); }},
      {"momentum", 0.1,
       [](const ParameterList& list) { return std::make_unique<Sgd>(list, SgdOptions{.momentum = 0.9}); }},
      {"Adam", 0.005, [](const ParameterList& list) { return std::make_unique<Adam>(list); }},
      {"AdamW", 0.005, [](const ParameterList& list) { return std::make_unique<Adam>(list, adamw(0.1)); }}};
  Rng start(lesson.seed + 1);
  const Network untrained(start);
  lesson.say(
      "500 points on two arms, and a network of two hidden layers: 2 -> 48 -> 48 -> 2, {} weights. The "
      "four optimizers start from the same weights and take {} steps on all points. Accuracy is measured "
      "on 500 other points; the untrained network has {:.0f}%:",
      parameters_of(untrained).count(), steps, 100 * accuracy(untrained, fresh));

  std::vector<viz::Series> curves;
  std::vector<std::vector<std::string>> rows;
  std::vector<double> losses, accuracies;
  viz::Image after;
  for (const Contestant& contestant : contestants) {
    Rng same_start(lesson.seed + 1);
    const Network network(same_start);
    const std::unique_ptr<Optimizer> optimizer = contestant.make(parameters_of(network));
    const History history =
        train(*optimizer,
              {.steps = steps,
               .schedule = {.peak = contestant.rate},
               .clip = 0,
               .progress = on_terminal(),
               .label = contestant.name},
              {.loss = [&](Index) {
                return StepLoss{cross_entropy(network(train_data.points), train_data.classes), 500};
              }});
    viz::Series curve{.name = contestant.name};
    for (const TrainPoint& point : history.steps) curve.y.push_back(point.loss);
    losses.push_back(curve.y.back());
    accuracies.push_back(accuracy(network, fresh));
    rows.push_back({contestant.name, fmt::format("{}", contestant.rate), fmt::format("{:.4f}", losses.back()),
                    fmt::format("{:.1f}%", 100 * accuracies.back())});
    curves.push_back(curve);
    if (contestant.name == "AdamW") {
      after = boundary(network, train_data, "after: AdamW");
      lesson.table({"", "learning rate", "loss at the end", "accuracy on new points"}, rows);
      lesson.heatmap(decisions(network, {-1.15, 1.15, -1.15, 1.15, 24, 48}),
                     {.title = "What the network decides, from the first arm (dark) to the second",
                      .low = 0,
                      .high = 1});
    }
  }
  lesson.claim(accuracy(untrained, fresh) < 0.8 && accuracies[3] > 0.95,
               "learned: from {:.0f}% to {:.0f}% on points that were never seen",
               100 * accuracy(untrained, fresh), 100 * accuracies[3]);
  lesson.claim(losses[1] < losses[0] && losses[2] < losses[0], "momentum and Adam are both ahead of SGD");
  const viz::ChartOptions chart{.title = "Four optimizers from the same start",
                                .x_title = "step",
                                .y_title = "loss",
                                .y_scale = viz::Scale::log10};
  lesson.picture("losses.png", viz::line_chart(curves, chart), "Loss curves",
                 "SGD is still on its plateau when the others are through. AdamW ends above Adam, because "
                 "it also keeps its weights small.");
  lesson.picture(
      "spirals.png",
      viz::row({boundary(untrained, train_data, "before"), after}, {.title = "The decision boundary"}),
      "Before and after",
      "The colour is the network's decision at each place: at first nearly a straight cut, then two arms.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "04_learning", .question = "How does a network learn?"}, [](Lesson& lesson) {
        the_price(lesson);
        downhill(lesson);
        two_spirals(lesson);
        lesson.try_next(
            {{"In downhill, give sgd a rate of 0.021 instead of 0.018.",
              "Each step across the valley overshoots by more than it gained: y grows without limit."},
             {"In Network, replace the two Activation::tanh by Activation::none.",
              "Three linear layers are one linear layer: the cut is straight, and accuracy stays far below "
              "95%."},
             {"In two_spirals, give AdamW a decay of 10 instead of 0.1.",
              "The weights are pulled to 0 faster than they can learn: the loss stays near log 2 = 0.693."}});
      });
}
