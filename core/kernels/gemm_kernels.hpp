// What core/gemm.cpp asks of each instruction set. Not for other callers: they use core/gemm.hpp.
//
// The heart is `multiply`: it walks over C in register tiles of at most tile_m x tile_n and computes each
// over the whole of k. It reads A and B where they lie if their strides allow it, or from copies ("packed")
// that `pack_a` and `pack_b` have laid out in the order of its reads.
#pragma once

#include "core/kernels.hpp"  // Index, real

namespace attn {

// A and B as the tiles read them.
struct GemmA {
  const real* data;
  Index stride;  // from row to row; or, when `columns`, from column to column
  bool columns;  // stored column by column, as a transposed A is
  bool packed;   // by pack_a: each tile's columns follow one another
};
struct GemmB {
  const real* data;
  Index stride;  // from row to row
  bool packed;   // by pack_b: in panels, one for each column of tiles
  bool wide;     // the last panel may be wider by up to a vector: one tile for 20 columns, not 16 + 4
};

// C = alpha A B + bias on one block; with `add`, C += alpha A B + bias.
struct GemmBlock {
  Index m, n, k;
  Index ldc;
  real alpha;
  bool add;
  const real* bias;  // (n) or null
};

struct GemmKernels {
  Index tile_m, tile_n;
  Index block_k;  // how much of k at a time: a tile's part of B should stay in a near cache
  void (*multiply)(const GemmBlock& block, const GemmA& a, const GemmB& b, real* c);

  // A (m, k) stored as (k, m), tile by tile: m * k elements. (An A that is not transposed needs no copy.)
  void (*pack_a)(Index m, Index k, const real* a, Index lda, real* out);
  // B (k, n), with `transpose` stored as (n, k), in panels of tile_n columns: k * tile_n elements for each.
  void (*pack_b)(bool transpose, bool wide, Index k, Index n, const real* b, Index ldb, real* out);

  // Few rows times a B stored as (n, k), row by row as dot products: quicker than to pack B while m <= k /
  // dot_depth.
  void (*rows_dot)(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c);
  Index dot_depth;
  // One row times a B stored as (k, n).
  void (*row_add)(const GemmBlock& block, const real* a, const real* b, Index ldb, real* c);

  // `steps` rounds of multiply-adds that wait for nothing; returns how many FLOP that was. For benchmarks.
  double (*burn)(Index steps);
};

}  // namespace attn
