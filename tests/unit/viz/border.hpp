// Whether a picture is whole.
#pragma once

#include "core/viz/viz.hpp"

namespace attn::viz {

// Nothing is cut off when a strip along all four edges is white.
inline bool has_white_border(const Image& image) {
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const bool inner = x >= 6 && y >= 6 && x < image.width() - 6 && y < image.height() - 6;
      if (!inner && image.at(x, y) != paint::white) return false;
    }
  return true;
}

}  // namespace attn::viz
