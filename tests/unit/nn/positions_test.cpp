// nn/positions.hpp: each scheme against its formula, and what it is for: order, and distance alone.
#include "nn/positions.hpp"

#include <cmath>  // sin

#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

TEST_CASE("the sinusoidal table has the numbers of the formula") {
  const Tensor table = sinusoidal_table(5, 4);  // frequencies 1 and 1/100
  for (Index p = 0; p < 5; ++p) {
    const double position = double(p);
    CHECK(table(p, 0) == doctest::Approx(std::sin(position)));
    CHECK(table(p, 1) == doctest::Approx(std::cos(position)));
    CHECK(table(p, 2) == doctest::Approx(std::sin(position / 100)));
    CHECK(table(p, 3) == doctest::Approx(std::cos(position / 100)));
  }
}

TEST_CASE("the product of two sinusoidal encodings depends on their distance alone") {
  const Tensor table = sinusoidal_table(60, 16), products = matmul(table, table, Transpose::second);
  for (Index distance = 0; distance < 20; ++distance)
    for (Index p = 1; p < 40; ++p)
      CHECK(double{products(p, p + distance)} ==
            doctest::Approx(double{products(0, distance)}).epsilon(double_build ? 1e-12 : 1e-5));
  CHECK(products(0, 0) == doctest::Approx(8));
  CHECK(products(0, 5) < 7.5);
}

TEST_CASE("rope turns each pair of channels by its position times its frequency") {
  const Tensor x = random_tensor({2, 3, 8});  // two heads of four
  const Index first = 5;
  check_close(rope(x, 2, first), from_formula(x.shape(), [&](const At& at) {
                const Index pair = at[2] % 4 / 2, even = at[2] / 2 * 2;
                const double angle = double(first + at[1]) * (pair == 0 ? 1 : 0.01);
                const double a = x(at[0], at[1], even), b = x(at[0], at[1], even + 1);
                return at[2] % 2 == 0 ? a * std::cos(angle) - b * std::sin(angle)
                                      : a * std::sin(angle) + b * std::cos(angle);
              }));
  check_gradients([](const auto& in) { return rope(in[0], 2, 3); }, {x});
}

TEST_CASE("rope's tables for several head sizes and lengths do not get into each other's way") {
  const auto first_turn = [](Index T, Index D, Index first) {  // of (1, 0), by the slowest frequency
    const Tensor x = zeros({1, T, D});
    x(0, T - 1, D - 2) = 1;
    return double{rope(x, 1, first)(0, T - 1, D - 1)};
  };
  const auto expected = [](Index position, Index D) {
    return std::sin(double(position) * std::pow(10000.0, -double(D - 2) / double(D)));
  };
  for (const Index D : {2, 6, 4, 2})
    for (const Index T : {1, 50, 3})
      for (const Index first : {0, 200})
        CHECK(first_turn(T, D, first) == doctest::Approx(expected(first + T - 1, D)).epsilon(1e-5));
}

TEST_CASE("scores under rope, ALiBi and T5 are unchanged when all positions shift") {
  const Tensor q = random_tensor({1, 6, 4}), k = random_tensor({1, 6, 4}, 2);
  const auto scores = [&](Index shift) {
    return matmul(rope(q, 1, shift), rope(k, 1, shift), Transpose::second);
  };
  CHECK(max_difference(scores(0), matmul(q, k, Transpose::second)) > 0.1);
  for (const Index shift : {1, 7, 100}) {
    check_close(scores(shift), scores(0), double_build ? 1e-12 : 1e-4);
    // The same four queries and keys, with `shift` more keys in front of them.
    check_close(slice(alibi_bias(4, 4, shift + 4, shift), 2, shift, shift + 4), alibi_bias(4, 4, 4));
    for (const bool bidirectional : {false, true}) {
      Rng rng(1);
      const T5Bias bias(4, bidirectional, rng);
      check_close(slice(bias(4, shift + 4, shift), 2, shift, shift + 4), bias(4, 4));
    }
  }
}

TEST_CASE("ALiBi's slopes halve from head to head; between powers of two they interleave") {
  const std::vector<real> eight = alibi_slopes(8), six = alibi_slopes(6);
  REQUIRE(eight.size() == 8);
  for (Index i = 0; i < 8; ++i) CHECK(eight[i] == std::ldexp(real{1}, -int(i) - 1));
  const std::vector<real> expected{real(1.0 / 4),   real(1.0 / 16), real(1.0 / 64),
                                   real(1.0 / 256), real(0.5),      real(0.125)};
  CHECK(six == expected);
  CHECK(alibi_slopes(1) == std::vector<real>{real(1.0 / 256)});
}

