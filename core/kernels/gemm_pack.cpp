// Packing: copies of A and B in the order in which the tiles read them.
#include "core/kernels/gemm_parts.hpp"
#include "core/kernels/shuffle.hpp"

namespace attn::ATTN_TARGET {
namespace {

typedef real eight __attribute__((vector_size(8 * sizeof(real)), aligned(sizeof(real)), may_alias));

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
          store(to + v, left >= lanes ? load(from + w + v)
                        : left > 0    ? load_part(from + w + v, left)
                                      : vec{});
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
void pack_columns(bool wide, Index k, Index n, const real* b, Index ldb, real* out) {
  for (Index first = 0, columns; first < n; first += columns) {
    columns = next_panel(n - first, wide);
    const Index stride = panel_stride(columns);
    for (Index j = 0; j < columns; j += lanes) {
      for (Index p = 0; p < k; p += lanes) {
        vec x[lanes];
        load_square(b + (first + j) * ldb + p, ldb, columns - j, k - p, x);
        transpose_square(x);
        real* to = out + first * k + p * stride + j;
        if (k - p >= lanes) {
#pragma GCC unroll 16
          for (int i = 0; i < lanes; ++i) store(to + i * stride, x[column(i)]);
        } else {
#pragma GCC unroll 16
          for (int i = 0; i < lanes; ++i) {
            if (i < k - p) store(to + i * stride, x[column(i)]);
          }
        }
      }
    }
  }
}

}  // namespace

void pack_a(Index m, Index k, const real* a, Index lda, real* out) {
  constexpr Index depth = 32;  // rows of A at a time: few pages of memory to read from, long runs to write
  for (Index first = 0; first < k; first += depth) {
    const Index end = min(k, first + depth);
    for (Index p = end; p < min(k, end + depth); ++p) {
      for (Index i = 0; i < m; i += 64 / Index(sizeof(real))) __builtin_prefetch(a + p * lda + i);
    }
    for (Index i = 0, rows; i < m; i += rows) {
      rows = next_tile(m - i, tile_m);
      const real* from = a + i;
      real* to = out + i * k;
      Index p = first;
      if (rows == tile_m) {
        // Eight at once, although it is only six: what it writes too much is overwritten by the next, and
        // what it reads too much is there as long as another row follows.
        const Index whole = min(end, k - 1);
        for (; p < whole; ++p)
          *reinterpret_cast<eight*>(to + p * tile_m) = *reinterpret_cast<const eight*>(from + p * lda);
      }
      for (; p < end; ++p) {
        for (Index r = 0; r < rows; ++r) to[p * rows + r] = from[p * lda + r];
      }
    }
  }
}

void pack_b(bool transpose, bool wide, Index k, Index n, const real* b, Index ldb, real* out) {
  transpose ? pack_columns(wide, k, n, b, ldb, out) : pack_rows(k, n, b, ldb, out);
}

}  // namespace attn::ATTN_TARGET
