// Pictures made of pictures.
//
//   write_png("out/masking.png", row({heatmap(scores), heatmap(mask), heatmap(weights)},
//                                    {.title = "From scores to weights", .between = {"+", "softmax →"}}));
//
// row() lines its pictures up at the height of their subject (cells, axes), so that titles of different
// length do not push them apart; column() puts them below each other at the left.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/image.hpp"

namespace attn::viz {

struct ArrangeOptions {
  std::string title = {};
  std::vector<std::string> between = {};  // a sign for each gap of a row: "+", "=", "→"
};

Image row(const std::vector<Image>& images, const ArrangeOptions& options = {});
Image column(const std::vector<Image>& images, const ArrangeOptions& options = {});

}  // namespace attn::viz
