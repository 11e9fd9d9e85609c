// The ops: what can be done with tensors. Each computes its result and knows its gradient.
//
// Binary ops broadcast from the right: (2,3) + (3) adds the row to both rows, an axis of size 1 stretches.
// Axes may be negative: -1 is the last. Shapes that do not fit throw an Error that names the op and the
// shapes; so does an empty Tensor, where it is not allowed.
//
// The meaning is PyTorch's, but for these differences (tests/unit/ops/pytorch_test.cpp checks each):
//
//   what                                  PyTorch         here             because
//   softmax of a row of -inf              NaN             0                what sees nothing takes nothing
//   log_softmax of a row of -inf          NaN             -inf             it is the logarithm of the above
//   attention of a query that sees no key NaN             0                the same; padding stays finite
//   causal attention, T queries, S keys   query t: keys   query t: keys    new queries come at the end, after
//                                         0 … t           0 … t + S - T    the keys in a cache
//   silu and gelu at -inf, and their      NaN             the limits 0,    a limit exists; 0 · inf comes only
//     gradients at -inf and inf                           0 and 1          from the formula
//   exp below -87.3 (float)               subnormal       0                no branch in the kernel
//   mean of nothing, cross_entropy when   NaN             throws           a NaN shows up far from its cause
//     no target counts
//   backward from a loss that is NaN      NaN gradients   throws           the same; it names the first NaN
//   cross_entropy: the axis of classes    1               the last         where the last layer puts it
//   argmax without an axis                of all elements of the last axis the likeliest token of each row
//   top_k: the gradient of the values     flows           none             it serves decoding only
//   slice with bounds outside             clamped         throws           it hides a mistake
//   split of an axis of size 0            one empty part  no parts         a part has an element
//   slice, select, split, transpose,      views           copies           an op's result is its own; only
//     permute, broadcast_to                                                reshape and detach share values
//   rms_norm: the default epsilon         1.2e-7          1e-5             that of layer_norm and of LLaMA 2
//   clipping to a norm (optim/)           g · limit /     g · limit / norm the norm is above the limit, so it
//                                         (norm + 1e-6)                    is not 0
//   a step for a parameter that backward  skips it        decays it, with  all parameters are one loop; to
//     did not reach (optim/)                              a gradient of 0  skip one, requires_grad(false)
#pragma once

#include <span>  // span

#include "core/kernels.hpp"  // Activation
#include "core/tensor.hpp"

