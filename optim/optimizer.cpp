#include "optim/optimizer.hpp"

#include <cmath>  // pow

#include "core/parallel.hpp"

namespace attn {

void Optimizer::step(double learning_rate, double gradient_scale) {
  ++steps;
  update(real(learning_rate), real(gradient_scale), block.gradients());
  block.zero_grad();
}

Sgd::Sgd(const ParameterList& list, const SgdOptions& options) : Optimizer(list), options_(options) {
  if (options.momentum > 0) velocity_ = zeros({block.size()});
}

std::vector<Parameter> Sgd::state() const {
  if (!velocity_) return {};
  return {{"velocity", velocity_}};
}

void Sgd::update(real learning_rate, real gradient_scale, const real* gradients) {
  const real momentum = real(options_.momentum), decay = real(options_.weight_decay);
  real *p = block.values(), *v = velocity_ ? velocity_.data() : nullptr;
  parallel_for(block.size(), elementwise_grain, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      real g = gradient_scale * gradients[i] + decay * p[i];
      if (v) g = v[i] = momentum * v[i] + g;
      p[i] -= learning_rate * g;
    }
  });
}

Adam::Adam(const ParameterList& list, const AdamOptions& options)
    : Optimizer(list), options_(options), m_(zeros({block.size()})), v_(zeros({block.size()})) {}

std::vector<Parameter> Adam::state() const { return {{"m", m_}, {"v", v_}}; }

void Adam::update(real learning_rate, real gradient_scale, const real* gradients) {
  const double t = double(steps);
  const real decay = real(options_.weight_decay);
  const AdamStep step{.learning_rate = learning_rate,
                      .beta1 = real(options_.beta1),
                      .beta2 = real(options_.beta2),
                      .epsilon = real(options_.epsilon),
                      .decay = options_.decoupled ? decay : real{0},
                      .l2 = options_.decoupled ? real{0} : decay,
                      .correction1 = real(1 - std::pow(options_.beta1, t)),
                      .correction2 = real(1 - std::pow(options_.beta2, t)),
                      .gradient_scale = gradient_scale};
  parallel_for(block.size(), elementwise_grain, [&](Index begin, Index end) {
    kernels().adam(end - begin, step,
                   {block.values() + begin, gradients + begin, m_.data() + begin, v_.data() + begin});
  });
}

}  // namespace attn
