/// In lesson 02 a single weight slid down the slope of its loss. A **network** is a function with thousands
/// of such numbers inside, its **weights**, that nobody chooses by hand. How does it *learn* them all? We
/// show it examples whose right answer is known, put a price on its answers (the **loss**), compute the
/// gradient of the loss with respect to every weight, and move each weight a little to where the loss is
/// smaller. Every network of this course, and every large model you have used, was trained by these four
/// lines, over and over:
///
/// ```
/// logits = network(examples);             // forward: what does it say?
/// loss = cross_entropy(logits, answers);  // loss: what does that cost?
/// backward(loss);                         // backward: what makes it cheaper?
/// optimizer.step(rate);                   // step: a little that way
/// ```
///
/// This lesson goes through them from the second line to the fourth, then lets them learn two spirals that
/// no straight line can separate.
#include <algorithm>   // max, max_element, min_element, sort
#include <cmath>       // exp, fabs, hypot, log, pow, sqrt
#include <functional>  // function
#include <memory>      // make_unique, unique_ptr
#include <numeric>     // accumulate, inner_product
#include <tuple>       // tuple

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"  // set_thread_count
#include "lessons/04_learning/training.hpp"
#include "lessons/support/lesson.hpp"

using namespace attn;

namespace {

using Numbers = std::vector<double>;

std::string number(double value, int decimals = 3) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return std::stod(text) == 0 && text[0] == '-' ? text.substr(1) : text;
}
std::string grouped(double value) { return viz::format_fixed(value, 0); }
double mean_of(const Numbers& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

Numbers softmax_of(const Numbers& logits) {
  double sum = 0;
  Numbers p;
  for (const double z : logits) sum += std::exp(z);
  for (const double z : logits) p.push_back(std::exp(z) / sum);
  return p;
}

double naive_cross_entropy(const Numbers& logits, int right) { return -std::log(softmax_of(logits)[right]); }

double stable_cross_entropy(const Numbers& logits, int right) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double z : logits) sum += std::exp(z - largest);  // each at most 1, and one of them is 1
  return std::log(sum) + largest - logits[right];
}

/// ## The price of an answer
///
/// A network looks at a photograph and answers with three numbers, one for each animal that it knows. They
/// are called **logits** and can be anything; a larger one means "more likely this". **Softmax** turns them
/// into probabilities: exp makes every number positive, and dividing by the sum makes them sum to 1. Raise a
/// logit by 1, and its answer becomes e = 2.718 times as likely, compared with the others.
///
/// $$ p_j = exp(z_j) / Σ_m exp(z_m) $$
void the_price(Lesson& lesson) {
  const std::vector<std::string> animals = {"cat", "dog", "fish"};
  const Numbers logits = {2.0, 1.0, 0.1}, p = softmax_of(logits);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t j = 0; j < 3; ++j)
    rows.push_back({animals[j], number(logits[j], 1), number(std::exp(logits[j])), number(p[j]),
                    number(-std::log(p[j]))});
  lesson.table({"", "logit z", "exp(z)", "p", "−log p"}, rows);

  /// The price of an answer is its **cross-entropy**: −log of the probability that it gave to what was right.
  /// If the photograph shows a cat, this answer costs 0.417. Why the logarithm? Take a thousand
  /// photographs. The probability of getting all of them right is a product of a thousand numbers, and we
  /// want it large. The logarithm makes a sum of that product, one term per photograph, and the minus sign
  /// makes it something to lower. That is *maximum likelihood*: lower the sum, and what really happened
  /// becomes more probable.
  ///
  /// A simpler price would be 1 − p, the probability that is missing. But look at the pull on the right
  /// logit, which is minus the gradient of the price with respect to it:
  rows.clear();
  for (const double right : {0.999, 0.9, 0.5, 0.1, 0.001})
    rows.push_back({number(right), number(-std::log(right)), number(1 - right), number(1 - right),
                    number(right * (1 - right))});
  lesson.table({"p of the right answer", "−log p", "its pull: 1 − p", "1 − p", "its pull: p (1 − p)"}, rows);
  lesson.claim(std::fabs(-std::log(0.9) - 0.105) < 5e-4 && std::fabs(-std::log(0.1) - 2.303) < 5e-4,
               "an answer given 0.9 costs 0.105, one given 0.1 costs 2.303: {:.0f} times as much",
               std::log(0.1) / std::log(0.9));

  /// With −log p, being sure and wrong costs without limit, and the more wrong an answer is, the harder it is
  /// pulled. With 1 − p, an answer that is sure and wrong (last row) feels almost no pull: it hardly learns.
  const Tensor as_tensor = tensor({{2.0, 1.0, 0.1}});
  const double ours = stable_cross_entropy(logits, 0),
               library = cross_entropy(as_tensor, IntTensor({1}, {0})).item();
  lesson.claim(std::fabs(ours - library) < 1e-6,
               "for the cat, our loops say {:.4f} and the library's `cross_entropy` {:.4f}", ours, library);
}

