// Exercise 01: what a tensor is.
//
// shape.rank() is the number of axes, shape[axis] the size of one, Shape{2, 3} makes one. Elements of a
// matrix are a(i, j), a.size(0) is its number of rows, zeros({2, 3}) and empty({2, 3}) make a new one.
// What a contract says to refuse is refused by: throw std::invalid_argument("what is wrong").
//
// Replace every todo(), then: make check-01
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// Where element `index` lies in memory, row-major: the last axis is contiguous, and one step along an axis
// skips everything to its right. Refuses a number of indices other than the rank, and indices below 0 or not
// below the size.
//   shape of any rank, one index for each axis -> offset
//   offset((2,3), [1, 2]) = 5         (one row of 3, then 2)
Index offset(const Shape& shape, const std::vector<Index>& index) {
  todo();  // your answer
}

// The shape that two shapes make together, as in a + b. They are aligned at their right ends; a missing axis
// counts as 1; an axis of size 1 stretches to the other's size (even to 0); any other difference is refused.
//   broadcast((2,1,4), (3,1)) = (2,3,4)
Shape broadcast(const Shape& a, const Shape& b) {
  todo();  // your answer
}

// a + b for two matrices that broadcast: where a matrix has size 1 along an axis, its only row or column is
// used again and again. (All inputs fit: nothing is to be refused. R and C may be 0.)
//   a (R or 1, C or 1), b (R or 1, C or 1) -> (R,C)
//   broadcast_add([[1,2]], [[10],[20]]) = [[11,12], [21,22]]
Tensor broadcast_add(const Tensor& a, const Tensor& b) {
  todo();  // your answer
}

// The matrix product by three nested loops: c(i,j) = Σ a(i,k) b(k,j). Refuses matrices whose inner sizes
// differ. K may be 0: an empty sum is 0.
//   a (M,K), b (K,N) -> (M,N)
//   product([[1,2]], [[3],[4]]) = [[11]]         (1·3 + 2·4)
Tensor product(const Tensor& a, const Tensor& b) {
  todo();  // your answer
}

}  // namespace exercise
