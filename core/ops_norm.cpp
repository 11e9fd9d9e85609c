#include <cmath>  // ldexp

#include "core/error.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"
#include "core/ops.hpp"

namespace attn {
namespace {

void check_parameter(const char* op, const Tensor& x, const Tensor& parameter, const char* name) {
  if (x.rank() == 0 || x.shape()[-1] == 0)
    fail("{}: {} has no last axis to normalise over", op, x.shape().str());
  if (parameter && !(parameter.shape() == Shape{x.shape()[-1]}))
    fail("{}: the {} {} does not fit the last axis of {}", op, name, parameter.shape().str(),
         x.shape().str());
}

const real* data_or_null(const Tensor& tensor) { return tensor ? tensor.data() : nullptr; }

// The gradients of gain and bias are sums over all rows; threads share them by columns.
void add_parameter_grads(const Tensor& x, const real* mean, const real* rstd, const real* g,
                         const Tensor& gain, const Tensor& bias) {
  const bool want_gain = gain && gain.needs_grad(), want_bias = bias && bias.needs_grad();
  if (!want_gain && !want_bias) return;
  const Index C = x.shape()[-1], rows = x.numel() / C;
  Scratch<real> sums(2 * C);
  real *gain_sum = sums.data(), *bias_sum = sums.data() + C;
  parallel_for(C, std::max<Index>(16, row_grain(rows)), [&](Index begin, Index end) {
    kernels().norm_backward_parameters(rows, C, begin, end, x.data(), mean, rstd, g, gain_sum, bias_sum,
                                       false);
  });
  if (want_gain) add_grad(gain, [=](Index i) { return gain_sum[i]; });
  if (want_bias) add_grad(bias, [=](Index i) { return bias_sum[i]; });
}

}  // namespace

// y = (x - E[x]) / sqrt(Var[x] + ε) * gain + bias, mean and (biased) variance over the last axis.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
  check_parameter("layer_norm", x, gain, "gain");
  check_parameter("layer_norm", x, bias, "bias");
  const Index C = x.shape()[-1], rows = x.numel() / C;
  const Tensor y = empty(x.shape()), statistics = empty({2, rows});  // mean, 1 / deviation
  real *mean = statistics.data(), *rstd = mean + rows;
  parallel_for(rows, row_grain(C), [&](Index begin, Index end) {
    kernels().layer_norm(end - begin, C, x.data() + begin * C, data_or_null(gain), data_or_null(bias),
                         epsilon, y.data() + begin * C, mean + begin, rstd + begin);
  });
  return record(y, "layer_norm", {x, gain, bias}, [=](const Tensor& y) {
    const real *mean = statistics.data(), *rstd = mean + rows, *g = grad_data(y);
    if (x.needs_grad()) {
      const GradTarget target = grad_target(x);
      parallel_for(rows, row_grain(C), [&](Index begin, Index end) {
        kernels().layer_norm_backward(end - begin, C, x.data() + begin * C, data_or_null(gain), mean + begin,
                                      rstd + begin, g + begin * C, target.data + begin * C,
                                      target.accumulate);
      });
    }
    add_parameter_grads(x, mean, rstd, g, gain, bias);
  });
}

// y = x / sqrt(E[x²] + ε) * gain
Tensor rms_norm(const Tensor& x, const Tensor& gain, real epsilon) {
  check_parameter("rms_norm", x, gain, "gain");
  const Index C = x.shape()[-1], rows = x.numel() / C;
  const Tensor y = empty(x.shape()), rstd = empty({rows});
  parallel_for(rows, row_grain(C), [&](Index begin, Index end) {
    kernels().rms_norm(end - begin, C, x.data() + begin * C, data_or_null(gain), epsilon,
                       y.data() + begin * C, rstd.data() + begin);
  });
  return record(y, "rms_norm", {x, gain}, [=](const Tensor& y) {
    const real* g = grad_data(y);
    if (x.needs_grad()) {
      const GradTarget target = grad_target(x);
      parallel_for(rows, row_grain(C), [&](Index begin, Index end) {
        kernels().rms_norm_backward(end - begin, C, x.data() + begin * C, data_or_null(gain),
                                    rstd.data() + begin, g + begin * C, target.data + begin * C,
                                    target.accumulate);
      });
    }
    add_parameter_grads(x, nullptr, rstd.data(), g, gain, {});
  });
}

// The mask is a function of the generator's key and counter, so the backward computes it again.
Tensor dropout(const Tensor& x, real p, Rng& rng) {
  if (!(p >= 0 && p <= 1)) fail("dropout: {} is not a probability", p);
  if (p == 0) return x;
  const std::uint64_t key = rng.key, counter = rng.reserve(x.numel());
  const auto apply = [p, key, counter](Index n, const real* from, real* to, bool accumulate) {
    const double draws = std::ldexp(static_cast<double>(p), 32);
    const std::uint32_t threshold = draws >= 0xFFFFFFFFp0 ? 0xFFFFFFFF : static_cast<std::uint32_t>(draws);
    const real scale = p < 1 ? 1 / (1 - p) : real{0};
    parallel_for(n, elementwise_grain, [&](Index begin, Index end) {
      kernels().dropout(end - begin, from + begin, to + begin, threshold, scale, key,
                        counter + static_cast<std::uint64_t>(begin), accumulate);
    });
  };
  const Tensor y = empty(x.shape());
  apply(x.numel(), x.data(), y.data(), false);
  return record(y, "dropout", {x}, [x, apply](const Tensor& y) {
    const GradTarget target = grad_target(x);
    apply(x.numel(), grad_data(y), target.data, target.accumulate);
  });
}

}  // namespace attn
