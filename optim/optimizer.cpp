#include "optim/optimizer.hpp"

#include <algorithm>  // max, min
#include <cmath>      // isfinite, pow, sqrt

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace attn {

namespace {

void require(bool sensible, const char* what, double value) {
  if (!sensible || !std::isfinite(value)) fail("optimizer: {} of {} makes no sense", what, value);
}

}  // namespace

void Optimizer::step(double learning_rate, double gradient_scale) {
  require(learning_rate >= 0, "a learning rate", learning_rate);
  require(gradient_scale >= 0, "a gradient scale", gradient_scale);
  ++steps;
  const Step step{learning_rate, gradient_scale, block.gradients()};
  block.for_each_trained([&](const Range& trained) {
    const Range both{std::max(trained.begin, part_.begin), std::min(trained.end, part_.end)};
    if (both.begin < both.end) update(step, both);
  });
  block.zero_grad();
}

Sgd::Sgd(const ParameterList& list, const SgdOptions& options, const std::optional<Range>& part)
    : Optimizer(list, part), options_(options) {
  require(options.momentum >= 0 && options.momentum <= 1, "a momentum", options.momentum);
  require(options.weight_decay >= 0, "a weight decay", options.weight_decay);
  if (options.momentum > 0) velocity_ = new_state();
}

std::vector<Parameter> Sgd::state() const {
  if (!velocity_) return {};
  return {{"velocity", velocity_}};
}

void Sgd::update(const Step& step, Range part) {
  const real rate = real(step.learning_rate), scale = real(step.gradient_scale);
  const real momentum = real(options_.momentum), decay = real(options_.weight_decay);
  const real* gradient = step.gradients + part.begin;
  real *p = block.values() + part.begin, *v = velocity_ ? state_at(velocity_, part.begin) : nullptr;
  parallel_for(part.end - part.begin, elementwise_grain, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      real g = scale * gradient[i] + decay * p[i];
      if (v) g = v[i] = momentum * v[i] + g;
      p[i] -= rate * g;
    }
  });
}

Adam::Adam(const ParameterList& list, const AdamOptions& options, const std::optional<Range>& part)
    : Optimizer(list, part), options_(options), m_(new_state()), v_(new_state()) {
  require(options.beta1 >= 0 && options.beta1 < 1, "a beta1", options.beta1);
  require(options.beta2 >= 0 && options.beta2 < 1, "a beta2", options.beta2);
  require(options.epsilon >= 0, "an epsilon", options.epsilon);
  require(options.weight_decay >= 0, "a weight decay", options.weight_decay);
}

std::vector<Parameter> Adam::state() const { return {{"m", m_}, {"v", v_}}; }

void Adam::update(const Step& step, Range part) {
  const auto& [beta1, beta2, epsilon, decay, decoupled] = options_;
  const double t = double(steps), rate = step.learning_rate;
  const AdamStep factors{.gradient_scale = real(step.gradient_scale),
                         .l2 = real(decoupled ? 0 : decay),
                         .keep = real(decoupled ? 1 - rate * decay : 1),
                         .gain1 = real(1 - beta1),
                         .gain2 = real(1 - beta2),
                         .rate = real(rate / (1 - std::pow(beta1, t))),
                         .root = real(1 / std::sqrt(1 - std::pow(beta2, t))),
                         .epsilon = real(epsilon)};
  parallel_for(part.end - part.begin, elementwise_grain, [&](Index begin, Index end) {
    const Index i = part.begin + begin;
    kernels().adam(end - begin, factors,
                   {block.values() + i, step.gradients + i, state_at(m_, i), state_at(v_, i)});
  });
}

}  // namespace attn
