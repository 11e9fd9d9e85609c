// What the three sources of gemm share within one target: the size of the register tile, and each other's functions.
#pragma once

#include "core/kernels/gemm_kernels.hpp"
#include "core/kernels/vector.hpp"

namespace attn::ATTN_TARGET {

// The register tile: tile_m rows of C by two vectors. Its accumulators, one row of B and one element of A in
// all lanes fill the 32 registers of AVX-512, or the 16 that others have.
#if defined(__AVX512F__)
#ifndef TM
#define TM 8
#define TV 3
#endif
constexpr Index tile_m = TM, tile_v = TV;
#else
constexpr Index tile_m = 6, tile_v = 2;
#endif
constexpr Index tile_n = tile_v * lanes;

// The rows of the next tile when `left` rows are left; the last two share what remains: 8 rows are 4 + 4, not 6 + 2.
ATTN_INLINE Index next_tile(Index left) {
  return left >= 2 * tile_m ? tile_m : left > tile_m ? (left + 1) / 2 : left;
}
ATTN_INLINE Index min(Index a, Index b) { return a < b ? a : b; }

GemmA pack_a(bool transpose, Index m, Index k, const real* a, Index lda, real* out);
void pack_b(bool transpose, Index k, Index n, const real* b, Index ldb, real* out);
void rows_dot(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c);
void rows_add(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c);

}  // namespace attn::ATTN_TARGET
