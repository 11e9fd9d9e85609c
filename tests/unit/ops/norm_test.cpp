#include <doctest/doctest.h>

#include <cmath>  // sqrt

#include "tests/unit/gradcheck.hpp"

namespace attn {
namespace {

const Shape norm_shapes[] = {{4}, {1, 3}, {5, 7}, {2, 3, 4}, {3, 1, 17}, {2, 33}};

// The mean over the last axis of f(element), for the row that `at` lies in.
template <class Function>
double row_mean(const Tensor& x, const At& at, const Function& f) {
  double sum = 0;
  for (Index i = 0; i < x.size(-1); ++i) sum += f(element(x, with(at, x.rank() - 1, i)));
  return sum / double(x.size(-1));
}

TEST_CASE("layer_norm makes mean 0 and variance 1, then applies gain and bias") {
  for (const Shape& shape : norm_shapes) {
    CAPTURE(shape.str());
    const Tensor x = random_tensor(shape, 1), gain = random_tensor({shape[-1]}, 2),
                 bias = random_tensor({shape[-1]}, 3);
    const Tensor expected = from_formula(shape, [&](const At& i) {
      const double mean = row_mean(x, i, [](double v) { return v; });
      const double variance = row_mean(x, i, [&](double v) { return (v - mean) * (v - mean); });
      return (element(x, i) - mean) / std::sqrt(variance + 1e-5);
    });
    check_close(layer_norm(x, gain, bias), expected * gain + bias);
    check_close(layer_norm(x, {}, {}), expected);
    check_close(layer_norm(x, gain, {}), expected * gain);
    check_close(layer_norm(x, {}, bias), expected + bias);
    check_gradients([](const auto& in) { return layer_norm(in[0], in[1], in[2]); }, {x, gain, bias});
    check_gradients([](const auto& in) { return layer_norm(in[0], in[1], {}); }, {x, gain});
    check_gradients([](const auto& in) { return layer_norm(in[0], {}, in[1]); }, {x, bias});
    check_gradients([](const auto& in) { return layer_norm(in[0], {}, {}, real(0.5)); }, {x});
  }
}

TEST_CASE("the gradients of gain and bias are those of composed ops where they are summed in parts") {
  for (const Shape& shape : {Shape{611, 67}, Shape{7, 3000}}) {
    const Tensor x = random_tensor(shape, 1), weights = random_tensor(shape, 2);
    const Tensor normal = layer_norm(x, {}, {});
    for (const auto& [gains, biases] : {std::pair{true, true}, {true, false}, {false, true}}) {
      const Tensor gain = gains ? random_tensor({shape[1]}, 3).requires_grad() : Tensor();
      const Tensor bias = biases ? random_tensor({shape[1]}, 4).requires_grad() : Tensor();
      backward(layer_norm(x, gain, bias), weights);
      if (gains) check_close(gain.grad(), sum(weights * normal, 0));
      if (biases) check_close(bias.grad(), sum(weights, 0));
    }
  }
}

TEST_CASE("layer_norm of 1, 2, 3, 4 has the numbers worked out by hand") {
  // mean 2.5, variance 1.25: (x - 2.5) / sqrt(1.25 + 1e-5)
  check_close(layer_norm(tensor({1, 2, 3, 4}), {}, {}),
              tensor({-1.34163542, -0.44721181, 0.44721181, 1.34163542}), 1e-7);
  check_close(layer_norm(full({3}, 5), {}, {}), zeros({3}));
}

TEST_CASE("layer_norm keeps its precision far from zero") {
  const Tensor x = tensor({1000, 1001, 1002, 1003});
  check_close(layer_norm(x, {}, {}), layer_norm(x - 1000, {}, {}), 1e-5);
}

TEST_CASE("rms_norm divides by the root of the mean square, then applies the gain") {
  for (const Shape& shape : norm_shapes) {
    CAPTURE(shape.str());
    const Tensor x = random_tensor(shape, 1), gain = random_tensor({shape[-1]}, 2);
    const Tensor expected = from_formula(shape, [&](const At& i) {
      return element(x, i) / std::sqrt(row_mean(x, i, [](double v) { return v * v; }) + 1e-5);
    });
    check_close(rms_norm(x, gain), expected * gain);
    check_close(rms_norm(x, {}), expected);
    check_gradients([](const auto& in) { return rms_norm(in[0], in[1]); }, {x, gain});
    check_gradients([](const auto& in) { return rms_norm(in[0], {}); }, {x});
  }
}

TEST_CASE("gains and biases that do not fit are refused") {
  CHECK_THROWS_WITH_AS(layer_norm(zeros({2, 3}), zeros({4}), {}),
                       "layer_norm: the gain (4) does not fit the last axis of (2,3)", Error);
  CHECK_THROWS_WITH_AS(layer_norm(zeros({2, 3}), {}, zeros({2, 3})),
                       "layer_norm: the bias (2,3) does not fit the last axis of (2,3)", Error);
  CHECK_THROWS_WITH_AS(rms_norm(zeros({2, 3}), zeros({2})),
                       "rms_norm: the gain (2) does not fit the last axis of (2,3)", Error);
  CHECK_THROWS_WITH_AS(layer_norm(scalar(1), {}, {}), "layer_norm: () has no last axis to normalise over",
                       Error);
}

TEST_CASE("dropout drops the elements whose random bits are low, as many as asked, and keeps the mean") {
  for (const double p : {0.1, 0.5, 0.9}) {
    Rng rng(12);
    rng.counter = 3;
    const Index n = 100003;
    const Tensor y = dropout(ones({n}), real(p), rng);
    CHECK(rng.counter == 3 + std::uint64_t(n + 1) / 2);
    const std::uint32_t threshold = std::uint32_t(std::lround(p * 65536));
    const real kept = 65536 / real(65536 - threshold);
    CHECK(kept == doctest::Approx(1 / (1 - p)).epsilon(1e-4));
    Index dropped = 0, wrong = 0;
    for (Index i = 0; i < n; ++i) {  // half a word each, the lower half first
      const bool drop = (philox(12, 3 + std::uint64_t(i) / 2) >> 16 * (i % 2) & 0xffff) < threshold;
      wrong += y(i) != (drop ? real{0} : kept);
      dropped += drop;
    }
    CHECK(wrong == 0);
    CHECK(double(dropped) / double(n) == doctest::Approx(p).epsilon(0.02));
    CHECK(mean(y).item() == doctest::Approx(1).epsilon(0.03));
  }
}

TEST_CASE("dropout applies the same mask backward, and another one next time") {
  Rng rng(1);
  Tensor x = ones({1000}).requires_grad();
  const Tensor y = dropout(x, 0.5, rng), z = dropout(x, 0.5, rng);
  CHECK_FALSE(equal(y, z));
  backward(sum(y));
  CHECK(equal(x.grad(), y));
}

TEST_CASE("dropout has the gradient of its mask") {
  check_gradients(
      [](const auto& in) {
        Rng rng(5);
        return dropout(in[0], 0.3, rng);
      },
      {random_tensor({7, 9})});
}

TEST_CASE("dropout with probability 0 does nothing, with 1 it drops all, beyond it is refused") {
  Rng rng(1);
  const Tensor x = random_tensor({50});
  CHECK(equal(dropout(x, 0, rng), x));
  CHECK(equal(dropout(x, 1, rng), zeros({50})));
  CHECK(equal(dropout(x, real(1e-6), rng), x));  // less than 16 bits can say
  CHECK_THROWS_WITH_AS(dropout(x, 1.5, rng), "dropout: 1.5 is not a probability", Error);
  CHECK_THROWS_WITH_AS(dropout(x, -0.5, rng), "dropout: -0.5 is not a probability", Error);
}

}  // namespace
}  // namespace attn
