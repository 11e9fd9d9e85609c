// The pictures of lesson 07: masks and what they leave, with hidden cells in grey.
#pragma once

#include "core/tensor.hpp"
#include "core/viz/viz.hpp"

namespace attn {

// Scores plus a bias of 0 and −∞, and the weights that softmax makes of the sum. All are (T, S).
viz::Image scores_to_weights(const Tensor& scores, const Tensor& visible, const Tensor& weights,
                             const viz::HeatmapOptions& options);

// What each of two masks (T, S) lets through, and what both do.
viz::Image both_masks(const Tensor& causal, const Tensor& padding, const Tensor& both,
                      const viz::HeatmapOptions& options);

}  // namespace attn
