// What the tests of the ops share: a naive reference, a comparison and random inputs.
//
// A reference is a formula for one element, evaluated in double for each index in turn:
//
//   check_close(a + b, from_formula({2, 3}, [&](const At& i) { return element(a, i) + element(b, i); }));
//
// `element` stretches missing axes and axes of size 1, one index at a time: broadcasting spelled out. It is
// slow and plain, so that it can be believed by reading it.
#pragma once

#include <doctest/doctest.h>

#include <cmath>   // fabs
#include <limits>  // numeric_limits

#include "core/error.hpp"
#include "core/ops.hpp"

namespace attn {

constexpr bool double_build = sizeof(real) == 8;
constexpr real infinity = std::numeric_limits<real>::infinity(), nan = std::numeric_limits<real>::quiet_NaN();

using At = std::vector<Index>;  // one index for each axis

inline double element(const Tensor& x, const At& at) {
  const int missing = int(at.size()) - x.rank();
  Index position = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const Index size = x.shape()[axis], i = at[axis + missing];
    position = position * size + (size == 1 ? 0 : i);
  }
  return x.data()[position];
}

template <class Formula>
Tensor from_formula(const Shape& shape, const Formula& formula) {
  const Tensor out = empty(shape);
  At at(std::size_t(shape.rank()), 0);
  for (Index n = 0; n < out.numel(); ++n) {
    out.data()[n] = real(formula(static_cast<const At&>(at)));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
  return out;
}

// The same index with one axis set to i.
inline At with(At at, int axis, Index i) {
  at[axis] = i;
  return at;
}

// Equal up to rounding: |actual - expected| <= tolerance (1 + |expected|), and NaN where NaN is expected.
inline void check_close(const Tensor& actual, const Tensor& expected,
                        double tolerance = double_build ? 1e-12 : 1e-5) {
  REQUIRE_MESSAGE(actual.shape() == expected.shape(), "shape ", actual.shape().str(), ", expected ",
                  expected.shape().str());
  for (Index i = 0; i < actual.numel(); ++i) {
    const double x = actual.data()[i], y = expected.data()[i];
    const bool close =
        x == y || std::fabs(x - y) <= tolerance * (1 + std::fabs(y)) || (std::isnan(x) && std::isnan(y));
    REQUIRE_MESSAGE(close, "element ", i, " of ", actual.shape().str(), " is ", x, ", expected ", y);
  }
}

inline Tensor random_tensor(const Shape& shape, std::uint64_t seed = 1, double low = -2, double high = 2) {
  Rng rng(seed);
  return uniform(shape, rng, real(low), real(high));
}

inline Tensor copy_of(const Tensor& x) { return from_values(x.shape(), x.values()); }

}  // namespace attn
