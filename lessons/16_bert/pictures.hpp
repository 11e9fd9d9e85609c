// What only lesson 16 draws: the three embeddings that BERT sums.
#pragma once

#include "core/viz/viz.hpp"

namespace attn {

// A column for each token: its three vectors, and their sum.
viz::Image three_embeddings(const std::vector<std::string>& tokens, const std::vector<int>& segments);

}  // namespace attn
