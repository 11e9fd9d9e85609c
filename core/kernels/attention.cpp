// The softmax of a tile of scores, and its gradient: see Note [Online softmax] in core/ops_attention.cpp.
#include "core/kernels.hpp"
#include "core/kernels/functions.hpp"

namespace attn::ATTN_TARGET {
namespace {

// -inf in place of the scores, of n in a row, that it does not see.
ATTN_INLINE void hide_unseen(real* row, Index n, const Range& seen) {
  if (seen.begin == 0 && seen.end == n) return;
  ivec number = {};
  for (int lane = 0; lane < lanes; ++lane) number[lane] = lane;
  for (Index i = 0; i < n; i += lanes) {
    if (seen.begin <= i && i + lanes <= seen.end) continue;
    const ivec inside = (number >= ireal(seen.begin - i) - ivec{}) & (number < ireal(seen.end - i) - ivec{});
    store(row + i, select(inside, load(row + i), splat(-infinity)));
  }
}

void online_softmax(const ScoreTile& scores, bool first, const OnlineSoftmax& so_far) {
  for (Index r = 0; r < scores.rows; ++r) {
    real* row = scores.data + r * scores.stride;
    hide_unseen(row, scores.stride, scores.seen[r]);
    const real before = first ? -infinity : so_far.max[r];
    const vec after = max_over(scores.stride, row, before);
    // In a row that has seen nothing yet, any finite number in place of -inf gives exp(-inf) = 0, not NaN.
    const vec shift = select(after == -infinity, vec{}, after);
    const real sum = exp_and_sum(scores.stride, row, shift, row)[0];
    so_far.max[r] = after[0];
    if (!first) so_far.rescale[r] = exp_of_nonpositive(before - shift)[0];
    so_far.sum[r] = first ? sum : so_far.sum[r] * so_far.rescale[r] + sum;
  }
}

void recompute_weights(const ScoreTile& scores, const real* max, const real* scale) {
  for (Index r = 0; r < scores.rows; ++r) {
    real* row = scores.data + r * scores.stride;
    hide_unseen(row, scores.stride, scores.seen[r]);
    for (Index i = 0; i < scores.stride; i += lanes)
      store(row + i, exp_of_nonpositive(load(row + i) - max[r]) * scale[r]);
  }
}

void scores_backward(const ScoreTile& d_weights, const AttentionWeights& weights, const real* delta) {
  const Index stride = d_weights.stride;
  for (Index r = 0; r < d_weights.rows; ++r) {
    real* row = d_weights.data + r * stride;
    const real *P = weights.weights + r * stride, *used = weights.used + r * stride;
    over(d_weights.keys, [&](Index i, auto part) {
      const vec d_weight = select(dropped(load(used + i)), vec{}, part.load(row + i) * weights.scale);
      part.store(row + i, load(P + i) * (d_weight - delta[r]));
    });
  }
}

void scale_rows(Index rows, Index cols, const real* factors, real* x, Index stride) {
  for (Index r = 0; r < rows; ++r) {
    over(cols, [&](Index i, auto part) {
      real* at = x + r * stride + i;
      part.store(at, factors[r] * part.load(at));
    });
  }
}

void dot_rows(Index rows, Index cols, const StridedRows& x, const StridedRows& y, real* dots) {
  for (Index r = 0; r < rows; ++r) {
    const real *one = x.data + r * x.stride, *two = y.data + r * y.stride;
    dots[r] =
        sum_all<1>(cols, [=](Index i, auto part) { return part.load(one + i) * part.load(two + i); })[0];
  }
}

}  // namespace

AttentionKernels attention_kernels() {
  return {.online_softmax = online_softmax,
          .recompute_weights = recompute_weights,
          .scores_backward = scores_backward,
          .scale_rows = scale_rows,
          .dot_rows = dot_rows};
}

}  // namespace attn::ATTN_TARGET
