// What only lesson 20 draws.
#pragma once

#include <vector>  // vector

#include "core/viz/viz.hpp"

namespace attn {

// The tree over 8 shards, once for each number of ranks: who computes which leaf, and who adds what.
viz::Image draw_trees(const std::vector<Index>& ranks);

// A ring of 4 ranks, before and after each step: how many ranks are in each chunk, and who sends it where.
viz::Image draw_ring();

}  // namespace attn
