#include <doctest/doctest.h>

#include <array>  // array

#include "tests/unit/gradcheck.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

// sum_k a[..., i, k] b[..., k, j]: a stretched batch axis is what `element` does with any axis of size 1.
Tensor naive_matmul(const Tensor& a, const Tensor& b) {
  const Shape batch =
      broadcast_shape("test", Shape(a.shape().begin(), a.rank() - 2), Shape(b.shape().begin(), b.rank() - 2));
  const Shape out = batch.inserted(batch.rank(), a.size(-2)).inserted(batch.rank() + 1, b.size(-1));
  const int row = out.rank() - 2, column = out.rank() - 1;
  return from_formula(out, [&](const At& at) {
    double sum = 0;
    for (Index k = 0; k < a.size(-1); ++k)
      sum += element(a, with(at, column, k)) * element(b, with(at, row, k));
    return sum;
  });
}

TEST_CASE("matmul multiplies matrices and batches of them, either side transposed") {
  const struct {
    Shape a, b;
  } cases[] = {
      {{1, 1}, {1, 1}},
      {{3, 5}, {5, 2}},
      {{1, 7}, {7, 1}},
      {{7, 1}, {1, 7}},
      {{2, 3, 4}, {4, 5}},           // many matrices times one
      {{3, 4}, {2, 4, 5}},           // one times many
      {{2, 3, 4}, {2, 4, 5}},        // pairs
      {{1, 3, 4}, {2, 4, 5}},        // a stretched
      {{2, 3, 4}, {1, 4, 5}},        // b stretched
      {{2, 1, 2, 3}, {3, 3, 2}},     // both stretched, and one axis missing
      {{2, 1, 2, 3}, {1, 3, 3, 2}},  //
      {{2, 2, 2, 3}, {2, 1, 3, 2}},  // some axes stretched
  };
  for (const auto& c : cases) {
    const Tensor a = random_tensor(c.a, 1), b = random_tensor(c.b, 2), expected = naive_matmul(a, b);
    const Tensor at = transpose(a), bt = transpose(b);
    INFO(c.a.str() << " x " << c.b.str());
    check_close(matmul(a, b), expected);
    check_close(matmul(at, b, Transpose::first), expected);
    check_close(matmul(a, bt, Transpose::second), expected);
    check_close(matmul(at, bt, Transpose::both), expected);
    const auto check = [](const Tensor& x, const Tensor& y, Transpose transpose) {
      check_gradients([=](const auto& in) { return matmul(in[0], in[1], transpose); }, {x, y});
    };
    check(a, b, Transpose::none);
    check(at, b, Transpose::first);
    check(a, bt, Transpose::second);
    check(at, bt, Transpose::both);
  }
}

TEST_CASE("larger products, past the edge of every tile, agree with the three loops") {
  for (const auto& [m, k, n] :
       {std::array<Index, 3>{17, 33, 65}, {70, 129, 31}, {1, 300, 100}, {100, 3, 1}, {33, 257, 67}}) {
    const Tensor a = random_tensor({m, k}, 1), b = random_tensor({k, n}, 2), expected = naive_matmul(a, b);
    const double tolerance = double_build ? 1e-12 : 1e-4;
    check_close(matmul(a, b), expected, tolerance);
    check_close(matmul(transpose(a), b, Transpose::first), expected, tolerance);
    check_close(matmul(a, transpose(b), Transpose::second), expected, tolerance);
    check_close(matmul(transpose(a), transpose(b), Transpose::both), expected, tolerance);
  }
}

