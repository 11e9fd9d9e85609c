// The pictures of lesson 08.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/tensor.hpp"
#include "core/viz/viz.hpp"

namespace attn {

// What one head makes of the words: queries, keys, values and output are (T, D), the weights are (T, T).
struct HeadNumbers {
  Tensor query, key, value, weights, output;
};

// The whole way with all its numbers: x (T, C), the heads below each other, Concat(…) (T, C), W_O (C, C) and
// the result (T, C).
viz::Image split_and_join(const std::vector<std::string>& words, const Tensor& x,
                          const std::vector<HeadNumbers>& heads, const Tensor& joined, const Tensor& w_output,
                          const Tensor& output);

// Attention maps (T, T), a row of them for each layer and a column for each head, tokens at the edges.
viz::Image head_grid(const std::vector<std::vector<viz::Matrix>>& layers,
                     const std::vector<std::string>& tokens, int cell);

}  // namespace attn
