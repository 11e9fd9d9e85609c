// Context: how to run a model, apart from its input.
//
//   model(tokens)                                        evaluation: no dropout
//   model(tokens, {.training = true, .rng = &rng})       training
//   AttentionMaps maps;
//   model(tokens, {.maps = &maps})                       evaluation that records every attention map
//   AttentionProbe probe = [](AttentionSteps& steps) { … };
//   model(tokens, {.probe = &probe})                     calls it in every attention layer
//   ResidualStream stream;
//   model(tokens, {.stream = &stream})                   records what every sublayer adds
//
// With maps or a probe, attention is computed step by step, because the fused op never holds the whole matrix
// of weights. Both give the same numbers.
#pragma once

#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

#include "core/error.hpp"
#include "core/ops.hpp"

namespace attn {

struct AttentionMap {
  std::string name;  // of the layer's kind: "encoder", "decoder", "cross"
  Index layer;
  Tensor weights;  // (B, H, T, S); after backward, weights.grad() is the gradient of the loss for each weight
};
using AttentionMaps = std::vector<AttentionMap>;

// One attention layer at work, between its softmax and the product with its values. A probe may read all of
// it, and may put other weights in place of these: weights times 0 for a head is that head switched off.
struct AttentionSteps {
  std::string name;  // as in AttentionMap
  Index layer;
  Tensor q, k, v;  // (B, H, T, D), (B, H, S, D), (B, H, S, D)
  Tensor scores;   // (B, H, T, S): q·k × scale, plus the bias, -inf where a key is hidden
  Tensor weights;  // (B, H, T, S): softmax of the scores
};
using AttentionProbe = std::function<void(AttentionSteps&)>;

// The residual stream, sublayer by sublayer. The first step of a stack is its embeddings with the positions.
struct StreamStep {
  const char* name;  // "embedding", the kind of attention as in AttentionMap, or "feed_forward"
  Index layer;
  Tensor added;  // (B, T, C): what the sublayer adds to the stream x
  Tensor state;  // (B, T, C): x + added; with post-norm, its norm
};
using ResidualStream = std::vector<StreamStep>;

struct Context {
  bool training = false;
  Rng* rng = nullptr;             // for dropout, in training
  AttentionMaps* maps = nullptr;  // where to record attention maps; null: nowhere
  const AttentionProbe* probe = nullptr;
  ResidualStream* stream = nullptr;  // where to record the residual stream; null: nowhere

  // Dropout with probability p in training, none else: done by an op on its own result, or on x.
  Dropping dropping(real p) const {
    if (!training || p == 0) return {};
    if (!rng) fail("dropout: training needs a random generator in its context");
    return {p, rng};
  }
  Tensor drop(const Tensor& x, real p) const {
    const Dropping now = dropping(p);
    return now.p != 0 ? dropout(x, p, *rng) : x;
  }
};

}  // namespace attn
