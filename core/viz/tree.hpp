// Trees that grow to the right: the hypotheses of a beam search, step by step.
//
//   tree({{.label = "<s>"}, {.label = "le", .detail = "−0.4", .parent = 0},
//         {.label = "la", .detail = "−2.1", .parent = 0, .branch = Branch::pruned}, ...});
//
// A node comes after its parent in the list; siblings stand in the order given, from top to bottom.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/image.hpp"

namespace attn::viz {

enum class Branch { kept, pruned, best };

struct TreeNode {
  std::string label = {};
  std::string detail = {};  // a score, small, after the label
  int parent = -1;          // number of an earlier node; -1 for a root
  Branch branch = Branch::kept;
};

struct TreeOptions {
  std::string title = {};
  std::vector<std::string> steps = {};  // a heading for each depth
};

Image tree(const std::vector<TreeNode>& nodes, const TreeOptions& options = {});

}  // namespace attn::viz
