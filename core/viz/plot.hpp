// Plot: an empty chart, ready to be drawn into: title, legend, grid, ticks and axis titles around an area of
// pixels. For use inside core/viz, and by lessons that draw a chart of their own.
#pragma once

#include <string>  // string

#include "core/viz/axis.hpp"
#include "core/viz/decorations.hpp"
#include "core/viz/image.hpp"

namespace attn::viz {

struct PlotFrame {
  Heading heading = {};
  std::string x_title = {}, y_title = {};
  int width = 720, height = 440;
  // Room that the caller needs around the area; at the left it lies between the area and the labels of y.
  double extra_top = 0, extra_left = 0, extra_right = 0, extra_bottom = 0;
  bool x_grid = true, y_grid = true;
  bool y_names = false;  // the labels of y are names rather than numbers
};

struct Plot {
  Image image;
  Rect area;
  Axis x, y;

  Plot(const PlotFrame& frame, Axis x, Axis y);
  Point at(double x_value, double y_value) const;
  bool can_show(double x_value, double y_value) const { return x.can_show(x_value) && y.can_show(y_value); }
};

}  // namespace attn::viz
