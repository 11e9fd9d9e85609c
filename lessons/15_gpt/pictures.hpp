// What only lesson 15 draws: the model families side by side.
#pragma once

#include "core/viz/viz.hpp"

namespace attn {

viz::Image families();  // BERT, the Transformer, GPT

}  // namespace attn
