// What core/gemm.cpp and core/int8.cpp, and nobody else, ask of each instruction set.
//
// The heart is `multiply`: it walks over C in register tiles of at most tile_m x tile_n and computes each
// over the whole of k. It reads A and B where they lie if their strides allow it, or from copies ("packed")
// that `pack_a` and `pack_b` have laid out in the order of its reads.
#pragma once

#include "core/gemm.hpp"

namespace attn {

// A or B as the tiles read it.
struct GemmOperand {
  const ConstMatrix& matrix;
  const real* packed = nullptr;  // a copy by pack_a or pack_b, which is read instead
  bool wide = false;  // of B: its last panel may be wider by up to a vector: 20 columns are one tile, not two
};

// What will be read soon, in pieces of as many elements as a tile has steps, `step` apart; from one piece to
// the next it is `stride`. See Note [Reading ahead] in core/kernels/gemm.cpp.
struct Ahead {
  struct Part {
    const real* data;
    Index step, stride, pieces;
  } parts[2];
};

// C = alpha A B + bias, or C += alpha A B; the activation is left to the caller. C is never transposed.
using GemmKernel = void (*)(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c,
                            const GemmOptions& options);

struct GemmKernels {
  Index tile_m, tile_n;
  Index block_k;  // how much of k at a time: a tile's part of B should stay in a near cache
  void (*multiply)(const GemmOperand& a, const GemmOperand& b, const Matrix& c, const GemmOptions& options,
                   Ahead& ahead);

  // A transposed A, tile by tile: m * k elements. (An A that is not transposed needs no copy.)
  void (*pack_a)(const ConstMatrix& a, real* out);
  // B, transposed or not, in panels of tile_n columns: k * tile_n elements for each.
  void (*pack_b)(const ConstMatrix& b, bool wide, real* out);

  // Few rows times a transposed B, as dot products: quicker than to pack B while m <= k / dot_depth.
  GemmKernel rows_dot;
  Index dot_depth;
  GemmKernel row_add;  // one row times a B that is not transposed
  // C = A B + bias, where B is transposed and its columns are int8 with a scale each.
  void (*int8_dot)(const ConstMatrix& a, const MatrixOf<const std::int8_t>& b, const real* scales,
                   const real* bias, const Matrix& c);
};

}  // namespace attn
