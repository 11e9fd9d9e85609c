// From parts to ops: a learner's function, with the learner's gradient, as an op of the engine (core/op.hpp).
//
// Exercises work on matrices; models on batches of them. An op here cuts its batch into matrices, hands each
// to the part, and looks at what comes back: a wrong shape or a NaN ends the milestone (boundary.hpp).
#pragma once

#include "lessons/mine/parts.hpp"
#include "nn/linear.hpp"

namespace attn::mine {

// x Wᵀ + b by product and broadcast_add, backwards by matmul_backward and broadcast_backward.
Tensor linear(const Parts& parts, const Tensor& x, const Tensor& weight, const Tensor& bias = {});
inline Tensor linear(const Parts& parts, const Tensor& x, const Linear& layer) {
  return linear(parts, x, layer.weight, layer.bias);
}
Tensor relu(const Parts& parts, const Tensor& x);  // (..., C); backwards by relu_backward

// The rows of a table (V, C): (...) -> (..., C); backwards by lookup_backward.
Tensor look_up(const Parts& parts, const Tensor& table, const IntTensor& ids);

// LayerNorm by normalise. Backwards, x gets its gradient from normalise_backward; gain and bias, which are a
// product and a sum with broadcasting, get theirs from mul_backward and broadcast_backward.
Tensor norm(const Parts& parts, const Tensor& x, const Tensor& gain, const Tensor& bias);

// (B, T, H·D) -> (B, H, T, D) and back. Both only move numbers, so each is the gradient of the other.
Tensor split_heads(const Parts& parts, const Tensor& x, Index heads);
Tensor merge_heads(const Parts& parts, const Tensor& x);

Tensor rotate(const Parts& parts, const Tensor& x);  // RoPE, (..., T, D); backwards by rotate_back

// softmax(q kᵀ / √D) v for each head, by scores, masked_softmax and product; backwards by matmul_backward,
// softmax_backward and scores_backward.
struct Attended {
  Tensor output;   // (B, H, T, D)
  Tensor weights;  // (B, H, T, S), to be looked at
};
// q (B,H,T,D), k and v (B,H,S,D); visible (B,T,S), or (T,S) for all sentences.
Attended attend(const Parts& parts, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& visible);

// The loss as a tensor of one element: logits (..., V), targets (...).
Tensor batch_loss(const Parts& parts, const Tensor& logits, const IntTensor& targets);
Tensor sentence_loss(const Parts& parts, const Tensor& logits, const IntTensor& targets, real smoothing);

// Refuses a result of another shape, or with a NaN in it.
void check_result(const PartInUse& part, const Tensor& result, const Shape& shape);
// Refuses what a part of models returned, if no gradient flows through it while it should.
void check_gradient_flows(const PartInUse& part, const Tensor& from, const Tensor& to);

}  // namespace attn::mine
