// The optimizer's step.
#include "core/kernels.hpp"
#include "core/kernels/functions.hpp"

namespace attn::ATTN_TARGET {
namespace {

// Adam (Kingma and Ba, 2015) with decoupled decay (Loshchilov and Hutter, 2019), as PyTorch writes it:
//   g = gradient_scale g + l2 p
//   p = p - learning_rate decay p
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   p = p - learning_rate / correction1 * m / (sqrt(v) / sqrt(correction2) + epsilon)
// The two averages are computed as m + (1 - beta1) (g - m): see core/kernels/loops.hpp on sums of products.
void adam(Index n, const AdamStep& step, const AdamArrays& state) {
  real *p = state.p, *m = state.m, *v = state.v;
  const real* g = state.g;
  const real keep = 1 - step.learning_rate * step.decay;
  const real gain1 = 1 - step.beta1, gain2 = 1 - step.beta2;
  const real rate = step.learning_rate / step.correction1, root = 1 / sqrt(step.correction2);
  const real l2 = step.l2, gradient_scale = step.gradient_scale, epsilon = step.epsilon;
  over(n, [=](Index i, auto part) {
    const vec old = part.load(p + i), first = part.load(m + i), second = part.load(v + i);
    const vec scaled = part.load(g + i) * gradient_scale, gradient = old * l2 + scaled;
    const vec mean = (gradient - first) * gain1 + first;
    const vec square = (gradient * gradient - second) * gain2 + second;
    part.store(m + i, mean);
    part.store(v + i, square);
    part.store(p + i, old * keep - rate * (mean / (sqrt(square) * root + epsilon)));
  });
}

}  // namespace

UpdateKernels update_kernels() { return {.adam = adam}; }

}  // namespace attn::ATTN_TARGET
