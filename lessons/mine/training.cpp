#include "lessons/mine/training.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // copy_n
#include <cmath>      // isfinite

#include "core/autograd.hpp"
#include "core/ops.hpp"

namespace attn::mine {

Trainer::Trainer(const Parts& parts, const ParameterList& parameters, const StepSettings& settings)
    : parts_(parts), settings_(settings) {
  for (const Parameter& parameter : parameters) {
    if (!parameter.tensor.needs_grad()) continue;  // frozen
    parameters_.push_back(parameter.tensor);
    const Index n = parameter.tensor.numel();
    memory_.push_back({zeros({n}), zeros({n}), 0});
  }
}

double Trainer::step(const Tensor& loss) {
  const double value = loss.item();
  if (!std::isfinite(value)) throw Fault("the loss is no longer a number");
  backward(loss);
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters_)
    gradients.push_back(parameter.has_grad() ? parameter.grad() : zeros(parameter.shape()));

  const NoGrad no_grad;
  if (settings_.clip > 0) parts_.clip_gradients(gradients, settings_.clip);
  AdamRates rates = settings_.adam;
  rates.rate = real(settings_.rate);
  ++steps_;
  if (settings_.warmup > 0) rates.rate *= parts_.learning_rate(steps_, settings_.d_model, settings_.warmup);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Shape flat{parameters_[i].numel()};
    Tensor values = reshape(parameters_[i].detach(), flat);  // the same numbers
    parts_.adam_step(values, reshape(gradients[i], flat), memory_[i], rates);
    const Tensor& changed = values;
    if (changed.data() != parameters_[i].data()) {  // `p = …` instead of changing it in place
      if (changed.shape() != flat) refuse(parts_.adam_step, "changed the shape of p");
      std::copy_n(changed.data(), changed.numel(), parameters_[i].data());
    }
    parameters_[i].zero_grad();
  }
  if (progress_) progress_->update(steps_, fmt::format("loss {:.4f}", value));
  return value;
}

}  // namespace attn::mine
