// ParameterBlock: all parameters of a model in one piece of memory, and all gradients in another.
//
// An optimizer then is one loop over n numbers, whatever the model is made of, and so are clipping and
// averaging. The tensors stay what they are: their values and gradients just lie side by side from now on.
// Make one block for a model, after the model is built, and keep it as long as the model trains; a parameter
// is in one block at a time.
//
// A parameter may be frozen and thawed at any time by requires_grad(false) and (true). While it is frozen, no
// step changes it or what the optimizer remembers of it, and its gradient counts as 0 in the norm. It keeps
// its place in the block and in checkpoints: those can be read whatever is frozen.
#pragma once

#include "core/kernels.hpp"
#include "core/parameters.hpp"

namespace attn {

constexpr Index norm_chunk =
    4096;  // gradient_norm sums so many squares in real, and then these sums in double

class ParameterBlock {
 public:
  explicit ParameterBlock(const ParameterList& list);
  ~ParameterBlock();  // the values stay, the gradients go
  ParameterBlock(const ParameterBlock&) = delete;
  ParameterBlock& operator=(const ParameterBlock&) = delete;

  const ParameterList& list() const { return list_; }
  Index size() const { return values_.numel(); }
  real* values() const { return values_.data(); }
  // The gradients; those of parameters that are frozen or that the last backward did not reach are 0.
  real* gradients() const;
  void zero_grad() const { list_.zero_grad(); }
  double gradient_norm() const;  // sqrt of the sum of the squares of all gradients
  // One of its terms: the sum of the squares of gradients [chunk, chunk + 1) · norm_chunk.
  double squares(Index chunk) const;

  real* gradient_memory() const { return gradients_.data(); }  // as it is, also during backward
  Range range_of(const Tensor& parameter) const;               // in the block; empty if it is not there

  // For gradients that come from elsewhere: what is written here are the gradients, as if by backward.
  real* given_gradients() const;

  // Calls body(range) for each range of the block that is not frozen: once for all of it, if nothing is.
  template <class Body>
  void for_each_trained(const Body& body) const {
    Range range{0, 0};
    for (const Parameter& parameter : list_) {
      const Index end = range.end + parameter.tensor.numel();
      if (!parameter.tensor.needs_grad()) {
        if (range.begin < range.end) body(range);
        range.begin = end;
      }
      range.end = end;
    }
    if (range.begin < range.end) body(range);
  }

 private:
  ParameterList list_;
  Tensor values_, gradients_;  // (n), (n)
};

// What to multiply gradients by so that their global norm is at most `limit`; 1 if it is, or if limit is 0.
double clip_scale(double norm, double limit);

}  // namespace attn
