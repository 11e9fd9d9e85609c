#include "core/viz/matrix.hpp"

#include <algorithm>  // min
#include <iterator>   // ssize

namespace attn::viz {

Matrix::Matrix(std::initializer_list<std::initializer_list<float>> lines) {
  rows = std::ssize(lines);
  cols = rows ? std::ssize(*lines.begin()) : 0;
  for (const auto& line : lines) {
    if (std::ssize(line) != cols) fail("viz::Matrix: its rows differ in length");
    values.insert(values.end(), line);
  }
}

Matrix block_means(const Matrix& matrix, Index high, Index wide) {
  Matrix means((matrix.rows + high - 1) / high, (matrix.cols + wide - 1) / wide);
  for (Index r = 0; r < means.rows; ++r)
    for (Index c = 0; c < means.cols; ++c) {
      const Index bottom = std::min((r + 1) * high, matrix.rows),
                  right = std::min((c + 1) * wide, matrix.cols);
      double sum = 0;
      for (Index i = r * high; i < bottom; ++i)
        for (Index j = c * wide; j < right; ++j) sum += matrix(i, j);
      means(r, c) = float(sum / double((bottom - r * high) * (right - c * wide)));
    }
  return means;
}

}  // namespace attn::viz
