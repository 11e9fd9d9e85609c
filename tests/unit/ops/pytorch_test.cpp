// Every difference from PyTorch that core/ops.hpp lists, in its order; and what has PyTorch's meaning at the
// same edges.
#include <cmath>   // isnan, isfinite
#include <limits>  // numeric_limits

#include "nn/attention.hpp"
#include "optim/optimizer.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

using Reals = std::vector<real>;

ParameterList list_of(const Tensor& tensor) {
  ParameterList list;
  list.add("p", tensor);
  return list;
}

TEST_CASE("PyTorch: softmax of a row of -inf is 0, its gradient too; log_softmax is -inf") {
  Tensor x = full({2, 3}, -infinity).requires_grad();
  x(1, 0) = 0;
  const Tensor p = softmax(x);
  CHECK(p.values() == Reals{0, 0, 0, 1, 0, 0});
  backward(sum(p * random_tensor({2, 3})));
  CHECK(x.grad().values() == Reals{0, 0, 0, 0, 0, 0});
  CHECK(log_softmax(x).values() == Reals{-infinity, -infinity, -infinity, 0, -infinity, -infinity});
}

TEST_CASE("PyTorch: a query that sees no key gets 0, plain and fused, and gives no gradient") {
  Tensor q = random_tensor({1, 2, 4}).requires_grad(), k = random_tensor({1, 2, 4}, 2).requires_grad();
  const Mask mask{.bias = from_values({2, 2}, {-infinity, -infinity, 0, 0})};
  const Tensor fused = attention(q, k, k, {.mask = mask});
  for (Index c = 0; c < 4; ++c) CHECK(fused(0, 0, c) == 0);
  backward(sum(fused));
  for (Index c = 0; c < 4; ++c) CHECK(q.grad()(0, 0, c) == 0);
  const Tensor heads = split_heads(q, 1), bias = mask_bias(mask, 1, 2, 2);
  CHECK(scaled_dot_product_attention(heads, heads, heads, bias).output(0, 0, 0, 0) == 0);
}

TEST_CASE("PyTorch: with fewer queries than keys, the last causal query sees all keys") {
  const Tensor q = random_tensor({1, 2, 4}), k = random_tensor({1, 5, 4}, 2);
  const AttentionOptions causal{.mask = {.causal = true}};
  const Tensor both = attention(q, k, k, causal);
  check_close(slice(both, 1, 1, 2), attention(slice(q, 1, 1, 2), k, k));
  const Tensor four = slice(k, 1, 0, 4);
  check_close(slice(both, 1, 0, 1), attention(slice(q, 1, 0, 1), four, four));
}

TEST_CASE("PyTorch: silu and gelu and their gradients take their limits at infinity") {
  for (const Activation f : {Activation::silu, Activation::gelu, Activation::gelu_tanh}) {
    Tensor x = tensor({-infinity, infinity}).requires_grad();
    const Tensor y = activate(x, f);
    CHECK(y.values() == Reals{0, infinity});
    backward(y, ones({2}));
    CHECK(std::fabs(x.grad()(0)) <= 1e-30);
    CHECK(x.grad()(1) == 1);
    CHECK(std::isnan(activate(tensor({nan}), f).item()));
  }
}

TEST_CASE("PyTorch: exp is 0 where the result would be subnormal") {
  if (double_build) return;
  CHECK(exp(tensor({real(-87.5)})).item() == 0);
  CHECK(exp(tensor({real(-87.3)})).item() > 0);
}

TEST_CASE("PyTorch: what has no mean throws, and so does a loss of NaN") {
  CHECK_THROWS_AS(mean(zeros({0})), Error);
  CHECK_THROWS_WITH_AS(mean(zeros({2, 0}), 1), "mean: (2,0) has no element to take", Error);
  CHECK(mean(zeros({2, 0}), 0).shape() == Shape{0});
  CHECK_THROWS_AS(cross_entropy(zeros({2, 3}), IntTensor({2}, {-100, -100})), Error);
  CHECK_THROWS_AS(cross_entropy(zeros({0, 3}), IntTensor({0}, {})), Error);
  Tensor x = tensor({-1}).requires_grad();
  CHECK_THROWS_WITH_AS(backward(sum(log(x))), "backward: the loss is NaN; the first NaN is in log (1)",
                       Error);
}

