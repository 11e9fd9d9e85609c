// What pictures are drawn from: a Matrix of floats and a list of Numbers, both owning copies, so that
// core/viz knows nothing of tensors and a picture never keeps one alive.
//
//   Matrix{{1, 0}, {0.5, 0.5}}      written out
//   Matrix(rows, cols, pointer)     from row-major float or double
//   Numbers losses = a_vector;      from any range of numbers
#pragma once

#include <initializer_list>  // initializer_list
#include <ranges>            // input_range
#include <type_traits>       // is_arithmetic_v
#include <vector>            // vector

#include "core/error.hpp"
#include "core/index.hpp"

namespace attn::viz {

// Row 0 is drawn at the top. In attention maps rows are queries and columns are keys.
struct Matrix {
  Index rows = 0, cols = 0;
  std::vector<float> values;  // row-major

  Matrix() = default;
  Matrix(Index rows, Index cols, float value = 0) : rows(rows), cols(cols) {
    if (rows < 0 || cols < 0)
      fail("viz::Matrix: {} rows and {} columns: sizes are never negative", rows, cols);
    values.assign(rows * cols, value);
  }
  template <class Number>
  Matrix(Index rows, Index cols, const Number* data) : Matrix(rows, cols) {
    for (Index i = 0; i < rows * cols; ++i) values[i] = float(data[i]);
  }
  Matrix(std::initializer_list<std::initializer_list<float>> lines);

  float& operator()(Index row, Index column) { return values[row * cols + column]; }
  float operator()(Index row, Index column) const { return values[row * cols + column]; }
};

// The means of blocks of high x wide cells, to draw a matrix that is too large. One NaN makes its block NaN:
// a fault must not be averaged away.
Matrix block_means(const Matrix& matrix, Index high, Index wide);

// A vector<double> that takes any range of numbers, so that `.y = losses` works for float and int too.
struct Numbers : std::vector<double> {
  using std::vector<double>::vector;
  template <std::ranges::input_range Range>
  requires std::is_arithmetic_v<std::ranges::range_value_t<Range>> Numbers(const Range& range) {
    for (const auto& value : range) push_back(double(value));
  }
};

}  // namespace attn::viz
