// Optimizers against steps worked out by hand and a composed twin; the parameter
// block, clipping and schedules.
#include <cmath>     // sqrt
#include <iterator>  // ssize
#include <limits>    // numeric_limits

#include "nn/linear.hpp"
#include "optim/checkpoint.hpp"
#include "optim/optimizer.hpp"
#include "optim/schedule.hpp"
#include "tests/unit/small_models.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace attn {
namespace {

ParameterList list_of(const std::vector<Tensor>& tensors) {
  ParameterList list;
  for (std::size_t i = 0; i < tensors.size(); ++i) list.add(fmt::format("p{}", i), tensors[i]);
  return list;
}

// One parameter at 1, and its value after each step with the given gradients.
template <class MakeOptimizer>
void check_steps(const MakeOptimizer& make, double learning_rate, const std::vector<double>& gradients,
                 const std::vector<double>& values) {
  Tensor p = full({1}, 1).requires_grad();
  const auto optimizer = make(list_of({p}));
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    backward(p, full({1}, real(gradients[i])));
    optimizer->step(learning_rate);
    CHECK(p.item() == doctest::Approx(values[i]).epsilon(1e-6));
  }
  CHECK(optimizer->steps == std::ssize(gradients));
}

TEST_CASE("SGD goes against the gradient; momentum remembers, decay pulls to zero") {
  const auto sgd = [](const SgdOptions& options) {
    return [options](const ParameterList& list) { return std::make_unique<Sgd>(list, options); };
  };
  check_steps(sgd({}), 0.1, {2, -1}, {0.8, 0.9});
  // v = 2, then 0.9 · 2 - 1 = 0.8, then 0.9 · 0.8 + 0 = 0.72
  check_steps(sgd({.momentum = 0.9}), 0.1, {2, -1, 0}, {0.8, 0.72, 0.648});
  // g + 0.5 p: 2.5, then -1 + 0.375
  check_steps(sgd({.weight_decay = 0.5}), 0.1, {2, -1}, {0.75, 0.8125});
}

// With g = ±0.5: m = 0.05, v = 0.00025, so m̂ = 0.5 and √v̂ = 0.5: the first step is the learning rate.
// Then m = 0.9 · 0.05 - 0.05 = -0.005, m̂ = -0.005 / 0.19, √v̂ = 0.5 again.
TEST_CASE("Adam takes the steps worked out by hand") {
  const auto adam = [](const AdamOptions& options) {
    return [options](const ParameterList& list) { return std::make_unique<Adam>(list, options); };
  };
  check_steps(adam({}), 0.1, {0.5, -0.5}, {0.9, 0.9 + 0.1 * 0.005 / 0.19 / 0.5});
  check_steps(adam({}), 0.1, {1000}, {0.9});  // the size of the gradient does not matter
  check_steps(adam({.epsilon = 0.5}), 0.1, {0.5}, {0.95});
  // AdamW's decay stands beside the step; Adam's goes through the gradient and vanishes in its size.
  check_steps(adam(adamw(0.1)), 0.1, {0.5}, {1 - 0.01 - 0.1});
  // g = 0.5 + 0.1 · 1 = 0.6, then 0 + 0.1 · 0.9 = 0.09
  check_steps(adam({.weight_decay = 0.1}), 0.1, {0.5, 0},
              {0.9, 0.9 - 0.1 * (0.063 / 0.19) / std::sqrt((0.999 * 0.00036 + 0.0000081) / 0.001999)});
  // β2 = 0.98: v = 0.02 · 0.25, then 0.98 · v + 0.02 · 1; m = 0.05, then 0.045 + 0.1
  check_steps(adam(paper_adam()), 0.1, {0.5, 1},
              {0.9, 0.9 - 0.1 * (0.145 / 0.19) / std::sqrt((0.98 * 0.005 + 0.02) / (1 - 0.98 * 0.98))});
}

// 1 - 0.999 in float is 0.00100004673: 47 millionths off. The first step of a parameter at 0 is the learning
// rate, whatever the gradient.
TEST_CASE("the first step of Adam is the learning rate to a few units in the last place") {
  for (const double gradient : {1e-3, 0.37, 123.0}) {
    Tensor p = zeros({1}).requires_grad();
    Adam optimizer(list_of({p}), {.epsilon = 0});
    backward(p, full({1}, real(gradient)));
    optimizer.step(1);
    CHECK(std::fabs(double(p.item()) + 1) <= 4 * double(std::numeric_limits<real>::epsilon()));
  }
}

