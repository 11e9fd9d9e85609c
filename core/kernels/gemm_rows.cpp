// A few rows times a matrix: each element of B is used so seldom that all that counts is to read B once, in order.
#include "core/kernels/gemm_parts.hpp"
#include "core/kernels/shuffle.hpp"

namespace attn::ATTN_TARGET {
namespace {

// y[r][j] = a[r] . b[j] for R rows of A and `lanes` rows of B, G rows of B at a time.
template <int R>
ATTN_INLINE void dot(Index k, const real* a, Index lda, const real* const (&b)[lanes], vec (&y)[R]) {
  constexpr int most = R == 1 ? 8 : R == 2 ? 4 : 2, G = most < lanes ? most : lanes;
  constexpr int U = 1;
  vec total[R][lanes];
  for (int g = 0; g < lanes; g += G) {
    vec sum[U][R][G] = {};
    Index p = 0;
    for (; p + U * lanes <= k; p += U * lanes) {
#pragma GCC unroll 2
      for (int u = 0; u < U; ++u) {
#pragma GCC unroll 8
        for (int i = 0; i < G; ++i) {
          const vec x = load(b[g + i] + p + u * lanes);
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r) sum[u][r][i] = fma(load(a + r * lda + p + u * lanes), x, sum[u][r][i]);
        }
      }
    }
    for (; p < k; p += lanes) {
      const Index part = min(lanes, k - p);
#pragma GCC unroll 8
      for (int i = 0; i < G; ++i) {
        const vec x = load_part(b[g + i] + p, part);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sum[0][r][i] = fma(load_part(a + r * lda + p, part), x, sum[0][r][i]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < G; ++i) total[r][g + i] = U == 1 ? sum[0][r][i] : sum[0][r][i] + sum[U - 1][r][i];
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) y[r] = sums(total[r]);
}

template <int R>
void dot_block(const GemmBlock& block, const real* a, Index lda, const real* const (&b)[lanes], Index j, real* c) {
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

// y[r] += sum over S rows of B of a[r][p] * b[p], a vector of columns at a time.
template <int R, int S>
void add_rows(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c) {
  vec x[R][S];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) x[r][s] = splat(block.alpha * a[r * lda + s]);
  }
  Index j = 0;
  for (; j + lanes <= block.n; j += lanes) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      vec y = load(c + r * block.ldc + j);
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) y = fma(x[r][s], load(b + s * ldb + j), y);
      store(c + r * block.ldc + j, y);
    }
  }
  if (const Index part = block.n - j; part > 0) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      vec y = load_part(c + r * block.ldc + j, part);
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) y = fma(x[r][s], load_part(b + s * ldb + j, part), y);
      store_part(c + r * block.ldc + j, y, part);
    }
  }
}

template <int R>
void add_block(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c) {
  constexpr int S = R == 1 ? 8 : 4;
  Index p = 0;
  for (; p + S <= block.k; p += S) add_rows<R, S>(block, a + p, lda, b + p * ldb, ldb, c);
  for (; p < block.k; ++p) add_rows<R, 1>(block, a + p, lda, b + p * ldb, ldb, c);
}

}  // namespace

void rows_dot(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c) {
  for (Index j = 0; j < block.n; j += lanes) {
    const real* rows[lanes];
    for (int i = 0; i < lanes; ++i) rows[i] = b + min(j + i, block.n - 1) * ldb;  // beyond the end: the last again
    for (Index i = 0; i < block.m;) {
      const Index left = block.m - i;
      const real* from = a + i * lda;
      real* to = c + i * block.ldc;
      if (left >= 4) {
        dot_block<4>(block, from, lda, rows, j, to), i += 4;
      } else if (left >= 2) {
        dot_block<2>(block, from, lda, rows, j, to), i += 2;
      } else {
        dot_block<1>(block, from, lda, rows, j, to), i += 1;
      }
    }
  }
}

void rows_add(const GemmBlock& block, const real* a, Index lda, const real* b, Index ldb, real* c) {
  for (Index i = 0; i < block.m; ++i) {
    real* row = c + i * block.ldc;
    for (Index j = 0; j < block.n; ++j) row[j] = (block.add ? row[j] : 0) + (block.bias ? block.bias[j] : 0);
  }
  for (Index i = 0; i < block.m;) {
    const real* from = a + i * lda;
    real* to = c + i * block.ldc;
    if (block.m - i >= 2) {
      add_block<2>(block, from, lda, b, ldb, to), i += 2;
    } else {
      add_block<1>(block, from, lda, b, ldb, to), i += 1;
    }
  }
}

}  // namespace attn::ATTN_TARGET
