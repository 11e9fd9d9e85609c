// What the leak is trained on: a text that can be half foreseen, and the smallest model with attention.
#pragma once

#include <cstdint>  // uint64_t
#include <vector>   // vector

#include "core/tensor.hpp"

namespace attn {

constexpr int symbols = 8;

// The entropy of the next letter: below this no loss can honestly go.
double honest_floor();

struct Trained {
  std::vector<double> curve;
  double as_trained, last_position, no_future;  // loss on new text: with its own mask, and with the right one
};

// Trains a model on rows of T letters under the mask `visible` (T, T), then tests it on others.
Trained train_with(const Tensor& visible, std::uint64_t seed, Index steps);

}  // namespace attn
