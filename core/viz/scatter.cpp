#include "core/viz/chart.hpp"

#include <algorithm>  // max, min
#include <cmath>      // floor, isfinite
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/viz/plot.hpp"

namespace attn::viz {

namespace {

// Sure of a class: its colour, pale. In doubt between two: nearly white, so the boundary is a light seam.
Color decision_color(float value) {
  if (!std::isfinite(value)) return paint::not_a_number;
  const int nearest = int(std::floor(value + 0.5f));
  const double doubt = 2 * std::abs(value - float(nearest));
  return mix(palette(nearest), paint::white, 0.68 + 0.28 * doubt);
}

// Without a background the axes fit the points, with a little room around them.
Grid fit_grid(const Points& points) {
  Grid grid{.x_low = 1e300, .x_high = -1e300, .y_low = 1e300, .y_high = -1e300};
  for (Index i = 0; i < std::ssize(points.x); ++i) {
    if (!std::isfinite(points.x[i]) || !std::isfinite(points.y[i])) continue;
    grid.x_low = std::min(grid.x_low, points.x[i]), grid.x_high = std::max(grid.x_high, points.x[i]);
    grid.y_low = std::min(grid.y_low, points.y[i]), grid.y_high = std::max(grid.y_high, points.y[i]);
  }
  if (grid.x_low > grid.x_high) return Grid{};
  const double x_pad = std::max(0.06 * (grid.x_high - grid.x_low), 1e-9 + 1e-3 * std::abs(grid.x_high));
  const double y_pad = std::max(0.06 * (grid.y_high - grid.y_low), 1e-9 + 1e-3 * std::abs(grid.y_high));
  grid.x_low -= x_pad, grid.x_high += x_pad, grid.y_low -= y_pad, grid.y_high += y_pad;
  return grid;
}

}  // namespace

Image scatter(const Points& points, const ScatterOptions& options) {
  if (points.x.size() != points.y.size()) fail("scatter: {} x and {} y", points.x.size(), points.y.size());
  if (!points.classes.empty() && points.classes.size() != points.x.size())
    fail("scatter: {} classes for {} points", points.classes.size(), points.x.size());
  const Matrix& background = options.background;
  const bool has_background = !background.values.empty();
  if (has_background && (background.rows != options.grid.rows || background.cols != options.grid.cols))
    fail("scatter: the background is {} x {}, its grid {} x {}", background.rows, background.cols,
         options.grid.rows, options.grid.cols);
  const Grid grid = has_background ? options.grid : fit_grid(points);
  if (!(grid.x_low < grid.x_high) || !(grid.y_low < grid.y_high))
    fail("scatter: a grid from ({}, {}) to ({}, {}) is empty", grid.x_low, grid.y_low, grid.x_high,
         grid.y_high);

  std::vector<LegendEntry> legend;
  for (Index i = 0; i < std::ssize(points.class_names); ++i)
    legend.push_back({points.class_names[i], palette(i), LegendEntry::Mark::point});
  const PlotFrame frame{.heading = {.title = options.title, .legend = legend},
                        .x_title = options.x_title,
                        .y_title = options.y_title,
                        .width = options.width,
                        .height = options.height};
  Plot plot(frame, make_axis(grid.x_low, grid.x_high, Scale::linear, options.width / 90, false),
            make_axis(grid.y_low, grid.y_high, Scale::linear, options.height / 80, false));

  const Rect page = plot.image.clip;
  plot.image.clip = plot.area;
  if (has_background)
    for (int y = 0; y < plot.area.height; ++y)
      for (int x = 0; x < plot.area.width; ++x) {
        const Index row = Index((y + 0.5) / plot.area.height * double(grid.rows));
        const Index column = Index((x + 0.5) / plot.area.width * double(grid.cols));
        const float decision = background(std::min(row, grid.rows - 1), std::min(column, grid.cols - 1));
        plot.image.blend(int(plot.area.x) + x, int(plot.area.y) + y, decision_color(decision));
      }
  const double radius = points.x.size() > 1000 ? 2.5 : points.x.size() > 300 ? 3.2 : 4;
  for (Index i = 0; i < std::ssize(points.x); ++i) {
    if (!std::isfinite(points.x[i]) || !std::isfinite(points.y[i])) continue;
    const Point at = plot.at(points.x[i], points.y[i]);
    const int which = points.classes.empty() ? 0 : points.classes[i];
    fill_circle(plot.image, at, radius + 1, paint::white);
    fill_circle(plot.image, at, radius, palette(which));
  }
  plot.image.clip = page;
  return plot.image;
}

}  // namespace attn::viz
