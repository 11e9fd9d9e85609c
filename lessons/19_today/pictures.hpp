// What only lesson 19 draws.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/viz.hpp"
#include "nn/text/vocabulary.hpp"

namespace attn {

// The block of the first Transformer's decoder (without cross-attention) and Llama's, with what differs.
viz::Image draw_two_blocks();

// A row for each model: a dot for each seed, a line at their mean, and the numbers.
struct SeedRow {
  std::string name;
  std::vector<double> values;
};
viz::Image draw_seeds(const std::vector<SeedRow>& rows, const std::string& title,
                      const std::string& value_title);

// The share of each frequent character that goes to each expert, characters with the same favourite together.
viz::Image draw_routing(const std::vector<int>& characters, const std::vector<int>& chosen, Index experts,
                        const CharacterVocabulary& vocabulary);

}  // namespace attn
