// What the sources of gemm share within one target: the size of the register tile, and their functions.
#pragma once

#include "core/kernels/gemm_kernels.hpp"
#include "core/kernels/vector.hpp"

namespace attn::ATTN_TARGET {

// The register tile: tile_m rows of C by tile_v vectors. Its accumulators, a row of B and an element of A in
// all lanes fill the 32 registers of AVX-512, or the 16 that others have; and the more accumulators, the more
// multiply-adds there are for each load.
constexpr Index tile_m = 6, tile_v = vector_bytes == 64 ? 4 : 2;
constexpr Index tile_n = tile_v * lanes;

constexpr Index line = 64 / Index(sizeof(real));  // elements in a cache line

// The rows of the next tile, at most `most`, when `left` rows are left; the last two tiles share what
// remains: 8 rows are 4 + 4, not 6 + 2.
ATTN_INLINE Index next_tile(Index left, Index most) {
  return left >= 2 * most ? most : left > most ? (left + 1) / 2 : left;
}
// The columns of the next panel of B, and the reals from row to row in it when packed.
ATTN_INLINE Index next_panel(Index left, bool wide) {
  return left <= tile_n + (wide ? lanes : 0) ? left : tile_n;
}
ATTN_INLINE Index panel_stride(Index columns) { return columns > tile_n ? tile_n + lanes : tile_n; }

void pack_a(const ConstMatrix& a, real* out);
void pack_b(const ConstMatrix& b, bool wide, real* out);
void rows_dot(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, const GemmOptions& options);
void row_add(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, const GemmOptions& options);
void int8_dot(const ConstMatrix& a, const MatrixOf<const std::int8_t>& b, const real* scales,
              const real* bias, const Matrix& c);

}  // namespace attn::ATTN_TARGET
