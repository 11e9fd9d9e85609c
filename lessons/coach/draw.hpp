// Draw: an input from the range that a contract promises, small ones first.
//
//   .draw = [](Draw& draw) -> Case<decltype(exercise::scores)> {
//     const Index T = draw.size(), S = draw.size(), D = draw.size();
//     return {draw.tidy({T, D}), draw.tidy({S, D})};
//   }
//
// A check draws some dozens of inputs, each at a `scale` that grows from 0 on: at scale 0 every size is the
// smallest that the contract allows, later ones are 0 to `scale` more. When an answer fails, more inputs are
// drawn at small scales to find the smallest that shows it. So a draw has to be in the contract at any scale
// and for any seed: `make check-course` asks the solution on many.
#pragma once

#include <algorithm>  // swap
#include <cmath>      // round
#include <vector>     // vector

#include "core/ops.hpp"
#include "core/tensor.hpp"

namespace coach {

using namespace attn;

// Normal numbers with one decimal, to be followed by hand.
inline Tensor tidy(const Shape& shape, Rng& rng) {
  Tensor x = normal(shape, rng);
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = std::round(10 * x.data()[i]) / 10;
  return x;
}

// Numbers that tell their place, for what only moves numbers: 100b + 10t + c for (B,T,C).
inline Tensor places(const Shape& shape) {
  Tensor x = empty(shape);
  for (Index i = 0; i < x.numel(); ++i) {
    Index rest = i, power = 1, place = 0;
    for (int axis = shape.rank() - 1; axis >= 0; --axis, power *= 10) {
      place += power * (rest % shape[axis]);
      rest /= shape[axis];
    }
    x.data()[i] = real(place);
  }
  return x;
}

class Draw {
 public:
  Draw(std::uint64_t seed, Index scale) : rng(seed), scale(scale) {}

  // `least` to `least + scale`.
  Index size(Index least = 1) { return between(least, least + scale); }
  Index between(Index least, Index most) { return least + rng.below(most - least + 1); }
  bool coin() { return rng.below(2) == 1; }
  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[rng.below(std::ssize(choices))];
  }
  // Of any order of magnitude up to `most`, the largest one most often: for counts that an int cannot hold.
  Index count(Index most, Index least = 1) {
    if (scale == 0) return least;
    if (scale > 3 && rng.below(3)) return between(std::max(least, most / 2), most);
    const double top = std::log(double(most)), bottom = std::log(double(std::max<Index>(least, 1)));
    return std::max(least, Index(std::exp(bottom + (top - bottom) * rng.uniform())));
  }

  real number() { return real(std::round(10 * rng.normal()) / 10); }
  Tensor tidy(const Shape& shape) { return coach::tidy(shape, rng); }
  // Every third tensor reaches ±1000, and one row of it may be all high or all low.
  Tensor up_to_1000(const Shape& shape) {
    Tensor x = tidy(shape);
    const Index columns = shape.rank() == 0 ? 1 : shape[-1];
    if (rng.below(3) == 0)
      for (Index row = 0; row < x.numel() / std::max<Index>(columns, 1); ++row) {
        const Index kind = rng.below(4);  // high, low, mixed, as it was
        for (Index c = 0; c < columns && kind < 3; ++c) {
          const bool high = kind == 0 || (kind == 2 && coin());
          x.data()[row * columns + c] = real(high ? 1000 - rng.below(4) : rng.below(4) - 1000);
        }
      }
    return x;
  }
  std::vector<int> ints(Index count, Index least, Index most) {
    std::vector<int> out;
    for (Index i = 0; i < count; ++i) out.push_back(int(between(least, most)));
    return out;
  }

  Rng rng;
  Index scale;
};

}  // namespace coach
