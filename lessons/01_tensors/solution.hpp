// Solution 01: what a tensor is.
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// From left to right: each further axis multiplies what is there by its size and adds its index. Written out
// for three axes that is (i·J + j)·K + k, with no stride ever computed.
Index offset(const Shape& shape, const std::vector<Index>& index) {
  if (static_cast<int>(index.size()) != shape.rank())
    throw std::invalid_argument("offset: one index for each axis");
  Index position = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Index i = index[axis];
    if (i < 0 || i >= shape[axis]) throw std::invalid_argument("offset: index outside of its axis");
    position = position * shape[axis] + i;
  }
  return position;
}

// Counting axes from the end makes the alignment at the right fall out by itself. The size that is not 1
// wins, so a size of 0 survives; the larger of the two would be wrong there.
Shape broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<Index> sizes(rank);
  for (int back = 1; back <= rank; ++back) {
    const Index m = back <= a.rank() ? a[-back] : 1, n = back <= b.rank() ? b[-back] : 1;
    if (m != n && m != 1 && n != 1) throw std::invalid_argument("broadcast: sizes differ and none is 1");
    sizes[rank - back] = m == 1 ? n : m;
  }
  return Shape(sizes.data(), rank);
}

// An axis of size 1 has only index 0: nothing is ever copied, the same element is just read again.
Tensor broadcast_add(const Tensor& a, const Tensor& b) {
  Tensor out = empty(broadcast(a.shape(), b.shape()));
  for (Index i = 0; i < out.size(0); ++i)
    for (Index j = 0; j < out.size(1); ++j)
      out(i, j) = a(a.size(0) == 1 ? 0 : i, a.size(1) == 1 ? 0 : j) +
                  b(b.size(0) == 1 ? 0 : i, b.size(1) == 1 ? 0 : j);
  return out;
}

// M·N dot products of length K. The three loops may stand in any order, which is where lesson 03 begins.
Tensor product(const Tensor& a, const Tensor& b) {
  if (a.size(1) != b.size(0)) throw std::invalid_argument("product: inner sizes differ");
  Tensor c = zeros({a.size(0), b.size(1)});
  for (Index i = 0; i < a.size(0); ++i)
    for (Index j = 0; j < b.size(1); ++j)
      for (Index k = 0; k < a.size(1); ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

}  // namespace exercise
