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
//   p = p - learning_rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
// The two averages are computed as m + (1 - beta1) (g - m): see core/kernels/loops.hpp on sums of products.
void adam(Index n, const AdamStep& settings, const AdamArrays& state) {
  const AdamStep step = settings;  // a copy that no store can change
  real *p = state.p, *m = state.m, *v = state.v;
  const real* g = state.g;
  over(n, [=](Index i, auto part) {
    const vec old = part.load(p + i), first = part.load(m + i), second = part.load(v + i);
    const vec scaled = part.load(g + i) * step.gradient_scale, gradient = old * step.l2 + scaled;
    const vec mean = (gradient - first) * step.gain1 + first;
    const vec square = (gradient * gradient - second) * step.gain2 + second;
    part.store(m + i, mean);
    part.store(v + i, square);
    part.store(p + i, old * step.keep - step.rate * (mean / (sqrt(square) * step.root + step.epsilon)));
  });
}

}  // namespace

UpdateKernels update_kernels() { return {.adam = adam}; }

}  // namespace attn::ATTN_TARGET
