#include "lessons/support/figures.hpp"

#include <iterator>  // ssize
#include <numeric>   // iota

#include "core/error.hpp"
#include "lessons/support/lesson.hpp"   // matrix_of
#include "lessons/support/picture.hpp"  // short_numbers

namespace attn {

Json maps_figure(const MapsFigure& figure) {
  std::vector<Json> choices, maps;
  Index count = 1;
  for (const MapsFigure::Choice& choice : figure.choices) {
    choices.push_back(
        json_object({{"name", choice.name}, {"values", choice.values}, {"slider", choice.slider}}));
    count *= std::ssize(choice.values);
  }
  if (count != std::ssize(figure.maps))
    fail("maps_figure: {} maps for {} choices", figure.maps.size(), count);
  for (const viz::Matrix& map : figure.maps) maps.push_back(short_numbers(map.values));
  JsonMembers members = {
      {"queries", figure.queries}, {"keys", figure.keys}, {"axes", choices}, {"maps", maps}};
  if (!figure.losses.empty()) {
    std::vector<int> steps(figure.losses.size());
    std::iota(steps.begin(), steps.end(), 0);
    members.emplace_back("curve",
                         json_object({{"name", "loss"}, {"x", steps}, {"y", short_numbers(figure.losses)}}));
  }
  return json_object(members);
}

Json heads_figure(const std::vector<std::string>& queries, const std::vector<std::string>& keys,
                  const std::vector<AttentionMap>& maps) {
  MapsFigure figure{queries, keys, {{"layer", {}}, {"head", {}}}};
  for (const AttentionMap& map : maps) {
    figure.choices[0].values.push_back(fmt::format("{}", map.layer + 1));
    for (Index head = 0; head < map.weights.size(1); ++head) {
      figure.maps.push_back(matrix_of(map.weights, {0, head}));
      if (&map == &maps.front()) figure.choices[1].values.push_back(fmt::format("{}", head + 1));
    }
  }
  return maps_figure(figure);
}

Json sampling_figure(const std::string& context, const std::vector<real>& logits, const LabelOf& label) {
  std::vector<std::string> tokens;
  for (Index i = 0; i < std::ssize(logits); ++i) tokens.push_back(label(int(i)));
  return json_object({{"context", context}, {"tokens", tokens}, {"logits", short_numbers(logits)}});
}

Json beam_figure(const std::string& source, const BeamResult& result, Index width, const LabelOf& label) {
  std::vector<Json> nodes;
  for (const BeamNode& node : result.tree)
    nodes.push_back(json_object({{"token", label(node.token)},
                                 {"parent", node.parent},
                                 {"score", node.log_probability},
                                 {"depth", node.depth},
                                 {"kept", node.kept},
                                 {"ended", node.finished}}));
  return json_object(
      {{"source", source}, {"width", width}, {"nodes", nodes}, {"best", result.hypotheses.at(0).node}});
}

Json cache_figure(const std::vector<std::string>& tokens, Index layers, Index size) {
  return json_object({{"tokens", tokens}, {"layers", layers}, {"size", size}});
}

Json clocks_figure(const std::vector<double>& query, const std::vector<double>& key,
                   const std::vector<double>& frequencies) {
  if (query.size() != 2 * frequencies.size() || key.size() != query.size())
    fail("clocks_figure: {} and {} numbers for {} pairs", query.size(), key.size(), frequencies.size());
  return json_object({{"query", query}, {"key", key}, {"frequencies", frequencies}});
}

}  // namespace attn