/// ## Large logits
///
/// exp(1000) is larger than any floating-point number, so it becomes ∞, and ∞/∞ is not a number (NaN). But
/// softmax depends on differences only: subtract the largest logit from all of them, and the probabilities
/// stay, while the largest exponential is 1. The exponential of the right answer need not be computed at all:
///
/// $$ −log p_right = log Σ_j exp(z_j − largest) + largest − z_right $$
void large_logits(Lesson& lesson) {
  const Numbers large = {1000, 999};
  const double naive = naive_cross_entropy(large, 0), stable = stable_cross_entropy(large, 0);
  lesson.claim(!std::isfinite(naive) && std::fabs(stable - std::log(1 + std::exp(-1.0))) < 1e-12,
               "for logits 1000 and 999, straight from the definition: {}; with the largest subtracted: "
               "{:.4f}, the same as for 1 and 0",
               std::isnan(naive) ? "NaN" : "infinity", stable);
}

/// ## The mean over a batch
///
/// Examples are shown several at a time, in a **batch**. Its loss is the *mean* of the prices, not their sum:
/// then a batch of twice the size asks for steps of the same size. With respect to the logits, the gradient
/// is as simple as it could be: what was said minus what was right, where **one-hot** is a row of zeros with
/// a 1 at the right answer:
///
/// $$ d loss / d logits = (p − one-hot) / N $$
void the_mean(Lesson& lesson) {
  Rng rng(lesson.seed);
  Tensor batch = normal({5, 3}, rng);  // five answers
  batch.requires_grad();
  const IntTensor right({5}, {0, 2, 1, 1, 0});
  const Tensor loss = cross_entropy(batch, right);
  backward(loss);
  double worst = 0, mean_price = 0;
  for (Index i = 0; i < 5; ++i) {
    const Numbers row = {batch(i, 0), batch(i, 1), batch(i, 2)}, share = softmax_of(row);
    mean_price += stable_cross_entropy(row, right[i]) / 5;
    for (int j = 0; j < 3; ++j)
      worst = std::max(worst, std::fabs((share[j] - (right[i] == j ? 1 : 0)) / 5 - batch.grad()(i, j)));
  }
  const Tensor doubled =
      cross_entropy(concat({batch, batch}), IntTensor({10}, {0, 2, 1, 1, 0, 0, 2, 1, 1, 0}));
  lesson.claim(worst < 1e-6,
               "for five answers the library's gradient is (p − one-hot) / 5: difference {:.0e}", worst);
  lesson.claim(std::fabs(loss.item() - mean_price) < 1e-5 && std::fabs(loss.item() - doubled.item()) < 1e-5,
               "every answer twice: the loss was {:.4f} and is {:.4f}", loss.item(), doubled.item());
}

// The smallest classifier: an apple and a banana, described as (round, yellow), and logits = x W.
const std::vector<Numbers> fruit = {{0.9, 0.2}, {0.1, 0.9}};  // row 0 is the apple, class 0; row 1 the banana

struct Answers {
  double loss = 0;
  Numbers p_right;                                   // for each fruit
  std::vector<Numbers> gradient = {{0, 0}, {0, 0}};  // of the loss with respect to W
};

Answers forward_and_backward(const std::vector<Numbers>& w) {
  Answers answers;
  for (int i = 0; i < 2; ++i) {
    Numbers logits(2);
    for (int j = 0; j < 2; ++j) logits[j] = fruit[i][0] * w[0][j] + fruit[i][1] * w[1][j];
    const Numbers p = softmax_of(logits);
    answers.p_right.push_back(p[i]);
    answers.loss += stable_cross_entropy(logits, i) / 2;
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 2; ++j) answers.gradient[k][j] += fruit[i][k] * (p[j] - (i == j)) / 2;
  }
  return answers;
}

