#include "core/ops.hpp"

#include <cmath>   // cos, pow, sin
#include <vector>  // vector

#include "core/error.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

// (length, D): for each position, the cosine and the sine of every pair's angle, side by side.
Tensor rotation_table(Index length, Index D, const RopeOptions& options) {
  const Tensor table = empty({length, D});
  for (Index t = 0; t < length; ++t)
    for (Index i = 0; i < D / 2; ++i) {
      const double angle = double(t) / options.stretch * std::pow(options.base, -2.0 * double(i) / double(D));
      table.data()[t * D + 2 * i] = real(std::cos(angle));
      table.data()[t * D + 2 * i + 1] = real(std::sin(angle));
    }
  return table;
}

// A table for at least `length` positions. It is kept from call to call; when it is too short, one for twice
// as many positions replaces it.
Tensor rotations(Index length, Index D, const RopeOptions& options) {
  struct Kept {
    RopeOptions options;
    Tensor table;
  };
  static thread_local std::vector<Kept> all;  // one for each head size and kind of rotation
  for (Kept& kept : all)
    if (kept.table.shape()[1] == D && kept.options == options) {
      if (kept.table.shape()[0] < length) kept.table = rotation_table(2 * length, D, options);
      return kept.table;
    }
  return all.emplace_back(Kept{options, rotation_table(2 * length, D, options)}).table;
}

// (a, b) -> (a cos θ - b sin θ, a sin θ + b cos θ) for each pair of each head; by -θ if `sign` is -1.
struct Rotate {
  Tensor table;
  Index first, B, T, heads, D;
  bool halves;

  void operator()(real sign, const real* x, const GradTarget& y) const {
    parallel_for(B * T, row_grain(heads * D), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row)
        for (Index h = 0; h < heads; ++h) {
          const real *from = x + (row * heads + h) * D, *turn = table.data() + (first + row % T) * D;
          real* to = y.data + (row * heads + h) * D;
          for (Index pair = 0; pair < D / 2; ++pair) {
            const Index i = halves ? pair : 2 * pair, j = halves ? pair + D / 2 : i + 1;
            const real c = turn[2 * pair], s = sign * turn[2 * pair + 1];
            const real a = from[i] * c - from[j] * s, b = from[i] * s + from[j] * c;
            to[i] = y.accumulate ? to[i] + a : a;
            to[j] = y.accumulate ? to[j] + b : b;
          }
        }
    });
  }
};

}  // namespace

Tensor rope(const Tensor& x, Index heads, Index first_position, const RopeOptions& options) {
  if (x.rank() != 3 || heads < 1 || x.shape()[2] % heads || x.shape()[2] / heads % 2)
    fail("rope: {} is not (B,T,C) with {} heads of an even size", x.shape().str(), heads);
  if (first_position < 0) fail("rope: the first position is {}; positions count from 0", first_position);
  const Index B = x.shape()[0], T = x.shape()[1], D = x.shape()[2] / heads;
  const Rotate rotate{
      rotations(first_position + T, D, options), first_position, B, T, heads, D, options.halves};
  const Tensor y = empty(x.shape());
  rotate(1, x.data(), {y.data(), false});
  // The transpose of a rotation is its inverse.
  return record(y, "rope", {x}, [=](const Tensor& y) { rotate(-1, grad_data(y), grad_target(x)); });
}

}  // namespace attn
