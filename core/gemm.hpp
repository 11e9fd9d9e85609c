// gemm: C = act(A B + bias), the matrix product that nearly all the time of a transformer goes into.
//
// A is (m, k), B is (k, n), C is (m, n), row-major with a leading dimension (elements from one row to the
// next), so that a matrix may be a part of a wider one: a head of attention is a pointer and a stride.
// `transpose_a` says that A is stored as (k, m), `transpose_b` that B is stored as (n, k); neither costs a
// copy. With `accumulate` the product is added to C (then there is no bias and no activation).
//
// Each element of C is a sum over k in one fixed order, whatever the number of threads: the same bits on 1, 2
// or 4. Threads share the work of one large product, or of a batch.
#pragma once

#include "core/kernels.hpp"  // Activation, Index, real

namespace attn {

struct Gemm {
  Index m = 0, n = 0, k = 0;
  Index lda = 0, ldb = 0, ldc = 0;  // leading dimension of A, B and C as stored
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;
  real alpha = 1;              // C = alpha A B
  const real* bias = nullptr;  // (n), added to each row of C
  Activation activation = Activation::none;
  real* before_activation =
      nullptr;  // if given, A B + bias is stored here too (ldc as C): what a backward needs
};

void gemm(const Gemm& shape, const real* a, const real* b, real* c);

// The same on the calling thread alone, for use inside a parallel loop.
void gemm_serial(const Gemm& shape, const real* a, const real* b, real* c);

// `count` products of one shape: the i-th is on a + a_offset[i], b + b_offset[i], c + c_offset[i]. The parts
// of C must not overlap.
void gemm_batched(const Gemm& shape, Index count, const real* a, const Index* a_offset, const real* b,
                  const Index* b_offset, real* c, const Index* c_offset);

// Three nested loops: what the fast version is held against in the tests, and where to start reading.
void gemm_reference(const Gemm& shape, const real* a, const real* b, real* c);

}  // namespace attn