/// ## Four lines, by hand
///
/// Here is the smallest network that learns: two fruits, an apple (0.9, 0.2) and a banana (0.1, 0.9), each
/// described by how round and how yellow it is, and one matrix W: logits = x W. W starts at 0, so both
/// answers get p = 0.5. Then, again and again: forward, loss, backward, and W −= rate · gradient, with a rate
/// of 1. The gradient of W is a sum over the fruits: what a fruit is, times (what was said minus what was
/// right). At the first step that is, to check with a calculator:
void four_lines(Lesson& lesson) {
  std::vector<Numbers> w = {{0, 0}, {0, 0}};
  const std::vector<Numbers> first = forward_and_backward(w).gradient;
  lesson.table({"gradient", "to apple", "to banana"},
               {{"from round", fmt::format("0.9 × (0.5 − 1)/2 + 0.1 × 0.5/2 = {:.3f}", first[0][0]),
                 number(first[0][1])},
                {"from yellow", fmt::format("0.2 × (0.5 − 1)/2 + 0.9 × 0.5/2 = {:.3f}", first[1][0]),
                 number(first[1][1])}});
  const int steps = 100;
  std::vector<std::vector<std::string>> rows;
  Answers answers;
  for (int step = 0; step <= steps; ++step) {
    answers = forward_and_backward(w);
    if (step < 3 || step == 10 || step == steps)
      rows.push_back({fmt::format("{}", step), number(w[0][0]), number(w[0][1]), number(w[1][0]),
                      number(w[1][1]), number(answers.p_right[0]), number(answers.p_right[1]),
                      number(answers.loss)});
    for (int k = 0; k < 2 && step < steps; ++k)
      for (int j = 0; j < 2; ++j) w[k][j] -= 1.0 * answers.gradient[k][j];
  }
  lesson.say(
      "The four weights (from round and yellow, to apple and banana), what each fruit gets, the loss:");
  lesson.table({"step", "r→a", "r→b", "y→a", "y→b", "p(apple)", "p(banana)", "loss"}, rows);

  // The same with tensors: the four lines.
  const Tensor x = tensor({{0.9, 0.2}, {0.1, 0.9}}), weight = zeros({2, 2}).requires_grad();
  ParameterList parameters;
  parameters.add("weight", weight);
  Sgd optimizer(parameters);
  Tensor loss;
  for (int step = 0; step <= steps; ++step) {
    const Tensor logits = matmul(x, weight);
    loss = cross_entropy(logits, IntTensor({2}, {0, 1}));
    backward(loss);
    optimizer.step(step < steps ? 1.0 : 0.0);
  }
  lesson.claim(
      std::fabs(loss.item() - answers.loss) < 1e-5 && answers.loss < 0.1,
      "after {} steps the loss has gone from {:.3f} to {:.3f}; the four lines with tensors end at {:.3f}",
      steps, std::log(2.0), answers.loss, loss.item());

  /// One thing is easy to forget. `backward` *adds* to the gradients that are there (lesson 02), so they must
  /// be set to 0 between steps. Here `step` does that once it has used them; in PyTorch you write a fifth
  /// line, `optimizer.zero_grad()`.
}

// p: parameters, g: their gradient. Each function is the whole algorithm.

void sgd(Numbers& p, const Numbers& g, double rate) {
  for (std::size_t i = 0; i < p.size(); ++i) p[i] -= rate * g[i];
}

void momentum(Numbers& p, const Numbers& g, Numbers& speed, double rate) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    speed[i] = 0.9 * speed[i] + g[i];
    p[i] -= rate * speed[i];
  }
}

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
    const double mean =
        settings.correct_bias ? state.mean[i] / (1 - std::pow(0.9, state.step)) : state.mean[i];
    const double square =
        settings.correct_bias ? state.square[i] / (1 - std::pow(0.999, state.step)) : state.square[i];
    p[i] -= rate * settings.decay * p[i];
    p[i] -= rate * mean / (std::sqrt(square) + 1e-8);
  }
}

// A walk of 60 steps down (x² + 100 y²) / 2, whose gradient is (x, 100 y).
constexpr int valley_steps = 60;
double valley_height(double x, double y) { return (x * x + 100 * y * y) / 2; }

