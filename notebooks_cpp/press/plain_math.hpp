// Equations as lessons write them, in plain characters that a terminal shows, typeset for a page.
//
//   latex_of("softmax(Q Kᵀ / √d_k) V")   ->   \operatorname{softmax}(Q K^{\top} / \sqrt{d_{k}}) V
#pragma once

#include <string>       // string
#include <string_view>  // string_view

namespace attn::press {

std::string latex_of(std::string_view plain);
// As a box of its own; the plain characters if they make no equation.
std::string plain_equation(const std::string& plain);

}  // namespace attn::press
