// nn/decode.hpp: drawing the next token by chance, and what keeps chance within bounds.
#include <algorithm>  // find
#include <iterator>   // ssize

#include "nn/decode.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

std::vector<double> distribution(const std::vector<double>& probabilities, const SampleOptions& settings) {
  std::vector<real> logits;
  for (const double p : probabilities) logits.push_back(real(std::log(p) + 3));
  return sampling_distribution(logits.data(), std::ssize(logits), settings);
}

void check_distribution(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (Index i = 0; i < std::ssize(actual); ++i) {
    CHECK(actual[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    CHECK((actual[i] == 0) == (expected[i] == 0));
  }
}

TEST_CASE("temperature sharpens or flattens, top-k keeps the k likeliest, top-p those that reach p") {
  const std::vector<double> p{0.1, 0.4, 0.2, 0.3};
  check_distribution(distribution(p, {}), p);
  check_distribution(distribution(p, {.temperature = 0}), {0, 1, 0, 0});
  check_distribution(distribution(p, {.temperature = 0.5}), {0.01 / 0.3, 0.16 / 0.3, 0.04 / 0.3, 0.09 / 0.3});
  check_distribution(distribution(p, {.top_k = 1}), {0, 1, 0, 0});
  check_distribution(distribution(p, {.top_k = 2}), {0, 4.0 / 7, 0, 3.0 / 7});
  check_distribution(distribution(p, {.top_k = 9}), p);
  // 0.4 alone is below 0.5, so the token that crosses it is kept, too.
  check_distribution(distribution(p, {.top_p = 0.5}), {0, 4.0 / 7, 0, 3.0 / 7});
  check_distribution(distribution(p, {.top_p = 0.75}), {0, 4.0 / 9, 2.0 / 9, 3.0 / 9});
  check_distribution(distribution(p, {.top_p = 1e-6}), {0, 1, 0, 0});
  // Of the three likeliest, 0.4 and 0.3 have 7/9.
  check_distribution(distribution(p, {.top_k = 3, .top_p = 0.77}), {0, 4.0 / 7, 0, 3.0 / 7});
}

TEST_CASE("sampling refuses settings that make no sense") {
  CHECK_THROWS_WITH_AS(distribution({0.5, 0.5}, {.temperature = -1}), doctest::Contains("not 0 or more"),
                       Error);
  CHECK_THROWS_WITH_AS(distribution({0.5, 0.5}, {.top_k = -1}), doctest::Contains("top-k of -1"), Error);
  CHECK_THROWS_WITH_AS(distribution({0.5, 0.5}, {.top_p = 0}), doctest::Contains("top-p of 0"), Error);
  CHECK_THROWS_WITH_AS(distribution({0.5, 0.5}, {.top_p = 1.5}), doctest::Contains("top-p of 1.5"), Error);
}

TEST_CASE("draws follow the distribution, and what has no probability is never drawn") {
  Rng rng(1);
  const std::vector<double> p{0, 0.2, 0, 0.5, 0.3, 0};
  std::vector<int> counts(6, 0);
  for (int i = 0; i < 10000; ++i) ++counts[draw(p, rng)];
  for (Index i = 0; i < 6; ++i) CHECK(std::fabs(counts[i] / 10000.0 - p[i]) <= (p[i] > 0 ? 0.02 : 0));
}

TEST_CASE("sampling repeats by its seed, and at temperature 0 it is greedy") {
  const Threads one(1);
  Rng rng(1);
  TransformerConfig config = small_config();
  config.encoder_layers = 0;
  const Gpt gpt(config, rng);
  const IntTensor prompts({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto texts = [&](std::uint64_t seed, double temperature, int end) {
    GptWriter writer(gpt, 2);
    Rng generator(seed);
    return sample(writer, prompts, {.end = end, .max_length = 30, .temperature = temperature}, generator);
  };
  CHECK(texts(1, 1, -1) == texts(1, 1, -1));
  CHECK(texts(1, 1, -1) != texts(2, 1, -1));
  CHECK(texts(1, 1, -1)[0].size() == 30);
  CHECK(texts(1, 1, -1)[0] != texts(1, 1, -1)[1]);
  CHECK(texts(1, 0, -1) == texts(2, 0, -1));

  GptWriter writer(gpt, 2);
  IntTensor newest = prompts;
  for (Index t = 0; t < 30; ++t) {
    const std::vector<int> best = argmax(writer.next(newest)).values();
    for (Index r = 0; r < 2; ++r) CHECK(texts(1, 0, -1)[r][t] == best[r]);
    newest = IntTensor({2, 1}, best);
  }
  // With an end: everything up to it, and not the end itself.
  const std::vector<int> whole = texts(1, 1, -1)[0];
  const auto end = std::find(whole.begin(), whole.end(), whole[7]);
  CHECK(texts(1, 1, *end)[0] == std::vector<int>(whole.begin(), end));
  GptWriter other(gpt, 3);
  CHECK_THROWS_WITH_AS(sample(other, prompts, {}, rng),
                       doctest::Contains("prompts of shape (2,3) for 3 rows"), Error);
}

}  // namespace
}  // namespace attn
