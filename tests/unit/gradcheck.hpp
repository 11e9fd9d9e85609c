// check_gradients: is the gradient that an op computes the slope of what it computes?
//
//   check_gradients([](const auto& in) { return in[0] * in[1]; }, {a, b});
//
// Each element of each input is moved a little up and a little down, and the change of the output (its
// elements weighted by fixed random numbers, so that all of them count) is held against what backward says.
// In the double build they must agree to 1e-6; in float, where differences are mostly rounding, to 1e-2 only.
//
// Two more things must hold for any op: a second backward adds the same gradient again, and an input gets the
// same gradient when it is the only one that asks for it. The function must give the same result each time it
// is called, and no input may lie closer than `step` to a kink (relu at 0) or to a tie of max.
#pragma once

#include <cmath>       // fabs
#include <functional>  // function

#include "core/op.hpp"
#include "tests/unit/reference.hpp"

namespace attn {

using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

// What is wrong, in one line; empty if nothing is.
inline std::string gradient_error(const TensorFunction& function, const std::vector<Tensor>& at) {
  const double step = double_build ? 1e-5 : 2e-3;
  const double tolerance = double_build ? 1e-6 : 1e-2;
  const double smallest =
      double_build ? 1e-3 : 1;  // below this size, the error is compared with this instead
  std::vector<Tensor> inputs;
  for (const Tensor& x : at) inputs.push_back(copy_of(x).requires_grad());

  const Tensor first = function(inputs);
  if (!node_of(first)) return "nothing was recorded";
  const std::string op = node_of(first)->op;
  const Tensor weights = random_tensor(first.shape(), 7, 0.5, 1.5);
  const auto weighted_sum = [&] {
    const NoGrad no_grad;
    const Tensor out = function(inputs);
    double sum = 0;
    for (Index i = 0; i < out.numel(); ++i) sum += double{weights.data()[i]} * double{out.data()[i]};
    return sum;
  };
  const auto differ = [&](double a, double b, double relative) {
    return !(std::fabs(a - b) <= relative * std::max({std::fabs(a), std::fabs(b), smallest}));
  };
  const double rounding = double_build ? 1e-10 : 1e-4;

  backward(first, weights);
  std::vector<Tensor> gradients;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].grad()) return fmt::format("{}: input {} got no gradient", op, k);
    gradients.push_back(copy_of(inputs[k].grad()));
  }
  backward(function(inputs), weights);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    std::vector<Tensor> alone;
    for (std::size_t j = 0; j < at.size(); ++j) alone.push_back(copy_of(at[j]).requires_grad(j == k));
    backward(function(alone), weights);
    if (!alone[k].grad()) return fmt::format("{}: input {} alone got no gradient", op, k);

    for (Index i = 0; i < inputs[k].numel(); ++i) {
      const double analytic = gradients[k].data()[i];
      const auto wrong = [&](const char* what, double other) {
        return fmt::format("{}: input {} {}, element {}: the gradient is {}, {} {}", op, k,
                           at[k].shape().str(), i, analytic, what, other);
      };
      real& value = inputs[k].data()[i];
      const real before = value;
      value = real(before + step);
      const double up = weighted_sum(), top = value;
      value = real(before - step);
      const double down = weighted_sum(), bottom = value;
      value = before;
      const double numeric = (up - down) / (top - bottom);
      if (differ(analytic, numeric, tolerance)) return wrong("central differences say", numeric);
      const double twice = inputs[k].grad().data()[i], by_itself = alone[k].grad().data()[i];
      if (differ(2 * analytic, twice, rounding)) return wrong("and after a second backward", twice);
      if (differ(analytic, by_itself, rounding))
        return wrong("and when no other input asks for one", by_itself);
    }
  }
  return "";
}

inline void check_gradients(const TensorFunction& function, const std::vector<Tensor>& at) {
  const std::string error = gradient_error(function, at);
  CHECK_MESSAGE(error.empty(), error);
}

}  // namespace attn
