// The pictures of lesson 14 that no other lesson draws.
#pragma once

#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

#include "core/viz/viz.hpp"
#include "nn/decode.hpp"

namespace attn {

// The tree of a beam search; of what was dropped, the best after each word. `label` names a token.
viz::Image beam_tree(const BeamResult& result, const std::function<std::string(int)>& label,
                     const std::string& title);

// One distribution of the next word under several settings, each as bars from 0 to 1.
struct NamedDistribution {
  std::string name;
  std::vector<double> probabilities;
};
viz::Image small_multiples(const std::vector<std::string>& words,
                           const std::vector<NamedDistribution>& distributions, const std::string& title);

// Which rows of keys and values each step computes, without a cache and with one.
viz::Image cache_rows(const std::vector<std::string>& words);

}  // namespace attn
