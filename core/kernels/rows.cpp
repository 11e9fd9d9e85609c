// Row by row: softmax, the norms and the loss; and column by column, the gradients that sum over rows.
#include "core/kernels.hpp"
#include "core/kernels/functions.hpp"

namespace attn::ATTN_TARGET {
namespace {

template <bool flag>
struct Flag {
  static constexpr bool value = flag;
};

// Calls body(Flag<accumulate>): a loop for each case instead of a question in the loop.
template <class Body>
ATTN_INLINE void with_flag(bool accumulate, const Body& body) {
  if (accumulate) {
    body(Flag<true>{});
  } else {
    body(Flag<false>{});
  }
}

template <class Flag, class Access>
ATTN_INLINE void put(Flag, const Access& part, real* p, const vec& value) {
  part.store(p, Flag::value ? value + part.load(p) : value);
}

// What is subtracted from a row before exp, so that nothing overflows: its maximum. In a row of -inf alone
// that would give NaN (-inf + inf), so the least finite number takes its place, and all exps are 0.
ATTN_INLINE vec max_of_row(Index cols, const real* x) { return max_over(cols, x, -largest_real); }

// y = exp(x - shift); returns the sum.
ATTN_INLINE vec exp_and_sum(Index cols, const real* x, const vec& shift, real* y) {
  return sum_lanes(sum_over<1>(cols, [&](Index i, auto part) {
    const vec e = exp_of_nonpositive(part.load(x + i, -infinity) - shift);
    part.store(y + i, e);
    return e;
  }));
}
ATTN_INLINE vec sum_of_exp(Index cols, const real* x, const vec& shift) {
  return sum_lanes(sum_over<1>(
      cols, [&](Index i, auto part) { return exp_of_nonpositive(part.load(x + i, -infinity) - shift); }));
}

// 1 / sum. In a row with any finite element the sum is at least 1; in a row of zeros any finite number will
// do.
ATTN_INLINE vec inverse_of_sum(const vec& sum) { return one / larger(splat(real(1e-30)), sum); }

void softmax_row(Index cols, const real* x, real* y) {
  const vec scale = inverse_of_sum(exp_and_sum(cols, x, max_of_row(cols, x), y));
  over(cols, [&](Index i, auto part) { part.store(y + i, part.load(y + i) * scale); });
}

// Rows of at most `vectors` vectors, as in the attention of short sentences: all of a row stays in registers.
template <int vectors>
void softmax_short(Index rows, Index cols, const real* x, real* y) {
  constexpr int last = vectors - 1;
  const Part end(cols - last * lanes);
  for (Index r = 0; r < rows; ++r, x += cols, y += cols) {
    vec row[vectors];
    for (int k = 0; k < last; ++k) row[k] = load(x + k * lanes);
    row[last] = end.load(x + last * lanes, -infinity);
    vec largest = splat(-largest_real), sum = {};
    for (const vec& v : row) largest = larger(v, largest);
    const vec shift = max_lanes(largest);
    for (vec& v : row) {
      v = exp_of_nonpositive(v - shift);
      sum = sum + v;
    }
    const vec scale = inverse_of_sum(sum_lanes(sum));
    for (int k = 0; k < last; ++k) store(y + k * lanes, row[k] * scale);
    end.store(y + last * lanes, row[last] * scale);
  }
}

void softmax(Index rows, Index cols, const real* x, real* y) {
  switch ((cols + lanes - 1) / lanes) {
    case 0:
      return;
    case 1:
      return softmax_short<1>(rows, cols, x, y);
    case 2:
      return softmax_short<2>(rows, cols, x, y);
    case 3:
      return softmax_short<3>(rows, cols, x, y);
    case 4:
      return softmax_short<4>(rows, cols, x, y);
    case 5:
      return softmax_short<5>(rows, cols, x, y);
    case 6:
      return softmax_short<6>(rows, cols, x, y);
    case 7:
      return softmax_short<7>(rows, cols, x, y);
    case 8:
      return softmax_short<8>(rows, cols, x, y);
    default:
      for (Index r = 0; r < rows; ++r) softmax_row(cols, x + r * cols, y + r * cols);
  }
}

// dx = y (dy - sum(y dy))
void softmax_backward(Index rows, Index cols, const real* y, const real* dy, real* dx, bool accumulate) {
  with_flag(accumulate, [&](auto flag) {
    for (Index r = 0; r < rows; ++r, y += cols, dy += cols, dx += cols) {
      const vec mean =
          sum_lanes(sum_over(cols, [&](Index i, auto part) { return part.load(y + i) * part.load(dy + i); }));
      over(cols, [&](Index i, auto part) {
        put(flag, part, dx + i, part.load(y + i) * (part.load(dy + i) - mean));
      });
    }
  });
}

void log_softmax(Index rows, Index cols, const real* x, real* y) {
  for (Index r = 0; r < rows; ++r, x += cols, y += cols) {
    const vec shift = max_of_row(cols, x);
    const real sum = sum_of_exp(cols, x, shift)[0], log_sum = sum == 0 ? 0 : log(sum);
    over(cols, [&](Index i, auto part) { part.store(y + i, (part.load(x + i) - shift) - log_sum); });
  }
}

// dx = dy - e^y sum(dy)
void log_softmax_backward(Index rows, Index cols, const real* y, const real* dy, real* dx, bool accumulate) {
  with_flag(accumulate, [&](auto flag) {
    for (Index r = 0; r < rows; ++r, y += cols, dy += cols, dx += cols) {
      const vec total = sum_lanes(sum_over(cols, [&](Index i, auto part) { return part.load(dy + i); }));
      over(cols, [&](Index i, auto part) {
        put(flag, part, dx + i, part.load(dy + i) - total * exp_of_nonpositive(part.load(y + i)));
      });
    }
  });
}

// gain and bias may be missing: 1 and 0 stand for them, so that there is one formula.
template <class Access>
ATTN_INLINE vec load_or(const Access& part, const real* p, Index i, real otherwise) {
  return p ? part.load(p + i) : splat(otherwise);
}

// Mean and variance in two passes: the row stays in the first-level cache, and nothing cancels.
void layer_norm(Index rows, Index cols, const real* x, const real* gain, const real* bias, real eps, real* y,
                real* mean, real* rstd) {
  for (Index r = 0; r < rows; ++r, x += cols, y += cols) {
    const vec m =
        sum_lanes(sum_over(cols, [&](Index i, auto part) { return part.load(x + i); })) / real(cols);
    const vec squares = sum_lanes(sum_over(cols, [&](Index i, auto part) {
      const vec centered = part.clear(part.load(x + i) - m);
      return centered * centered;
    }));
    mean[r] = m[0];
    rstd[r] = 1 / sqrt(squares[0] / real(cols) + eps);
    const real scale = rstd[r];
    over(cols, [&](Index i, auto part) {
      const vec normal = (part.load(x + i) - m) * scale;
      part.store(y + i, fma(normal, load_or(part, gain, i, 1), load_or(part, bias, i, 0)));
    });
  }
}

void rms_norm(Index rows, Index cols, const real* x, const real* gain, real eps, real* y, real* rstd) {
  for (Index r = 0; r < rows; ++r, x += cols, y += cols) {
    const vec squares =
        sum_lanes(sum_over(cols, [&](Index i, auto part) { return part.load(x + i) * part.load(x + i); }));
    rstd[r] = 1 / sqrt(squares[0] / real(cols) + eps);
    const real scale = rstd[r];
    over(cols, [&](Index i, auto part) {
      part.store(y + i, part.load(x + i) * scale * load_or(part, gain, i, 1));
    });
  }
}

// With n = (x - mean) rstd and g = gain dy:  dx = rstd (g - mean(g) - n mean(g n)). In rms_norm the mean is
// not subtracted, so mean(g) does not come back either.
template <bool centered>
ATTN_INLINE void norm_backward(Index rows, Index cols, const real* x, const real* gain, const real* mean,
                               const real* rstd, const real* dy, real* dx, bool accumulate) {
  with_flag(accumulate, [&](auto flag) {
    for (Index r = 0; r < rows; ++r, x += cols, dy += cols, dx += cols) {
      const real m = centered ? mean[r] : 0, scale = rstd[r];
      const Two sums = sum_over(cols, [&](Index i, auto part) {
        const vec g = part.load(dy + i) * load_or(part, gain, i, 1);
        return Two{g, g * ((part.load(x + i) - m) * scale)};
      });
      const vec mean_g = centered ? sum_lanes(sums.first) / real(cols) : vec{};
      const vec mean_gn = sum_lanes(sums.second) / real(cols);
      over(cols, [&](Index i, auto part) {
        const vec normal = (part.load(x + i) - m) * scale;
        const vec rest = fma(part.load(dy + i), load_or(part, gain, i, 1), -mean_g);
        put(flag, part, dx + i, (rest - normal * mean_gn) * scale);
      });
    }
  });
}

void layer_norm_backward(Index rows, Index cols, const real* x, const real* gain, const real* mean,
                         const real* rstd, const real* dy, real* dx, bool accumulate) {
  norm_backward<true>(rows, cols, x, gain, mean, rstd, dy, dx, accumulate);
}
void rms_norm_backward(Index rows, Index cols, const real* x, const real* gain, const real* rstd,
                       const real* dy, real* dx, bool accumulate) {
  norm_backward<false>(rows, cols, x, gain, nullptr, rstd, dy, dx, accumulate);
}

// Sums over rows for `vectors` vectors of columns side by side, their accumulators in registers. Rows are
// summed in blocks of 64 and then the blocks, which keeps the rounding error small for long batches.
template <int vectors, class Access, class Term, class Finish>
ATTN_INLINE void sum_rows(Index rows, Index column, const Access& part, const Term& term,
                          const Finish& finish) {
  constexpr Index block = 64;
  using Sum = decltype(term(rows, column, part));
  Sum total[vectors] = {};
  for (Index begin = 0; begin < rows; begin += block) {
    const Index end = begin + block < rows ? begin + block : rows;
    Sum sum[vectors] = {};
    for (Index r = begin; r < end; ++r) {
      for (int k = 0; k < vectors; ++k) sum[k] = sum[k] + term(r, column + k * lanes, part);
    }
    for (int k = 0; k < vectors; ++k) total[k] = total[k] + sum[k];
  }
  for (int k = 0; k < vectors; ++k) finish(column + k * lanes, part, total[k]);
}

template <class Term, class Finish>
ATTN_INLINE void sum_columns(Index rows, Index begin, Index end, const Term& term, const Finish& finish) {
  Index c = begin;
  for (; c + 4 * lanes <= end; c += 4 * lanes) sum_rows<4>(rows, c, Whole{}, term, finish);
  for (; c + lanes <= end; c += lanes) sum_rows<1>(rows, c, Whole{}, term, finish);
  if (c < end) sum_rows<1>(rows, c, Part(end - c), term, finish);
}

void column_sum(Index rows, Index cols, Index begin, Index end, const real* x, real* y, bool accumulate) {
  with_flag(accumulate, [&](auto flag) {
    sum_columns(
        rows, begin, end, [&](Index r, Index c, auto part) { return part.load(x + r * cols + c); },
        [&](Index c, auto part, const vec& sum) { put(flag, part, y + c, sum); });
  });
}

void norm_backward_parameters(Index rows, Index cols, Index begin, Index end, const real* x, const real* mean,
                              const real* rstd, const real* dy, real* dgain, real* dbias, bool accumulate) {
  with_flag(accumulate, [&](auto flag) {
    sum_columns(
        rows, begin, end,
        [&](Index r, Index c, auto part) {
          const vec g = part.load(dy + r * cols + c);
          const real m = mean ? mean[r] : 0;
          return Two{g * rstd[r] * (part.load(x + r * cols + c) - m), g};
        },
        [&](Index c, auto part, const Two& sum) {
          put(flag, part, dgain + c, sum.first);
          if (dbias) put(flag, part, dbias + c, sum.second);
        });
  });
}

// With z = x - shift:  loss = log(sum(e^z)) - (1 - smoothing) z[target] - smoothing mean(z)
void cross_entropy(Index rows, Index cols, const real* x, const int* targets, int ignore, real smoothing,
                   real* loss, real* log_sum_exp) {
  for (Index r = 0; r < rows; ++r, x += cols) {
    loss[r] = log_sum_exp[r] = 0;
    if (targets[r] == ignore) continue;
    const vec shift = max_of_row(cols, x);
    const real log_sum = log(sum_of_exp(cols, x, shift)[0]);
    log_sum_exp[r] = shift[0] + log_sum;
    loss[r] = log_sum - (1 - smoothing) * (x[targets[r]] - shift[0]);
    if (smoothing != 0) {
      const vec sum =
          sum_over(cols, [&](Index i, auto part) { return part.clear(part.load(x + i) - shift); });
      loss[r] -= smoothing * (sum_lanes(sum)[0] / real(cols));
    }
  }
}

void cross_entropy_backward(Index rows, Index cols, const real* x, const int* targets, int ignore,
                            real smoothing, real scale, const real* log_sum_exp, real* dx, bool accumulate) {
  with_flag(accumulate, [&](auto flag) {
    for (Index r = 0; r < rows; ++r, x += cols, dx += cols) {
      if (targets[r] == ignore) {
        if (!accumulate) over(cols, [&](Index i, auto part) { part.store(dx + i, vec{}); });
        continue;
      }
      const real lse = log_sum_exp[r], everywhere = scale * smoothing / real(cols);
      over(cols, [&](Index i, auto part) {
        put(flag, part, dx + i, exp_of_nonpositive(part.load(x + i) - lse) * scale - everywhere);
      });
      dx[targets[r]] -= scale * (1 - smoothing);
    }
  });
}

}  // namespace

RowKernels row_kernels() {
  return {.softmax = softmax,
          .softmax_backward = softmax_backward,
          .log_softmax = log_softmax,
          .log_softmax_backward = log_softmax_backward,
          .layer_norm = layer_norm,
          .layer_norm_backward = layer_norm_backward,
          .rms_norm = rms_norm,
          .rms_norm_backward = rms_norm_backward,
          .norm_backward_parameters = norm_backward_parameters,
          .column_sum = column_sum,
          .cross_entropy = cross_entropy,
          .cross_entropy_backward = cross_entropy_backward};
}

}  // namespace attn::ATTN_TARGET
