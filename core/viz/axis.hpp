// Axis: how numbers lie along an edge of a chart, with ticks at round numbers, and how numbers are written.
#pragma once

#include <string>  // string
#include <vector>  // vector

namespace attn::viz {

enum class Scale { linear, log10, log2 };

struct Axis {
  double low = 0, high = 1;
  Scale scale = Scale::linear;
  std::vector<double> ticks = {};
  std::vector<std::string> labels = {};  // one for each tick

  double fraction(double value) const;  // 0 at low, 1 at high; not finite where a logarithm is not
  bool can_show(double value) const;    // finite, and above zero on a logarithmic axis
};

// An axis over [low, high] with about `wanted` ticks at 1, 2 or 5 times a power of ten (or at powers, on a
// logarithmic one). `snap` widens a linear axis to the ticks at and beyond its ends.
Axis make_axis(double low, double high, Scale scale, int wanted, bool snap);

// The smallest of 1, 2 and 5 times a power of ten that is not below `rough`.
double round_step(double rough);

// About three digits, as people write them: 0.25, 12,345, 63.1M, 2×10⁻⁵, −∞.
std::string format_number(double value);
// A fixed number of decimals and a true minus sign.
std::string format_fixed(double value, int decimals);

}  // namespace attn::viz
