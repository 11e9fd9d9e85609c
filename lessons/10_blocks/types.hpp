// What a block is made of, for exercise 10.
#pragma once

#include <functional>  // function

#include "core/tensor.hpp"

namespace exercise {

// A part of a block (attention, a feed-forward network, a norm): tokens in, tokens out, the same shape.
using Sublayer = std::function<attn::Tensor(const attn::Tensor&)>;

}  // namespace exercise
