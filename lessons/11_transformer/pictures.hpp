// What only lesson 11 draws.
#pragma once

#include "core/viz/viz.hpp"
#include "nn/config.hpp"

namespace attn {

// Encoder and decoder side by side, read upwards, with the shapes of a run of S source and T target tokens.
viz::Image draw_architecture(const TransformerConfig& config, Index S, Index T);

}  // namespace attn
