// Trees that grow to the right: the hypotheses of a beam search, step by step.
//
//   tree("out/beam.png", {{.label = "<s>"}, {.label = "le", .detail = "−0.4", .parent = 0},
//                         {.label = "la", .detail = "−2.1", .parent = 0, .branch = Branch::Pruned}, ...});
//
// A node comes after its parent in the list; siblings stand in the order given, from top to bottom.
#pragma once

#include <filesystem>  // path
#include <string>      // string
#include <vector>      // vector

#include "core/viz/image.hpp"

namespace attn::viz {

enum class Branch { Kept, Pruned, Best };

struct TreeNode {
  std::string label = {};
  std::string detail = {};  // a score, small, after the label
  int parent = -1;          // number of an earlier node; -1 for a root
  Branch branch = Branch::Kept;
};

struct TreeOptions {
  std::string title = {};
  std::vector<std::string> steps = {};                             // a heading for each depth
  std::string kept = "kept", pruned = "dropped", best = "chosen";  // names in the legend
};

Image tree(const std::vector<TreeNode>& nodes, const TreeOptions& options = {});
void tree(const std::filesystem::path& path, const std::vector<TreeNode>& nodes,
          const TreeOptions& options = {});

}  // namespace attn::viz
