// The softmax of a tile of scores, and its gradient: see Note [Online softmax] in core/ops_attention.cpp.
#include "core/kernels.hpp"
#include "core/kernels/functions.hpp"

namespace attn::ATTN_TARGET {
namespace {

void online_softmax(Index rows, Index stride, real* scores, const OnlineSoftmax& so_far) {
  for (Index r = 0; r < rows; ++r) {
    real* row = scores + r * stride;
    const real before = so_far.max[r], after = max_over(stride, row, before)[0];
    // In a row that has seen nothing yet, any finite number in place of -inf gives exp(-inf) = 0, not NaN.
    const real shift = after == -infinity ? real(0) : after;
    const real sum = exp_and_sum(stride, row, splat(shift), row)[0];
    so_far.rescale[r] = exp_of_nonpositive(splat(before - shift))[0];
    so_far.sum[r] = so_far.sum[r] * so_far.rescale[r] + sum;
    so_far.max[r] = after;
  }
}

void recompute_weights(Index rows, Index stride, real* scores, const real* log_sum_exp) {
  for (Index r = 0; r < rows; ++r)
    for (real* p = scores + r * stride; p < scores + (r + 1) * stride; p += lanes)
      store(p, exp_of_nonpositive(load(p) - log_sum_exp[r]));
}

void scores_backward(Index rows, Index stride, const AttentionWeights& weights, real* d_weights,
                     const real* delta) {
  const auto [P, used, scale] = weights;
  for (Index r = 0; r < rows; ++r)
    for (Index i = r * stride; i < (r + 1) * stride; i += lanes) {
      const vec d_weight = select(dropped(load(used + i)), vec{}, load(d_weights + i) * scale);
      store(d_weights + i, load(P + i) * (d_weight - delta[r]));
    }
}

}  // namespace

AttentionKernels attention_kernels() {
  return {.online_softmax = online_softmax,
          .recompute_weights = recompute_weights,
          .scores_backward = scores_backward};
}

}  // namespace attn::ATTN_TARGET
