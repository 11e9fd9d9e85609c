#include <doctest/doctest.h>

#include <algorithm>  // max, swap
#include <cmath>      // exp, log
#include <limits>     // numeric_limits

#include "tests/unit/gradcheck.hpp"

namespace attn {
namespace {

const Shape shapes[] = {{1}, {7}, {3, 5}, {5, 1}, {1, 4}, {2, 3, 4}, {3, 1, 17}, {2, 33, 3}, {2, 1, 3, 2}};

// Numbers 0.02 apart in random order: no ties, and none near, for max.
Tensor distinct_tensor(const Shape& shape) {
  const Tensor x = (arange(shape.numel()) - real(shape.numel() / 2)) * 0.02;
  Rng rng(11);
  for (Index i = x.numel() - 1; i > 0; --i) std::swap(x(i), x(rng.below(i + 1)));
  return reshape(x, shape);
}

// fold(so far, value) over one axis, which is kept with size 1.
template <class Fold>
Tensor fold_axis(const Tensor& x, int axis, double start, const Fold& fold) {
  return from_formula(x.shape().with(axis, 1), [&](const At& at) {
    double result = start;
    for (Index i = 0; i < x.shape()[axis]; ++i) result = fold(result, element(x, with(at, axis, i)));
    return result;
  });
}

double plus(double a, double b) { return a + b; }
double larger(double a, double b) { return std::max(a, b); }

TEST_CASE("sum, mean and max reduce any axis, kept or not") {
  for (const Shape& shape : shapes) {
    const Tensor x = distinct_tensor(shape);
    for (int axis = 0; axis < x.rank(); ++axis) {
      INFO(shape.str() << " axis " << axis);
      const int from_end = axis - x.rank();
      const Tensor sums = fold_axis(x, axis, 0, plus), largest = fold_axis(x, axis, -1e9, larger);
      const Tensor means = sums / real(shape[axis]);
      const Shape reduced = shape.without(axis);
      check_close(sum(x, axis, true), sums);
      check_close(sum(x, from_end), reshape(sums, reduced));
      check_close(mean(x, axis, true), means);
      check_close(mean(x, from_end), reshape(means, reduced));
      check_close(max(x, axis, true), largest);
      check_close(max(x, from_end), reshape(largest, reduced));
      for (const bool keep : {false, true}) {
        check_gradients([&](const auto& in) { return sum(in[0], axis, keep); }, {x});
        check_gradients([&](const auto& in) { return mean(in[0], axis, keep); }, {x});
        check_gradients([&](const auto& in) { return max(in[0], axis, keep); }, {x});
      }
    }
  }
}

TEST_CASE("sum, mean and max reduce a whole tensor to a scalar") {
  for (const Shape& shape : shapes) {
    const Tensor x = distinct_tensor(shape);
    double total = 0, largest = -1e9;
    for (const real value : x.values()) total += value, largest = larger(largest, value);
    check_close(sum(x), scalar(real(total)));
    check_close(mean(x), scalar(real(total / double(x.numel()))));
    CHECK(max(x).item() == real(largest));
    check_gradients([](const auto& in) { return sum(in[0]); }, {x});
    check_gradients([](const auto& in) { return mean(in[0]); }, {x});
    check_gradients([](const auto& in) { return max(in[0]); }, {x});
  }
  CHECK(sum(scalar(4)).item() == 4);
}

TEST_CASE("a long sum keeps its precision") {
  const Tensor x = full({3000000}, real(0.1));
  CHECK(sum(x).item() == doctest::Approx(3000000 * double(real(0.1))).epsilon(1e-6));
  CHECK(mean(x, 0).item() == doctest::Approx(0.1).epsilon(1e-6));
}

TEST_CASE("what has no elements has sum 0 and no mean or max") {
  CHECK(sum(zeros({0})).item() == 0);
  CHECK(equal(sum(zeros({0, 3}), 0), zeros({3})));
  CHECK(sum(zeros({3, 0}), 0).shape() == Shape{0});
  CHECK_THROWS_AS(mean(zeros({0})), Error);
  CHECK_THROWS_WITH_AS(max(zeros({2, 0}), 1), doctest::Contains("max: "), Error);
  CHECK_THROWS_WITH_AS(max(zeros({2, 0}), 1), doctest::Contains("(2,0)"), Error);
  CHECK_THROWS_AS(argmax(zeros({0})), Error);
}

TEST_CASE("the gradient of max over an axis goes to the first of equals, over everything it is shared") {
  Tensor x = tensor({{1, 3, 3}, {2, 2, 2}}).requires_grad();
  backward(sum(max(x, 1)));
  CHECK(x.grad().values() == std::vector<real>{0, 1, 0, 1, 0, 0});
  x.zero_grad();
  backward(max(x));
  CHECK(x.grad().values() == std::vector<real>{0, 0.5, 0.5, 0, 0, 0});
}

TEST_CASE("max and argmax see a NaN") {
  const Tensor x = tensor({{1, nan, 9}, {4, 5, 6}});
  CHECK(std::isnan(max(x).item()));
  CHECK(std::isnan(max(x, 1)(0)));
  CHECK(max(x, 1)(1) == 6);
  CHECK(argmax(x).values() == std::vector<int>{1, 2});
}

TEST_CASE("top_k counts a NaN as largest, as argmax does, and orders the rest behind it") {
  const Tensor x = tensor({{1, nan, 9, nan, 3}, {nan, 2, -infinity, 4, 2}});
  const TopK top = top_k(x, 5);
  CHECK(top.indices.values() == std::vector<int>{1, 3, 2, 4, 0, 0, 3, 1, 4, 2});
  CHECK(argmax(x).values() == std::vector<int>{top.indices(0, 0), top.indices(1, 0)});
  const Tensor many = random_tensor({1, 999});
  for (Index i = 0; i < 999; i += 3) many(0, i) = nan;
  const IntTensor order = top_k(many, 999).indices;
  for (Index i = 0; i < 333; ++i) REQUIRE(order[i] == 3 * i);
  for (Index i = 334; i < 999; ++i) REQUIRE(many(0, order[i - 1]) >= many(0, order[i]));
}

TEST_CASE("the gradient of a max that is NaN goes to the NaNs") {
  Tensor x = tensor({{1, nan, 9}, {nan, 5, 6}}).requires_grad();
  backward(max(x), scalar(1));
  CHECK(x.grad().values() == std::vector<real>{0, 0.5, 0, 0.5, 0, 0});
  x.zero_grad();
  backward(max(x, 1), ones({2}));
  CHECK(x.grad().values() == std::vector<real>{0, 1, 0, 1, 0, 0});
}

TEST_CASE("the mean of equal numbers is that number") {
  for (const Index n : {3, 41, 47, 55, 83}) {
    CHECK(mean(ones({n})).item() == 1);
    CHECK(mean(ones({2, n}), 1)(1) == 1);
    CHECK(mean(ones({n, 2}), 0)(1) == 1);
  }
}

TEST_CASE("argmax is the first of the largest along any axis") {
  const Tensor x = tensor({{1, 7, 7}, {8, -1, 7}});
  CHECK(argmax(x).values() == std::vector<int>{1, 0});
  CHECK(argmax(x, 0).values() == std::vector<int>{1, 0, 0});
  CHECK(argmax(x, 0).shape() == Shape{3});
  CHECK(argmax(full({3}, -infinity)).values() == std::vector<int>{0});
}

TEST_CASE("top_k lists the largest in order, equals by place") {
  const TopK top = top_k(tensor({{1, 5, 3, 5}, {0, -1, -2, 7}}), 3);
  CHECK(top.values.values() == std::vector<real>{5, 5, 3, 7, 0, -1});
  CHECK(top.indices.values() == std::vector<int>{1, 3, 2, 3, 0, 1});
  CHECK(top.indices.shape() == Shape{2, 3});
  CHECK(top_k(tensor({1, 2}), 0).values.numel() == 0);
  CHECK_THROWS_WITH_AS(top_k(zeros({2, 3}), 4), "top_k: 4 of the 3 elements of the last axis of (2,3)",
                       Error);
}

TEST_CASE("softmax and log_softmax follow their formula along the last axis") {
  for (const Shape& shape : shapes) {
    CAPTURE(shape.str());
    const Tensor x = random_tensor(shape, 5, -3, 3);
    const int last = x.rank() - 1;
    const Tensor total =
        fold_axis(x, last, 0, [](double sum, double value) { return sum + std::exp(value); });
    check_close(softmax(x), from_formula(shape, [&](const At& i) {
                  return std::exp(element(x, i)) / element(total, with(i, last, 0));
                }));
    check_close(log_softmax(x), from_formula(shape, [&](const At& i) {
                  return element(x, i) - std::log(element(total, with(i, last, 0)));
                }));
    check_gradients([](const auto& in) { return softmax(in[0]); }, {x});
    check_gradients([](const auto& in) { return log_softmax(in[0]); }, {x});
  }
}

TEST_CASE("softmax does not overflow, and -inf gets no weight") {
  check_close(softmax(tensor({1000, 1000, -1000})), tensor({0.5, 0.5, 0}));
  check_close(log_softmax(tensor({1000, 1000})), tensor({-0.69314718056, -0.69314718056}));
  const Tensor masked = softmax(tensor({1, -infinity, 1}));
  check_close(masked, tensor({0.5, 0, 0.5}));
  CHECK(masked(1) == 0);
}

TEST_CASE("a row of nothing but -inf gives zeros and a gradient of zeros") {
  Tensor x = tensor({{-infinity, -infinity}, {0, 0}}).requires_grad();
  const Tensor y = softmax(x);
  CHECK(y.values() == std::vector<real>{0, 0, 0.5, 0.5});
  backward(sum(y * tensor({1, 2})));
  CHECK(x.grad().values() == std::vector<real>{0, 0, -0.25, 0.25});
}

TEST_CASE("axes outside are refused, naming the op and the shape") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(sum(x, 2), "sum: axis 2 is outside (2,3), which has 2 axes", Error);
  CHECK_THROWS_WITH_AS(mean(x, -3), "mean: axis -3 is outside (2,3), which has 2 axes", Error);
  CHECK_THROWS_WITH_AS(max(x, 5), "max: axis 5 is outside (2,3), which has 2 axes", Error);
  CHECK_THROWS_WITH_AS(argmax(x, 2), "argmax: axis 2 is outside (2,3), which has 2 axes", Error);
  CHECK_THROWS_WITH_AS(softmax(scalar(1)), "softmax: a scalar has no last axis", Error);
  CHECK_THROWS_WITH_AS(log_softmax(scalar(1)), "log_softmax: a scalar has no last axis", Error);
}

}  // namespace
}  // namespace attn
