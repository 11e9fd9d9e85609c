#include "core/ops.hpp"

#include <array>  // array
#include <cmath>  // lround

#include "core/error.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

struct Parameters {
  Tensor gain, bias;  // (C), or empty
  real epsilon;
};

// Where the gradient of a tensor goes; null if it needs none.
GradTarget gradient(const Tensor& tensor) {
  return tensor && tensor.needs_grad() ? grad_target(tensor) : GradTarget{};
}

Tensor normalize(const char* op, const Tensor& x, const Parameters& parameters, bool centered) {
  if (x.rank() == 0 || x.shape()[-1] == 0)
    fail("{}: {} has no last axis to normalise over", op, x.shape().str());
  if (!(parameters.epsilon >= 0)) fail("{}: an epsilon of {} is not 0 or more", op, parameters.epsilon);
  const Index C = x.shape()[-1], rows = x.numel() / C;
  const auto check = [&](const Tensor& parameter, const char* name) {
    if (parameter && !(parameter.shape() == Shape{C}))
      fail("{}: the {} {} does not fit the last axis of {}", op, name, parameter.shape().str(),
           x.shape().str());
  };
  check(parameters.gain, "gain");
  check(parameters.bias, "bias");
  const Tensor y = empty(x.shape()), statistics = empty({2, rows});  // mean, 1 / standard deviation
  const auto norm_rows = [=] {
    const auto data = [](const Tensor& parameter) { return parameter ? parameter.data() : nullptr; };
    return NormRows{.rows = rows,
                    .cols = C,
                    .x = x.data(),
                    .gain = data(parameters.gain),
                    .bias = data(parameters.bias),
                    .epsilon = parameters.epsilon,
                    .mean = centered ? statistics.data() : nullptr,
                    .rstd = statistics.data() + rows};
  };
  const NormRows norm = norm_rows();
  parallel_for(rows, row_grain(C), [&](Index begin, Index end) {
    kernels().norm({begin, end}, norm, y.data());
  });

  return record(y, op, {x, parameters.gain, parameters.bias}, [x, parameters, norm_rows](const Tensor& y) {
    const NormRows norm = norm_rows();
    const GradTarget dx = gradient(x);
    const std::array totals{gradient(parameters.gain), gradient(parameters.bias)};
    sum_over_rows(norm.rows, norm.cols, totals, [&](Range rows, const auto& sums) {
      if (sums[0].data || sums[1].data)
        kernels().norm_backward_parameters(rows, norm, grad_data(y), sums[0], sums[1]);
      if (dx.data) kernels().norm_backward(rows, norm, grad_data(y), dx);
    });
  });
}

}  // namespace

// y = (x - E[x]) / sqrt(Var[x] + ε) * gain + bias, mean and (biased) variance over the last axis.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
  return normalize("layer_norm", x, {gain, bias, epsilon}, true);
}

// y = x / sqrt(E[x²] + ε) * gain
Tensor rms_norm(const Tensor& x, const Tensor& gain, real epsilon) {
  return normalize("rms_norm", x, {gain, {}, epsilon}, false);
}

Dropout draw_dropout(double p, Index n, Rng& rng) {
  if (!(p >= 0 && p <= 1)) fail("dropout: {} is not a probability", p);
  if (p == 0) return {};
  constexpr std::uint32_t all = 1 << 16;
  const std::uint32_t dropped = std::uint32_t(std::lround(p * all));
  return {.threshold = dropped,
          .scale = dropped < all ? real(all) / real(all - dropped) : 0,
          .key = rng.key,
          .position = 2 * rng.reserve((n + 1) / 2)};
}

Tensor dropout(const Tensor& x, real p, Rng& rng) {
  const Index n = x.numel();
  const Dropout all = draw_dropout(p, n, rng);
  if (p == 0) return x;
  const Tensor y = empty(x.shape());
  parallel_for(n, elementwise_grain, [&](Index begin, Index end) {
    kernels().dropout(end - begin, all.from(begin), x.data() + begin, y.data() + begin);
  });
  return record(y, "dropout", {x}, [x, scale = all.scale](const Tensor& y) {
    const GradTarget dx = grad_target_over(y, x);
    parallel_for(y.numel(), elementwise_grain, [&](Index begin, Index end) {
      kernels().dropout_backward(end - begin, scale, y.data() + begin, grad_data(y) + begin, dx.from(begin));
    });
  });
}

}  // namespace attn
