#include <cmath>   // cos, pow, sin
#include <vector>  // vector

#include "core/error.hpp"
#include "core/op.hpp"
#include "core/ops.hpp"

namespace attn {
namespace {

// (length, D): for each position, the cosine and the sine of every pair's angle, side by side.
Tensor rotation_table(Index length, Index D) {
  const Tensor table = empty({length, D});
  for (Index t = 0; t < length; ++t)
    for (Index i = 0; i < D / 2; ++i) {
      const double angle = double(t) * std::pow(10000.0, -2.0 * double(i) / double(D));
      table.data()[t * D + 2 * i] = real(std::cos(angle));
      table.data()[t * D + 2 * i + 1] = real(std::sin(angle));
    }
  return table;
}

// A table for at least `length` positions. It is kept from call to call; when it is too short, one for twice
// as many positions replaces it.
Tensor rotations(Index length, Index D) {
  static thread_local std::vector<Tensor> tables;  // one for each head size
  for (Tensor& table : tables)
    if (table.shape()[1] == D) {
      if (table.shape()[0] < length) table = rotation_table(2 * length, D);
      return table;
    }
  return tables.emplace_back(rotation_table(2 * length, D));
}

// (a, b) -> (a cos θ - b sin θ, a sin θ + b cos θ) for each pair of each head; by -θ if `sign` is -1.
struct Rotate {
  Tensor table;
  Index first, B, T, heads, D;

  void operator()(real sign, const real* x, const GradTarget& y) const {
    parallel_for(B * T, row_grain(heads * D), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row)
        for (Index h = 0; h < heads; ++h) {
          const real *from = x + (row * heads + h) * D, *turn = table.data() + (first + row % T) * D;
          real* to = y.data + (row * heads + h) * D;
          for (Index i = 0; i < D; i += 2) {
            const real c = turn[i], s = sign * turn[i + 1];
            const real a = from[i] * c - from[i + 1] * s, b = from[i] * s + from[i + 1] * c;
            to[i] = y.accumulate ? to[i] + a : a;
            to[i + 1] = y.accumulate ? to[i + 1] + b : b;
          }
        }
    });
  }
};

}  // namespace

Tensor rope(const Tensor& x, Index heads, Index first_position) {
  if (x.rank() != 3 || heads < 1 || x.shape()[2] % heads || x.shape()[2] / heads % 2)
    fail("rope: {} is not (B,T,C) with {} heads of an even size", x.shape().str(), heads);
  if (first_position < 0) fail("rope: the first position is {}; positions count from 0", first_position);
  const Index B = x.shape()[0], T = x.shape()[1], D = x.shape()[2] / heads;
  const Rotate rotate{rotations(first_position + T, D), first_position, B, T, heads, D};
  const Tensor y = empty(x.shape());
  rotate(1, x.data(), {y.data(), false});
  // The transpose of a rotation is its inverse.
  return record(y, "rope", {x}, [=](const Tensor& y) { rotate(-1, grad_data(y), grad_target(x)); });
}

}  // namespace attn
