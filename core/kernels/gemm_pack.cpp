// Packing: copies of A and B in the order in which the tiles read them.
#include "core/kernels/gemm_parts.hpp"
#include "core/kernels/shuffle.hpp"

namespace attn::ATTN_TARGET {
namespace {

// B as it is, several panels at a time, so that several cache lines are read in a row.
void pack_rows(Index k, Index n, const real* b, Index ldb, real* out) {
  constexpr Index group = 4 * tile_n;
  for (Index j = 0; j < n; j += group) {
    const Index width = min(group, n - j);
    for (Index p = 0; p < k; ++p) {
      const real* from = b + p * ldb + j;
      for (Index w = 0; w < width; w += tile_n) {
        real* to = out + (j + w) * k + p * tile_n;
        for (Index v = 0; v < tile_n; v += lanes) {
          const Index left = width - w - v;
          store(to + v, left >= lanes ? load(from + w + v) : left > 0 ? load_part(from + w + v, left) : vec{});
        }
      }
    }
  }
}

// Rows 0 … height-1 of `lanes` columns, of which `width` are there: what lies beyond is taken as 0.
ATTN_INLINE void load_square(const real* from, Index stride, Index height, Index width, vec (&x)[lanes]) {
  if (height >= lanes && width >= lanes) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) x[i] = load(from + i * stride);
  } else {
    const Index part = min(width, lanes);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) x[i] = i < height ? load_part(from + i * stride, part) : vec{};
  }
}

// The same of a B stored as (n, k): squares of lanes x lanes, transposed in registers.
void pack_columns(Index k, Index n, const real* b, Index ldb, real* out) {
  for (Index j = 0; j < n; j += lanes) {
    real* to = out + j / tile_n * tile_n * k + j % tile_n;
    for (Index p = 0; p < k; p += lanes) {
      vec x[lanes];
      load_square(b + j * ldb + p, ldb, n - j, k - p, x);
      transpose_square(x);
      const Index depth = k - p;
      if (depth >= lanes) {
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) store(to + (p + i) * tile_n, x[column(i)]);
      } else {
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) {
          if (i < depth) store(to + (p + i) * tile_n, x[column(i)]);
        }
      }
    }
  }
}

}  // namespace

GemmA pack_a(bool transpose, Index m, Index k, const real* a, Index lda, real* out) {
  if (!transpose) {
    // An odd number of cache lines from row to row, so that the rows of a tile fall into different cache sets.
    const Index stride = (k + 31) / 32 * 32 + 16;
    for (Index i = 0; i < m; ++i) {
      Index p = 0;
      for (; p + lanes <= k; p += lanes) store(out + i * stride + p, load(a + i * lda + p));
      if (p < k) store(out + i * stride + p, load_part(a + i * lda + p, k - p));
    }
    return {out, stride, false, false};
  }
  constexpr Index depth = 16;  // rows of A at a time: few enough pages of memory, long enough runs of writing
  for (Index first = 0; first < k; first += depth) {
    const Index end = min(k, first + depth);
    for (Index i = 0, rows; i < m; i += rows) {
      rows = next_tile(m - i);
      if (rows == tile_m) {
        for (Index p = first; p < end; ++p) __builtin_memcpy(out + i * k + p * tile_m, a + p * lda + i, tile_m * sizeof(real));
      } else {
        for (Index p = first; p < end; ++p) {
          for (Index r = 0; r < rows; ++r) out[i * k + p * rows + r] = a[p * lda + i + r];
        }
      }
    }
  }
  return {out, 0, true, true};
}

void pack_b(bool transpose, Index k, Index n, const real* b, Index ldb, real* out) {
  (transpose ? pack_columns : pack_rows)(k, n, b, ldb, out);
}

}  // namespace attn::ATTN_TARGET
