#include <doctest/doctest.h>

#include <cmath>   // exp, log
#include <limits>  // numeric_limits

#include "tests/unit/gradcheck.hpp"

namespace attn {
namespace {

// -sum_v q(v) log softmax(x)_v with q = (1 - smoothing) one-hot + smoothing / V, mean over
// the targets that count.
double naive_cross_entropy(const Tensor& logits, const IntTensor& targets, double smoothing, int ignore) {
  const Index V = logits.size(-1);
  double total = 0, count = 0;
  for (Index row = 0; row < targets.numel(); ++row) {
    if (targets[row] == ignore) continue;
    const real* x = logits.data() + row * V;
    double sum_exp = 0;
    for (Index v = 0; v < V; ++v) sum_exp += std::exp(double{x[v]});
    for (Index v = 0; v < V; ++v) {
      const double q = (v == targets[row] ? 1 - smoothing : 0) + smoothing / double(V);
      total -= q * (x[v] - std::log(sum_exp));
    }
    ++count;
  }
  return total / count;
}

TEST_CASE("cross_entropy follows its formula, with smoothing and ignored targets") {
  for (const Shape& shape : {Shape{4}, Shape{1, 7}, Shape{5, 3}, Shape{2, 3, 17}, Shape{6, 33}, Shape{3, 1}})
    for (const double smoothing : {0.0, 0.1, 1.0})
      for (const int ignore : {-100, 0}) {
        const Tensor logits = random_tensor(shape, 1, -3, 3);
        const IntTensor targets(shape.without(shape.rank() - 1));
        Rng rng(2);
        for (Index i = 0; i < targets.numel(); ++i)
          targets[i] = i % 3 == 1 ? ignore : int(rng.below(shape[-1]));
        if (targets[0] == ignore) continue;
        INFO(shape.str() << " smoothing " << smoothing << " ignore " << ignore);
        const CrossEntropyOptions options{.smoothing = real(smoothing), .ignore = ignore};
        check_close(cross_entropy(logits, targets, options),
                    scalar(real(naive_cross_entropy(logits, targets, options.smoothing, ignore))));
        check_gradients([&](const auto& in) { return cross_entropy(in[0], targets, options); }, {logits});
      }
}

TEST_CASE("cross_entropy has the numbers worked out by hand") {
  // log(e + e^2 + e^3) = 3.40760596: the losses are 0.40760596 and 2.40760596.
  const Tensor logits = tensor({{1, 2, 3}, {1, 2, 3}});
  const auto loss = [&](int first, int second, const CrossEntropyOptions& options) {
    return cross_entropy(logits, IntTensor({2}, {first, second}), options).item();
  };
  CHECK(loss(2, 0, {}) == doctest::Approx(1.40760596).epsilon(1e-7));
  // 0.9 times these plus 0.1 times 1.40760596, the mean over all three words.
  CHECK(loss(2, 0, {.smoothing = real(0.1)}) == doctest::Approx(1.40760596).epsilon(1e-7));
  CHECK(loss(2, 2, {.smoothing = real(0.1)}) == doctest::Approx(0.50760596).epsilon(1e-7));
  CHECK(loss(2, -100, {.smoothing = real(0.1)}) == doctest::Approx(0.50760596).epsilon(1e-7));
  CHECK(loss(2, 0, {.ignore = 0}) == doctest::Approx(0.40760596).epsilon(1e-7));
}

TEST_CASE(
    "an ignored target gets a gradient of zero, the others softmax minus one-hot, divided by their number") {
  Tensor logits = tensor({{0, 0}, {5, 7}, {0, 0}}).requires_grad();
  backward(cross_entropy(logits, IntTensor({3}, {0, -100, 1})));
  CHECK(equal(logits.grad(), tensor({{-0.25, 0.25}, {0, 0}, {0.25, -0.25}})));
}

TEST_CASE("cross_entropy does not overflow, and -inf at another word costs nothing") {
  CHECK(cross_entropy(tensor({1000, 0}), IntTensor({}, {0})).item() == 0);
  CHECK(cross_entropy(tensor({1000, 0}), IntTensor({}, {1})).item() == 1000);
  CHECK(cross_entropy(tensor({3, -infinity}), IntTensor({}, {0})).item() == 0);
}

// Far from 0 a float has few digits after the point: max + log sum, rounded to one number, would lose them.
TEST_CASE("the gradient of cross_entropy is as exact for logits around 10,000 as around 0") {
  const Index V = 17;
  Tensor near = random_tensor({3, V}, 1, -3, 3), far = empty({3, V});
  for (Index i = 0; i < far.numel(); ++i) {
    far.data()[i] = near.data()[i] + (i / V == 1 ? -10000 : 10000);
    near.data()[i] = far.data()[i] - (i / V == 1 ? -10000 : 10000);  // exact: what is left of the digits
  }
  near.requires_grad(), far.requires_grad();
  const IntTensor targets({3}, {0, 16, 5});
  backward(cross_entropy(near, targets));
  backward(cross_entropy(far, targets));
  check_close(far.grad(), near.grad(), double_build ? 1e-15 : 3e-7);
}

TEST_CASE("cross_entropy refuses what makes no sense") {
  const Tensor logits = zeros({2, 3});
  CHECK_THROWS_WITH_AS(cross_entropy(logits, IntTensor({3}, {0, 0, 0})),
                       "cross_entropy: targets (3) do not fit logits (2,3)", Error);
  CHECK_THROWS_WITH_AS(cross_entropy(logits, IntTensor({2}, {0, 3})),
                       "cross_entropy: target 3 (number 1 of (2)) is outside logits (2,3)", Error);
  CHECK_THROWS_WITH_AS(cross_entropy(logits, IntTensor({2}, {-1, 0})),
                       "cross_entropy: target -1 (number 0 of (2)) is outside logits (2,3)", Error);
  CHECK_THROWS_WITH_AS(cross_entropy(logits, IntTensor({2}, {-100, -100})),
                       "cross_entropy: none of the targets (2) counts: there is no mean", Error);
  CHECK_THROWS_WITH_AS(cross_entropy(logits, IntTensor({2}, {0, 0}), {.smoothing = 2}),
                       "cross_entropy: a smoothing of 2 is not between 0 and 1", Error);
}

}  // namespace
}  // namespace attn
