// A computation as a graph of numbers, for exercise 02.
#pragma once

#include <vector>  // vector

#include "core/tensor.hpp"

namespace exercise {

// One number of the computation: what it was computed from, and its derivative with respect to each of these.
// y = x·x has inputs {x, x} and derivatives {x, x}; a number that was given has none.
struct GraphNode {
  std::vector<int> inputs;
  std::vector<attn::real> derivatives;
};
using Graph = std::vector<GraphNode>;  // nodes are numbered 0, 1, 2, … in no particular order

// The gradients with respect to the two factors of a product.
struct Gradients {
  attn::Tensor a, b;
};

}  // namespace exercise
