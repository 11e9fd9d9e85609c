#include "lessons/04_learning/pictures.hpp"

#include <algorithm>  // max, min
#include <cmath>      // ceil, cos, sin, sqrt
#include <iterator>   // ssize

#include "core/viz/arrange.hpp"
#include "core/viz/plot.hpp"

namespace attn {

using namespace viz;

namespace {

Image one_walk(const Walk& walk, Color color, bool last) {
  Plot plot({.x_title = last ? "x: gentle" : "",
             .y_title = "y: steep",
             .width = 760,
             .height = last ? 230 : 205,
             .x_grid = false,
             .y_grid = false},
            make_axis(-10, 4, Scale::linear, 7, false), make_axis(-1, 1, Scale::linear, 2, false));
  const Rect page = plot.image.clip;
  plot.image.clip = plot.area;
  // (x² + 100 y²) / 2 = height is an ellipse, ten times as long as it is wide.
  for (double height = 0.25; height < 200; height *= 2) {
    const double radius = std::sqrt(2 * height);
    std::vector<Point> ring;
    for (int i = 0; i <= 200; ++i) {
      const double angle = 2 * M_PI * i / 200;
      ring.push_back(plot.at(radius * std::cos(angle), radius / 10 * std::sin(angle)));
    }
    polyline(plot.image, ring, {paint::faint, 1});
  }
  std::vector<Point> path;
  for (Index step = 0; step < std::ssize(walk.x); ++step) path.push_back(plot.at(walk.x[step], walk.y[step]));
  polyline(plot.image, path, {color, 1.6});
  for (const Point& at : path) fill_circle(plot.image, at, 2.6, color);
  fill_circle(plot.image, plot.at(0, 0), 5, paint::ink);
  fill_circle(plot.image, path.front(), 5, paint::ink);
  plot.image.clip = page;
  const TextStyle bold{.size = 13, .bold = true, .align = Align::center};
  draw_text(plot.image, {path.front().x, path.front().y - 15}, "start", bold);
  draw_text(plot.image, {plot.at(0, 0).x, plot.at(0, 0).y - 16}, "bottom", bold);
  const double width = text_width(walk.name, 14, true);
  fill_rect(plot.image, {plot.area.right() - width - 16, plot.area.y + 6, width + 12, 22}, paint::white);
  draw_text(plot.image, {plot.area.right() - 10, plot.area.y + 17}, walk.name,
            {.color = color, .bold = true, .align = Align::right});
  return plot.image;
}

}  // namespace

Image valley_picture(const std::vector<Walk>& walks, const std::string& title) {
  std::vector<Image> panels;
  for (const Walk& walk : walks)
    panels.push_back(one_walk(walk, palette(std::ssize(panels)), panels.size() + 1 == walks.size()));
  return column(panels, {.title = title});
}

Image band_chart(const std::vector<Band>& bands, const ChartOptions& options) {
  std::vector<Series> extent;  // all that has to fit
  std::vector<LegendEntry> legend;
  for (const Band& band : bands) {
    legend.push_back({band.name, palette(std::ssize(legend)), LegendEntry::Mark::line});
    extent.push_back({.y = band.low, .x = band.x});
    extent.push_back({.y = band.high, .x = band.x});
  }
  const ChartAxes axes = fit_axes(extent, options, options.width / 90, options.height / 70);
  Plot plot({.heading = {.title = options.title, .legend = legend},
             .x_title = options.x_title,
             .y_title = options.y_title,
             .width = options.width,
             .height = options.height},
            axes.x, axes.y);
  for (const Guide& guide : options.y_guides) {
    const double y = plot.at(plot.x.low, guide.at).y;
    line(plot.image, {plot.area.x, y}, {plot.area.right(), y}, {paint::muted, 1.2, true});
    draw_text(plot.image, {plot.area.right() - 4, y - 9}, guide.label, small_text(Align::right));
  }
  for (Index i = 0; i < std::ssize(bands); ++i) {
    const Band& band = bands[i];
    std::vector<Point> middle;
    for (Index n = 0; n < std::ssize(band.x); ++n) middle.push_back(plot.at(band.x[n], band.middle[n]));
    for (Index n = 1; n < std::ssize(band.x); ++n) {
      const double left = middle[n - 1].x, right = middle[n].x;
      const auto between = [&](const Numbers& edge, double x) {
        const double a = plot.at(band.x[n - 1], edge[n - 1]).y, b = plot.at(band.x[n], edge[n]).y;
        return a + (b - a) * (x - left) / (right - left);
      };
      for (int column = int(std::ceil(left - 0.5)); column + 0.5 < right; ++column) {
        const double top = between(band.high, column + 0.5), bottom = between(band.low, column + 0.5);
        fill_rect(plot.image, {double(column), top, 1, std::max(bottom - top, 1.0)}, palette(i), 0.15);
      }
    }
    polyline(plot.image, middle, {palette(i), 2.2});
    if (std::ssize(band.x) > 12) continue;
    for (const Point& at : middle) fill_circle(plot.image, at, 4, palette(i));
  }
  return plot.image;
}

}  // namespace attn
