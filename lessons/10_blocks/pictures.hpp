// What only lesson 10 draws.
#pragma once

#include "core/viz/viz.hpp"

namespace attn {

// A batch of tokens twice, a row for each token: what LayerNorm and BatchNorm take together has one colour.
viz::Image draw_norm_axes();

// A post-norm and a pre-norm block side by side, with what lies on the residual path.
viz::Image draw_blocks();

}  // namespace attn