struct Descent {
  Walk path;
  double rate;
  double height() const { return valley_height(path.x.back(), path.y.back()); }
};
// `start` makes a step function with fresh state: what the optimizer remembers belongs to one walk.
using Step = std::function<void(Numbers& p, const Numbers& g)>;
Descent descend(const std::string& name, double rate, const std::function<Step(double rate)>& start) {
  Numbers p = {-9, 0.8};
  Descent descent{{name, {p[0]}, {p[1]}}, rate};
  const Step step = start(rate);
  for (int i = 0; i < valley_steps; ++i) {
    step(p, {p[0], 100 * p[1]});
    descent.path.x.push_back(p[0]);
    descent.path.y.push_back(p[1]);
  }
  return descent;
}
// The lowest of 60 rates from 0.001 to 1, each 12% larger than the one before.
Descent best_descent(const std::string& name, const std::function<Step(double rate)>& start) {
  Descent best = descend(name, 0.001, start);
  for (double rate = 0.001; rate < 1; rate *= 1.12)
    if (const Descent other = descend(name, rate, start); other.height() < best.height()) best = other;
  return best;
}

Step start_sgd(double rate) {
  return [=](Numbers& p, const Numbers& g) { sgd(p, g, rate); };
}
Step start_momentum(double rate) {
  return [=, speed = Numbers(2)](Numbers& p, const Numbers& g) mutable { momentum(p, g, speed, rate); };
}
Step start_adam(double rate) {
  return [=, state = AdamState(2)](Numbers& p, const Numbers& g) mutable { adam(p, g, state, rate); };
}

/// ## SGD and momentum
///
/// The fourth line decides how far to go. **Gradient descent** steps against the gradient g, by η times its
/// size; η is the **learning rate**. Usually the gradient comes from a random batch of examples; then it is
/// called *stochastic* (random) gradient descent, **SGD** (Robbins and Monro, 1951). Its trouble is a valley
/// that is steep across and gentle along, such as (x² + 100 y²) / 2: a step that is safe for y is much too
/// small for x. **Momentum** (Polyak, 1964) is a ball that keeps 90% of its speed: what pulls the same way
/// again and again adds up, to ten times the gradient in the end; what alternates cancels.
///
/// $$ SGD   p −= η g          momentum   v = μ v + g,   p −= η v          μ = 0.9 $$
///
/// To compare them fairly, each gets its own best rate, out of 60 between 0.001 and 1. After 60 steps from
/// (−9, 0.8), where the height is 72.5 (Adam comes next):
void downhill(Lesson& lesson) {
  const Descent plain = best_descent("SGD", start_sgd), rolling = best_descent("momentum", start_momentum),
                adaptive = best_descent("Adam", start_adam);
  std::vector<std::vector<std::string>> rows;
  for (const Descent& descent : {plain, rolling, adaptive})
    rows.push_back({descent.path.name, number(descent.rate), number(descent.path.x.back(), 4),
                    number(descent.path.y.back(), 4), fmt::format("{:.2g}", descent.height())});
  lesson.table({"", "best rate", "x", "y", "height"}, rows);
  lesson.claim(rolling.height() < plain.height() / 10, "momentum ends {:.0f} times lower than SGD",
               plain.height() / rolling.height());
  const Descent too_fast = descend("SGD", 0.021, start_sgd);
  lesson.claim(too_fast.height() > 72.5,
               "at rate 0.021 every SGD step jumps across the valley and lands higher than it was: after {} "
               "steps the height is {}",
               valley_steps, grouped(too_fast.height()));
  lesson.picture("valley.png",
                 valley_picture({plain.path, rolling.path, adaptive.path},
                                fmt::format("{} steps down a valley, each at its best rate", valley_steps)),
                 "Three ways through a valley",
                 "Rings join points of equal height. SGD zigzags across the valley and creeps along it. "
                 "Momentum swings, but runs to the bottom. Adam goes about as fast in x as in y, however "
                 "steep they are.");
}

