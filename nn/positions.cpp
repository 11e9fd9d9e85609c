#include "nn/positions.hpp"

#include <algorithm>  // min
#include <cmath>      // cos, log, pow, sin
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

double frequency(Index pair, Index channels) {
  return std::pow(10000.0, -2.0 * double(pair) / double(channels));
}

// (length, D): the cosine and the sine of each pair's angle, side by side.
Tensor rotation_table(Index first, Index length, Index D) {
  const Tensor table = empty({length, D});
  for (Index t = 0; t < length; ++t)
    for (Index i = 0; i < D / 2; ++i) {
      const double angle = static_cast<double>(first + t) * frequency(i, D);
      table.data()[t * D + 2 * i] = static_cast<real>(std::cos(angle));
      table.data()[t * D + 2 * i + 1] = static_cast<real>(std::sin(angle));
    }
  return table;
}

// The table for positions 0 … length-1, kept from call to call and grown when a longer one is asked for.
Tensor rotations(Index first, Index length, Index D) {
  static thread_local std::vector<Tensor> tables;  // one for each head size
  for (Tensor& table : tables)
    if (table.shape()[1] == D) {
      if (table.shape()[0] < first + length) table = rotation_table(0, 2 * (first + length), D);
      return table;
    }
  return tables.emplace_back(rotation_table(0, 2 * (first + length), D));
}

// (a, b) -> (a cos θ - b sin θ, a sin θ + b cos θ), or by -θ for the gradient: a rotation's transpose is its
// inverse.
void rotate(const real* x, const real* table, Index rows, Index T, Index heads, Index D, real direction,
            real* y, bool accumulate) {
  parallel_for(rows, row_grain(heads * D), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row)
      for (Index h = 0; h < heads; ++h) {
        const real *from = x + (row * heads + h) * D, *turn = table + row % T * D;
        real* to = y + (row * heads + h) * D;
        for (Index i = 0; i < D; i += 2) {
          const real c = turn[i], s = direction * turn[i + 1];
          const real a = from[i] * c - from[i + 1] * s, b = from[i] * s + from[i + 1] * c;
          to[i] = accumulate ? to[i] + a : a;
          to[i + 1] = accumulate ? to[i + 1] + b : b;
        }
      }
  });
}

}  // namespace

Tensor sinusoidal_table(Index length, Index channels, Index first_position) {
  const Tensor table = empty({length, channels});
  for (Index t = 0; t < length; ++t)
    for (Index c = 0; c < channels; ++c) {
      const double angle = double(first_position + t) * frequency(c / 2, channels);
      table.data()[t * channels + c] = real(c % 2 ? std::cos(angle) : std::sin(angle));
    }
  return table;
}

Tensor rope(const Tensor& x, Index heads, Index first_position) {
  if (x.rank() != 3 || heads < 1 || x.shape()[2] % heads || x.shape()[2] / heads % 2)
    fail("rope: {} is not (B,T,C) with {} heads of an even size", x.shape().str(), heads);
  const Index rows = x.shape()[0] * x.shape()[1], T = x.shape()[1], D = x.shape()[2] / heads;
  const Tensor table = rotations(first_position, T, D), y = empty(x.shape());
  rotate(x.data(), table.data() + first_position * D, rows, T, heads, D, 1, y.data(), false);
  return record(y, "rope", {x}, [=](const Tensor& y) {
    const GradTarget target = grad_target(x);
    rotate(grad_data(y), table.data() + first_position * D, rows, T, heads, D, -1, target.data,
           target.accumulate);
  });
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

int t5_bucket(Index distance, bool bidirectional, int buckets, Index max_distance) {
  int first = 0;
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) first = buckets;
    distance = std::abs(distance);
  } else {
    distance = std::max<Index>(0, -distance);
  }
  const int exact = buckets / 2;
  if (distance < exact) return first + int(distance);
  const double reached = std::log(double(distance) / exact) / std::log(double(max_distance) / exact);
  return first + std::min(exact + int(reached * (buckets - exact)), buckets - 1);
}

T5Bias::T5Bias(Index heads, bool bidirectional, Rng& rng)
    : table(normal({32, heads}, rng, 0, real(0.1)).requires_grad()), bidirectional(bidirectional) {}

Tensor T5Bias::operator()(Index T, Index S, Index first_position) const {
  IntTensor buckets({T, S});
  for (Index t = 0; t < T; ++t)
    for (Index j = 0; j < S; ++j) buckets[t * S + j] = t5_bucket(j - (first_position + t), bidirectional);
  return permute(embedding(table, buckets), {2, 0, 1});  // (T, S, H) -> (H, T, S)
}

PositionScheme::PositionScheme(const TransformerConfig& config, bool bidirectional, Rng& rng)
    : kind(config.positions), heads(config.heads) {
  if (kind == Positions::learned)
    table = normal({config.max_length, config.d_model}, rng, 0, real(0.1)).requires_grad();
  if (kind == Positions::sinusoidal) table = sinusoidal_table(config.max_length, config.d_model);
  if (kind == Positions::t5) t5 = T5Bias(heads, bidirectional, rng);
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
