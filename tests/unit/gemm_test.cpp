#include "core/gemm.hpp"

#include <doctest/doctest.h>

#include <algorithm>  // fill, max
#include <cmath>      // abs
#include <cstring>    // memcmp
#include <random>     // mt19937
#include <string>     // string
#include <vector>     // vector

#include "core/error.hpp"
#include "core/parallel.hpp"

using namespace attn;

namespace {

std::vector<real> random_numbers(Index n, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<real> x(n);
  for (real& e : x) e = real(engine() % 2001) / 1000 - 1;
  return x;
}

// A product with its matrices, each a part of a wider one when `gap` is above 0.
struct Case {
  Gemm g;
  std::vector<real> a, b, c, bias, before;
  Case(Index m, Index n, Index k, bool transpose_a, bool transpose_b, Index gap = 0) {
    g = {.m = m, .n = n, .k = k, .transpose_a = transpose_a, .transpose_b = transpose_b};
    g.lda = (transpose_a ? m : k) + gap;
    g.ldb = (transpose_b ? k : n) + gap;
    g.ldc = n + gap;
    a = random_numbers((transpose_a ? k : m) * g.lda, 1);
    b = random_numbers((transpose_b ? n : k) * g.ldb, 2);
    c = random_numbers(m * g.ldc, 3);
    bias = random_numbers(n, 4);
    before = std::vector<real>(c.size(), 7);
  }
  std::string name() const {
    return fmt::format("{}x{}x{}{}{} ld {} {} {} on {}", g.m, g.n, g.k, g.transpose_a ? " ta" : "",
                       g.transpose_b ? " tb" : "", g.lda, g.ldb, g.ldc, kernels().name);
  }
  std::vector<real> result() {
    std::vector<real> y = c;
    std::fill(before.begin(), before.end(), real(7));
    gemm(g, a.data(), b.data(), y.data());
    return y;
  }
  std::vector<real> expected() {
    std::vector<real> y = c;
    std::fill(before.begin(), before.end(), real(7));
    gemm_reference(g, a.data(), b.data(), y.data());
    return y;
  }
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
void on_every_set(const Body& body) {
  const std::string current = kernels().name;
  for (int i = 0; i < kernel_set_count(); ++i) {
    use_kernels(kernel_set(i).name);
    body();
  }
  use_kernels(current.c_str());
}

bool same_bits(const std::vector<real>& x, const std::vector<real>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(real)) == 0;
}

}  // namespace