/// ## Adam
///
/// One rate for all weights is a compromise: a weight with gradients a thousand times larger takes steps a
/// thousand times larger. **Adam** (Kingma and Ba, 2014) gives every weight a step of its own. It keeps two
/// running means for each: m, of the gradient, and v, of its square, and steps by their ratio:
///
/// $$ m = β₁ m + (1−β₁) g     v = β₂ v + (1−β₂) g²     p −= η · m̂ / (√v̂ + ε) $$
///
/// √v is the usual size of the gradient. While the gradient points the same way, m is about as large, the
/// ratio is about ±1, and the step is about η, *however large the gradient is*. If it keeps changing its
/// sign, m is near 0, and so is the step. The usual constants: β₁ = 0.9 (m remembers about 10 steps), β₂ =
/// 0.999 (v remembers about 1000), ε = 10⁻⁸ (against dividing by 0). How far four weights get in 100 steps at
/// rate 0.01:
void adam_explained(Lesson& lesson) {
  Numbers by_sgd(4), by_adam(4);
  AdamState state(4);
  for (int i = 0; i < 100; ++i) {
    const Numbers g = {0.001, 1, 1000, i % 2 ? -1.0 : 1.0};
    sgd(by_sgd, g, 0.01);
    adam(by_adam, g, state, 0.01);
  }
  const auto row_of = [](const std::string& name, const Numbers& p) {
    std::vector<std::string> row{name};
    for (const double value : p) row.push_back(viz::format_number(0 - value));
    return row;
  };
  lesson.table({"gradient", "0.001", "1", "1000", "1, −1, 1, …"},
               {row_of("SGD", by_sgd), row_of("Adam", by_adam)});
  lesson.claim(std::fabs(by_adam[0] + 1) < 1e-3 && std::fabs(by_adam[2] + 1) < 1e-3,
               "Adam moves each weight with a steady gradient by 100 × 0.01 = 1, whether that gradient is "
               "0.001 or 1000");

  /// The hats repair the start. m and v begin at 0, so after one step m holds only 10% of the gradient and
  /// v only 0.1% of its square. After t steps they hold a share 1 − βᵗ: dividing by it, m̂ = m / (1 − β₁ᵗ)
  /// and v̂ = v / (1 − β₂ᵗ), puts that right. Without it the first step would be 0.1 / √0.001 ≈ 3.2 times
  /// too large:
  Numbers with = {0}, without = {0};
  AdamState fresh(1), other(1);
  adam(with, {1}, fresh, 0.01);
  adam(without, {1}, other, 0.01, {.correct_bias = false});
  lesson.claim(
      std::fabs(with[0] + 0.01) < 1e-6 && std::fabs(without[0] / with[0] - 0.1 / std::sqrt(0.001)) < 1e-3,
      "at rate 0.01 the first step is {:.4f} with the correction, {:.4f} without", -with[0], -without[0]);
}

/// ## AdamW
///
/// **Weight decay** pulls every weight towards 0 a little at each step, so that only weights that the
/// examples keep pulling back stay large. The old way adds λp to the gradient; but Adam divides the gradient
/// by its usual size, and the decay with it, so weights with large gradients hardly decay. **AdamW**
/// (Loshchilov and Hutter, 2017) takes the decay out of the division. Most large models are trained with it:
///
/// $$ AdamW   p −= η λ p,   then Adam with the gradient alone $$
///
/// Two weights start at 1. Their gradients alternate in sign, so that only the decay can move them far:
void adamw_explained(Lesson& lesson) {
  Numbers by_gradient = {1, 1}, decoupled = {1, 1};
  AdamState a(2), b(2);
  for (int i = 0; i < 1000; ++i) {
    const double sign = i % 2 ? 1 : -1;
    adam(by_gradient, {0.01 * sign, 10 * sign}, a, 0.01, {.l2 = 0.1});
    adam(decoupled, {0.01 * sign, 10 * sign}, b, 0.01, {.decay = 0.1});
  }
  lesson.table({"after 1000 steps, λ = 0.1", "gradients of ±0.01", "gradients of ±10"},
               {{"λp in the gradient", number(by_gradient[0], 2), number(by_gradient[1], 2)},
                {"AdamW", number(decoupled[0], 2), number(decoupled[1], 2)}});
  lesson.claim(std::fabs(decoupled[0] - decoupled[1]) < 0.1 && by_gradient[1] - by_gradient[0] > 0.5,
               "AdamW shrinks both alike, to about (1 − 0.01 · 0.1)^1000 = {:.2f}", std::pow(0.999, 1000));

  // The library's optimizers walk through the valley as our loops do.
  const auto library_height = [](double rate, const auto& make) {
    const Tensor p = tensor({-9, 0.8}).requires_grad(), steepness = tensor({0.5, 50});
    ParameterList list;
    list.add("p", p);
    const std::unique_ptr<Optimizer> optimizer = make(list);
    for (int i = 0; i < valley_steps; ++i) {
      backward(sum(steepness * p * p));
      optimizer->step(rate);
    }
    return valley_height(p(0), p(1));
  };
  const double rolling = library_height(0.02, [](const ParameterList& list) {
    return std::make_unique<Sgd>(list, SgdOptions{.momentum = 0.9});
  });
  const double adaptive =
      library_height(0.3, [](const ParameterList& list) { return std::make_unique<Adam>(list); });
  const double worst = std::max(std::fabs(rolling - descend("", 0.02, start_momentum).height()),
                                std::fabs(adaptive - descend("", 0.3, start_adam).height()));
  lesson.claim(worst < 1e-3,
               "the library's Sgd and Adam end in the valley where our loops end: difference {:.0e}", worst);
}

