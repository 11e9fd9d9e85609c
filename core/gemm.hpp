// gemm: C = A B, the matrix product that nearly all the time of a transformer goes into.
//
//   const ConstMatrix A{a, m, k}, B{b, k, n};   // numbers in row-major order, seen as matrices
//   gemm(A, B, C);                              // C  = A B
//   gemm(dC, B.T(), dA);                        // dA = dC Bᵀ; a transpose costs no copy
//
// Each element of C is a sum over k in one fixed order, whatever the number of threads: the same bits on 1, 2
// or 4. Threads share the work of one large product, or of a batch.
#pragma once

#include "core/kernels.hpp"  // Activation, Range
#include "core/real.hpp"
#include "core/shape.hpp"

namespace attn {

// A matrix. Its rows may be further apart than they are long: then it is a part of a wider one, such as one
// head of attention.
template <class Number>
struct MatrixOf {
  Number* data;
  Index rows, cols;
  Index stride = cols;      // elements from one row to the next, as stored
  bool transposed = false;  // stored as (cols, rows)

  MatrixOf T() const { return {data, cols, rows, stride, !transposed}; }
  Number* at(Index row, Index col) const {
    return data + (transposed ? col * stride + row : row * stride + col);
  }
  MatrixOf part(Range some_rows, Range some_cols) const {
    return {at(some_rows.begin, some_cols.begin), some_rows.end - some_rows.begin,
            some_cols.end - some_cols.begin, stride, transposed};
  }
  operator MatrixOf<const Number>() const { return {data, rows, cols, stride, transposed}; }
};
using Matrix = MatrixOf<real>;
using ConstMatrix = MatrixOf<const real>;

// A batch of matrices of one shape. Along each batch axis they are `steps` elements apart: 0 where the axis
// is stretched, so that one matrix takes part in several products.
template <class Number>
struct MatricesOf {
  MatrixOf<Number> first;
  Shape batch, steps;

  MatricesOf(const MatrixOf<Number>& matrix, const Shape& batch_axes, const Shape& batch_steps)
      : first(matrix), batch(batch_axes), steps(batch_steps) {}

  MatricesOf T() const { return {first.T(), batch, steps}; }
  operator MatricesOf<const Number>() const { return {first, batch, steps}; }
  MatrixOf<Number> operator[](Index i) const {
    MatrixOf<Number> matrix = first;
    for (int axis = batch.rank() - 1; axis > 0; --axis) {
      matrix.data += i % batch[axis] * steps[axis];
      i /= batch[axis];
    }
    if (batch.rank() > 0) matrix.data += i * steps[0];
    return matrix;
  }
  bool stretched() const {
    for (int axis = 0; axis < batch.rank(); ++axis)
      if (batch[axis] != 1 && steps[axis] == 0) return true;
    return false;
  }
};
using Matrices = MatricesOf<real>;
using ConstMatrices = MatricesOf<const real>;

// C = dropout(activation(alpha A B + bias)), or C += alpha A B.
struct GemmOptions {
  bool accumulate = false;  // add to C; then there is no bias and no activation
  real alpha = 1;
  const real* bias = nullptr;  // one for each column of C, which is not transposed then
  Activation activation = Activation::none;
  real* before_activation = nullptr;  // if given, alpha A B + bias is stored here too, laid out like C
  Dropout dropout{};  // of the elements of C in the order in which they lie; after none or relu
};

void gemm(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, const GemmOptions& options = {});

// A B that takes part in several products, of a few hundred rows and columns at most: copied once into the
// order in which they read it.
struct PackedMatrix {
  ConstMatrix matrix;
  const real* packed;  // null: each product reads the matrix itself
};
Index packed_size(Index rows, Index cols);
PackedMatrix pack(const ConstMatrix& B, real* memory);  // of packed_size
void gemm(const ConstMatrix& A, const PackedMatrix& B, const Matrix& C, const GemmOptions& options = {});

// All products of a batch. Matrices of C must not overlap; but where C is stretched, and `accumulate` is set,
// its products are added up, one after another.
void gemm(const ConstMatrices& A, const ConstMatrices& B, const Matrices& C, const GemmOptions& options = {});

}  // namespace attn
