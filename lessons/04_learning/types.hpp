// What Adam keeps between its steps, for exercise 04.
#pragma once

#include "core/tensor.hpp"

namespace exercise {

struct AdamState {
  attn::Tensor m, v;  // (n), (n): running means of the gradient and of its square, zeros at first
  int step = 0;       // steps taken so far
};

struct AdamSettings {
  attn::real rate = attn::real(0.001), beta1 = attn::real(0.9), beta2 = attn::real(0.999),
             epsilon = attn::real(1e-8);
};

}  // namespace exercise
