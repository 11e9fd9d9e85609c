#include "core/kernels.hpp"
#include "core/kernels/functions.hpp"

namespace attn::ATTN_TARGET {
namespace {

constexpr real minus_infinity = -__builtin_inff();

void online_softmax(Index rows, Index stride, real* scores, real* max_so_far, real* sum_so_far, real* rescale) {
  for (Index r = 0; r < rows; ++r) {
    real* row = scores + r * stride;
    vec largest = load(row);
    for (Index i = lanes; i < stride; i += lanes) largest = max(largest, load(row + i));
    const real before = max_so_far[r], here = max_lane(largest), after = here > before ? here : before;
    // A row that has seen nothing yet: any finite number in place of -inf gives exp(-inf) = 0 instead of NaN.
    const real shift = after == minus_infinity ? real(0) : after;
    vec total = vec{};
    for (Index i = 0; i < stride; i += lanes) {
      const vec weight = exp_of_nonpositive(load(row + i) - shift);
      store(row + i, weight);
      total += weight;
    }
    rescale[r] = exp_of_nonpositive(splat(before - shift))[0];
    sum_so_far[r] = sum_so_far[r] * rescale[r] + sum(total);
    max_so_far[r] = after;
  }
}

void weights_again(Index rows, Index stride, real* scores, const real* log_sum_exp) {
  for (Index r = 0; r < rows; ++r)
    for (Index i = 0; i < stride; i += lanes) {
      real* p = scores + r * stride + i;
      store(p, exp_of_nonpositive(load(p) - log_sum_exp[r]));
    }
}

void scores_backward(Index rows, Index stride, const real* weights, real* d_weights, const real* delta) {
  for (Index r = 0; r < rows; ++r)
    for (Index i = 0; i < stride; i += lanes) {
      const Index at = r * stride + i;
      store(d_weights + at, load(weights + at) * (load(d_weights + at) - delta[r]));
    }
}

}  // namespace

AttentionKernels attention_kernels() {
  return {.online_softmax = online_softmax, .weights_again = weights_again, .scores_backward = scores_backward};
}

}  // namespace attn::ATTN_TARGET
