#include "core/viz/color.hpp"

#include <algorithm>  // clamp, min, max
#include <array>      // array
#include <cmath>      // cbrt, cos, hypot, pow, sin
#include <iterator>   // ssize
#include <limits>     // numeric_limits
#include <numbers>    // pi

namespace attn::viz {

namespace {

struct Lab {
  double l, a, b;
};

Lab from_lch(double lightness, double chroma, double hue_degrees) {
  const double hue = hue_degrees * std::numbers::pi / 180;
  return {lightness, chroma * std::cos(hue), chroma * std::sin(hue)};
}

double distance(const Lab& p, const Lab& q) { return std::hypot(p.l - q.l, p.a - q.a, p.b - q.b); }

Lab blend(const Lab& p, const Lab& q, double t) {
  return {p.l + t * (q.l - p.l), p.a + t * (q.a - p.a), p.b + t * (q.b - p.b)};
}

// OKLab -> cone responses -> linear sRGB -> gamma: the constants are those of OKLab's definition.
Color to_srgb(const Lab& lab) {
  const double l = std::pow(lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
  const double m = std::pow(lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
  const double s = std::pow(lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  const auto channel = [](double linear) {
    linear = std::clamp(linear, 0.0, 1.0);
    const double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * value));
  };
  return {channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

using Table = std::array<Color, 256>;

// Walks the polyline through `stops` at constant speed in OKLab: that is what makes a map even.
void fill_evenly(Table& table, int first, int last, const std::vector<Lab>& stops) {
  double length = 0;
  for (Index i = 1; i < std::ssize(stops); ++i) length += distance(stops[i - 1], stops[i]);
  Index leg = 1;
  double walked = 0;  // length of the legs already behind
  for (int i = first; i <= last; ++i) {
    const double target = length * (i - first) / (last - first);
    while (leg + 1 < std::ssize(stops) && walked + distance(stops[leg - 1], stops[leg]) < target) {
      walked += distance(stops[leg - 1], stops[leg]);
      ++leg;
    }
    const double along = (target - walked) / distance(stops[leg - 1], stops[leg]);
    table[i] = to_srgb(blend(stops[leg - 1], stops[leg], std::min(along, 1.0)));
  }
}

Table sequential_table() {
  std::vector<Lab> stops;
  constexpr int count = 64;
  for (int i = 0; i <= count; ++i) {
    const double t = double(i) / count;
    // Lightness climbs steadily while the hue turns from violet over blue and green to yellow.
    const double chroma = 0.115 + 0.06 * t * t - 0.035 * std::sin(std::numbers::pi * t);
    stops.push_back(from_lch(0.27 + 0.65 * t, chroma, 302 - 197 * t));
  }
  Table table;
  fill_evenly(table, 0, 255, stops);
  return table;
}

Table diverging_table() {
  const Lab middle{0.975, 0, 0};
  const auto arm = [&](double hue, double chroma) {
    return std::vector<Lab>{middle, from_lch(0.70, chroma * 0.75, hue), from_lch(0.44, chroma, hue)};
  };
  // Two arms of 128 colours, so 127 and 128 are both the middle and zero lies exactly between them.
  Table upper, table;
  fill_evenly(upper, 128, 255, arm(262, 0.17));
  fill_evenly(table, 128, 255, arm(27, 0.17));
  for (int i = 0; i < 128; ++i) table[i] = upper[255 - i];
  return table;
}

}  // namespace

Color mix(Color a, Color b, double amount) {
  const auto channel = [&](int from, int to) {
    return static_cast<std::uint8_t>(std::lround(from + amount * (to - from)));
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b)};
}

double lightness(Color color) {
  const auto linear = [](int value) { return std::pow(value / 255.0, 2.2); };
  return std::cbrt(0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b));
}

Color palette(Index index) {
  static constexpr std::array<Color, 8> colors{{{47, 111, 222},
                                                {238, 127, 38},
                                                {22, 153, 122},
                                                {211, 60, 92},
                                                {137, 87, 214},
                                                {52, 165, 214},
                                                {176, 141, 20},
                                                {100, 113, 130}}};
  return colors[(index % 8 + 8) % 8];
}

Color map_color(Colors colors, double position) {
  static const Table sequential = sequential_table(), diverging = diverging_table();
  const Table& table = colors == Colors::sequential ? sequential : diverging;
  return table[std::lround(255 * std::clamp(position, 0.0, 1.0))];
}

Color ColorScale::operator()(float value) const {
  if (std::isnan(value)) return paint::not_a_number;
  if (std::isinf(value)) return value > 0 ? paint::plus_infinity : paint::minus_infinity;
  return map_color(colors, (value - low) / (high - low));
}

ColorScale fit_scale(const std::vector<const Matrix*>& matrices, Colors colors, std::optional<double> low,
                     std::optional<double> high) {
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
  for (const Matrix* matrix : matrices)
    for (const float value : matrix->values)
      if (std::isfinite(value)) {
        smallest = std::min<double>(smallest, value);
        largest = std::max<double>(largest, value);
      }
  if (smallest > largest) smallest = 0, largest = 1;  // nothing finite to measure
  // Weights and probabilities that nearly reach zero are easier to read on a scale that does.
  if (smallest > 0 && smallest < 0.1 * largest) smallest = 0;
  ColorScale scale{colors, low.value_or(smallest), high.value_or(largest)};
  if (colors == Colors::diverging) {
    scale.high = std::max(std::abs(scale.low), std::abs(scale.high));
    if (scale.high == 0) scale.high = 1;
    scale.low = -scale.high;
  }
  if (!(scale.low < scale.high)) {  // one value only: give it a scale that reaches to zero
    scale.high = std::max({scale.low, scale.high, 0.0});
    scale.low = std::min(scale.low, 0.0);
    if (scale.low == scale.high) scale.high = 1;
  }
  return scale;
}

}  // namespace attn::viz
