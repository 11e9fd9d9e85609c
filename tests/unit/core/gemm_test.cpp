#include "core/gemm.hpp"

#include <doctest/doctest.h>

#include <algorithm>  // fill, max
#include <cmath>      // abs
#include <random>     // mt19937
#include <string>     // string
#include <vector>     // vector

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "tests/unit/core/every_kernel.hpp"

using namespace attn;

namespace {

std::vector<real> random_numbers(Index n, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<real> x(n);
  for (real& e : x) e = real(engine() % 2001) / 1000 - 1;
  return x;
}

// Three nested loops: what the fast version is held against.
void gemm_reference(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
                    const GemmOptions& options = {}) {
  for (Index i = 0; i < C.rows; ++i)
    for (Index j = 0; j < C.cols; ++j) {
      real sum = 0;
      for (Index p = 0; p < A.cols; ++p) sum += *A.at(i, p) * *B.at(p, j);
      real& y = *C.at(i, j);
      y = (options.accumulate ? y : 0) + options.alpha * sum + (options.bias ? options.bias[j] : 0);
      if (options.before_activation) options.before_activation[&y - C.data] = y;
      if (options.activation != Activation::none) kernels().activate(options.activation, 1, &y, &y);
    }
}

// A product with its matrices, each a part of a wider one when `gap` is above 0.
struct Case {
  Index m, n, k, gap;
  bool transpose_a, transpose_b;
  GemmOptions options;
  std::vector<real> a, b, c, bias, before;

  Case(Index rows, Index columns, Index depth, bool ta, bool tb, Index between = 0)
      : m(rows), n(columns), k(depth), gap(between), transpose_a(ta), transpose_b(tb) {
    a = random_numbers(ta ? k * (m + gap) : m * (k + gap), 1);
    b = random_numbers(tb ? n * (k + gap) : k * (n + gap), 2);
    c = random_numbers(m * ldc(), 3);
    bias = random_numbers(n, 4);
    before = c;
  }

  static ConstMatrix matrix(const std::vector<real>& x, Index rows, Index cols, Index gap, bool transposed) {
    return transposed ? ConstMatrix{x.data(), cols, rows, rows + gap}.T()
                      : ConstMatrix{x.data(), rows, cols, cols + gap};
  }
  ConstMatrix A() const { return matrix(a, m, k, gap, transpose_a); }
  ConstMatrix B() const { return matrix(b, k, n, gap, transpose_b); }
  Index ldc() const { return n + gap; }
  Matrix C(std::vector<real>& y) const { return {y.data(), m, n, ldc()}; }

  std::string name() const {
    return fmt::format("{}x{}x{}{}{} gap {} on {}", m, n, k, transpose_a ? " ta" : "",
                       transpose_b ? " tb" : "", gap, kernels().name);
  }
  template <class Multiply>
  std::vector<real> run(const Multiply& multiply) {
    std::vector<real> y = c;
    std::fill(before.begin(), before.end(), real(7));
    multiply(A(), B(), C(y), options);
    return y;
  }
  std::vector<real> result() {
    return run([](const auto& A, const auto& B, const Matrix& C, const auto& with) { gemm(A, B, C, with); });
  }
  std::vector<real> expected() { return run(gemm_reference); }
};

real largest_difference(const std::vector<real>& x, const std::vector<real>& y) {
  real worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const real d = std::abs(x[i] - y[i]);
    if (!(d <= worst)) worst = d;  // keeps a NaN
  }
  return worst;
}

// Two orders of summing k products of numbers up to 1 differ by about this much.
real tolerance(Index k) { return (sizeof(real) == 4 ? real(1e-6) : real(1e-14)) * real(k + 10); }

// Runs the body on each kernel set of this machine, then restores the set in use.
template <class Body>
void using_every_set(const Body& body) {
  const std::string current = kernels().name;
  for (int i = 0; i < kernel_set_count(); ++i) {
    use_kernels(kernel_set(i).name);
    body();
  }
  use_kernels(current.c_str());
}

}  // namespace

