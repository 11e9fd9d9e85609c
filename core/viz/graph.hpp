// Graphs: boxes and arrows, laid out by themselves.
//
//   graph({{.label = "a", .value = "2.00", .gradient = "−3.00"}, {.label = "a·b", ...}},
//         {{.from = 0, .to = 2}, {.from = 1, .to = 2}}, {.title = "The chain rule, backwards"});
//
// A node stands one layer after the last of those that point to it; within a layer the order is chosen to
// cross few arrows, and arrows that skip layers are led around the boxes in between. Left to right, or
// upwards (architectures). Nodes of a higher `lane` stay to the right of (or below) all of a lower one:
// encoder and decoder. A frame is drawn around the nodes it names. For tens of nodes; a cycle is an error.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/image.hpp"

namespace attn::viz {

struct GraphNode {
  std::string label = {};
  std::string value = {};     // below the label: a number, a shape
  std::string gradient = {};  // below the value, in a colour of its own
  int color = -1;             // of the palette; -1 is plain
  int lane = 0;
};

struct GraphEdge {
  int from = 0, to = 0;  // numbers of nodes
  bool dashed = false;
};

struct GraphFrame {
  std::string label = {};  // "encoder × 6"
  std::vector<int> nodes = {};
};

struct GraphOptions {
  std::string title = {};
  bool upward = false;
  std::vector<GraphFrame> frames = {};
};

Image graph(const std::vector<GraphNode>& nodes, const std::vector<GraphEdge>& edges,
            const GraphOptions& options = {});

}  // namespace attn::viz
