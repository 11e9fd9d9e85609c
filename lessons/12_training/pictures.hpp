// What only lesson 12 draws.
#pragma once

#include <vector>  // vector

#include "core/viz/viz.hpp"
#include "lessons/12_training/batches.hpp"

namespace attn {

// Two ways to make batches, side by side: a row for each sentence, filled up with padding to the longest of
// its batch.
viz::Image draw_batches(const Batches& in_random_order, const Batches& by_tokens);

// Attention maps of one row of letters, three in a line, with the letters along both edges.
struct LetterMap {
  Index step;
  viz::Matrix weights;  // (T, S)
};
viz::Image draw_letter_maps(const std::vector<LetterMap>& maps, const std::string& source,
                            const std::string& target);

// Losses by step at one rate, and losses at the end by rate.
viz::Image draw_warm_up(const std::vector<viz::Series>& by_step, const std::vector<viz::Series>& by_rate);

}  // namespace attn
