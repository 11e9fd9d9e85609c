// A few rows times a matrix: each element of B is used so seldom that it pays to read B once, in order.
#include "core/kernels/gemm_parts.hpp"
#include "core/kernels/loops.hpp"  // over
#include "core/kernels/shuffle.hpp"

namespace attn::ATTN_TARGET {
namespace {

// y[r][j] = a[r] . b[j] for R rows of A and `lanes` rows of B, G rows of B at a time.
template <int R>
ATTN_INLINE void dot(Index k, const real* a, Index lda, const real* const (&b)[lanes], vec (&y)[R]) {
  constexpr int G = int(min(R == 1 || lanes == 16 ? 8 : 4, lanes));
  vec total[R][lanes];
  for (int g = 0; g < lanes; g += G) {
    vec sum[R][G] = {};
    over(k, [&](Index p, auto part) {
#pragma GCC unroll 8
      for (int i = 0; i < G; ++i) {
        const vec x = part.load(b[g + i] + p);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sum[r][i] = fma(part.load(a + r * lda + p), x, sum[r][i]);
      }
    });
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < G; ++i) total[r][g + i] = sum[r][i];
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) y[r] = sums(total[r]);
}

// R rows of C, `lanes` columns of it from j on.
template <int R>
ATTN_INLINE void dot_block(const ConstMatrix& a, const real* const (&b)[lanes], const Matrix& c, Index j,
                           const GemmOptions& options) {
  const Part part(min(lanes, c.cols - j));
  vec y[R];
  dot<R>(a.cols, a.data, a.stride, b, y);
  for (int r = 0; r < R; ++r) {
    real* to = c.data + r * c.stride + j;
    y[r] *= options.alpha;
    if (options.accumulate) y[r] += part.load(to);
    if (options.bias) y[r] += part.load(options.bias + j);
    part.store(to, y[r]);
  }
}

// y += alpha x B for 8 vectors of columns, y in registers all the while.
void add_strip(real alpha, const real* x, const ConstMatrix& b, real* y) {
  vec sum[8];
#pragma GCC unroll 8
  for (int v = 0; v < 8; ++v) sum[v] = load(y + v * lanes);
  for (Index p = 0; p < b.rows; ++p) {
    const vec xp = splat(alpha * x[p]);
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) sum[v] = fma(xp, load(b.data + p * b.stride + v * lanes), sum[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < 8; ++v) store(y + v * lanes, sum[v]);
}

// y += alpha x B for S rows of B.
template <int S>
void add_rows(real alpha, const real* x, const ConstMatrix& b, real* y) {
  vec xs[S];
#pragma GCC unroll 8
  for (int s = 0; s < S; ++s) xs[s] = splat(alpha * x[s]);
  const real* from = b.data;
  const Index n = b.cols, ldb = b.stride;
  Index j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    vec low = load(y + j), high = load(y + j + lanes);
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) {
      low = fma(xs[s], load(from + s * ldb + j), low);
      high = fma(xs[s], load(from + s * ldb + j + lanes), high);
    }
    store(y + j, low);
    store(y + j + lanes, high);
  }
  for (; j < n; j += lanes) {
    const Part part(min(lanes, n - j));
    vec sum = part.load(y + j);
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) sum = fma(xs[s], part.load(from + s * ldb + j), sum);
    part.store(y + j, sum);
  }
}

}  // namespace

void rows_dot(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, const GemmOptions& options) {
  for (Index j = 0; j < c.cols; j += lanes) {
    const real* columns[lanes];  // of B: its rows as stored; beyond the end, the last again
    for (int i = 0; i < lanes; ++i) columns[i] = b.data + min(j + i, c.cols - 1) * b.stride;
    ConstMatrix from = a;
    Matrix to = c;
    for (Index left = a.rows, rows; left > 0; left -= rows) {
      rows = left == 4 ? 2 : min(left, 3);
      if (rows == 1) dot_block<1>(from, columns, to, j, options);
      if (rows == 2) dot_block<2>(from, columns, to, j, options);
      if (rows == 3) dot_block<3>(from, columns, to, j, options);
      from.data += rows * a.stride;
      to.data += rows * c.stride;
    }
  }
}

void row_add(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, const GemmOptions& options) {
  const real *x = a.data, *bias = options.bias;
  const real alpha = options.alpha;
  real* y = c.data;
  const Index k = b.rows, n = b.cols, ldb = b.stride;
  for (Index j = 0; j < n; ++j) y[j] = (options.accumulate ? y[j] : 0) + (bias ? bias[j] : 0);
  // A narrow B is read down in strips of columns. Down a wide one each step would jump far ahead in memory,
  // so there it is eight rows at a time and all columns of them. The order of the sums is the same.
  constexpr Index strip = 8 * lanes;
  Index j = 0;
  if (ldb <= 4 * strip) {
    for (; j + strip <= n; j += strip) add_strip(alpha, x, {b.data + j, k, strip, ldb}, y + j);
  }
  if (j == n) return;
  Index p = 0;
  for (; p + 8 <= k; p += 8) add_rows<8>(alpha, x + p, {b.data + p * ldb + j, 8, n - j, ldb}, y + j);
  for (; p < k; ++p) add_rows<1>(alpha, x + p, {b.data + p * ldb + j, 1, n - j, ldb}, y + j);
}

}  // namespace attn::ATTN_TARGET