std::unique_ptr<Optimizer> make_adam(const ParameterList& list) { return std::make_unique<Adam>(list); }

std::vector<std::uint64_t> seeds_of(const Lesson& lesson, Index runs) {
  std::vector<std::uint64_t> seeds;
  for (Index run = 0; run < runs; ++run) seeds.push_back(100 * lesson.seed + std::uint64_t(run));
  return seeds;
}

/// ## The hidden layer
///
/// Now a task: 500 points on two spiral arms. Given the two coordinates of a point, on which arm is it? A
/// *linear layer*, x W + b, scores each arm by a weighted sum, and the places where both scores are equal
/// form a straight line. No line separates spirals. So let a first layer make new numbers of the two, 48 say,
/// and let the next layer work on those: a **hidden layer**, hidden because its numbers are neither input nor
/// answer. But two linear layers in a row are one, (x W₁) W₂ = x (W₁ W₂). There has to be a bend in between,
/// an **activation function**. Ours is tanh, which squeezes any number into −1 … 1: each hidden number is
/// then a soft step across some line of the plane, and sums of such steps can follow a curve.
void hidden_layer(Lesson& lesson) {
  struct Shape {
    std::string name;
    Index hidden_layers;
    Activation activation;
  };
  const std::vector<Shape> shapes = {{"2 → 2", 0, Activation::none},
                                     {"2 → 48 → 48 → 2, no activation", 2, Activation::none},
                                     {"2 → 48 → 48 → 2, tanh", 2, Activation::tanh}};
  const Index runs = 5, steps = 1000;
  std::vector<std::vector<std::string>> rows;
  std::vector<Numbers> accuracies;
  std::vector<viz::Image> pictures;
  for (const Shape& shape : shapes) {
    Numbers accuracy;
    Index weights = 0;
    for (const std::uint64_t seed : seeds_of(lesson, runs)) {
      Run run(seed, shape.hidden_layers, shape.activation);
      weights = parameters_of(run.network).count();
      const bool drawn = accuracy.empty() && shape.name != shapes[1].name;
      const auto draw = [&](const std::string& state) {
        pictures.push_back(decision_picture(run.network, run.data,
                                            fmt::format("{} hidden layers, {}", shape.hidden_layers, state)));
      };
      if (drawn && shape.hidden_layers) draw("untrained");
      run.train(make_adam, {.steps = steps, .rate = 0.04, .until_learned = true});
      if (drawn) draw("trained");
      accuracy.push_back(accuracy_of(run.network, run.fresh));
    }
    std::sort(accuracy.begin(), accuracy.end());
    rows.push_back({shape.name, grouped(double(weights)), fmt::format("{:.0f}%", 100 * mean_of(accuracy)),
                    fmt::format("{:.0f} to {:.0f}%", 100 * accuracy.front(), 100 * accuracy.back())});
    accuracies.push_back(accuracy);
  }
  lesson.say(
      "Three networks, trained by Adam (rate 0.04) until 99% are right or for {} steps, and how many of 500 "
      "new points they then get right; {} runs, each with its own points, first weights and batches:",
      steps, runs);
  lesson.table({"network", "weights", "right", "in the runs"}, rows);
  lesson.claim(accuracies[1].back() < 0.75 && accuracies[2].front() > 0.9,
               "without the bend 48 hidden numbers are of no use: {:.0f}% against {:.0f}%",
               100 * mean_of(accuracies[1]), 100 * mean_of(accuracies[2]));
  lesson.picture(
      "spirals.png", viz::row(pictures), "What a network decides",
      "The colour is the decision at each point of the plane, pale where it is in doubt. Without a "
      "hidden layer the cut is straight, however long it learns. With two, it starts anywhere and "
      "ends as two arms.");
}