namespace attn {

// Element by element (core/ops_elementwise.cpp).
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor add(const Tensor& x, real value);
Tensor mul(const Tensor& x, real value);
Tensor div(const Tensor& x, real value);
Tensor pow(const Tensor& x, real exponent);
Tensor neg(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  // 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     // max(x, 0)
Tensor silu(const Tensor& x);     // x sigmoid(x)
// x/2 (1 + erf(x / sqrt 2)), or its approximation by tanh.
Tensor gelu(const Tensor& x, bool tanh_form = false);
Tensor activate(const Tensor& x, Activation activation);
// condition ? a : b, element by element; the condition is true where it is not 0.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor broadcast_to(const Tensor& x, const Shape& shape);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator+(const Tensor& x, real value) { return add(x, value); }
inline Tensor operator+(real value, const Tensor& x) { return add(x, value); }
inline Tensor operator-(const Tensor& x, real value) { return add(x, -value); }
inline Tensor operator-(real value, const Tensor& x) { return add(neg(x), value); }
inline Tensor operator*(const Tensor& x, real value) { return mul(x, value); }
inline Tensor operator*(real value, const Tensor& x) { return mul(x, value); }
inline Tensor operator/(const Tensor& x, real value) { return div(x, value); }
inline Tensor operator/(real value, const Tensor& x) { return div(scalar(value), x); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

// Reductions (core/ops_reduce.cpp), over all elements or over one axis, which then disappears unless kept.
Tensor sum(const Tensor& x);
Tensor sum(const Tensor& x, int axis, bool keep_axis = false);
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, int axis, bool keep_axis = false);
// The gradient of max goes to the first largest element of an axis; over all elements, ties share it.
Tensor max(const Tensor& x);
Tensor max(const Tensor& x, int axis, bool keep_axis = false);
IntTensor argmax(const Tensor& x, int axis = -1);  // the first of the largest
struct TopK {
  Tensor values;      // (..., k), largest first; without a gradient
  IntTensor indices;  // (..., k)
};
TopK top_k(const Tensor& x, Index k);  // over the last axis
// Over the last axis.
Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);

// Shapes (core/ops_shape.cpp; reshape in core/tensor.cpp, because it shares the values).
Tensor reshape(const Tensor& x, const Shape& shape);
Tensor reshape(const Tensor& x, std::span<const Index> sizes);  // one may be -1: what is left
inline Tensor reshape(const Tensor& x, std::initializer_list<Index> sizes) {
  return reshape(x, std::span(sizes.begin(), sizes.size()));
}
Tensor transpose(const Tensor& x, int axis0 = -2, int axis1 = -1);
Tensor permute(const Tensor& x, std::span<const int> axes);  // axis i of the result is axes[i] of x
inline Tensor permute(const Tensor& x, std::initializer_list<int> axes) {
  return permute(x, std::span(axes.begin(), axes.size()));
}
Tensor concat(const std::vector<Tensor>& parts, int axis = 0);
Tensor stack(const std::vector<Tensor>& parts, int axis = 0);  // along a new axis
// begin <= i < end. Negative bounds count from the end, as select's -1 is the last.
Tensor slice(const Tensor& x, int axis, Index begin, Index end);
Tensor select(const Tensor& x, int axis, Index i);  // one slice, its axis removed
// Parts of `size` along an axis; the last may be smaller.
std::vector<Tensor> split(const Tensor& x, Index size, int axis = 0);

// By index (core/ops_index.cpp).
Tensor embedding(const Tensor& table, const IntTensor& ids);      // (V, C), (...) -> (..., C)
Tensor take_rows(const Tensor& x, const std::vector<int>& rows);  // (R, ...) -> (rows, ...); rows may repeat

// Products (core/ops_matmul.cpp).
enum class Transpose { none, first, second, both };
// (..., m, k) x (..., k, n) -> (..., m, n); the leading axes broadcast. `Transpose::second` takes b as
// (..., n, k), at no cost. Vectors as in PyTorch: (k) x (k, n) -> (n), (m, k) x (k) -> (m), (k) x (k) -> ().
Tensor matmul(const Tensor& a, const Tensor& b, Transpose transpose = Transpose::none);
// A dropout that an op does on its own result.
struct Dropping {
  real p = 0;
  Rng* rng = nullptr;
};
// activation(x weightᵀ + bias) in one node; weight is (out, in), bias (out) or empty.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              Activation activation = Activation::none, const Dropping& dropping = {});

// Attention (core/ops_attention.cpp): softmax(q kᵀ · scale + bias) v for each head, in one node.

// Which keys a query sees.
struct Mask {
  bool causal = false;      // a query sees no later key; the last query is aligned with the last key
  Index window = 0;         // if positive: only keys less than `window` steps away
  IntTensor key_lengths{};  // (B), or empty: keys from there on are padding
  Tensor bias{};            // added to the scores: (T,S), (H,T,S) or (B,H,T,S), B and H may be 1; -inf hides
};
struct AttentionOptions {
  Index heads = 1;     // H; a head is D = C / H channels of q
  Index kv_heads = 0;  // heads of k and v: 0 means H; fewer are shared by groups of query heads (GQA)
  Index keys = 0;      // S, if k and v have room for more rows than they hold yet; 0 means all
  real scale = 0;      // 0 means 1 / sqrt(D)
  Mask mask{};
  real dropout = 0;  // on the weights; needs rng
  Rng* rng = nullptr;
};
// q (B,T,H*D), k and v (B,S,kv_heads*D) -> (B,T,H*D). A query that sees no key gets zeros. Memory does not
// grow with T*S: scores exist only tile by tile, and the backward recomputes them.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

// Rotary positions (core/ops_rope.cpp): rotates the pair (2i, 2i+1) of each head of x (B,T,H*D) at position
// first + t by the angle (first + t) ω_i, ω_i = base^(-2i/D).
struct RopeOptions {
  double base = 10000;
  double stretch = 1;  // positions are divided by it, so that a model reads longer texts than it learned from
  bool halves = false;  // rotates the pair (i, i + D/2) instead, as Hugging Face's files of Llama want it
  bool operator==(const RopeOptions&) const = default;
};
Tensor rope(const Tensor& x, Index heads, Index first_position = 0, const RopeOptions& options = {});

// Normalisation over the last axis, and dropout (core/ops_norm.cpp). Gain and bias (C) may be empty.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon = real(1e-5));
Tensor rms_norm(const Tensor& x, const Tensor& gain, real epsilon = real(1e-5));
// Zeroes each element with probability p and scales the others by 1/(1-p), so that the mean stays.
Tensor dropout(const Tensor& x, real p, Rng& rng);

// Loss (core/ops_loss.cpp).
struct CrossEntropyOptions {
  real smoothing = 0;  // the target is (1 - smoothing) one-hot + smoothing / V over all V
  int ignore = -100;   // targets of this value do not count
};
// logits (..., V), targets (...): the mean over the targets that count of -log softmax(logits)[target].
Tensor cross_entropy(const Tensor& logits, const IntTensor& targets, const CrossEntropyOptions& options = {});

}  // namespace attn
