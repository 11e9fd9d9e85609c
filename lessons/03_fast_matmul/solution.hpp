// Solution 03: a faster matrix product.
#pragma once

#include "lessons/03_fast_matmul/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// Only the order of the loops differs from lesson 01. In the inner one, b and c are both walked along a row,
// and a(i, k) is one number: that is a loop which a compiler turns into vector instructions by itself.
void multiply_ikj(const Tensor& a, WatchedMatrix& b, Tensor& c) {
  for (Index i = 0; i < a.size(0); ++i)
    for (Index k = 0; k < a.size(1); ++k)
      for (Index j = 0; j < c.size(1); ++j) c(i, j) += a(i, k) * b(k, j);
}

// Six loops, and the three inner ones end where the tile or the matrix ends. The sum over k arrives in
// pieces, one from each tile, which is why it has to be added to c.
void multiply_tiled(Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
  for (Index i0 = 0; i0 < m; i0 += tile)
    for (Index p0 = 0; p0 < k; p0 += tile)
      for (Index j0 = 0; j0 < n; j0 += tile)
        for (Index i = i0; i < std::min(i0 + tile, m); ++i)
          for (Index p = p0; p < std::min(p0 + tile, k); ++p)
            for (Index j = j0; j < std::min(j0 + tile, n); ++j)
              c.values[i * c.stride + j] += a.values[i * a.stride + p] * b.values[p * b.stride + j];
}

// Zeros at the edge let the inner loop of a register tile always run over the full width: what it computes
// there is 0 and is not stored.
Tensor pack_panels(const Tensor& b, Index width) {
  const Index panels = (b.size(1) + width - 1) / width;
  Tensor out = zeros({panels, b.size(0), width});
  for (Index k = 0; k < b.size(0); ++k)
    for (Index j = 0; j < b.size(1); ++j) out(j / width, k, j % width) = b(k, j);
  return out;
}

// The first rows % threads threads take one row more. Each begins where the one before ended, so that nothing
// is left out and nothing done twice, whatever the numbers.
std::vector<std::pair<Index, Index>> share_rows(Index rows, Index threads) {
  std::vector<std::pair<Index, Index>> shares;
  Index begin = 0;
  for (Index t = 0; t < threads; ++t) {
    const Index end = begin + rows / threads + (t < rows % threads ? 1 : 0);
    shares.emplace_back(begin, end);
    begin = end;
  }
  return shares;
}

// Either the arithmetic is the limit or the memory is. For n x n matrices the intensity is n/6: large
// products are bound by arithmetic, a matrix times a vector never is.
double attainable(Index m, Index k, Index n, double peak, double bandwidth) {
  const double flop = 2.0 * m * k * n, bytes = 4.0 * (m * k + k * n + m * n);
  return std::min(peak, bandwidth * flop / bytes);
}

}  // namespace exercise
