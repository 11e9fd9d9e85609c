// Packing: copies of A and B in the order in which the tiles read them.
#include "core/kernels/gemm_parts.hpp"
#include "core/kernels/shuffle.hpp"

namespace attn::ATTN_TARGET {
namespace {

typedef real eight __attribute__((vector_size(8 * sizeof(real)), aligned(sizeof(real)), may_alias));

// B as it is, several panels at a time, so that several cache lines are read in a row.
void pack_rows(const ConstMatrix& b, real* out) {
  constexpr Index group = 4 * tile_n;
  for (Index j = 0; j < b.cols; j += group) {
    const Index width = min(group, b.cols - j);
    for (Index p = 0; p < b.rows; ++p) {
      const real* from = b.data + p * b.stride + j;
      for (Index w = 0; w < width; w += line) __builtin_prefetch(from + 8 * b.stride + w);
      for (Index w = 0; w < width; w += tile_n) {
        real* to = out + (j + w) * b.rows + p * tile_n;
        for (Index v = 0; v < tile_n; v += lanes) {
          const Index left = width - w - v;
          store(to + v, left >= lanes ? load(from + w + v)
                        : left > 0    ? Part(left).load(from + w + v)
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
    const Part part(min(width, lanes));
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) x[i] = i < height ? part.load(from + i * stride) : vec{};
  }
}

// The same of a transposed B: squares of lanes x lanes, transposed in registers.
void pack_columns(const ConstMatrix& b, bool wide, real* out) {
  const Index k = b.rows;
  for (Index first = 0, columns; first < b.cols; first += columns) {
    columns = next_panel(b.cols - first, wide);
    const Index stride = panel_stride(columns);
    for (Index j = 0; j < columns; j += lanes) {
      for (Index p = 0; p < k; p += lanes) {
        vec x[lanes];
        const real* from = b.data + (first + j) * b.stride + p;
        if (first + columns < b.cols) {  // the next panel: short pieces of rows, which no CPU foresees
          for (Index i = 0; i < lanes; ++i) __builtin_prefetch(from + (columns + i) * b.stride, 0, 2);
        }
        load_square(from, b.stride, columns - j, k - p, x);
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

void pack_a(const ConstMatrix& a, real* out) {
  constexpr Index depth = 32;  // of k at a time: few pages of memory to read from, long runs to write
  const Index m = a.rows, k = a.cols;
  for (Index first = 0; first < k; first += depth) {
    const Index end = min(k, first + depth);
    for (Index p = end; p < min(k, end + depth); ++p) {
      for (Index i = 0; i < m; i += line) __builtin_prefetch(a.data + p * a.stride + i);
    }
    for (Index i = 0, rows; i < m; i += rows) {
      rows = next_tile(m - i, tile_m);
      const real* from = a.data + i;
      real* to = out + i * k;
      Index p = first;
      if (rows == tile_m) {
        // Eight at once, although six are wanted: the next write covers the two that are too many, and the
        // two that are read beyond the tile exist as long as another row follows.
        for (; p < min(end, k - 1); ++p)
          *reinterpret_cast<eight*>(to + p * tile_m) = *reinterpret_cast<const eight*>(from + p * a.stride);
      }
      for (; p < end; ++p) {
        for (Index r = 0; r < rows; ++r) to[p * rows + r] = from[p * a.stride + r];
      }
    }
  }
}

void pack_b(const ConstMatrix& b, bool wide, real* out) {
  b.transposed ? pack_columns(b, wide, out) : pack_rows(b, out);
}

}  // namespace attn::ATTN_TARGET
