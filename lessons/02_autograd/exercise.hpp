// Exercise 02: how a program knows its own derivative.
//
// The first two functions walk a graph of plain numbers (types.hpp: node.inputs and node.derivatives), the
// others are the backward of one op each: given the gradient of the loss with respect to the result of the
// op, compute the gradients with respect to its inputs.
//
// Replace every todo(), then: make check-02
#pragma once

#include "lessons/02_autograd/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// The order in which backward visits the nodes: the root first, and every node only after all nodes that use
// it. Just those that the root depends on, each once. Several orders may be right; any of them will do.
//   y = x·x + x with nodes 0: x, 1: x·x (inputs 0, 0), 2: y (inputs 1, 0)
//   backward_order(graph, 2) = [2, 1, 0]         (not [2, 0, 1]: node 1 uses node 0)
std::vector<int> backward_order(const Graph& graph, int root) {
  todo();  // your answer
}

// d root / d node for every node of the graph; 0 where the root does not depend on it. Each node, once its
// gradient is complete, adds gradient · derivative to that of each of its inputs.
//   the same graph at x = 3, where node 1 has derivatives 3, 3 and node 2 has 1, 1:
//   backward_pass(graph, 2) = [7, 1, 1]         (2x + 1 = 7)
std::vector<real> backward_pass(const Graph& graph, int root) {
  todo();  // your answer
}

// Backward of c = a·b, element by element. Adds to grad_a and grad_b, which may
// hold something from elsewhere.
//   all of them of one shape (R,C)
//   mul_backward([[2]], [[5]], [[10]], grad_a, grad_b) adds 50 to grad_a and 20 to grad_b
void mul_backward(const Tensor& a, const Tensor& b, const Tensor& gradient, Tensor& grad_a, Tensor& grad_b) {
  todo();  // your answer
}

// Backward of c = a b, the matrix product: dA = dC Bᵀ and dB = Aᵀ dC. (By loops, or by matmul and transpose.)
//   a (M,K), b (K,N), gradient (M,N) -> {.a = (M,K), .b = (K,N)}
//   matmul_backward([[1,2]], [[3],[4]], [[10]]) = {[[30,40]], [[10],[20]]}
Gradients matmul_backward(const Tensor& a, const Tensor& b, const Tensor& gradient) {
  todo();  // your answer
}

// Backward of broadcasting a tensor of `shape` to (R,C): an element that was used many times gets the sum of
// all these gradients.
//   gradient (R,C), shape (R,C), (1,C), (R,1), (1,1) or (C) -> a tensor of that shape
//   broadcast_backward([[1,2], [3,4]], (1,2)) = [[4,6]]
Tensor broadcast_backward(const Tensor& gradient, const Shape& shape) {
  todo();  // your answer
}

// Backward of softmax over each row, given its result p: dx_j = p_j (g_j − Σ_m g_m p_m).
//   p (R,C), gradient (R,C) -> (R,C)
//   softmax_backward([[0.5,0.5]], [[1,0]]) = [[0.25,-0.25]]
Tensor softmax_backward(const Tensor& p, const Tensor& gradient) {
  todo();  // your answer
}

}  // namespace exercise
