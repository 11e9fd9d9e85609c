// Row by row: softmax, the norms and the loss; and column by column, the gradients that sum over rows.
#include "core/kernels.hpp"
#include "core/kernels/functions.hpp"

namespace attn::ATTN_TARGET {
namespace {

// What is subtracted from a row before exp, so that nothing overflows: its maximum. In a row of -inf alone
// that would give NaN (-inf + inf), so the lowest finite number takes its place, and all exps are 0.
ATTN_INLINE vec max_of_row(Index cols, const real* x) { return max_over(cols, x, -largest_real); }

ATTN_INLINE vec sum_of_exp(Index cols, const real* x, const vec& shift) {
  return sum_all<1>(
      cols, [&](Index i, auto part) { return exp_of_nonpositive(part.load(x + i, -infinity) - shift); });
}

// 1 / sum. A row with a finite element has a sum of at least 1; for a row of zeros any finite number serves.
ATTN_INLINE vec inverse_of_sum(const vec& sum) { return one / max(splat(real(1e-30)), sum); }

void softmax_long(Range rows, Index cols, const real* x, real* y) {
  for (Index r = rows.begin; r < rows.end; ++r) {
    const real* from = x + r * cols;
    real* to = y + r * cols;
    const vec scale = inverse_of_sum(exp_and_sum(cols, from, max_of_row(cols, from), to));
    over(cols, [&](Index i, auto part) { part.store(to + i, part.load(to + i) * scale); });
  }
}

// Rows of at most `vectors` vectors, as in the attention of short sentences: all of a row stays in registers.
template <int vectors>
void softmax_short(Range rows, Index cols, const real* x, real* y) {
  constexpr int last = vectors - 1;
  const Part end(cols - last * lanes);
  for (Index r = rows.begin; r < rows.end; ++r) {
    const real* from = x + r * cols;
    real* to = y + r * cols;
    vec row[vectors];
    for (int k = 0; k < last; ++k) row[k] = load(from + k * lanes);
    row[last] = end.load(from + last * lanes, -infinity);
    vec largest = splat(-largest_real), sum = {};
    for (const vec& v : row) largest = max(v, largest);
    const vec shift = max_lanes(largest);
    for (vec& v : row) {
      v = exp_of_nonpositive(v - shift);
      sum = sum + v;
    }
    const vec scale = inverse_of_sum(sum_lanes(sum));
    for (int k = 0; k < last; ++k) store(to + k * lanes, row[k] * scale);
    end.store(to + last * lanes, row[last] * scale);
  }
}

void softmax(Range rows, Index cols, const real* x, real* y) {
  constexpr decltype(&softmax_long) by_vectors[] = {softmax_short<1>, softmax_short<2>, softmax_short<3>,
                                                    softmax_short<4>, softmax_short<5>, softmax_short<6>,
                                                    softmax_short<7>, softmax_short<8>};
  if (cols == 0) return;
  (cols <= 8 * lanes ? by_vectors[(cols - 1) / lanes] : softmax_long)(rows, cols, x, y);
}

// dx = y (dy - sum(y dy))
void softmax_backward(Range rows, Index cols, const real* y, const real* dy, GradTarget dx) {
  into(dx, [&](auto put) {
    for (Index r = rows.begin; r < rows.end; ++r) {
      const real *p = y + r * cols, *g = dy + r * cols;
      const vec mean = sum_all(cols, [&](Index i, auto part) { return part.load(p + i) * part.load(g + i); });
      over(cols, [&](Index i, auto part) {
        put(r * cols + i, part, part.load(p + i) * (part.load(g + i) - mean));
      });
    }
  });
}

void log_softmax(Range rows, Index cols, const real* x, real* y) {
  for (Index r = rows.begin; r < rows.end; ++r) {
    const real* from = x + r * cols;
    real* to = y + r * cols;
    const vec shift = max_of_row(cols, from);
    const real sum = sum_of_exp(cols, from, shift)[0], log_sum = sum == 0 ? 0 : log(sum);
    over(cols, [&](Index i, auto part) { part.store(to + i, (part.load(from + i) - shift) - log_sum); });
  }
}

// dx = dy - e^y sum(dy)
void log_softmax_backward(Range rows, Index cols, const real* y, const real* dy, GradTarget dx) {
  into(dx, [&](auto put) {
    for (Index r = rows.begin; r < rows.end; ++r) {
      const real *log_p = y + r * cols, *g = dy + r * cols;
      const vec total = sum_all(cols, [&](Index i, auto part) { return part.load(g + i); });
      over(cols, [&](Index i, auto part) {
        put(r * cols + i, part, part.load(g + i) - total * exp_of_nonpositive(part.load(log_p + i)));
      });
    }
  });
}

// gain and bias may be missing: then 1 and 0 take their place, so that there is one formula.
template <class Access>
ATTN_INLINE vec load_or(const Access& part, const real* p, Index i, real otherwise) {
  return p ? part.load(p + i) : splat(otherwise);
}

// x - mean, or in rms_norm x.
template <bool centered>
ATTN_INLINE vec center(const vec& x, const vec& mean) {
  return centered ? x - mean : x;
}

// y = (x - mean) rstd gain + bias. Mean and variance take two passes: the row stays in the first-level cache,
// and nothing cancels.
template <bool centered>
void norm_rows(Range rows, const NormRows& norm, real* y) {
  const Index cols = norm.cols;
  const real *gain = norm.gain, *bias = norm.bias;
  for (Index r = rows.begin; r < rows.end; ++r) {
    const real* x = norm.x + r * cols;
    vec mean = {};
    if (centered) {
      mean = sum_all(cols, [&](Index i, auto part) { return part.load(x + i); }) / real(cols);
      norm.mean[r] = mean[0];
    }
    const vec squares = sum_all(cols, [&](Index i, auto part) {
      const vec difference = part.clear(center<centered>(part.load(x + i), mean));
      return difference * difference;
    });
    const real rstd = norm.rstd[r] = 1 / sqrt(squares[0] / real(cols) + norm.epsilon);
    over(cols, [&](Index i, auto part) {
      const vec normal = center<centered>(part.load(x + i), mean) * rstd;
      part.store(y + r * cols + i, fma(normal, load_or(part, gain, i, 1), load_or(part, bias, i, 0)));
    });
  }
}
void norm(Range rows, const NormRows& norm, real* y) {
  norm.mean ? norm_rows<true>(rows, norm, y) : norm_rows<false>(rows, norm, y);
}

// With n = (x - mean) rstd and g = gain dy:  dx = rstd (g - mean(g) - n mean(g n)). rms_norm subtracts no
// mean, so it has no mean(g) either.
template <bool centered>
ATTN_INLINE void norm_rows_backward(Range rows, const NormRows& norm, const real* dy, GradTarget dx) {
  const Index cols = norm.cols;
  const real* gain = norm.gain;
  into(dx, [&](auto put) {
    for (Index r = rows.begin; r < rows.end; ++r) {
      const real *x = norm.x + r * cols, *g = dy + r * cols;
      const real mean = centered ? norm.mean[r] : 0, rstd = norm.rstd[r];
      const Two sums = sum_over(cols, [&](Index i, auto part) {
        const vec scaled = part.load(g + i) * load_or(part, gain, i, 1);
        return Two{scaled, scaled * ((part.load(x + i) - mean) * rstd)};
      });
      const vec mean_g = centered ? sum_lanes(sums.first) / real(cols) : vec{};
      const vec mean_gn = sum_lanes(sums.second) / real(cols);
      over(cols, [&](Index i, auto part) {
        const vec normal = (part.load(x + i) - mean) * rstd;
        const vec rest = fma(part.load(g + i), load_or(part, gain, i, 1), -mean_g);
        put(r * cols + i, part, (rest - normal * mean_gn) * rstd);
      });
    }
  });
}
void norm_backward(Range rows, const NormRows& norm, const real* dy, GradTarget dx) {
  norm.mean ? norm_rows_backward<true>(rows, norm, dy, dx) : norm_rows_backward<false>(rows, norm, dy, dx);
}

// With z = x - shift:  loss = log(sum(e^z)) - (1 - smoothing) z[target] - smoothing mean(z)
void cross_entropy(Range rows, const CrossEntropyRows& entropy, real* loss) {
  const Index cols = entropy.cols;
  const real smoothing = entropy.smoothing;
  for (Index r = rows.begin; r < rows.end; ++r) {
    const real* x = entropy.x + r * cols;
    const int target = entropy.targets[r];
    loss[r] = entropy.max[r] = entropy.sum[r] = 0;
    if (target == entropy.ignore) continue;
    const vec shift = max_of_row(cols, x);
    entropy.max[r] = shift[0];
    entropy.sum[r] = sum_of_exp(cols, x, shift)[0];
    loss[r] = log(entropy.sum[r]) - (1 - smoothing) * (x[target] - shift[0]);
    if (smoothing != 0) {
      const vec sum = sum_all(cols, [&](Index i, auto part) { return part.clear(part.load(x + i) - shift); });
      loss[r] -= smoothing * (sum[0] / real(cols));
    }
  }
}

void cross_entropy_backward(Range rows, const CrossEntropyRows& entropy, real scale, GradTarget dx) {
  const Index cols = entropy.cols;
  const real smoothing = entropy.smoothing;
  into(dx, [&](auto put) {
    for (Index r = rows.begin; r < rows.end; ++r) {
      const real* x = entropy.x + r * cols;
      const int target = entropy.targets[r];
      if (target == entropy.ignore) {
        if (!dx.accumulate) over(cols, [&](Index i, auto part) { put(r * cols + i, part, vec{}); });
        continue;
      }
      const real max = entropy.max[r], share = scale / entropy.sum[r],
                 everywhere = scale * smoothing / real(cols);
      over(cols, [&](Index i, auto part) {
        put(r * cols + i, part, exp_of_nonpositive(part.load(x + i) - max) * share - everywhere);
      });
      dx.data[r * cols + target] -= scale * (1 - smoothing);
    }
  });
}

// Sums over rows for `vectors` vectors of columns side by side, their accumulators in registers. Rows are
// summed in blocks of 64 and then the blocks, which keeps the rounding error small for long batches.
template <int vectors, class Access, class Term, class Finish>
ATTN_INLINE void sum_rows(Range rows, Index column, const Access& part, const Term& term,
                          const Finish& finish) {
  constexpr Index block = 64;
  using Sum = decltype(term(rows.begin, column, part));
  Sum total[vectors] = {};
  for (Index begin = rows.begin; begin < rows.end; begin += block) {
    const Index end = min(begin + block, rows.end);
    Sum sum[vectors] = {};
    for (Index r = begin; r < end; ++r) {
      for (int k = 0; k < vectors; ++k) sum[k] = sum[k] + term(r, column + k * lanes, part);
    }
    for (int k = 0; k < vectors; ++k) total[k] = total[k] + sum[k];
  }
  for (int k = 0; k < vectors; ++k) finish(column + k * lanes, part, total[k]);
}

template <class Term, class Finish>
ATTN_INLINE void sum_columns(Range rows, Index cols, const Term& term, const Finish& finish) {
  Index c = 0;
  for (; c + 4 * lanes <= cols; c += 4 * lanes) sum_rows<4>(rows, c, Whole{}, term, finish);
  for (; c + lanes <= cols; c += lanes) sum_rows<1>(rows, c, Whole{}, term, finish);
  if (c < cols) sum_rows<1>(rows, c, Part(cols - c), term, finish);
}

void column_sum(Range rows, Index cols, const real* x, GradTarget y) {
  into(y, [&](auto put) {
    sum_columns(
        rows, cols, [&](Index r, Index c, auto part) { return part.load(x + r * cols + c); }, put);
  });
}

void norm_backward_parameters(Range rows, const NormRows& norm, const real* dy, GradTarget dgain,
                              GradTarget dbias) {
  sum_columns(
      rows, norm.cols,
      [&](Index r, Index c, auto part) {
        const vec g = part.load(dy + r * norm.cols + c);
        const real mean = norm.mean ? norm.mean[r] : 0;
        return Two{g * norm.rstd[r] * (part.load(norm.x + r * norm.cols + c) - mean), g};
      },
      [&](Index c, auto part, const Two& sum) {
        if (dgain.data) into(dgain, [&](auto put) { put(c, part, sum.first); });
        if (dbias.data) into(dbias, [&](auto put) { put(c, part, sum.second); });
      });
}

}  // namespace

RowKernels row_kernels() {
  return {.softmax = softmax,
          .softmax_backward = softmax_backward,
          .log_softmax = log_softmax,
          .log_softmax_backward = log_softmax_backward,
          .norm = norm,
          .norm_backward = norm_backward,
          .cross_entropy = cross_entropy,
          .cross_entropy_backward = cross_entropy_backward,
          .column_sum = column_sum,
          .norm_backward_parameters = norm_backward_parameters};
}

}  // namespace attn::ATTN_TARGET
