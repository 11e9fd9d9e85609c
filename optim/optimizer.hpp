// Optimizers: how parameters follow their gradients.
//
//   SGD       v = μ v + g,   p -= lr v                                            (with momentum μ)
//   Adam      m = β1 m + (1-β1) g,   v = β2 v + (1-β2) g²,
//             p -= lr · m̂ / (√v̂ + ε)   with m̂ = m / (1 - β1^t), v̂ = v / (1 - β2^t)
//   AdamW     the same, and p -= lr · decay · p beside it: decay that is not divided by √v̂
//
// They are PyTorch's formulas. The learning rate is an argument of every step, because schedules change it.
#pragma once

#include <optional>  // optional

#include "optim/parameter_block.hpp"

namespace attn {

class Optimizer {
 public:
  // Sharded optimizer state (ZeRO stage 1, Rajbhandari et al. 2020): with a `part` of the block, this process
  // remembers and updates only that, other ranks the rest. Adam's two means are then 2 n / R numbers per rank
  // instead of 2 n.
  explicit Optimizer(const ParameterList& list, const std::optional<Range>& part = {})
      : block(list), part_(part.value_or(Range{0, block.size()})), has_part_only_(part.has_value()) {}
  virtual ~Optimizer() = default;

  // One update of every parameter that is not frozen. The gradients are multiplied by `gradient_scale` (from
  // clip_scale) and then forgotten.
  void step(double learning_rate, double gradient_scale = 1);

  // What a checkpoint has to keep besides the parameters, in a fixed order: the numbers of part().
  virtual std::vector<Parameter> state() const = 0;
  Range part() const { return part_; }  // the whole block, unless a part was given
  bool has_part_only() const { return has_part_only_; }

  ParameterBlock block;
  Index steps = 0;  // taken so far

 protected:
  struct Step {
    double learning_rate, gradient_scale;
    const real* gradients;  // of the whole block
  };
  virtual void update(const Step& step, Range part) = 0;  // of the block
  Tensor new_state() const { return zeros({part_.end - part_.begin}); }
  real* state_at(const Tensor& state, Index i) const { return state.data() + i - part_.begin; }

 private:
  Range part_;
  bool has_part_only_;
};

struct SgdOptions {
  double momentum = 0;
  double weight_decay = 0;  // g += decay · p
};
class Sgd : public Optimizer {
 public:
  explicit Sgd(const ParameterList& list, const SgdOptions& options = {},
               const std::optional<Range>& part = {});
  std::vector<Parameter> state() const override;

 private:
  void update(const Step& step, Range part) override;
  SgdOptions options_;
  Tensor velocity_;  // (n), or empty without momentum
};

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // true: AdamW
};
class Adam : public Optimizer {
 public:
  explicit Adam(const ParameterList& list, const AdamOptions& options = {},
                const std::optional<Range>& part = {});
  std::vector<Parameter> state() const override;

 private:
  void update(const Step& step, Range part) override;
  AdamOptions options_;
  Tensor m_, v_;  // (n), (n)
};

inline AdamOptions adamw(double weight_decay = 0.01) {
  return {.weight_decay = weight_decay, .decoupled = true};
}
// Vaswani et al., section 5.3.
inline AdamOptions paper_adam() { return {.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9}; }

}  // namespace attn