/// ## Minibatches
///
/// The exact gradient needs all examples, and a real task has millions. A **minibatch**, some examples
/// chosen at random, gives a rough estimate of it for a fraction of the work. How rough? The distance between
/// the estimate and the exact gradient, relative to the exact one, averaged over 50 estimates, for the
/// untrained network:
void minibatches(Lesson& lesson) {
  Run run(seeds_of(lesson, 1)[0]);
  const ParameterBlock block(parameters_of(run.network));
  const auto gradient_of = [&](const Tensor& loss) {
    backward(loss);
    const Numbers gradient(block.gradients(), block.gradients() + block.size());
    block.zero_grad();
    return gradient;
  };
  const Numbers exact = gradient_of(cross_entropy(run.network(run.data.points), run.data.classes));
  const auto length = [](const Numbers& g) {
    return std::sqrt(std::inner_product(g.begin(), g.end(), g.begin(), 0.0));
  };
  std::vector<std::vector<std::string>> rows;
  Numbers errors;
  for (const Index batch : {4, 16, 64, 256}) {
    Numbers distances;
    for (int estimate = 0; estimate < 50; ++estimate) {
      Numbers difference = gradient_of(run.batch_loss(batch));
      for (std::size_t i = 0; i < exact.size(); ++i) difference[i] -= exact[i];
      distances.push_back(length(difference) / length(exact));
    }
    errors.push_back(mean_of(distances));
    rows.push_back({fmt::format("{}", batch), number(errors.back(), 2),
                    errors.size() == 1 ? "" : number(errors[errors.size() - 2] / errors.back(), 1)});
  }
  lesson.table({"examples in the batch", "error of the gradient", "times smaller"}, rows);
  const double gain = std::cbrt(errors.front() / errors.back());
  lesson.claim(gain > 1.7 && gain < 2.3,
               "four times the work makes the estimate only {:.1f} times better: the error falls as 1/√N",
               gain);

  /// For the price of one exact step, one can take many rough ones that go the right way on average. That is
  /// why networks are trained on minibatches. One pass over all examples is called an **epoch**.
}

