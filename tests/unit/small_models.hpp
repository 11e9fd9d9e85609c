// What the tests of nn/ and optim/ share: models so small that every number can be checked, and the checks.
#pragma once

#include <cstring>  // memcmp

#include "nn/bert.hpp"
#include "nn/gpt.hpp"
#include "nn/t5.hpp"
#include "tests/unit/gradcheck.hpp"

namespace attn {

constexpr Positions all_positions[] = {Positions::none, Positions::learned, Positions::sinusoidal,
                                       Positions::t5,   Positions::alibi,   Positions::rope};

// Sets the number of threads while it is alive. Tiny work is quickest on one.
struct Threads {
  int before = thread_count();
  explicit Threads(int count) { set_thread_count(count); }
  ~Threads() { set_thread_count(before); }
  Threads(const Threads&) = delete;
};

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.numel() * sizeof(real)) == 0;
}

inline IntTensor random_ids(const Shape& shape, Index vocabulary, std::uint64_t seed, Index lowest = 0) {
  Rng rng(seed);
  IntTensor ids(shape);
  for (Index i = 0; i < ids.numel(); ++i) ids[i] = int(lowest + rng.below(vocabulary - lowest));
  return ids;
}

inline TransformerConfig small_config() {
  return {.source_vocabulary = 9,
          .vocabulary = 7,
          .d_model = 8,
          .heads = 2,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .d_ff = 12,
          .dropout = 0,
          .max_length = 16};
}

// Biases start at 0 and gains at 1, where a forgotten one would go unseen: this moves every parameter.
template <class Model>
Model& shaken(Model& model) {
  Rng rng(99);
  for (const Parameter& parameter : parameters_of(model))
    for (Index i = 0; i < parameter.tensor.numel(); ++i)
      parameter.tensor.data()[i] += real(0.1 * rng.normal());
  return model;
}

// Is the gradient of a whole model's loss its slope? Ten elements of each parameter, drawn at random, are
// moved up and down. Only in double: differences of a float loss are mostly rounding.
template <class Loss>
void check_model_gradients(const ParameterList& parameters, const Loss& loss) {
  parameters.zero_grad();
  backward(loss());
  const double step = 1e-5;
  Rng rng(5);
  for (const Parameter& parameter : parameters) {
    INFO(parameter.name << " " << parameter.tensor.shape().str());
    REQUIRE(parameter.tensor.grad());
    for (int draw = 0; draw < 10; ++draw) {
      const Index i = rng.below(parameter.tensor.numel());
      real& value = parameter.tensor.data()[i];
      const NoGrad no_grad;
      const real before = value;
      value = real(before + step);
      const double up = loss().item();
      value = real(before - step);
      const double down = loss().item();
      value = before;
      const double numeric = (up - down) / (2 * step), analytic = parameter.tensor.grad().data()[i];
      const double error = std::fabs(numeric - analytic);
      CHECK_MESSAGE(error <= 1e-6 * std::max({std::fabs(numeric), std::fabs(analytic), 1e-3}), "element ", i,
                    ": the gradient is ", analytic, ", central differences say ", numeric);
    }
  }
}

}  // namespace attn