TEST_CASE("gemm_reference multiplies as on paper") {
  const real a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  real c[4];
  const ConstMatrix A{a, 2, 2}, B{b, 2, 2};
  const Matrix C{c, 2, 2};
  gemm_reference(A, B, C);
  CHECK(std::vector<real>(c, c + 4) == std::vector<real>{19, 22, 43, 50});
  gemm_reference(A.T(), B, C);
  CHECK(std::vector<real>(c, c + 4) == std::vector<real>{26, 30, 38, 44});
  gemm_reference(A.T(), B.T(), C);
  CHECK(std::vector<real>(c, c + 4) == std::vector<real>{23, 31, 34, 46});
  gemm_reference(A, B, C.T());
  CHECK(std::vector<real>(c, c + 4) == std::vector<real>{19, 43, 22, 50});
}

TEST_CASE("a part of a matrix is found in its transpose, too") {
  const real a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const ConstMatrix A{a, 3, 4}, part = A.part({1, 3}, {1, 4}), of_transpose = A.T().part({1, 4}, {1, 3});
  CHECK((part.rows == 2 && part.cols == 3 && of_transpose.rows == 3 && of_transpose.cols == 2));
  CHECK(*part.at(1, 2) == 12);
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j) CHECK(part.at(i, j) == of_transpose.at(j, i));
}

TEST_CASE("gemm agrees with the reference at odd sizes, transposed or not, on every kernel set") {
  using_every_set([] {
    for (Index m : {1, 2, 3, 7, 17, 33, 100}) {
      for (Index n : {1, 7, 17, 33, 100}) {
        for (Index k : {1, 7, 17, 33, 100}) {
          for (int form = 0; form < 8; ++form) {
            Case one(m, n, k, form & 1, form & 2, form & 4 ? 5 : 0);
            INFO(one.name());
            REQUIRE(largest_difference(one.result(), one.expected()) < tolerance(k));
          }
        }
      }
    }
  });
}

TEST_CASE("gemm agrees with the reference where several blocks meet") {
  using_every_set([] {
    for (int form = 0; form < 4; ++form) {
      for (Case one : {Case(203, 301, 777, form & 1, form & 2, 3), Case(5, 2100, 301, form & 1, form & 2),
                       Case(131, 35, 1030, form & 1, form & 2), Case(1, 1300, 515, form & 1, form & 2)}) {
        INFO(one.name());
        CHECK(largest_difference(one.result(), one.expected()) < tolerance(one.k));
      }
    }
  });
}

TEST_CASE("gemm reads and writes nothing outside the matrices") {
  // The last row of each matrix ends exactly where its memory ends (an address sanitizer sees reads beyond);
  // the gaps between the rows of C keep what was in them.
  using_every_set([] {
    for (Index m : {1, 5, 19, 107}) {
      for (int form = 0; form < 4; ++form) {
        Case one(m, m == 107 ? 701 : 21, m == 107 ? 1003 : 13, form & 1, form & 2, 4);
        one.a.resize(one.a.size() - 4);
        one.b.resize(one.b.size() - 4);
        one.c.resize(one.c.size() - 4);
        one.a.shrink_to_fit();
        one.b.shrink_to_fit();
        one.c.shrink_to_fit();
        INFO(one.name());
        const std::vector<real> y = one.result();
        CHECK(largest_difference(y, one.expected()) < tolerance(one.k));
        for (Index i = 0; i + 1 < m; ++i) {
          for (Index j = one.n; j < one.ldc(); ++j) CHECK(y[i * one.ldc() + j] == one.c[i * one.ldc() + j]);
        }
      }
    }
  });
}

TEST_CASE("a transposed C gets the transposed product, overwriting or adding") {
  using_every_set([] {
    for (int form = 0; form < 8; ++form) {
      for (Case one : {Case(1, 50, 40, form & 1, form & 2), Case(17, 33, 9, form & 1, form & 2, 3),
                       Case(131, 90, 600, form & 1, form & 2)}) {
        one.options.accumulate = form & 4;
        INFO(one.name());
        std::vector<real> y = one.c, expected = one.c;
        gemm(one.A(), one.B(), Matrix{y.data(), one.n, one.m}.T(), one.options);
        gemm_reference(one.A(), one.B(), Matrix{expected.data(), one.n, one.m}.T(), one.options);
        CHECK(largest_difference(y, expected) < tolerance(one.k));
      }
    }
  });
}