TEST_CASE("a vector is a row on the left and a column on the right") {
  const Tensor v = random_tensor({3}, 1), w = random_tensor({3}, 2), m = random_tensor({3, 4}, 3),
               batch = random_tensor({2, 5, 3}, 4), right = random_tensor({2, 3, 5}, 5);
  check_close(matmul(v, w), from_formula({}, [&](const At&) {
                return element(v, {0}) * element(w, {0}) + element(v, {1}) * element(w, {1}) +
                       element(v, {2}) * element(w, {2});
              }));
  check_close(matmul(v, m), reshape(naive_matmul(reshape(v, {1, 3}), m), {4}));
  check_close(matmul(batch, v), reshape(naive_matmul(batch, reshape(v, {3, 1})), {2, 5}));
  check_close(matmul(v, right), reshape(naive_matmul(reshape(v, {1, 3}), right), {2, 5}));
  check_close(matmul(v, transpose(m), Transpose::second), matmul(v, m));
  const auto product = [](const auto& in) { return matmul(in[0], in[1]); };
  check_gradients(product, {v, w});
  check_gradients(product, {v, m});
  check_gradients(product, {batch, v});
  check_gradients(product, {v, right});
}

TEST_CASE("a product over nothing is zero") {
  CHECK(equal(matmul(zeros({2, 0}), zeros({0, 3})), zeros({2, 3})));
  CHECK(equal(matmul(zeros({4, 2, 0}), zeros({0, 3})), zeros({4, 2, 3})));
  CHECK(matmul(zeros({0, 2}), zeros({2, 3})).shape() == Shape{0, 3});
  CHECK(matmul(zeros({2, 3}), zeros({3, 0})).shape() == Shape{2, 0});
  CHECK(equal(linear(zeros({2, 0}), zeros({3, 0}), tensor({1, 2, 3})), tensor({{1, 2, 3}, {1, 2, 3}})));
}

TEST_CASE("a matrix may be multiplied by itself") {
  const Tensor x = random_tensor({4, 4});
  check_gradients([](const auto& in) { return matmul(in[0], in[0]); }, {x});
  check_gradients([](const auto& in) { return matmul(in[0], in[0], Transpose::second); }, {x});
  check_gradients([](const auto& in) { return matmul(in[0], in[0], Transpose::first); },
                  {random_tensor({3, 5})});
}

TEST_CASE("shapes that do not multiply are refused in full") {
  CHECK_THROWS_WITH_AS(matmul(zeros({2, 3}), zeros({4, 5})),
                       "matmul: (2,3) x (4,5): inner dimensions differ (3 and 4)", Error);
  CHECK_THROWS_WITH_AS(matmul(zeros({2, 3}), zeros({3, 5}), Transpose::second),
                       "matmul: (2,3) x (3,5)ᵀ: inner dimensions differ (3 and 5)", Error);
  CHECK_THROWS_WITH_AS(matmul(zeros({2, 3, 4}), zeros({5, 4, 6})),
                       "matmul: (2,3,4) x (5,4,6): the batch axes do not broadcast", Error);
  CHECK_THROWS_WITH_AS(matmul(scalar(1), zeros({1})), "matmul: () x (1): a scalar is not a matrix", Error);
  CHECK_THROWS_WITH_AS(matmul(zeros({3}), zeros({3, 2}), Transpose::first),
                       "matmul: (3)ᵀ x (3,2): a vector has no transpose", Error);
  CHECK_THROWS_WITH_AS(linear(zeros({2, 3}), zeros({5, 4})),
                       "linear: x (2,3) does not fit the weight (5,4), which is (out,in)", Error);
  CHECK_THROWS_WITH_AS(linear(zeros({2, 4}), zeros({5, 4}), zeros({4})),
                       "linear: the bias (4) does not fit the weight (5,4)", Error);
}

TEST_CASE("linear is its composed twin: activation(x weightᵀ + bias)") {
  const Tensor weight = random_tensor({5, 3}, 2), bias = random_tensor({5}, 3);
  for (const Activation f : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh,
                             Activation::silu, Activation::tanh, Activation::sigmoid, Activation::exp})
    for (const Shape& shape : {Shape{3}, Shape{1, 3}, Shape{7, 3}, Shape{2, 4, 3}}) {
      CAPTURE(int(f));
      const Tensor x = random_tensor(shape, 1);
      check_close(linear(x, weight, bias, f), activate(matmul(x, weight, Transpose::second) + bias, f));
      check_close(linear(x, weight, {}, f), activate(matmul(x, weight, Transpose::second), f));
      check_gradients([&](const auto& in) { return linear(in[0], in[1], in[2], f); }, {x, weight, bias});
      check_gradients([&](const auto& in) { return linear(in[0], in[1], {}, f); }, {x, weight});
    }
}

