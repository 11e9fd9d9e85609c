#include "core/rng.hpp"

#include <doctest/doctest.h>

#include <algorithm>  // max, min
#include <array>      // array
#include <cmath>      // cos, fabs, log, sqrt
#include <cstdlib>    // abs
#include <limits>     // numeric_limits
#include <vector>     // vector

#include "core/error.hpp"
#include "core/kernels.hpp"
#include "core/tensor.hpp"

namespace attn {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Philox4x32-10 on a whole counter of 128 bits, as the paper states it: what ours is held against.
Words philox4x32(Words x, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
    const auto high = [](std::uint64_t product) { return std::uint32_t(product >> 32); };
    const auto low = [](std::uint64_t product) { return std::uint32_t(product); };
    x = {high(b) ^ x[1] ^ k0, low(b), high(a) ^ x[3] ^ k1, low(a)};
  }
  return x;
}

std::uint32_t expected_bits(std::uint64_t key, std::uint64_t counter) {
  const std::uint64_t block = counter / 4;
  const Words words = philox4x32({std::uint32_t(block), std::uint32_t(block >> 32), 0, 0}, std::uint32_t(key),
                                 std::uint32_t(key >> 32));
  return words[counter % 4];
}

const std::uint64_t keys[] = {0, 1, 0x123456789abcdef0, ~std::uint64_t{0}};
const std::uint64_t counters[] = {0, 1, 5, 1000003, (std::uint64_t{1} << 34) - 7, ~std::uint64_t{0} - 999};