TEST_CASE("gemm refuses matrices that do not fit") {
  real x[12] = {};
  const ConstMatrix A{x, 2, 3}, B{x, 3, 4};
  CHECK_THROWS_WITH_AS(gemm(A, B.T(), Matrix{x, 2, 3}), "gemm: (2,3) x (4,3) -> (2,3) do not fit", Error);
  CHECK_THROWS_WITH_AS(gemm(A, B, Matrix{x, 3, 4}), "gemm: (2,3) x (3,4) -> (3,4) do not fit", Error);
  CHECK_THROWS_WITH_AS(gemm(A, B, Matrix{x, 4, 2}.T(), {.bias = x}),
                       "gemm: a transposed result takes no bias", Error);
}

TEST_CASE("accumulate adds to C, alpha scales the product") {
  using_every_set([] {
    for (Case one : {Case(1, 50, 40, false, true), Case(1, 50, 40, false, false),
                     Case(20, 20, 16, true, false, 2), Case(70, 90, 600, false, true)}) {
      for (bool accumulate : {false, true}) {
        one.options.accumulate = accumulate;
        one.options.alpha = real(-0.5);
        INFO(one.name());
        CHECK(largest_difference(one.result(), one.expected()) < tolerance(one.k));
      }
    }
  });
}

TEST_CASE("bias and activation are applied once, to the finished sums") {
  using_every_set([] {
    for (Case one : {Case(1, 50, 40, false, true), Case(1, 50, 40, false, false),
                     Case(20, 20, 16, false, true, 2), Case(70, 290, 600, false, true)}) {
      one.options.bias = one.bias.data();
      INFO(one.name());
      CHECK(largest_difference(one.result(), one.expected()) < tolerance(one.k));
      one.options.activation = Activation::relu;
      one.options.before_activation = one.before.data();
      const std::vector<real> y = one.result(), before = one.before;
      CHECK(largest_difference(y, one.expected()) < tolerance(one.k));
      CHECK(largest_difference(before, one.before) < tolerance(one.k));
      CHECK(*std::min_element(before.begin(), before.end()) < 0);
      for (Index i = 0; i < one.m; ++i) CHECK(y[i * one.ldc()] == std::max(real(0), before[i * one.ldc()]));
    }
  });
}

TEST_CASE("a size of zero leaves the bias, or nothing") {
  Case one(3, 4, 0, false, false);
  CHECK(one.result() == std::vector<real>(12, 0));
  one.options.accumulate = true;
  CHECK(one.result() == one.c);
  one.options.accumulate = false;
  one.options.bias = one.bias.data();
  one.options.activation = Activation::relu;
  const std::vector<real> y = one.result();
  for (Index i = 0; i < 12; ++i) CHECK(y[i] == std::max(real(0), one.bias[i % 4]));
  gemm(ConstMatrix{nullptr, 0, 3}, ConstMatrix{one.b.data(), 3, 4}, Matrix{nullptr, 0, 4});
  gemm(ConstMatrix{one.a.data(), 3, 3}, ConstMatrix{nullptr, 3, 0}, Matrix{nullptr, 3, 0});
}

TEST_CASE("gemm has the same bits on 1, 2 and 4 threads") {
  const int threads = thread_count();
  using_every_set([] {
    for (int form = 0; form < 4; ++form) {
      for (Case one : {Case(203, 301, 777, form & 1, form & 2), Case(30, 2100, 301, form & 1, form & 2),
                       Case(1, 3000, 600, form & 1, form & 2), Case(700, 17, 400, form & 1, form & 2)}) {
        one.options.bias = one.bias.data();
        one.options.activation = Activation::relu;
        set_thread_count(1);
        const std::vector<real> first = one.result();
        for (int t : {2, 4}) {
          set_thread_count(t);
          INFO(one.name(), " on ", t, " threads");
          CHECK(same_bits(first, one.result()));
        }
      }
    }
  });
  set_thread_count(threads);
}

TEST_CASE("gemm inside a parallel loop gives what it gives outside") {
  const int threads = thread_count();
  set_thread_count(4);
  Case one(150, 130, 140, false, true);
  const std::vector<real> expected = one.result();
  std::vector<std::vector<real>> results(4, one.c);
  parallel_for(4, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) gemm(one.A(), one.B(), one.C(results[i]));
  });
  for (const auto& result : results) CHECK(same_bits(result, expected));
  set_thread_count(threads);
}

