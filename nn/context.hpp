// Context: how to run a model, apart from its input.
//
//   model(tokens)                                        evaluation: no dropout
//   model(tokens, {.training = true, .rng = &rng})       training
//   AttentionMaps maps;
//   model(tokens, {.maps = &maps})                       evaluation that records every attention map
//
// With maps, attention is computed step by step, because the fused op never holds the whole matrix of
// weights. Both give the same numbers.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/error.hpp"
#include "core/ops.hpp"

namespace attn {

struct AttentionMap {
  std::string name;  // of the layer's kind: "encoder", "decoder", "cross"
  Index layer;
  Tensor weights;  // (B, H, T, S); after backward, weights.grad() is the gradient of the loss for each weight
};
using AttentionMaps = std::vector<AttentionMap>;

struct Context {
  bool training = false;
  Rng* rng = nullptr;             // for dropout, in training
  AttentionMaps* maps = nullptr;  // where to record attention maps; null: nowhere

  Tensor drop(const Tensor& x, real p) const {
    if (!training || p == 0) return x;
    if (!rng) fail("dropout: training needs a random generator in its context");
    return dropout(x, p, *rng);
  }
};

}  // namespace attn
