// The drawings that only lesson 18 needs.
#pragma once

#include "core/viz/image.hpp"

namespace attn {

// How FlashAttention walks over the matrix of scores without ever holding it.
viz::Image tiles_picture();

// Eight query heads over their key/value heads: one each (MHA), four groups (GQA), one for all (MQA).
viz::Image grouping_picture();

}  // namespace attn