TEST_CASE("a matrix packed once gives the products of the matrix itself") {
  using_every_set([] {
    for (const Index n : {1, 7, 17, 20, 33, 64, 130})
      for (const Index k : {0, 1, 33, 128})
        for (const int transposed : {0, 1, 2, 3}) {
          Case one(31, n, k, transposed & 1, transposed & 2, 5);
          one.options = {.bias = one.bias.data(), .activation = Activation::relu};
          CAPTURE(one.name());
          std::vector<real> memory(packed_size(k, n));
          const PackedMatrix packed = pack(one.B(), memory.data());
          const auto multiply = [&](const auto& A, const auto&, const Matrix& C, const auto& options) {
            gemm(A, packed, C, options);
          };
          CHECK(largest_difference(one.run(multiply), one.expected()) <= tolerance(k));
          one.options = {.accumulate = true, .alpha = real(0.5)};
          CHECK(largest_difference(one.run(multiply), one.expected()) <= tolerance(k));
        }
  });
}

TEST_CASE("a batch of products equals one gemm after another") {
  const int threads = thread_count();
  using_every_set([] {
    for (bool transpose_b : {false, true}) {
      // Heads of attention in two batches: each a block of 16 columns in rows of 16 * heads.
      const Index heads = 37, m = 20, n = transpose_b ? 20 : 16, k = transpose_b ? 16 : 20, wide = 16 * heads;
      const std::vector<real> a = random_numbers(64 * wide, 5), b = random_numbers(32 * wide, 6);
      const ConstMatrix B =
          transpose_b ? ConstMatrix{b.data(), n, k, wide}.T() : ConstMatrix{b.data(), k, n, wide};
      std::vector<real> c(2 * heads * m * n), expected(c.size());
      const ConstMatrices all_A({a.data(), m, k, wide}, {2, heads}, {32 * wide, 16});
      const ConstMatrices all_B(B, {2, heads}, {0, 16});  // one batch of B for both of A
      const Matrices all_C({c.data(), m, n}, {2, heads}, {heads * m * n, m * n});
      for (Index i = 0; i < 2 * heads; ++i)
        gemm(ConstMatrix{a.data() + i / heads * 32 * wide + i % heads * 16, m, k, wide},
             ConstMatrix{b.data() + i % heads * 16, B.rows, B.cols, B.stride, B.transposed},
             Matrix{expected.data() + i * m * n, m, n});
      for (int t : {1, 4}) {
        set_thread_count(t);
        std::fill(c.begin(), c.end(), real(7));
        gemm(all_A, all_B, all_C);
        CHECK(same_bits(c, expected));
      }
    }
  });
  set_thread_count(threads);
}

TEST_CASE("a batch of few products shares each among the threads") {
  const int threads = thread_count();
  Case one(130, 110, 120, true, false);
  set_thread_count(1);
  const std::vector<real> expected = one.result();
  set_thread_count(4);
  std::vector<real> c = one.c;
  gemm(ConstMatrices(one.A(), {1}, {0}), ConstMatrices(one.B(), {1}, {0}), Matrices(one.C(c), {1}, {0}));
  CHECK(same_bits(c, expected));
  set_thread_count(threads);
}

TEST_CASE("products into a stretched C add up, in the same order on any number of threads") {
  const int threads = thread_count();
  const Index count = 9, m = 17, n = 33, k = 12;
  const std::vector<real> a = random_numbers(count * m * k, 5), b = random_numbers(count * k * n, 6);
  std::vector<real> c(m * n), expected(m * n);
  const ConstMatrices A({a.data(), m, k}, {count}, {m * k}), B({b.data(), k, n}, {count}, {k * n});
  for (Index i = 0; i < count; ++i) gemm(A[i], B[i], Matrix{expected.data(), m, n}, {.accumulate = true});
  for (int t : {1, 4}) {
    set_thread_count(t);
    std::fill(c.begin(), c.end(), real(0));
    gemm(A, B, Matrices({c.data(), m, n}, {count}, {0}), {.accumulate = true});
    CHECK(same_bits(c, expected));
  }
  set_thread_count(threads);
}

TEST_CASE("an unknown kernel set is refused by name") {
  const std::string current = kernels().name;
  CHECK_THROWS_AS(use_kernels("v9"), Error);
  CHECK_THROWS_WITH_AS(use_kernels(""), doctest::Contains("baseline"), Error);
  CHECK(kernels().name == current);
}
