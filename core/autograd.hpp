// Autograd: how a program knows its own derivative.
//
//   Tensor w = normal({3, 2}, rng).requires_grad();
//   backward(sum(matmul(x, w)));            // w.grad() is now d loss / d w
//
// Each op remembers what its result was computed from (core/op.hpp). `backward` runs this graph from the loss
// back to the leaves, without recursion, so the depth does not matter, and frees each node after it ran.
#pragma once

#include "core/tensor.hpp"

namespace attn {

// Computes the gradient of `loss` (one element) for every leaf that requires one, adding to what is there.
void backward(const Tensor& loss);
// The same from a tensor of any shape, given the gradient with respect to it.
void backward(const Tensor& output, const Tensor& gradient);

// While one is alive, ops record nothing: for evaluation and for updating parameters.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool grad_enabled();  // no NoGrad is alive

// The graph behind a tensor as Graphviz text, with shapes: `dot -Tpng` draws it.
std::string graphviz(const Tensor& output);

}  // namespace attn
