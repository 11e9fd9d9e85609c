// The charts that only lesson 04 draws.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/chart.hpp"

namespace attn {

// A walk downhill, position by position.
struct Walk {
  std::string name;
  std::vector<double> x, y;
};

// Each walk over the contours of (x² + 100 y²) / 2, whose lowest point is (0, 0).
viz::Image valley_picture(const std::vector<Walk>& walks, const std::string& title);

// What several runs did: a line through the middle and a tinted band from the lowest to the highest.
struct Band {
  std::string name;
  viz::Numbers x, low, middle, high;
};
viz::Image band_chart(const std::vector<Band>& bands, const viz::ChartOptions& options);

}  // namespace attn
