// ParameterBlock: all parameters of a model in one piece of memory, and all gradients in another.
//
// An optimizer then is one loop over n numbers, whatever the model is made of, and so are clipping and
// averaging. The tensors stay what they are: their values and gradients just lie side by side from now on.
// Make one block for a model, after the model is built, and keep it as long as the model trains; a parameter
// is in one block at a time.
#pragma once

#include "core/kernels.hpp"
#include "core/parameters.hpp"

namespace attn {

class ParameterBlock {
 public:
  explicit ParameterBlock(const ParameterList& list);
  ~ParameterBlock();  // the values stay, the gradients go
  ParameterBlock(const ParameterBlock&) = delete;
  ParameterBlock& operator=(const ParameterBlock&) = delete;

  const ParameterList& list() const { return list_; }
  Index size() const { return values_.numel(); }
  real* values() const { return values_.data(); }
  // The gradients; those of parameters that the last backward did not reach are 0.
  const real* gradients() const;
  void zero_grad() const { list_.zero_grad(); }
  double gradient_norm() const;  // sqrt of the sum of the squares of all gradients

 private:
  ParameterList list_;
  Tensor values_, gradients_;  // (n), (n)
};

// What to multiply gradients by so that their global norm is at most `limit`; 1 if it is, or if limit is 0.
double clip_scale(double norm, double limit);

}  // namespace attn
