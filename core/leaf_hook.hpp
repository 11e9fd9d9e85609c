// LeafHook: hears, while backward still runs, of the gradients that are already complete.
//
//   const LeafHook hook([&](const Tensor& leaf) { … leaf.grad() … });
//   backward(loss);
//
// Ops run youngest first, so a leaf's gradient is complete when the oldest op that used it has run: the last
// layer's parameters come first. What happens to them next (sending them to another process,
// optim/shards.hpp) then overlaps with the rest of backward. A leaf that no gradient reaches is not
// mentioned. One hook at a time for each thread.
#pragma once

#include <functional>  // function

#include "core/tensor.hpp"

namespace attn {

class LeafHook {
 public:
  explicit LeafHook(std::function<void(const Tensor&)> done);
  ~LeafHook();
  LeafHook(const LeafHook&) = delete;
  LeafHook& operator=(const LeafHook&) = delete;

 private:
  std::function<void(const Tensor&)> done_;
};

}  // namespace attn