/// ## A race on two spirals
///
/// Which optimizer is best? The question has a trap: at the wrong rate any of them loses. Momentum's steps
/// add up to ten times its rate, so SGD and momentum at the same rate are no comparison at all. Each
/// optimizer therefore gets a *sweep*: several rates, each twice the one before, several runs of each. What
/// counts is its best rate: the one with which most runs learn the spirals (99% of 500 points right), and
/// among those the one that needs the fewest steps on average.
void race(Lesson& lesson) {
  const std::vector<Contestant> contestants = {
      {"SGD",
       {0.1, 0.2, 0.4, 0.8, 1.6},
       [](const ParameterList& list) { return std::make_unique<Sgd>(list); }},
      {"momentum",
       {0.02, 0.04, 0.08, 0.16, 0.32},
       [](const ParameterList& list) { return std::make_unique<Sgd>(list, SgdOptions{.momentum = 0.9}); }},
      {"Adam", {0.01, 0.02, 0.04, 0.08, 0.16}, make_adam},
      {"AdamW", {0.01, 0.02, 0.04, 0.08, 0.16}, [](const ParameterList& list) {
         return std::make_unique<Adam>(list, adamw(0.01));
       }}};
  const Index runs = lesson.fast ? 2 : 5, most_steps = 2500;
  std::vector<std::vector<std::string>> rows;
  std::vector<Score> winners;
  std::vector<Band> sweeps, curves;
  for (const Contestant& contestant : contestants) {
    Band sweep{contestant.name, contestant.rates, {}, {}, {}};
    Score best{.rate = 0, .mean = 1e9, .fewest = 0, .most = 0, .learned = 0};
    for (const double rate : contestant.rates) {
      const Score score = try_rate(contestant, rate, seeds_of(lesson, runs), most_steps);
      sweep.low.push_back(score.fewest), sweep.middle.push_back(score.mean), sweep.high.push_back(score.most);
      if (std::tuple(-score.learned, score.mean) < std::tuple(-best.learned, best.mean)) best = score;
    }
    winners.push_back(best);
    sweeps.push_back(sweep);
    curves.push_back(loss_curve(contestant, best.rate, seeds_of(lesson, runs), 1000));
    rows.push_back({contestant.name, fmt::format("{}", best.rate), grouped(best.mean),
                    grouped(best.fewest) + " to " + grouped(best.most),
                    fmt::format("{} of {}", best.learned, runs)});
  }
  lesson.say("Batches of 100, {} runs for each rate (the same points, first weights and batches for all):",
             runs);
  lesson.table({"", "best rate", "steps to 99%", "in the runs", "learned"}, rows);
  const auto [sgd, rolling, adaptive, decayed] = std::tuple(winners[0], winners[1], winners[2], winners[3]);
  lesson.claim(
      sgd.learned == runs && rolling.learned == runs && adaptive.learned == runs && decayed.learned == runs,
      "at its best rate every optimizer learns the spirals, in every run");
  lesson.claim(rolling.mean < sgd.mean && 2 * adaptive.mean < sgd.mean,
               "but momentum needs {:.1f} times fewer steps than SGD, and Adam {:.1f} times fewer",
               sgd.mean / rolling.mean, sgd.mean / adaptive.mean);
  lesson.claim(
      sweeps[0].low[0] == double(most_steps),
      "and a wrong rate spoils everything: at rate {} SGD has not learned after {} steps, in any run",
      contestants[0].rates[0], grouped(double(most_steps)));
  lesson.picture(
      "sweep.png",
      band_chart(sweeps, {.title = "Steps until 99% are right",
                          .x_title = "learning rate",
                          .y_title = "steps",
                          .x_scale = viz::Scale::log10,
                          .y_low = 0,
                          .y_guides = {{.at = double(most_steps), .label = "gave up here"}}}),
      "Every optimizer at every rate",
      "The mean of the runs, in a band from the luckiest to the unluckiest. Each optimizer has its "
      "own range of good rates: too small is slow, too large never settles.");
  std::vector<viz::Series> medians;
  for (const Band& curve : curves) medians.push_back({.name = curve.name, .y = curve.middle, .x = curve.x});
  const viz::ChartOptions chart{.title = "Four optimizers, each at its best rate",
                                .x_title = "step",
                                .y_title = "loss on all 500 points",
                                .y_scale = viz::Scale::log10};
  lesson.line_chart(medians, chart);
  lesson.picture("losses.png", band_chart(curves, chart), "Loss curves",
                 "The median of the runs, in a band from the lowest to the highest. All of them linger on a "
                 "plateau first, where the network has found the straight cut and nothing better.");

  /// Adam and AdamW hardly differ here: decay matters for large models and long training. At rates this high
  /// a loss may jump even after all is learned, so in practice the rate is lowered towards the end. Such
  /// *schedules* are a topic of lesson 12.
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "04_learning", .question = "How does a network learn?"}, [](Lesson& lesson) {
        set_thread_count(1);  // so little work is not worth sharing
        the_price(lesson);
        large_logits(lesson);
        the_mean(lesson);
        four_lines(lesson);
        downhill(lesson);
        adam_explained(lesson);
        adamw_explained(lesson);
        hidden_layer(lesson);
        minibatches(lesson);
        race(lesson);
        /// ## Check yourself
        ///
        /// - **What is the loss for?** It is one number that says how bad the answers are, and its gradient
        ///   tells every weight which way is better. Cross-entropy is −log of the probability of what was
        ///   right.
        /// - **What goes in, what comes out?** Examples (N, features) give logits (N, classes); these and N
        ///   right answers give one loss; `backward` gives each weight a gradient of its own shape; `step`
        ///   changes the weights.
        /// - **What goes wrong** without the bend of an activation function? All layers together are one
        ///   linear layer, and the cut is straight. With a rate that is too large? Every step overshoots.
        ///   With gradients that are not set to 0? Every step also repeats all steps before it.
        ///
        /// ## Read on
        ///
        /// - Goodfellow, Bengio and Courville, 2016: *Deep learning*, chapters 6 and 8. Hidden layers and
        ///   optimizers, at length.
        /// - Gabriel Goh, 2017: *Why momentum really works*. The valley, with sliders to play with.
        /// - Kingma and Ba, 2014: *Adam: a method for stochastic optimization*.
        /// - Loshchilov and Hutter, 2017: *Decoupled weight decay regularization*. AdamW.
        /// - The notebook `03_training_dynamics`: what happens inside while a model learns.
        lesson.try_next(
            {{"In downhill, change 0.021 to 0.0195.",
              "The claim fails: each jump across the valley lands a little lower than the one before."},
             {"In make_spirals (spirals.cpp), change 3.4 * along to 6.8 * along.",
              "Twice the turns: the network no longer gets 90% in 1000 steps, and no optimizer gets to 99% "
              "in 2,500."},
             {"In race, give AdamW a decay of 10 instead of 0.01.",
              "The weights are pulled to 0 faster than they can learn: no rate gets to 99%."}});
      });
}
