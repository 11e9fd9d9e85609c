// The kernels: the few loops where the time goes, in one version per instruction set.
//
// Every source in core/kernels/ is compiled once for each target (baseline, x86-64-v3 = AVX2 + FMA,
// x86-64-v4 = AVX-512) into a namespace of that name; `kernels()` is the set that fits this CPU, chosen
// once at start. ATTN_KERNELS=baseline|v3|v4 in the environment picks a lower set.
//
// A kernel is serial and knows nothing of tensors: it works on rows of contiguous numbers. The ops divide
// their outputs among threads (core/parallel.hpp) and call a kernel for each part. Where a gradient is
// produced, `accumulate` says whether to add to what is there or to overwrite it.
//
// See Note [No standard library in kernels] in core/kernels/vector.hpp.
#pragma once

#include <cstdint>  // uint32_t, uint64_t

#include "core/real.hpp"
#include "core/shape.hpp"  // Index

namespace attn {

enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid, exp };

// Element by element, n elements.
struct MathKernels {
  // y = f(x); x and y may be the same.
  void (*activate)(Activation f, Index n, const real* x, real* y);
  // dx (+)= dy * f'(x), where y = f(x) is at hand too (either may be what f' is computed from).
  void (*activate_backward)(Activation f, Index n, const real* x, const real* y, const real* dy, real* dx,
                            bool accumulate);
  void (*add)(Index n, const real* a, const real* b, real* c);       // c = a + b
  void (*sub)(Index n, const real* a, const real* b, real* c);       // c = a - b
  void (*mul)(Index n, const real* a, const real* b, real* c);       // c = a * b
  void (*div)(Index n, const real* a, const real* b, real* c);       // c = a / b
  void (*add_product)(Index n, const real* a, const real* b, real* c);  // c += a * b
  void (*scale)(Index n, real alpha, const real* x, real* y);        // y = alpha * x
  void (*axpy)(Index n, real alpha, const real* x, real* y);         // y += alpha * x
  real (*sum)(Index n, const real* x);
  real (*dot)(Index n, const real* x, const real* y);
  real (*max)(Index n, const real* x);  // of at least one element; NaN if any is NaN
  // y = keep(i) ? x * scale : 0 (or += with accumulate). keep(i) is a fixed function of (key, counter + i):
  // element i is dropped when its 32 Philox bits are below `threshold`. Any split of the range into calls
  // gives the same mask.
  void (*dropout)(Index n, const real* x, real* y, std::uint32_t threshold, real scale, std::uint64_t key,
                  std::uint64_t counter, bool accumulate);
  // 32 random bits for each of counter, counter + 1, …: the stream that dropout and core/rng.hpp share.
  void (*philox)(Index n, std::uint32_t* out, std::uint64_t key, std::uint64_t counter);
};

// Row by row: x is (rows, cols), row-major and contiguous.
struct RowKernels {
  void (*softmax)(Index rows, Index cols, const real* x, real* y);  // a row of -inf alone gives zeros
  void (*softmax_backward)(Index rows, Index cols, const real* y, const real* dy, real* dx, bool accumulate);
  void (*log_softmax)(Index rows, Index cols, const real* x, real* y);
  void (*log_softmax_backward)(Index rows, Index cols, const real* y, const real* dy, real* dx, bool accumulate);

  // y = (x - mean) / sqrt(var + eps) * gain + bias; gain and bias may be null. mean and rstd are saved.
  void (*layer_norm)(Index rows, Index cols, const real* x, const real* gain, const real* bias, real eps, real* y,
                     real* mean, real* rstd);
  void (*layer_norm_backward)(Index rows, Index cols, const real* x, const real* gain, const real* mean,
                              const real* rstd, const real* dy, real* dx, bool accumulate);
  // y = x / sqrt(mean(x^2) + eps) * gain
  void (*rms_norm)(Index rows, Index cols, const real* x, const real* gain, real eps, real* y, real* rstd);
  void (*rms_norm_backward)(Index rows, Index cols, const real* x, const real* gain, const real* rstd,
                            const real* dy, real* dx, bool accumulate);
  // Columns [begin, end) of the gradients of gain and bias, summed over all rows, rows in order. mean is null
  // for rms_norm; dbias may be null. Threads share the work by columns, so no sum crosses a thread.
  void (*norm_backward_parameters)(Index rows, Index cols, Index begin, Index end, const real* x, const real* mean,
                                   const real* rstd, const real* dy, real* dgain, real* dbias, bool accumulate);
  // y[c] (+)= sum over rows of x[r][c], for columns [begin, end): the gradient of a bias.
  void (*column_sum)(Index rows, Index cols, Index begin, Index end, const real* x, real* y, bool accumulate);

  // loss[r] = -sum_v target(v) log softmax(x[r])[v] with target = (1 - smoothing) one-hot + smoothing / cols;
  // rows whose target is `ignore` have loss 0. log_sum_exp[r] is saved for the backward.
  void (*cross_entropy)(Index rows, Index cols, const real* x, const int* targets, int ignore, real smoothing,
                        real* loss, real* log_sum_exp);
  // dx (+)= scale * (softmax(x) - target); rows to ignore get 0.
  void (*cross_entropy_backward)(Index rows, Index cols, const real* x, const int* targets, int ignore,
                                 real smoothing, real scale, const real* log_sum_exp, real* dx, bool accumulate);
};

// One step of Adam or AdamW on n parameters, all state in place.
struct AdamStep {
  real learning_rate, beta1, beta2, epsilon;
  real decay;              // decoupled: p -= learning_rate * decay * p
  real l2;                 // classic: g += l2 * p
  real correction1;        // 1 - beta1^t
  real correction2;        // 1 - beta2^t
  real gradient_scale;     // from clipping; 1 leaves gradients alone
};
struct UpdateKernels {
  void (*adam)(Index n, const AdamStep& step, real* p, const real* g, real* m, real* v);
};

// Attention, tile by tile (core/ops_attention.cpp). A tile is (rows, stride), its rows padded with -inf to a
// whole number of vectors; `stride` is a multiple of 16.
struct AttentionKernels {
  // Softmax of a row that arrives in pieces. Scores become exp(score - m), where m is the largest score of the
  // row so far; max[r] becomes m, sum[r] the sum of all exponentials so far, and rescale[r] what to multiply
  // results by that were computed with the old maximum.
  void (*online_softmax)(Index rows, Index stride, real* scores, real* max, real* sum, real* rescale);
  // scores = exp(scores - log_sum_exp[r]): the weights again, for the backward.
  void (*weights_again)(Index rows, Index stride, real* scores, const real* log_sum_exp);
  // d_weights = weights * (d_weights - delta[r]): from the gradient of the weights to that of the scores.
  void (*scores_backward)(Index rows, Index stride, const real* weights, real* d_weights, const real* delta);
};

// C = A B on packed panels and without packing: what core/gemm.cpp builds matmul from.
struct GemmKernels;

struct Kernels : MathKernels, RowKernels, UpdateKernels, AttentionKernels {
  const GemmKernels* gemm;
  const char* name;  // "baseline", "v3", "v4"
  int width;         // reals in a vector
};

const Kernels& kernels();

// The sets that this build holds and this CPU can run, lowest first; for tests and benchmarks.
int kernel_set_count();
const Kernels& kernel_set(int i);
// Switches to the set of that name; throws when this CPU cannot run it or there is no such set.
void use_kernels(const char* name);

}  // namespace attn
