// Context: what one run through a model needs to know besides its input.
//
//   Context evaluation;                            // no dropout
//   Context training{.training = true, .rng = &rng};
//   AttentionMaps maps;
//   Context showing{.maps = &maps};                // and hand out every attention map
//
// Asking for maps makes attention take the plain way, step by step, because the fused op never has the whole
// matrix of weights. The two give the same numbers.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/error.hpp"
#include "core/ops.hpp"

namespace attn {

struct AttentionMap {
  std::string name;  // "encoder", "decoder", "cross"
  int layer;
  Tensor weights;  // (B, H, T, S); after backward, weights.grad() is the gradient of the loss on each weight
};
using AttentionMaps = std::vector<AttentionMap>;

struct Context {
  bool training = false;
  Rng* rng = nullptr;             // for dropout, in training
  AttentionMaps* maps = nullptr;  // where attention maps go, if they are asked for

  Tensor drop(const Tensor& x, real p) const {
    if (!training || p == 0) return x;
    if (!rng) fail("dropout: training needs a random generator in its context");
    return dropout(x, p, *rng);
  }
};

}  // namespace attn
