// A few rows times a matrix: each element of B is used so seldom that what counts is to read B once, in
// order.
#include "core/kernels/gemm_parts.hpp"
#include "core/kernels/shuffle.hpp"

namespace attn::ATTN_TARGET {
namespace {

// y[r][j] = a[r] . b[j] for R rows of A and `lanes` rows of B, G rows of B at a time.
template <int R>
ATTN_INLINE void dot(Index k, const real* a, Index lda, const real* const (&b)[lanes], vec (&y)[R]) {
  constexpr int G = min(R == 1 || lanes == 16 ? 8 : 4, lanes);
  vec total[R][lanes];
  for (int g = 0; g < lanes; g += G) {
    vec sum[R][G] = {};
    Index p = 0;
    for (; p + lanes <= k; p += lanes) {
#pragma GCC unroll 8
      for (int i = 0; i < G; ++i) {
        const vec x = load(b[g + i] + p);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sum[r][i] = fma(load(a + r * lda + p), x, sum[r][i]);
      }
    }
    if (const Index part = k - p; part > 0) {
#pragma GCC unroll 8
      for (int i = 0; i < G; ++i) {
        const vec x = load_part(b[g + i] + p, part);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sum[r][i] = fma(load_part(a + r * lda + p, part), x, sum[r][i]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < G; ++i) total[r][g + i] = sum[r][i];
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) y[r] = sums(total[r]);
}

template <int R>
void dot_block(const GemmBlock& block, const real* a, Index lda, const real* const (&b)[lanes], Index j,
               real* c) {
  const Index columns = min(lanes, block.n - j);
  vec y[R];
  dot<R>(block.k, a, lda, b, y);
  for (int r = 0; r < R; ++r) {
    real* row = c + r * block.ldc + j;
    y[r] *= block.alpha;
    if (block.add) y[r] += load_part(row, columns);
    if (block.bias) y[r] += load_part(block.bias + j, columns);
    store_part(row, y[r], columns);
  }
}

// y += alpha x B for 8 vectors of columns, y in registers all the while.
void add_strip(Index k, real alpha, const real* x, const real* b, Index ldb, real* y) {
  vec sum[8];
#pragma GCC unroll 8
  for (int v = 0; v < 8; ++v) sum[v] = load(y + v * lanes);
  for (Index p = 0; p < k; ++p) {
    const vec xp = splat(alpha * x[p]);
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) sum[v] = fma(xp, load(b + p * ldb + v * lanes), sum[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < 8; ++v) store(y + v * lanes, sum[v]);
}

// y += alpha x B for S rows of B and n columns.
template <int S>
void add_rows(Index n, real alpha, const real* x, const real* b, Index ldb, real* y) {
  vec xs[S];
#pragma GCC unroll 8
  for (int s = 0; s < S; ++s) xs[s] = splat(alpha * x[s]);
  Index j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    vec low = load(y + j), high = load(y + j + lanes);
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) {
      low = fma(xs[s], load(b + s * ldb + j), low);
      high = fma(xs[s], load(b + s * ldb + j + lanes), high);
    }
    store(y + j, low);
    store(y + j + lanes, high);
  }
  for (; j < n; j += lanes) {
    const Index part = min(lanes, n - j);
    vec sum = load_part(y + j, part);
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) sum = fma(xs[s], load_part(b + s * ldb + j, part), sum);
    store_part(y + j, sum, part);
  }
}

}  // namespace

void rows_dot(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c) {
  for (Index j = 0; j < block.n; j += lanes) {
    const real* rows[lanes];
    for (int i = 0; i < lanes; ++i)
      rows[i] = b + min(j + i, block.n - 1) * ldb;  // beyond the end: the last again
    for (Index i = 0; i < block.m;) {
      const real* from = a + i * lda;
      real* to = c + i * block.ldc;
      switch (const Index left = block.m - i; left == 4 ? 2 : min(left, 3)) {
        case 1:
          dot_block<1>(block, from, lda, rows, j, to), i += 1;
          break;
        case 2:
          dot_block<2>(block, from, lda, rows, j, to), i += 2;
          break;
        default:
          dot_block<3>(block, from, lda, rows, j, to), i += 3;
      }
    }
  }
}

void row_add(const GemmBlock& block, const real* a, const real* b, Index ldb, real* c) {
  for (Index j = 0; j < block.n; ++j) c[j] = (block.add ? c[j] : 0) + (block.bias ? block.bias[j] : 0);
  // A narrow B is read down in strips of columns. Down a wide one each step would jump far ahead in memory,
  // so there it is eight rows at a time and all columns of them. The order of the sums is the same.
  constexpr Index strip = 8 * lanes;
  Index j = 0;
  if (ldb <= 4 * strip) {
    for (; j + strip <= block.n; j += strip) add_strip(block.k, block.alpha, a, b + j, ldb, c + j);
  }
  if (j == block.n) return;
  Index p = 0;
  for (; p + 8 <= block.k; p += 8) add_rows<8>(block.n - j, block.alpha, a + p, b + p * ldb + j, ldb, c + j);
  for (; p < block.k; ++p) add_rows<1>(block.n - j, block.alpha, a + p, b + p * ldb + j, ldb, c + j);
}

}  // namespace attn::ATTN_TARGET
