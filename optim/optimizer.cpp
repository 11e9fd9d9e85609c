#include "optim/optimizer.hpp"

#include <cmath>  // pow, sqrt

#include "core/parallel.hpp"

namespace attn {

void Optimizer::step(double learning_rate, double gradient_scale) {
  ++steps;
  update(learning_rate, gradient_scale, block.gradients());
  block.zero_grad();
}

Sgd::Sgd(const ParameterList& list, const SgdOptions& options) : Optimizer(list), options_(options) {
  if (options.momentum > 0) velocity_ = zeros({block.size()});
}

std::vector<Parameter> Sgd::state() const {
  if (!velocity_) return {};
  return {{"velocity", velocity_}};
}

void Sgd::update(double learning_rate, double gradient_scale, const real* gradients) {
  const real rate = real(learning_rate), scale = real(gradient_scale);
  const real momentum = real(options_.momentum), decay = real(options_.weight_decay);
  real *p = block.values(), *v = velocity_ ? velocity_.data() : nullptr;
  parallel_for(block.size(), elementwise_grain, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      real g = scale * gradients[i] + decay * p[i];
      if (v) g = v[i] = momentum * v[i] + g;
      p[i] -= rate * g;
    }
  });
}

Adam::Adam(const ParameterList& list, const AdamOptions& options)
    : Optimizer(list), options_(options), m_(zeros({block.size()})), v_(zeros({block.size()})) {}

std::vector<Parameter> Adam::state() const { return {{"m", m_}, {"v", v_}}; }

void Adam::update(double learning_rate, double gradient_scale, const real* gradients) {
  const auto& [beta1, beta2, epsilon, decay, decoupled] = options_;
  const double t = double(steps);
  const AdamStep step{.gradient_scale = real(gradient_scale),
                      .l2 = real(decoupled ? 0 : decay),
                      .keep = real(decoupled ? 1 - learning_rate * decay : 1),
                      .gain1 = real(1 - beta1),
                      .gain2 = real(1 - beta2),
                      .rate = real(learning_rate / (1 - std::pow(beta1, t))),
                      .root = real(1 / std::sqrt(1 - std::pow(beta2, t))),
                      .epsilon = real(epsilon)};
  parallel_for(block.size(), elementwise_grain, [&](Index begin, Index end) {
    kernels().adam(end - begin, step,
                   {block.values() + begin, gradients + begin, m_.data() + begin, v_.data() + begin});
  });
}

}  // namespace attn