TEST_CASE("gemm_reference multiplies as on paper") {
  const real a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  real c[4];
  Gemm g{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
  gemm_reference(g, a, b, c);
  CHECK(std::vector<real>(c, c + 4) == std::vector<real>{19, 22, 43, 50});
  g.transpose_a = true;
  gemm_reference(g, a, b, c);
  CHECK(std::vector<real>(c, c + 4) == std::vector<real>{26, 30, 38, 44});
  g.transpose_b = true;
  gemm_reference(g, a, b, c);
  CHECK(std::vector<real>(c, c + 4) == std::vector<real>{23, 31, 34, 46});
}

TEST_CASE("gemm agrees with the reference at odd sizes, transposed or not, on every kernel set") {
  on_every_set([] {
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
  on_every_set([] {
    for (int form = 0; form < 4; ++form) {
      for (Case one : {Case(203, 301, 777, form & 1, form & 2, 3), Case(5, 2100, 301, form & 1, form & 2),
                       Case(131, 35, 1030, form & 1, form & 2), Case(1, 1300, 515, form & 1, form & 2)}) {
        INFO(one.name());
        CHECK(largest_difference(one.result(), one.expected()) < tolerance(one.g.k));
      }
    }
  });
}

TEST_CASE("gemm reads and writes nothing outside the matrices") {
  // The last row of each matrix ends exactly where its memory ends (an address sanitizer sees reads beyond);
  // the gaps between the rows of C keep what was in them.
  on_every_set([] {
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
        CHECK(largest_difference(y, one.expected()) < tolerance(one.g.k));
        for (Index i = 0; i + 1 < m; ++i) {
          for (Index j = one.g.n; j < one.g.ldc; ++j) CHECK(y[i * one.g.ldc + j] == one.c[i * one.g.ldc + j]);
        }
      }
    }
  });
}

TEST_CASE("accumulate adds to C, alpha scales the product") {
  on_every_set([] {
    for (Case one : {Case(1, 50, 40, false, true), Case(1, 50, 40, false, false),
                     Case(20, 20, 16, true, false, 2), Case(70, 90, 600, false, true)}) {
      for (bool accumulate : {false, true}) {
        one.g.accumulate = accumulate;
        one.g.alpha = real(-0.5);
        INFO(one.name());
        CHECK(largest_difference(one.result(), one.expected()) < tolerance(one.g.k));
      }
    }
  });
}

TEST_CASE("bias and activation are applied once, to the finished sums") {
  on_every_set([] {
    for (Case one : {Case(1, 50, 40, false, true), Case(1, 50, 40, false, false),
                     Case(20, 20, 16, false, true, 2), Case(70, 290, 600, false, true)}) {
      one.g.bias = one.bias.data();
      INFO(one.name());
      CHECK(largest_difference(one.result(), one.expected()) < tolerance(one.g.k));
      one.g.activation = Activation::relu;
      one.g.before_activation = one.before.data();
      const std::vector<real> y = one.result(), before = one.before;
      CHECK(largest_difference(y, one.expected()) < tolerance(one.g.k));
      CHECK(largest_difference(before, one.before) < tolerance(one.g.k));
      CHECK(*std::min_element(before.begin(), before.end()) < 0);
      for (Index i = 0; i < one.g.m; ++i) CHECK(y[i * one.g.ldc] == std::max(real(0), before[i * one.g.ldc]));
    }
  });
}

TEST_CASE("a size of zero leaves the bias, or nothing") {
  Case one(3, 4, 0, false, false);
  CHECK(one.result() == std::vector<real>(12, 0));
  one.g.accumulate = true;
  CHECK(one.result() == one.c);
  one.g.accumulate = false;
  one.g.bias = one.bias.data();
  one.g.activation = Activation::relu;
  const std::vector<real> y = one.result();
  for (Index i = 0; i < 12; ++i) CHECK(y[i] == std::max(real(0), one.bias[i % 4]));
  gemm(Gemm{.m = 0, .n = 4, .k = 3, .lda = 3, .ldb = 4, .ldc = 4}, nullptr, one.b.data(), nullptr);
  gemm(Gemm{.m = 3, .n = 0, .k = 3, .lda = 3, .ldb = 0, .ldc = 0}, one.a.data(), nullptr, nullptr);
}

TEST_CASE("gemm has the same bits on 1, 2 and 4 threads") {
  const int threads = thread_count();
  on_every_set([] {
    for (int form = 0; form < 4; ++form) {
      for (Case one : {Case(203, 301, 777, form & 1, form & 2), Case(30, 2100, 301, form & 1, form & 2),
                       Case(1, 3000, 600, form & 1, form & 2), Case(700, 17, 400, form & 1, form & 2)}) {
        one.g.bias = one.bias.data();
        one.g.activation = Activation::relu;
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
    for (Index i = begin; i < end; ++i) gemm(one.g, one.a.data(), one.b.data(), results[i].data());
  });
  for (const auto& result : results) CHECK(same_bits(result, expected));
  set_thread_count(threads);
}

TEST_CASE("gemm_batched equals one gemm after another") {
  const int threads = thread_count();
  on_every_set([] {
    for (bool transpose_b : {false, true}) {
      // Heads of attention: each a block of 16 columns in rows of 16 * count.
      const Index count = 37, m = 20, n = transpose_b ? 20 : 16, k = transpose_b ? 16 : 20, wide = 16 * count;
      const std::vector<real> a = random_numbers(32 * wide, 5), b = random_numbers(32 * wide, 6);
      Gemm g{.m = m, .n = n, .k = k, .lda = wide, .ldb = wide, .ldc = n, .transpose_b = transpose_b};
      std::vector<Index> offset, c_offset;
      for (Index i = 0; i < count; ++i) offset.push_back(i * 16), c_offset.push_back(i * m * n);
      offset[count - 1] = 0;
      std::vector<real> c(count * m * n), expected(count * m * n);
      for (Index i = 0; i < count; ++i)
        gemm(g, a.data() + offset[i], b.data() + offset[i], expected.data() + c_offset[i]);
      for (int t : {1, 4}) {
        set_thread_count(t);
        gemm_batched(g, count, a.data(), offset.data(), b.data(), offset.data(), c.data(), c_offset.data());
        CHECK(same_bits(c, expected));
      }
    }
  });
  set_thread_count(threads);
}

TEST_CASE("gemm_batched shares a product among threads when there are few products") {
  const int threads = thread_count();
  Case one(130, 110, 120, true, false);
  const Index offset[] = {0}, none[] = {0};
  set_thread_count(1);
  const std::vector<real> expected = one.result();
  set_thread_count(4);
  std::vector<real> c = one.c;
  gemm_batched(one.g, 1, one.a.data(), offset, one.b.data(), none, c.data(), none);
  CHECK(same_bits(c, expected));
  set_thread_count(threads);
}

TEST_CASE("an unknown kernel set is refused by name") {
  const std::string current = kernels().name;
  CHECK_THROWS_AS(use_kernels("v9"), Error);
  CHECK_THROWS_WITH_AS(use_kernels(""), doctest::Contains("baseline"), Error);
  CHECK(kernels().name == current);
}