TEST_CASE("AdamW in one loop is its composed twin") {
  const AdamOptions options{
      .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.1, .decoupled = true};
  const std::vector<Shape> shapes{{33, 31}, {7}, {1}, {2, 3, 17}};
  std::vector<Tensor> fused, plain, m, v;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    plain.push_back(random_tensor(shapes[i], i));
    fused.push_back(copy_of(plain[i]).requires_grad());
    m.push_back(zeros(shapes[i])), v.push_back(zeros(shapes[i]));
  }
  Adam optimizer(list_of(fused), options);
  for (int t = 1; t <= 5; ++t) {
    const double learning_rate = 0.01 * t, clip = 0.7;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const Tensor g = random_tensor(shapes[i], 100 + std::uint64_t(t) * 10 + i);
      backward(fused[i], g);
      const Tensor scaled = g * real(clip);
      m[i] = m[i] * real(0.8) + scaled * real(0.2);
      v[i] = v[i] * real(0.95) + scaled * scaled * real(0.05);
      const Tensor m_hat = m[i] / real(1 - std::pow(0.8, t)), v_hat = v[i] / real(1 - std::pow(0.95, t));
      plain[i] = plain[i] - plain[i] * real(learning_rate * 0.1) -
                 m_hat / (sqrt(v_hat) + real(1e-3)) * real(learning_rate);
    }
    optimizer.step(learning_rate, clip);
    for (std::size_t i = 0; i < shapes.size(); ++i) check_close(fused[i], plain[i]);
  }
}

TEST_CASE("a block moves parameters together without changing them, and their model sees every step") {
  Rng rng(1);
  const Linear layer(3, 2, rng);
  const Tensor weight = copy_of(layer.weight), x = random_tensor({4, 3}), before = layer(x);
  Sgd optimizer(parameters_of(layer));
  CHECK(optimizer.block.size() == 8);
  CHECK(same_bits(layer.weight, weight));
  CHECK(layer.weight.data() == optimizer.block.values());
  CHECK(layer.bias.data() == optimizer.block.values() + 6);
  CHECK(same_bits(layer(x), before));
  backward(sum(layer(x)));
  CHECK(layer.bias.grad().values() == std::vector<real>{4, 4});
  optimizer.step(0.5);
  CHECK(layer.bias.values() == std::vector<real>{-2, -2});
}

TEST_CASE("gradients are forgotten after a step, add up before it, and are 0 where none came") {
  Tensor a = full({2}, 1).requires_grad(), b = full({3}, 1).requires_grad();
  Sgd optimizer(list_of({a, b}));
  backward(sum(a)), backward(sum(a));
  CHECK(optimizer.block.gradients()[1] == 2);
  CHECK(optimizer.block.gradients()[4] == 0);
  optimizer.step(0.25);
  CHECK(a(0) == 0.5);
  CHECK(b(0) == 1);
  backward(sum(b));
  optimizer.step(0.25);
  CHECK(a(0) == 0.5);
  CHECK(b(0) == 0.75);
  optimizer.step(0.25);
  CHECK(b(0) == 0.75);
}

TEST_CASE("a parameter is in one block at a time; when its optimizer is gone, another may take it") {
  Tensor a = full({2}, 1).requires_grad(), b = full({2}, 1).requires_grad();
  {
    Sgd first(list_of({a}));
    CHECK_THROWS_WITH_AS(Sgd(list_of({b, a})), doctest::Contains("p1 is already part of another block"),
                         Error);
    Sgd other(list_of({b}));  // the attempt has left no trace
    backward(sum(a));
    first.step(0.5);
    backward(sum(a));
  }
  CHECK(a(0) == 0.5);
  CHECK(!a.grad());
  Adam second(list_of({a, b}));
  backward(sum(a));
  second.step(0.25);
  CHECK(a(0) == doctest::Approx(0.25));
}

TEST_CASE("the norm is that of all gradients together, and clipping scales them down to the limit") {
  Tensor a = zeros({1}).requires_grad(), b = zeros({2}).requires_grad();
  Sgd optimizer(list_of({a, b}));
  backward(a, tensor({3})), backward(b, tensor({0, -4}));
  CHECK(optimizer.block.gradient_norm() == doctest::Approx(5));
  CHECK(clip_scale(5, 1) == doctest::Approx(0.2));
  CHECK(clip_scale(5, 5) == 1);
  CHECK(clip_scale(5, 100) == 1);
  CHECK(clip_scale(5, 0) == 1);
  CHECK_THROWS_WITH_AS(clip_scale(5, -1), "clip: the limit -1 is not 0 or more", Error);
  optimizer.step(1, clip_scale(5, 1));
  CHECK(a(0) == doctest::Approx(-0.6));
  CHECK(b(1) == doctest::Approx(0.8));

  Tensor large = zeros({100001}).requires_grad();
  const Sgd many(list_of({large}));
  backward(large, full({100001}, real(0.1)));
  CHECK(many.block.gradient_norm() == doctest::Approx(0.1 * std::sqrt(100001.0)).epsilon(1e-6));
}

