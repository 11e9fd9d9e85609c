// What most pictures have around their subject: a title, a legend, a bar of colours, labels along an edge.
// For use inside of core/viz.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/axis.hpp"
#include "core/viz/color.hpp"
#include "core/viz/image.hpp"

namespace attn::viz {

inline constexpr int margin = 20;  // white around every picture
inline constexpr double title_size = 17, label_size = 14, small_size = 13;

// A bold title, wrapped to the width.
int title_height(const std::string& title, double width, double size = title_size);
void draw_title(Image& image, const std::string& title, Point top_left, double width,
                double size = title_size);

struct LegendEntry {
  std::string name;
  Color color = paint::ink;
  enum class Mark { Line, Dashes, Point, Box } mark = Mark::Box;
};
// Entries from left to right, wrapped to the width.
int legend_height(const std::vector<LegendEntry>& entries, double width);
void draw_legend(Image& image, const std::vector<LegendEntry>& entries, Point top_left, double width);

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
