#include "nn/positions.hpp"

#include <algorithm>  // min
#include <cmath>      // cos, log, pow, sin
#include <iterator>   // ssize

#include "core/error.hpp"
#include "nn/initialization.hpp"

namespace attn {

namespace {
constexpr Index most_in_table =
    1 << 20;  // numbers; rows of a longer sinusoidal table are computed when needed
}

Tensor sinusoidal_table(Index length, Index channels, Index first_position) {
  const Tensor table = empty({length, channels});
  for (Index t = 0; t < length; ++t)
    for (Index c = 0; c < channels; ++c) {
      const double frequency = std::pow(10000.0, -2.0 * double(c / 2) / double(channels));
      const double angle = double(first_position + t) * frequency;
      table.data()[t * channels + c] = real(c % 2 ? std::cos(angle) : std::sin(angle));
    }
  return table;
}

std::vector<real> alibi_slopes(Index heads) {
  Index power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<real> slopes;
  const auto slope = [](Index i, Index H) { return real(std::pow(2.0, -8.0 * double(i) / double(H))); };
  for (Index i = 1; i <= power; ++i) slopes.push_back(slope(i, power));
  for (Index i = 1; std::ssize(slopes) < heads; i += 2) slopes.push_back(slope(i, 2 * power));
  return slopes;
}

Tensor alibi_bias(Index heads, Index T, Index S, Index first_position) {
  const std::vector<real> slopes = alibi_slopes(heads);
  const Tensor bias = empty({heads, T, S});
  real* to = bias.data();
  for (const real slope : slopes)
    for (Index t = 0; t < T; ++t)
      for (Index j = 0; j < S; ++j) *to++ = -slope * real(std::abs(first_position + t - j));
  return bias;
}

int t5_bucket(Index distance, bool bidirectional, Index buckets, Index max_distance) {
  Index first = 0;
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) first = buckets;
    distance = std::abs(distance);
  } else {
    distance = std::max<Index>(0, -distance);
  }
  const Index exact = buckets / 2;
  if (distance < exact) return int(first + distance);
  const double reached =
      std::log(double(distance) / double(exact)) / std::log(double(max_distance) / double(exact));
  return int(first + std::min(exact + Index(reached * double(buckets - exact)), buckets - 1));
}

T5Bias::T5Bias(Index heads, bool bidirectional, Rng& rng)
    : T5Bias(TransformerConfig{.heads = heads}, bidirectional, rng) {}

T5Bias::T5Bias(const TransformerConfig& config, bool bidirectional, Rng& rng)
    : table(initial_table({config.t5_buckets, config.heads}, rng, real(0.1), config.initialization)),
      bidirectional(bidirectional),
      max_distance(config.t5_max_distance) {}

Tensor T5Bias::operator()(Index T, Index S, Index first_position) const {
  IntTensor buckets({T, S});
  for (Index t = 0; t < T; ++t)
    for (Index j = 0; j < S; ++j)
      buckets[t * S + j] = t5_bucket(j - (first_position + t), bidirectional, table.size(0), max_distance);
  return permute(embedding(table, buckets), {2, 0, 1});  // (T, S, H) -> (H, T, S)
}

PositionScheme::PositionScheme(const TransformerConfig& config, bool bidirectional, Rng& rng)
    : kind(config.positions), heads(config.heads) {
  if (kind == Positions::learned)
    table = initial_table({config.max_length, config.d_model}, rng, real(0.1), config.initialization);
  if (kind == Positions::sinusoidal)
    table = sinusoidal_table(std::min(config.max_length, 1 + most_in_table / config.d_model), config.d_model);
  if (kind == Positions::t5) t5 = T5Bias(config, bidirectional, rng);
}

Tensor PositionScheme::add_to(const Tensor& x, Index first_position) const {
  if (!table) return x;
  const Index T = x.size(1), end = first_position + T;
  if (end <= table.size(0)) return x + slice(table, 0, first_position, end);
  if (kind == Positions::learned)
    fail("positions: the learned table ends at {}, but position {} is asked for", table.size(0), end - 1);
  return x + sinusoidal_table(T, x.size(2), first_position);
}

Tensor PositionScheme::bias(Index T, Index S, Index first_position) const {
  if (kind == Positions::alibi) return alibi_bias(heads, T, S, first_position);
  if (kind == Positions::t5) return t5(T, S, first_position);
  return {};
}

void PositionScheme::parameters(ParameterList& list) const {
  if (kind == Positions::learned) list.add("table", table);
  if (kind == Positions::t5) list.add_layer("t5", t5);
}

}  // namespace attn
