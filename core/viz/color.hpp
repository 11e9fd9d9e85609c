// Colours: what things on the page are painted with, and how a number becomes a colour.
//
// Two maps, both computed in OKLab (where distance is close to what the eye sees) and walked at an even pace,
// so that equal steps of value look like equal steps of colour:
//   sequential   dark violet, blue, green, yellow: lighter is more
//   diverging    blue, near white at zero, red: always symmetric about zero
// NaN and the infinities are not on any scale: each has a colour of its own (in `paint`).
#pragma once

#include <cstdint>   // uint8_t
#include <optional>  // optional
#include <vector>    // vector

#include "core/viz/matrix.hpp"

namespace attn::viz {

struct Color {
  std::uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Color&) const = default;
};

// `amount` 0 gives a, 1 gives b.
Color mix(Color a, Color b, double amount);
// Lightness as the eye sees it: 0 black, 1 white.
double lightness(Color color);

namespace paint {
inline constexpr Color white{255, 255, 255}, ink{36, 41, 51}, muted{98, 107, 120}, faint{170, 177, 187},
    grid{231, 234, 239}, panel{246, 247, 250};
inline constexpr Color not_a_number{226, 61, 152}, plus_infinity{240, 90, 36}, minus_infinity{200, 204, 211};
}  // namespace paint

// Colour number `index` of the eight that tell series apart; counts round.
Color palette(Index index);

enum class Colors { sequential, diverging };

// Colour at `position` 0..1 along a map.
Color map_color(Colors colors, double position);

struct ColorScale {
  Colors colors = Colors::sequential;
  double low = 0, high = 1;

  Color operator()(float value) const;
};

// A scale from the smallest finite value of all matrices (or zero, where that is near) to the largest, unless
// low or high are given; a diverging one is widened to be symmetric about zero.
ColorScale fit_scale(const std::vector<const Matrix*>& matrices, Colors colors, std::optional<double> low,
                     std::optional<double> high);

}  // namespace attn::viz