TEST_CASE("PyTorch: the classes of cross_entropy lie along the last axis, those of argmax too") {
  const Tensor logits = random_tensor({2, 3, 5});
  CHECK_NOTHROW(cross_entropy(logits, IntTensor({2, 3}, {0, 1, 2, 3, 4, 0})));
  CHECK_THROWS_AS(cross_entropy(logits, IntTensor({2, 5}, std::vector<int>(10, 0))), Error);
  CHECK(argmax(logits).shape() == Shape{2, 3});
}

TEST_CASE("PyTorch: the values of top_k have no gradient") {
  Tensor x = random_tensor({4}).requires_grad();
  CHECK_FALSE(top_k(x, 2).values.needs_grad());
}

TEST_CASE("PyTorch: a slice outside throws, an axis of size 0 has no parts") {
  CHECK_THROWS_AS(slice(zeros({3}), 0, 1, 5), Error);
  CHECK_THROWS_AS(slice(zeros({3}), 0, -4, 3), Error);
  CHECK(split(zeros({0, 2}), 3).empty());
  CHECK(split(zeros({2, 0}), 3, 0).size() == 1);
}

TEST_CASE("PyTorch: only reshape and detach share values, all else is a copy") {
  const Tensor x = ones({2, 3});
  for (const Tensor& other : {slice(x, 0, 0, 1), select(x, 0, 0), x[0], split(x, 1)[0], transpose(x),
                              permute(x, {1, 0}), broadcast_to(x, {1, 2, 3})}) {
    other.data()[0] = 7;
    CHECK(x(0, 0) == 1);
  }
  reshape(x, {6}).data()[0] = 7;
  CHECK(x(0, 0) == 7);
  x.detach().data()[0] = 8;
  CHECK(x(0, 0) == 8);
}

TEST_CASE("PyTorch: rms_norm has the epsilon of layer_norm") {
  const Tensor x = full({1, 4}, real(1e-3));
  CHECK(rms_norm(x, {})(0, 0) == doctest::Approx(1e-3 / std::sqrt(1e-6 + 1e-5)).epsilon(1e-5));
}

TEST_CASE("PyTorch: clipping brings the norm to the limit, with nothing added to it") {
  CHECK(clip_scale(4, 1) == 0.25);
  CHECK(clip_scale(1e-5, 1e-6) == doctest::Approx(0.1).epsilon(1e-12));
}

TEST_CASE("PyTorch: a parameter that backward did not reach decays, a frozen one does not") {
  Tensor p = ones({2}).requires_grad();
  Adam optimizer(list_of(p), adamw(0.5));
  optimizer.step(0.5);
  CHECK(p.values() == Reals{0.75, 0.75});
  p.requires_grad(false);
  optimizer.step(0.5);
  CHECK(p.values() == Reals{0.75, 0.75});
}

// The same edges where the meaning is PyTorch's.
TEST_CASE("PyTorch: NaN and infinity pass through as they do there") {
  CHECK(std::isnan(relu(tensor({nan})).item()));
  CHECK(std::isnan(softmax(tensor({nan, 1}))(1)));
  CHECK(std::isnan(softmax(tensor({infinity, 1}))(0)));
  CHECK(std::isnan(mean(tensor({nan, 1})).item()));
  CHECK(sum(zeros({0})).item() == 0);
  CHECK(div(tensor({1, -1}), tensor({0, 0})).values() == Reals{infinity, -infinity});
  CHECK(sigmoid(tensor({-infinity, infinity})).values() == Reals{0, 1});
  CHECK(tanh(tensor({-infinity, infinity})).values() == Reals{-1, 1});
  CHECK(log(tensor({0})).item() == -infinity);
  CHECK(cross_entropy(tensor({-infinity, 0}), IntTensor({}, {0})).item() == infinity);
  CHECK(std::isnan(cross_entropy(full({3}, -infinity), IntTensor({}, {0})).item()));
  Tensor zero = zeros({1}).requires_grad();
  backward(sqrt(zero));
  CHECK(zero.grad().item() == infinity);
  CHECK(where(tensor({nan, 0}), ones({2}), zeros({2})).values() == Reals{1, 0});
}

}  // namespace
}  // namespace attn
