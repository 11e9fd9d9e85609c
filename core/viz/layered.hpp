// Where the boxes of a graph go: layers one way, an order and places across the other. For use inside of
// core/viz.
#pragma once

#include <vector>  // vector

namespace attn::viz {

// A box to be placed, or a bend: the place at which a long arrow passes a layer.
struct LayeredItem {
  double size = 0;  // across the layers
  int lane = 0;
  int layer = 0;                             // found by the layout
  double across = 0;                         // centre; found by the layout
  std::vector<int> before = {}, after = {};  // neighbours in the layers next to it
};

struct LayeredEdge {
  std::vector<int> items;  // from, bends, to
};

struct Layered {
  std::vector<LayeredItem> items;  // the boxes first, in the order given, then the bends
  std::vector<LayeredEdge> edges;  // in the order given
  int layers = 0;
  double breadth = 0;  // all of `across` lies within 0..breadth
};

struct LayeredLink {
  int from = 0, to = 0;
};

// `boxes` have size and lane; gap is the room between neighbours, lane_gap between lanes. Throws on a cycle
// and on links to boxes that do not exist.
Layered lay_out(std::vector<LayeredItem> boxes, const std::vector<LayeredLink>& links, double gap,
                double lane_gap);

}  // namespace attn::viz
