// Solution 02: how a program knows its own derivative.
#pragma once

#include "lessons/02_autograd/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// Depth first: a node is written down after everything it was computed from, so that read backwards it comes
// before all of these. Recursion is fine for small graphs; the library keeps a stack of its own, because a
// graph may be a million deep.
inline void visit(const Graph& graph, int node, std::vector<bool>& seen, std::vector<int>& order) {
  if (seen[node]) return;
  seen[node] = true;
  for (const int input : graph[node].inputs) visit(graph, input, seen, order);
  order.push_back(node);
}

std::vector<int> backward_order(const Graph& graph, int root) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<int> order;
  visit(graph, root, seen, order);
  std::reverse(order.begin(), order.end());
  return order;
}

// In this order everything that uses a node has already added its share when the node's own turn comes.
std::vector<real> backward_pass(const Graph& graph, int root) {
  std::vector<real> gradient(graph.size(), 0);
  gradient[root] = 1;
  for (const int node : backward_order(graph, root))
    for (std::size_t i = 0; i < graph[node].inputs.size(); ++i)
      gradient[graph[node].inputs[i]] += gradient[node] * graph[node].derivatives[i];
  return gradient;
}

// d(ab)/da = b and d(ab)/db = a. The += is what makes x·x come out as 2x.
void mul_backward(const Tensor& a, const Tensor& b, const Tensor& gradient, Tensor& grad_a, Tensor& grad_b) {
  for (Index i = 0; i < a.size(0); ++i)
    for (Index j = 0; j < a.size(1); ++j) {
      grad_a(i, j) += gradient(i, j) * b(i, j);
      grad_b(i, j) += gradient(i, j) * a(i, j);
    }
}

// c(i,j) = Σ a(i,k) b(k,j): a(i,k) meets every b(k,j) of its row of c, hence dA(i,k) = Σ_j dC(i,j) b(k,j).
// The shapes allow no other arrangement, which is how to remember it.
Gradients matmul_backward(const Tensor& a, const Tensor& b, const Tensor& gradient) {
  return {.a = matmul(gradient, b, Transpose::second), .b = matmul(a, gradient, Transpose::first)};
}

// The mirror of broadcasting: where the forward reads one element many times, the backward adds to it many
// times. A row (C) is treated as (1,C); its elements lie in memory in the same way.
Tensor broadcast_backward(const Tensor& gradient, const Shape& shape) {
  const Index rows = shape.rank() == 2 ? shape[0] : 1, columns = shape[-1];
  Tensor out = zeros({rows, columns});
  for (Index i = 0; i < gradient.size(0); ++i)
    for (Index j = 0; j < gradient.size(1); ++j)
      out(rows == 1 ? 0 : i, columns == 1 ? 0 : j) += gradient(i, j);
  return reshape(out, shape);
}

// Every weight depends on every score of its row: raising one lowers the others. Σ g p is the mean gradient
// under p; what is above the mean goes up, what is below goes down, and a row of dx sums to 0.
Tensor softmax_backward(const Tensor& p, const Tensor& gradient) {
  Tensor out = empty(p.shape());
  for (Index i = 0; i < p.size(0); ++i) {
    real mean = 0;
    for (Index j = 0; j < p.size(1); ++j) mean += gradient(i, j) * p(i, j);
    for (Index j = 0; j < p.size(1); ++j) out(i, j) = p(i, j) * (gradient(i, j) - mean);
  }
  return out;
}

}  // namespace exercise
