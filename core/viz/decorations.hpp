// What most pictures have around their subject: a title, a legend, a bar of colours, labels along an edge.
// For use inside core/viz.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/axis.hpp"
#include "core/viz/color.hpp"
#include "core/viz/image.hpp"
#include "core/viz/text.hpp"

namespace attn::viz {

inline constexpr int margin = 20;  // white around every picture
inline constexpr double title_size = 17, label_size = 14, small_size = 13;

constexpr TextStyle small_text(Align align = Align::left, double angle = 0) {
  return {.size = small_size, .color = paint::muted, .align = align, .angle = angle};
}
constexpr TextStyle axis_title(double angle = 0) {
  return {.color = paint::muted, .align = Align::center, .angle = angle};
}

double widest(const std::vector<std::string>& texts, double size = small_size);

struct LegendEntry {
  std::string name;
  Color color = paint::ink;
  enum class Mark { line, dashes, point, box } mark = Mark::box;
};

// The top of a picture: a bold title and below it a legend, both wrapped to the width of the page.
struct Heading {
  std::string title = {};
  std::vector<LegendEntry> legend = {};
  double size = title_size;

  int title_height(int page_width) const;
  int height(int page_width) const;  // of title and legend, from the margin down
  void draw(Image& image) const;
};

// A vertical bar with its ticks, and below it a swatch for each special value that occurs.
struct ColorBar {
  ColorScale scale;
  Axis axis;
  std::vector<LegendEntry> special;  // NaN and infinities that occur
  std::string title;

  ColorBar(const ColorScale& scale, const std::vector<const Matrix*>& matrices, std::string title);
  int width() const;
  int least_height() const;
  void draw(Image& image, Point top_left, double height) const;
};

// Labels along a horizontal edge: level when they fit, else slanted, else upright with some left out.
struct EdgeLabels {
  std::vector<std::string> texts;  // already shortened; empty where none is shown
  double angle = 0, size = label_size;
  Color color = paint::ink;
  double height = 0;    // room they need
  double overhang = 0;  // how far the last reaches beyond its own slot

  EdgeLabels() = default;
  EdgeLabels(const std::vector<std::string>& labels, double slot, double longest);
  // `above`: the labels stand on the edge at y; otherwise they hang below it.
  void draw(Image& image, double left, double slot, double y, bool above) const;
};

}  // namespace attn::viz
