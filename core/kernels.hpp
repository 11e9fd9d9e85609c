// The kernels: the few loops where the time goes, in one version per instruction set.
//
// Every source in core/kernels/ is compiled once for each target (baseline, x86-64-v3 = AVX2 + FMA,
// x86-64-v4 = AVX-512) into a namespace of that name; `kernels()` is the set that fits this CPU, chosen once
// at start. ATTN_KERNELS=baseline|v3|v4 in the environment picks a lower set.
//
// A kernel is serial and knows nothing of tensors: it works on contiguous numbers. The ops divide
// their outputs among threads (core/parallel.hpp) and call a kernel for each part, which is `n`
// elements or a range of rows.
//
// See Note [No standard library in kernels] in core/kernels/vector.hpp.
#pragma once

#include <cstdint>  // uint32_t, uint64_t

#include "core/index.hpp"
#include "core/real.hpp"

namespace attn {

enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid, exp };

// begin <= i < end
struct Range {
  Index begin, end;
};

// Where a gradient goes, and whether something is there already: then a kernel adds to it.
struct GradTarget {
  real* data;
  bool accumulate;
  GradTarget from(Index i) const { return {data + i, accumulate}; }
};

// A function's arguments and values: y = f(x).
struct Points {
  const real *x, *y;
};

// Element i is dropped if its 16 random bits are below the threshold; what stays is scaled. The bits are half
// a word of a generator (core/rng.hpp), and `position` is where the first lies in its stream, in halves.
struct Dropout {
  std::uint32_t threshold = 0;
  real scale = 1;
  std::uint64_t key = 0, position = 0;
  Dropout from(Index i) const { return {threshold, scale, key, position + std::uint64_t(i)}; }
};

// Element by element, n elements. x and y may be the same.
struct MathKernels {
  void (*activate)(Activation f, Index n, const real* x, real* y);  // y = f(x)
  // dx = dy f'(x), where f' is computed from x or from y, whichever is simpler.
  void (*activate_backward)(Activation f, Index n, Points at, const real* dy, GradTarget dx);
  void (*add)(Index n, const real* a, const real* b, real* c);  // c = a + b
  void (*sub)(Index n, const real* a, const real* b, real* c);  // c = a - b
  void (*mul)(Index n, const real* a, const real* b, real* c);  // c = a * b
  void (*div)(Index n, const real* a, const real* b, real* c);  // c = a / b
  void (*scale)(Index n, real alpha, const real* x, real* y);   // y = alpha * x
  void (*axpy)(Index n, real alpha, const real* x, real* y);    // y += alpha * x
  real (*sum)(Index n, const real* x);
  real (*dot)(Index n, const real* x, const real* y);
  real (*max)(Index n, const real* x);  // of at least one element; NaN if any is NaN
  // y = x * scale, or -0 where it is dropped. What stays is never -0, so the backward finds the mask in y and
  // need not draw it again. Any split of a range into calls gives the same mask.
  void (*dropout)(Index n, const Dropout& dropout, const real* x, real* y);
  void (*dropout_backward)(Index n, real scale, const real* y, const real* dy, GradTarget dx);
  // The same of relu(x). No mask is looked for in y: what is not positive has no gradient either way.
  void (*relu_dropout)(Index n, const Dropout& dropout, const real* x, real* y);
  void (*relu_dropout_backward)(Index n, real scale, const real* y, const real* dy, GradTarget dx);
  // `steps` rounds of multiply-adds that wait for nothing: the ceiling that products are held against.
  // Returns how many FLOP that was.
  double (*burn)(Index steps);
};

// y = (x - mean) rstd * gain + bias for each row of x (rows, cols), with rstd = 1 / sqrt(variance + epsilon).
// If `mean` is null it counts as 0, which makes a layer_norm an rms_norm.
struct NormRows {
  Index rows, cols;
  const real *x, *gain, *bias;  // gain and bias are (cols) or null
  real epsilon;
  real *mean, *rstd;  // (rows), kept for the backward
};

// The loss of each row of logits x (rows, cols) against the distribution (1 - smoothing) one-hot(target) +
// smoothing / cols. Rows whose target is `ignore` do not count.
struct CrossEntropyRows {
  Index cols;
  const real* x;
  const int* targets;  // (rows)
  int ignore;
  real smoothing;
  // (rows) each, kept for the backward: softmax(x) = exp(x - max) / sum. Their one number max + log(sum)
  // would be rounded to few digits after the point where logits are large.
  real *max, *sum;
};

