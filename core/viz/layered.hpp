// Where the boxes of a graph go: in layers, and in an order across each layer. For use inside core/viz.
#pragma once

#include <vector>  // vector

#include "core/viz/graph.hpp"

namespace attn::viz {

// A box to be placed, or a bend: the place at which a long arrow passes a layer.
struct LayeredItem {
  double size = 0;  // across the layers
  int lane = 0;
  int layer = 0;                             // found by the layout
  double across = 0;                         // centre; found by the layout
  std::vector<int> before = {}, after = {};  // neighbours in the layers next to it
};

struct Layered {
  std::vector<LayeredItem> items;       // the boxes first, in the order given, then the bends
  std::vector<std::vector<int>> paths;  // of each edge, in the order given: from, bends, to
  int layers = 0;
  double breadth = 0;  // all of `across` lies within 0..breadth
};

// `boxes` have size and lane; gap is the room between neighbours, lane_gap between lanes. Throws on a cycle
// and on edges to boxes that do not exist.
Layered lay_out(std::vector<LayeredItem> boxes, const std::vector<GraphEdge>& edges, double gap,
                double lane_gap);

}  // namespace attn::viz
