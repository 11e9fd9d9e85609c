// Exercise 03: a faster matrix product.
//
// All matrices are row-major. types.hpp has WatchedMatrix, read as b(k, j), and View, whose element (i, j) is
// view.values[i * view.stride + j], to be read and written in just this way. Elements of a Tensor are a(i,
// j); a.size(0) is its number of rows.
// Replace every todo(), then: make check-03
#pragma once

#include "lessons/03_fast_matmul/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// Adds the product a b to c, its loops in the order i, k, j: row i of c gets row k of b, times a(i, k). Each
// element of b that is needed is read with b(k, j), so that it sees the order: walked along its rows, it
// jumps only when i moves on.
//   a (M,K), b (K,N), c (M,N)
//   multiply_ikj([[1,2]], [[3],[4]], [[100]]) leaves 111 in c         (100 + 1·3 + 2·4)
void multiply_ikj(const Tensor& a, WatchedMatrix& b, Tensor& c) {
  todo();  // your answer
}

// Adds the product to c, tile by tile: three loops over tiles of `tile` x `tile`, three more inside of each.
// Tiles at the edges are smaller when a size is not a multiple of `tile`. Views note the order in which their
// values are used: each matrix moves on to another of its tiles only when one of the outer three loops does.
//   a (M,K), b (K,N), c (M,N), each a View with a stride of its own
//   multiply_tiled(1, 2, 1, {[1,2], 2}, {[3,4], 1}, 1, {[100], 1}) leaves 111 in c
void multiply_tiled(Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
  todo();  // your answer
}

// Copies b into panels of `width` columns, so that a register tile can read its columns one row after the
// other: panel p holds columns p·width to p·width + width − 1. Where b has ended, the last panel holds zeros.
//   b (K,N) -> (P,K,width) with P = N / width, rounded up
//   pack_panels([[1,2,3], [4,5,6]], 2) = [[[1,2], [4,5]], [[3,0], [6,0]]]
Tensor pack_panels(const Tensor& b, Index width) {
  todo();  // your answer
}

// The rows that each thread computes, as (begin, end) with end not included: one after the other, every row
// once. No thread has more than one row more than another; which ones have more is up to you.
//   share_rows(7, 3) = [(0,3), (3,5), (5,7)]
std::vector<std::pair<Index, Index>> share_rows(Index rows, Index threads) {
  todo();  // your answer
}

// The roofline: how many GFLOP/s the product (M,K) x (K,N) can reach, given the peak in GFLOP/s and the
// bandwidth in GB/s. A multiply-add is 2 FLOP; a, b and c each cross memory once, 4 bytes a number.
//   attainable(6, 6, 6, 100, 10) = 10         (432 FLOP for 432 bytes: 1 FLOP a byte)
double attainable(Index m, Index k, Index n, double peak, double bandwidth) {
  todo();  // your answer
}

}  // namespace exercise