// Row by row, for a range of the rows of contiguous matrices. All pointers are to the first row of all.
struct RowKernels {
  void (*softmax)(Range rows, Index cols, const real* x, real* y);  // a row of nothing but -inf gives zeros
  void (*softmax_backward)(Range rows, Index cols, const real* y, const real* dy, GradTarget dx);
  void (*log_softmax)(Range rows, Index cols, const real* x, real* y);
  void (*log_softmax_backward)(Range rows, Index cols, const real* y, const real* dy, GradTarget dx);

  void (*norm)(Range rows, const NormRows& norm, real* y);
  void (*norm_backward)(Range rows, const NormRows& norm, const real* dy, GradTarget dx);

  // loss[r] = -sum_v target(v) log softmax(x[r])[v], or 0 for a row that does not count.
  void (*cross_entropy)(Range rows, const CrossEntropyRows& entropy, real* loss);
  // dx = scale * (softmax(x) - target), or 0.
  void (*cross_entropy_backward)(Range rows, const CrossEntropyRows& entropy, real scale, GradTarget dx);

  // Sums over these rows: y[c] = sum_r x[r][c], the gradient of a bias; and the gradients of a norm's gain
  // and bias, of which either may be null. See sum_over_rows in core/op.hpp.
  void (*column_sum)(Range rows, Index cols, const real* x, GradTarget y);
  void (*norm_backward_parameters)(Range rows, const NormRows& norm, const real* dy, GradTarget dgain,
                                   GradTarget dbias);
};

// One step of Adam or AdamW: see core/kernels/update.cpp. The caller computes the factors in double: in float
// 1 - 0.999 would keep four digits.
struct AdamStep {
  real gradient_scale;  // from clipping; 1 leaves gradients alone
  real l2;              // classic decay: g += l2 p
  real keep;            // 1 - learning_rate decay: decoupled decay
  real gain1, gain2;    // 1 - beta1, 1 - beta2
  real rate;            // learning_rate / (1 - beta1^t)
  real root;            // 1 / sqrt(1 - beta2^t)
  real epsilon;
};
struct AdamArrays {
  real* p;        // parameters
  const real* g;  // gradients
  real *m, *v;    // running averages of g and of g^2
};
struct UpdateKernels {
  void (*adam)(Index n, const AdamStep& step, const AdamArrays& state);
};

// A tile of the scores: `rows` queries by some keys, of which row r sees those in seen[r] and no others. From
// row to row it is `stride` numbers, whole vectors (a multiple of 16): beyond the keys there is padding.
struct ScoreTile {
  Index rows, keys, stride;
  real* data;
  const Range* seen;
};

// For each row of an online softmax: the largest score so far, the sum of exp(score - max) so far, and what
// to multiply results by that were computed with the maximum before (not set by the first tile).
struct OnlineSoftmax {
  real *max, *sum, *rescale;
};

// Rows of numbers, `stride` apart.
struct StridedRows {
  const real* data;
  Index stride;
};

// The weights of a tile, and what dropout left of them: the same where there is no dropout, with a scale
// of 1.
struct AttentionWeights {
  const real *weights, *used;
  real scale;
};

// Attention, tile by tile (core/ops_attention.cpp). The weight of what a row does not see, and the padding's,
// is 0.
struct AttentionKernels {
  // Softmax of rows that arrive in tiles: the scores of this one become exp(score - max).
  void (*online_softmax)(const ScoreTile& scores, bool first, const OnlineSoftmax& so_far);
  // scores = exp(scores - max[r]) * scale[r]: the weights, recomputed for the backward.
  void (*recompute_weights)(const ScoreTile& scores, const real* max, const real* scale);
  // d_weights = weights * (d_weights * scale - delta[r]), without d_weights where dropout made `used` -0:
  // from the gradient of the weights that were used to that of the scores.
  void (*scores_backward)(const ScoreTile& d_weights, const AttentionWeights& weights, const real* delta);
  // x[r] *= factors[r], and dots[r] = x[r] . y[r].
  void (*scale_rows)(Index rows, Index cols, const real* factors, real* x, Index stride);
  void (*dot_rows)(Index rows, Index cols, const StridedRows& x, const StridedRows& y, real* dots);
};

struct GemmKernels;  // what core/gemm.cpp builds matrix products from: core/kernels/gemm_kernels.hpp

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