TEST_CASE("the reference gives the answers that the authors of Philox published") {
  CHECK(philox4x32({0, 0, 0, 0}, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t f = 0xffffffff;
  CHECK(philox4x32({f, f, f, f}, f, f) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("philox is the published generator, four words a counter") {
  CHECK(philox(0, 0) == 0x6627e8d5);
  CHECK(philox(0, 1) == 0xe169c58d);
  CHECK(philox(0, 2) == 0xbc57ac4c);
  CHECK(philox(0, 3) == 0x9b00dbd8);
  for (const std::uint64_t key : keys)
    for (const std::uint64_t counter : counters)
      for (std::uint64_t i = 0; i < 9; ++i)
        CHECK(philox(key, counter + i) == expected_bits(key, counter + i));
}

TEST_CASE("the dropout of every kernel set reads the same stream, half a word each, from any place on") {
  const std::vector<real> ones(199, 1);
  std::vector<real> kept(200);
  for (int set = 0; set < kernel_set_count(); ++set) {
    CAPTURE(kernel_set(set).name);
    for (const std::uint64_t key : keys)
      for (const std::uint64_t counter : counters)
        for (const Index n : {0, 1, 2, 3, 4, 7, 16, 33, 199}) {
          kept.assign(kept.size(), 42);
          kernel_set(set).dropout(n, {1u << 15, 1, key, counter}, ones.data(), kept.data());
          int wrong = 0;
          for (Index i = 0; i < n; ++i) {
            const std::uint64_t at = counter + std::uint64_t(i);
            wrong += kept[i] != real(philox(key, at / 2) >> (at % 2 ? 31 : 15) & 1);
          }
          CHECK(wrong == 0);
          CHECK(kept[n] == 42);  // and nothing beyond the end
        }
  }
}

TEST_CASE("numbers are made of the next words of the stream, within a block and across two") {
  for (std::uint64_t start = 0; start < 8; ++start) {
    CAPTURE(start);
    const auto at_start = [&] {
      Rng rng(9);
      rng.counter = start;
      return rng;
    };
    const auto word = [&](std::uint64_t i) { return std::uint64_t{philox(9, start + i)}; };
    const auto fraction = [&](std::uint64_t i) {
      return double((word(i) >> 5) << 26 | word(i + 1) >> 6) * 0x1p-53;
    };
    Rng whole = at_start(), uniform = at_start(), normal = at_start();
    CHECK(whole.bits64() == (word(0) << 32 | word(1)));
    CHECK(uniform.uniform() == fraction(0));
    CHECK(normal.normal() ==
          doctest::Approx(std::sqrt(-2 * std::log(1 - fraction(0))) * std::cos(2 * M_PI * fraction(2))));
    CHECK(whole.counter == start + 2);
    CHECK(uniform.counter == start + 2);
    CHECK(normal.counter == start + 4);
  }
}

TEST_CASE("a generator is its seed and its counter: state restored, the numbers repeat") {
  Rng rng(99);
  for (int i = 0; i < 5; ++i) rng.normal();
  const Rng saved = rng;
  const double uniform = rng.uniform(), normal = rng.normal();
  const Index below = rng.below(1000);
  Rng again(saved.key);
  again.counter = saved.counter;
  CHECK(again.uniform() == uniform);
  CHECK(again.normal() == normal);
  CHECK(again.below(1000) == below);
  CHECK(Rng(1).bits() != Rng(2).bits());
}

TEST_CASE("reserved draws are the caller's alone") {
  Rng rng(5);
  rng.bits();
  CHECK(rng.reserve(10) == 1);
  CHECK(rng.bits() == philox(5, 11));
}

TEST_CASE("the first draw is the high half, whatever the compiler evaluates first") {
  Rng rng(3);
  CHECK(rng.bits64() == (std::uint64_t{philox(3, 0)} << 32 | philox(3, 1)));
}

TEST_CASE("the order of a shuffle is fixed for all machines") {
  std::vector<int> values = {0, 1, 2, 3, 4, 5, 6, 7};
  Rng rng(42);
  shuffle(values, rng);
  CHECK(values == std::vector<int>{2, 1, 6, 5, 0, 7, 4, 3});
}

// Mean, variance and fourth moment of draws, each within five standard errors of what it should be.
template <class Draw>
void check_moments(const Draw& draw, double mean, double variance, double fourth) {
  const int n = 200000;
  double sum = 0, squares = 0, fourths = 0;
  for (int i = 0; i < n; ++i) {
    const double x = draw() - mean;
    sum += x, squares += x * x, fourths += x * x * x * x;
  }
  CHECK(std::fabs(sum / n) < 5 * std::sqrt(variance / n));
  CHECK(std::fabs(squares / n - variance) < 5 * std::sqrt((fourth - variance * variance) / n));
  CHECK(fourths / n == doctest::Approx(fourth).epsilon(0.03));
}

TEST_CASE("uniform and normal numbers have the moments of their distributions") {
  Rng rng(17);
  check_moments([&] { return rng.uniform(); }, 0.5, 1.0 / 12, 1.0 / 80);
  check_moments([&] { return rng.normal(); }, 0, 1, 3);
}

TEST_CASE("uniform numbers lie in [0, 1) and use all of it") {
  Rng rng(1);
  double lowest = 1, highest = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = rng.uniform();
    lowest = std::min(lowest, x), highest = std::max(highest, x);
  }
  CHECK(lowest >= 0);
  CHECK(lowest < 1e-4);
  CHECK(highest < 1);
  CHECK(highest > 1 - 1e-4);
}

TEST_CASE("below gives each number equally often, also where the range does not divide 2^64") {
  Rng rng(23);
  for (const Index n : {1, 2, 3, 7, 10}) {
    std::vector<int> count(std::size_t(n), 0);
    const int draws = 20000 * int(n);
    for (int i = 0; i < draws; ++i) ++count[rng.below(n)];
    for (const int c : count) CHECK(std::abs(c - 20000) < 5 * 142);  // five standard deviations
  }
  // 2^64 is 8/3 of this range: with a plain remainder, its lowest third would come three times out of eight.
  const Index large = Index{3} << 61;
  int low = 0;
  for (int i = 0; i < 10000; ++i) {
    const Index x = rng.below(large);
    CHECK((x >= 0 && x < large));
    low += x < large / 3;
  }
  CHECK(std::abs(low - 3333) < 5 * 48);
  CHECK_THROWS_WITH_AS(rng.below(0), "below: there is no number below 0", Error);
}

TEST_CASE("random tensors repeat with the seed and keep to their range") {
  Rng a(4), b(4), c(5);
  const Tensor x = uniform({1001}, a, -3, 5);
  CHECK(equal(x, uniform({1001}, b, -3, 5)));
  CHECK_FALSE(equal(x, uniform({1001}, c, -3, 5)));
  for (const real value : x.values()) CHECK((value >= -3 && value < 5));
  // In [1, 1 + 2 ulp) nearly half of the draws would round up to the end, which is not part of the range.
  const real end = 1 + 2 * std::numeric_limits<real>::epsilon();
  for (const real value : uniform({1000}, a, 1, end).values()) CHECK((value >= 1 && value < end));
  CHECK_THROWS_WITH_AS(uniform({2}, a, 1, -1), "uniform: the range from 1 to -1 is empty", Error);

  const Tensor z = normal({100000}, a, 10, 2);
  double sum = 0, squares = 0;
  for (const real value : z.values()) sum += value, squares += (value - 10.0) * (value - 10.0);
  CHECK(sum / 100000 == doctest::Approx(10).epsilon(0.005));
  CHECK(squares / 100000 == doctest::Approx(4).epsilon(0.02));
}

}  // namespace
}  // namespace attn