TEST_CASE("ALiBi's penalty is the slope times the distance") {
  const Tensor bias = alibi_bias(2, 2, 5, 3);  // queries at 3 and 4; slopes 1/16 and 1/256
  CHECK(bias.shape() == Shape{2, 2, 5});
  CHECK(bias(0, 0, 3) == 0);
  CHECK(bias(0, 0, 0) == doctest::Approx(-3.0 / 16));
  CHECK(bias(0, 0, 4) == doctest::Approx(-1.0 / 16));
  CHECK(bias(1, 1, 1) == doctest::Approx(-3.0 / 256));
}

// With 32 buckets and both sides visible, 16 are for each side: 8 exact, 8 on a logarithmic scale from 8 to
// 128, where a factor of √2 is one bucket. With the past alone, 16 are exact and 16 go from 16 to 128.
TEST_CASE("T5's buckets are exact when near and logarithmic when far") {
  const std::vector<std::pair<Index, int>> both{{0, 0},   {1, 1},   {7, 7},    {8, 8},    {11, 8},   {12, 9},
                                                {15, 9},  {16, 10}, {31, 11},  {32, 12},  {63, 13},  {64, 14},
                                                {90, 14}, {91, 15}, {127, 15}, {128, 15}, {5000, 15}};
  for (const auto& [distance, bucket] : both) {
    CHECK(t5_bucket(-distance, true) == bucket);
    CHECK(t5_bucket(distance, true) == (distance > 0 ? 16 + bucket : 0));
  }
  const std::vector<std::pair<Index, int>> past{{0, 0},   {1, 1},   {15, 15},  {16, 16},  {18, 16},  {19, 17},
                                                {32, 21}, {64, 26}, {127, 31}, {128, 31}, {5000, 31}};
  for (const auto& [distance, bucket] : past) {
    CHECK(t5_bucket(-distance, false) == bucket);
    CHECK(t5_bucket(distance, false) == 0);  // the future is hidden, so it needs no buckets
  }
}

TEST_CASE("T5's bias looks each distance up in the table, head by head, and the table learns") {
  Rng rng(1);
  T5Bias bias(3, true, rng);
  const Tensor all = bias(2, 4, 1);
  CHECK(all.shape() == Shape{3, 2, 4});
  for (Index h = 0; h < 3; ++h)
    for (Index t = 0; t < 2; ++t)
      for (Index j = 0; j < 4; ++j) CHECK(all(h, t, j) == bias.table(t5_bucket(j - (1 + t), true), h));
  backward(sum(all));
  CHECK(bias.table.grad()(0, 0) == 2);   // each of the two queries beside its own key
  CHECK(bias.table.grad()(31, 0) == 0);  // nothing is far away
}

// Without positions, attention over a bag of words: words that change places change places in the result.
TEST_CASE("without positions order makes no difference, with any scheme it does") {
  const Tensor x = random_tensor({1, 5, 8});
  const std::vector<int> order{3, 0, 4, 1, 2};
  const auto shuffled = [&](const Tensor& y) {
    return reshape(take_rows(reshape(y, {5, 8}), order), {1, 5, 8});
  };
  for (const Positions positions : all_positions) {
    TransformerConfig config = small_config();
    config.positions = positions, config.encoder_layers = 1;
    Rng rng(1);
    const Stack encoder(config, BlockKind::encoder, rng);
    const double difference = max_difference(encoder(shuffled(x)), shuffled(encoder(x)));
    INFO(name_of(positions));
    CHECK((difference < 1e-5) == (positions == Positions::none));
  }
}

TEST_CASE("the learned table ends with a clear error, the sinusoidal one goes on") {
  TransformerConfig config = small_config();
  config.max_length = 4;
  Rng rng(1);
  config.positions = Positions::learned;
  const PositionScheme learned(config, false, rng);
  check_close(learned.add_to(zeros({1, 2, 8}), 2), reshape(slice(learned.table, 0, 2, 4), {1, 2, 8}));
  CHECK_THROWS_WITH_AS(learned.add_to(zeros({1, 2, 8}), 3),
                       "positions: the learned table ends at 4, but position 4 is asked for", Error);
  config.positions = Positions::sinusoidal;
  const PositionScheme sinusoidal(config, false, rng);
  for (const Index first : {0, 3, 9})
    check_close(sinusoidal.add_to(zeros({1, 2, 8}), first),
                reshape(slice(sinusoidal_table(20, 8), 0, first, first + 2), {1, 2, 8}));
}

}  // namespace
}  // namespace attn
