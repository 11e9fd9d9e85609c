// A few rows times a matrix: each element of B is used so seldom that it pays to read B once, in order.
#include "core/kernels/gemm_parts.hpp"
#include "core/kernels/loops.hpp"  // over
#include "core/kernels/shuffle.hpp"

namespace attn::ATTN_TARGET {
namespace {

// y[r][j] = a[r] . b[j] for R rows of A and `lanes` rows of B, G rows of B at a time.
template <int R, bool far, class Number>
ATTN_INLINE void dot(Index k, const real* a, Index lda, const Number* const (&b)[lanes], vec (&y)[R]) {
  constexpr int G = int(min(R == 1 || lanes == 16 ? 8 : 4, lanes));
  constexpr bool asks_ahead = far && (lanes == 16 || sizeof(Number) == 1);  // with AVX2's floats it is a loss
  vec total[R][lanes];
  for (int g = 0; g < lanes; g += G) {
    vec sum[R][G] = {};
    over(k, [&](Index p, auto part) {
#pragma GCC unroll 8
      for (int i = 0; i < G; ++i) {
        if (asks_ahead) __builtin_prefetch(b[g + i] + p + 1024 / sizeof(Number));
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

// Note [Far streams]
// To read memory quickly, read it in several places at once, at each in order and for long: B's rows (C's
// columns) are cut into as many stretches as a vector has lanes, and the dot products take one row of each.
// Rows next to each other, eight at a time, would be streams that end before the CPU has learned to
// prefetch them: with rows of 2 KB that read 13 GB/s where this reads 21, with int8 5 where this reads 15.
// Asking for what lies a little further on in each stretch helps, too: a Zen 5 then reads 36 GB/s instead of
// 32, and int8 32 instead of 22.
// Rows that are short, or used so often that they stay in the cache, are taken from next to each other.

// C from A and a transposed B: finish(sums, j, step, row of C) gets columns j, j + step, … of a row.
template <bool far, class Number, class Finish>
ATTN_INLINE void dot_all(const ConstMatrix& a, const MatrixOf<Number>& b, const Matrix& c,
                         const Finish& finish) {
  const Index turns = (c.cols + lanes - 1) / lanes, step = far ? turns : 1;
  for (Index turn = 0; turn < turns; ++turn) {
    const Index j = far ? turn : turn * lanes;
    Number* columns[lanes];  // of B: its rows as stored; beyond the end, the last again
    for (int i = 0; i < lanes; ++i) columns[i] = b.data + min(j + i * step, c.cols - 1) * b.stride;
    const real* from = a.data;
    real* to = c.data;
    const auto some_rows = [&]<int R>(std::integer_sequence<int, R>) __attribute__((always_inline)) {
      vec y[R];
      dot<R, far>(a.cols, from, a.stride, columns, y);
      for (int r = 0; r < R; ++r) finish(y[r], j, step, to + r * c.stride);
      from += R * a.stride;
      to += R * c.stride;
    };
    for (Index left = a.rows, rows; left > 0; left -= rows) {
      rows = left == 4 ? 2 : min(left, 3);
      if (rows == 1) some_rows(std::integer_sequence<int, 1>());
      if (rows == 2) some_rows(std::integer_sequence<int, 2>());
      if (rows == 3) some_rows(std::integer_sequence<int, 3>());
    }
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
  if (a.rows <= 4 && a.cols >= 256) {
    dot_all<true>(a, b, c, [&](const vec& sums, Index j, Index step, real* row) {
      const vec y = options.alpha * sums;
      for (int i = 0; i < lanes && j < c.cols; ++i, j += step)
        row[j] = y[i] + (options.accumulate ? row[j] : 0) + (options.bias ? options.bias[j] : 0);
    });
  } else {
    dot_all<false>(a, b, c, [&](const vec& sums, Index j, Index, real* row) {
      const Part part(min(lanes, c.cols - j));
      vec y = options.alpha * sums;
      if (options.accumulate) y += part.load(row + j);
      if (options.bias) y += part.load(options.bias + j);
      part.store(row + j, y);
    });
  }
}

void int8_dot(const ConstMatrix& a, const MatrixOf<const std::int8_t>& b, const real* scales,
              const real* bias, const Matrix& c) {
  dot_all<true>(a, b, c, [&](const vec& sums, Index j, Index step, real* row) {
    for (int i = 0; i < lanes && j < c.cols; ++i, j += step)
      row[j] = scales[j] * sums[i] + (bias ? bias[j] : 0);
  });
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
