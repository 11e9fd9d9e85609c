// What core/gemm.cpp asks of each instruction set. Not for other callers: they use core/gemm.hpp.
//
// The heart is `multiply`: it walks over C in register tiles of at most tile_m x tile_n and computes each over
// the whole of k. It reads A and B where they lie if their strides allow, or from copies ("packed") that
// `pack_a` and `pack_b` have laid out in the order of its reads.
#pragma once

#include "core/kernels.hpp"  // Index, real

namespace attn {

// One operand as the tiles read it.
struct GemmA {
  const real* data;
  Index stride;   // from row to row; from column to column when `columns`
  bool columns;   // stored column by column, as a transposed A is
  bool packed;    // and each tile's columns lie together: see pack_a
};
struct GemmB {
  const real* data;
  Index stride;  // from row to row
  Index panel;   // from one tile's columns to the next tile's
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
  void (*multiply)(const GemmBlock& block, const GemmA& a, const GemmB& b, real* c);

  // A (m, k): with `transpose` stored as (k, m) and then packed tile by tile, otherwise copied row by row.
  // Either way `out` takes up to m * (k + pack_slack) + pack_slack elements.
  GemmA (*pack_a)(bool transpose, Index m, Index k, const real* a, Index lda, real* out);
  // B (k, n), with `transpose` stored as (n, k), into panels of tile_n columns padded with zeros: k * tile_n
  // elements for each.
  void (*pack_b)(bool transpose, Index k, Index n, const real* b, Index ldb, real* out);

  // Few rows times a matrix, bound by the time to read B once. b is (n, k) for `rows_dot`, (k, n) for `rows_add`.
  void (*rows_dot)(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c);
  void (*rows_add)(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c);

  // Does `steps` rounds of independent multiply-adds on all accumulators; returns how many FLOP that were.
  double (*burn)(Index steps);

  static constexpr Index pack_slack = 48;
};

}  // namespace attn
