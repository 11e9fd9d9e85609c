// The data of figures that answer, for Lesson::data: what a lesson has, as the page's script wants it.
//
//   lesson.picture("beam_tree.png", …);
//   lesson.data("beam", beam_figure(sentence, result, width, label));
//
// notebooks_cpp/press/web/figures.js draws them under the picture that they belong to.
#pragma once

#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

#include "core/json.hpp"
#include "core/viz/matrix.hpp"
#include "nn/attention.hpp"  // AttentionMap
#include "nn/decode.hpp"     // BeamResult

namespace attn {

using LabelOf = std::function<std::string(int token)>;

// "maps": attention maps to choose from, one for each combination of the values, the last choice fastest.
struct MapsFigure {
  struct Choice {
    std::string name;  // "layer"
    std::vector<std::string> values;
    bool slider = false;
  };
  std::vector<std::string> queries, keys;
  std::vector<Choice> choices;
  std::vector<viz::Matrix> maps = {};
  std::vector<double> losses = {};  // if the first choice is a step: the loss of every step, drawn beside it
};
Json maps_figure(const MapsFigure& figure);
// All layers and heads, of weights (1, H, T, S) each.
Json heads_figure(const std::vector<std::string>& queries, const std::vector<std::string>& keys,
                  const std::vector<AttentionMap>& maps);

// "sampling": the next token after `context` under temperature, top-k and top-p.
Json sampling_figure(const std::string& context, const std::vector<real>& logits, const LabelOf& label);

// "beam": what the search considered, kept and dropped at each step.
Json beam_figure(const std::string& source, const BeamResult& result, Index width, const LabelOf& label);

// "cache": what each step computes, and what it finds in the key/value cache. `size` is that of a key.
Json cache_figure(const std::vector<std::string>& tokens, Index layers, Index size);

// "clocks": RoPE turns pair i of query and key by frequencies[i] per position.
Json clocks_figure(const std::vector<double>& query, const std::vector<double>& key,
                   const std::vector<double>& frequencies);

}  // namespace attn