TEST_CASE("the gradient of linear's bias is that of its composed twin where it is summed in parts") {
  for (const Shape& shape : {Shape{611, 67}, Shape{7, 3000}, Shape{1, 40001}}) {  // of the result
    const Tensor x = random_tensor({shape[0], 2}, 1), weight = random_tensor({shape[1], 2}, 2);
    const Tensor weights = random_tensor(shape, 4), start = random_tensor({shape[1]}, 5);
    const auto gradient_of_bias = [&](const auto& f) {
      const Tensor bias = random_tensor({shape[1]}, 3).requires_grad();
      backward(bias, start);  // what is there is added to
      backward(f(bias), weights);
      return bias.grad();
    };
    check_close(
        gradient_of_bias([&](const Tensor& bias) { return linear(x, weight, bias, Activation::gelu); }),
        gradient_of_bias([&](const Tensor& bias) {
          return activate(matmul(x, weight, Transpose::second) + bias, Activation::gelu);
        }));
  }
}

TEST_CASE(
    "linear's dropout is that of dropout(linear(x)): the same mask, values and gradients, on any threads") {
  // Narrow and wide, one row and many, in one piece and in several.
  const std::vector<std::array<Index, 3>> sizes{{1, 3, 5}, {7, 17, 33}, {100, 64, 256}, {70, 40, 1100}};
  for (const auto& [rows, in, out] : sizes)
    for (const Activation f : {Activation::none, Activation::relu, Activation::gelu})
      for (const real p : {real(0), real(1e-6), real(0.3), real(1)})
        for (const int count : {1, 2, 4}) {
          CAPTURE(rows);
          CAPTURE(int(f));
          CAPTURE(p);
          const Threads threads(count);
          const std::vector<Tensor> all{random_tensor({rows, in}, 1), random_tensor({out, in}, 2),
                                        random_tensor({out}, 3)};
          const Tensor weights = random_tensor({rows, out}, 4);  // so that gradients differ
          Rng rng(5), same(5);
          std::vector<Tensor> results[2];
          for (const bool fused : {false, true}) {
            std::vector<Tensor> x;
            for (const Tensor& leaf : all) x.push_back(copy_of(leaf).requires_grad());
            const Tensor y = fused ? linear(x[0], x[1], x[2], f, {p, &rng})
                                   : dropout(linear(x[0], x[1], x[2], f), p, same);
            backward(y, weights);
            results[fused] = {y, x[0].grad(), x[1].grad(), x[2].grad()};
          }
          for (std::size_t i = 0; i < results[0].size(); ++i) CHECK(same_bits(results[1][i], results[0][i]));
          CHECK(rng.bits() == same.bits());
        }
  for (const Activation f : {Activation::none, Activation::relu})
    check_gradients(
        [&](const auto& in) {
          Rng rng(4);
          return linear(in[0], in[1], in[2], f, {real(0.3), &rng});
        },
        {random_tensor({5, 3}, 1), random_tensor({17, 3}, 2), random_tensor({17}, 3)});
  Rng rng(1);
  CHECK_THROWS_WITH_AS(linear(ones({2}), ones({1, 2}), {}, Activation::none, {-1, &rng}),
                       "dropout: -1 is not a probability", Error);
  CHECK_THROWS_WITH_AS(linear(ones({2}), ones({1, 2}), {}, Activation::none, {real(0.5)}),
                       "linear: dropout needs a random generator", Error);
}

}  // namespace
}  // namespace attn