TEST_CASE("a frozen parameter keeps its bits whatever the optimizer, and the others do not see it") {
  const auto make = [](int kind, const ParameterList& list) -> std::unique_ptr<Optimizer> {
    if (kind == 0) return std::make_unique<Sgd>(list, SgdOptions{.momentum = 0.9, .weight_decay = 0.1});
    return std::make_unique<Adam>(list, kind == 1 ? adamw(0.1) : AdamOptions{.weight_decay = 0.1});
  };
  for (int kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    Tensor a = random_tensor({3}, 1).requires_grad(), b = random_tensor({7}, 2).requires_grad(),
           c = random_tensor({2}, 3).requires_grad();
    Tensor alone_a = copy_of(a).requires_grad(), alone_c = copy_of(c).requires_grad();
    const Tensor before = copy_of(b);
    const auto all = make(kind, list_of({a, b, c})), alone = make(kind, list_of({alone_a, alone_c}));
    for (int step = 0; step < 3; ++step) {
      if (step == 1) b.requires_grad();  // a gradient that comes before the freezing does not count either
      backward(sum(a * a) + sum(b * b) + sum(c * c));
      b.requires_grad(false);
      backward(sum(alone_a * alone_a) + sum(alone_c * alone_c));
      CHECK(all->block.gradient_norm() == doctest::Approx(alone->block.gradient_norm()));
      all->step(0.1), alone->step(0.1);
    }
    CHECK(same_bits(b, before));
    CHECK(same_bits(a, alone_a));
    CHECK(same_bits(c, alone_c));
    for (const Parameter& state : all->state())  // no trace of it in what the optimizer remembers
      for (Index i = 3; i < 10; ++i) CHECK(state.tensor(i) == 0);
    b.requires_grad();
    backward(sum(b * b));
    all->step(0.1);
    for (Index i = 0; i < 7; ++i) CHECK(b(i) != before(i));
  }
}

TEST_CASE("a fine-tuning run resumes with the same bits; what is frozen is in its checkpoint, too") {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "run.safetensors").string();
  struct Run {
    Rng rng{1};
    Linear body{3, 4, rng}, head{4, 2, rng};
    Adam optimizer;
    Run() : optimizer(list(), adamw(0.1)) {
      body.weight.requires_grad(false);
      body.bias.requires_grad(false);
    }
    ParameterList list() const {
      ParameterList all;
      all.add_layer("body", body);
      all.add_layer("head", head);
      return all;
    }
    void steps(int count) {
      for (int i = 0; i < count; ++i) {
        const Tensor y = head(body(random_tensor({5, 3}, std::uint64_t(optimizer.steps)), Activation::tanh));
        backward(mean(y * y));
        optimizer.step(0.01);
      }
    }
  };
  Run whole, first, second;
  whole.steps(5);
  first.steps(2);
  save_checkpoint(path, first.optimizer, first.rng);
  for (const Parameter& parameter : second.list())  // another model that gets these weights
    for (Index i = 0; i < parameter.tensor.numel(); ++i) parameter.tensor.data()[i] = 7;
  Checkpoint(path).read_into(second.optimizer, second.rng);
  second.steps(3);
  CHECK(same_bits(second.head.weight, whole.head.weight));
  CHECK(same_bits(second.body.weight, Run().body.weight));
}

TEST_CASE("a layer may be frozen between forward and backward") {
  Tensor table = random_tensor({3, 2}).requires_grad(), w = random_tensor({2}).requires_grad();
  const std::vector<Tensor> results{sum(embedding(table, IntTensor({1}, {1}))), sum(slice(table, 0, 0, 1)),
                                    sum(sum(table, 0)), sum(max(table, 0)), sum(table * w)};
  table.requires_grad(false);
  for (const Tensor& result : results) CHECK_NOTHROW(backward(result));
}

TEST_CASE("schedules follow their formulas") {
  const Schedule constant{.peak = 0.1, .warmup = 4};
  CHECK(constant(1) == doctest::Approx(0.025));
  CHECK(constant(4) == doctest::Approx(0.1));
  CHECK(constant(1000) == 0.1);
  CHECK(Schedule{.peak = 0.1}(1) == 0.1);

  const Schedule noam{.kind = ScheduleKind::noam, .peak = 2, .warmup = 4000, .d_model = 512};
  for (const Index step : {1, 100, 4000, 4001, 100000}) {
    const double s = double(step);
    CHECK(noam(step) ==
          doctest::Approx(2 / std::sqrt(512.0) * std::min(1 / std::sqrt(s), s / (4000 * std::sqrt(4000.0)))));
  }
  CHECK(noam(4000) > noam(3999));
  CHECK(noam(4000) > noam(4001));
  CHECK(noam(16000) == doctest::Approx(noam(4000) / 2));

  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear}) {
    const Schedule falling{.kind = kind, .peak = 1, .warmup = 10, .total = 110, .floor = 0.2};
    CHECK(falling(5) == doctest::Approx(0.5));
    CHECK(falling(10) == doctest::Approx(1));
    CHECK(falling(60) == doctest::Approx(0.6));  // half way down, either way
    CHECK(falling(35) == doctest::Approx(kind == ScheduleKind::linear ? 0.8 : 0.6 + 0.4 * std::sqrt(0.5)));
    CHECK(falling(110) == doctest::Approx(0.2));
    CHECK(falling(500) == doctest::Approx(0.2));
  }
  CHECK_THROWS_WITH_AS(constant(0), "schedule: steps count from 1, not 0", Error);
  CHECK(schedule_from_name("cosine") == ScheduleKind::cosine);
  CHECK_THROWS_WITH_AS(schedule_from_name("steep"), doctest::Contains("constant, noam, cosine, linear"),
                       Error);
}

}  // namespace
}  // namespace attn
