// The library's functions for the parts that it has. The others are our solutions.
#include <cmath>  // sqrt

#include "core/ops.hpp"
#include "lessons/mine/parts.hpp"
#include "nn/attention.hpp"
#include "nn/positions.hpp"

namespace attn::mine {

void use_library(Parts& parts) {
  using T = const Tensor&;
  parts.product.library([](T a, T b) { return matmul(a, b); });
  parts.matmul_backward.library([](T a, T b, T gradient) -> TwoTensors {
    return {matmul(gradient, b, Transpose::second), matmul(a, gradient, Transpose::first)};
  });
  parts.broadcast_add.library([](T a, T b) { return a + b; });
  parts.scores.library([](T q, T k) { return matmul(q, k, Transpose::second) / std::sqrt(real(q.size(1))); });
  parts.scores_backward.library([](T q, T k, T gradient) -> TwoTensors {
    const Tensor scaled = gradient / std::sqrt(real(q.size(1)));
    return {matmul(scaled, k), matmul(scaled, q, Transpose::first)};
  });
  parts.row_softmax.library([](T s) { return softmax(s); });
  parts.masked_softmax.library([](T s, T visible) { return softmax(s + bias_of(visible)); });
  parts.split_heads.library([](T x, Index heads) { return attn::split_heads(x, heads); });
  parts.merge_heads.library([](T x) { return attn::merge_heads(x); });
  parts.rotate_pairs.library([](T x) {
    return reshape(rope(reshape(x, {1, x.size(0), x.size(1)}), 1), x.shape());
  });
  parts.sinusoids.library([](Index length, Index channels) { return sinusoidal_table(length, channels); });
  parts.normalise.library(
      [](T x, T gain, T bias, real epsilon) { return layer_norm(x, gain, bias, epsilon); });
}

}  // namespace attn::mine
