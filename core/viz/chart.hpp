// Charts: lines, bars and points.
//
//   line_chart({{.name = "SGD", .y = sgd}, {.name = "Adam", .y = adam}},
//              {.title = "Loss", .x_title = "step", .y_title = "cross-entropy", .y_scale = Scale::log10});
//   bar_chart({"ijk", "ikj", "tiled"}, {0.9, 6.2, 11.4}, {.value_title = "GFLOP/s"});
//   scatter({.x = x, .y = y, .classes = classes}, {.grid = grid, .background = decision});
//
// Ticks are at round numbers; the legend stands above the plot, where it covers nothing. NaN and infinity
// (and on a logarithmic axis, zero and less) break a line and leave a small cross at the edge they lie
// beyond: a loss that blew up must be seen.
#pragma once

#include <optional>  // optional
#include <string>    // string
#include <vector>    // vector

#include "core/viz/axis.hpp"
#include "core/viz/image.hpp"
#include "core/viz/matrix.hpp"

namespace attn::viz {

struct Series {
  std::string name = {};
  Numbers y = {};
  Numbers x = {};  // 0, 1, 2, ... when left out
  bool line = true, points = false, dashed = false;
  bool fill = false;                     // tint the area down to the lower edge
  double smooth = 0;                     // 0.9: the running mean is drawn strongly, the raw values palely
  std::vector<std::string> labels = {};  // text beside each point
  int color = -1;                        // of the palette; -1: the series' own number
};

struct Guide {  // a thin dashed line across the plot: a limit, a target, where training ended
  double at = 0;
  std::string label = {};
};

struct ChartOptions {
  std::string title = {}, x_title = {}, y_title = {};
  Scale x_scale = Scale::linear, y_scale = Scale::linear;
  std::optional<double> x_low = {}, x_high = {}, y_low = {}, y_high = {};  // ends of the axes
  std::vector<Guide> x_guides = {}, y_guides = {};  // vertical lines at x, horizontal lines at y
  int width = 720, height = 440;
};

Image line_chart(const std::vector<Series>& series, const ChartOptions& options = {});

// The axes that line_chart and its twin in the terminal use, and the x of each series written out.
struct ChartAxes {
  Axis x = {}, y = {};
  std::vector<Numbers> xs = {};
  bool has_data = false;
};
ChartAxes fit_axes(const std::vector<Series>& series, const ChartOptions& options, int x_ticks, int y_ticks);

// How values are distributed, as a series to be drawn: the share of them in each of `bins` equal intervals of
// [low, high] (of all of them, when not given). Values that are not finite are left out.
Series histogram(const std::string& name, const Numbers& values, int bins = 40,
                 std::optional<double> low = {}, std::optional<double> high = {});

struct BarSeries {
  std::string name = {};
  Numbers values = {};
};

struct BarOptions {
  std::string title = {}, value_title = {};
  bool vertical = false;  // bars grow upwards; otherwise to the right, which leaves room for long labels
  bool numbers = true;    // write the value at the end of each bar
  std::string unit = {};  // written after each of these
  std::vector<int> colors = {};     // of the palette, one for each bar of a single series; -1 is grey
  std::optional<double> high = {};  // where the axis ends
  int width = 720, height = 400;    // the height counts when vertical; otherwise the bars decide
};

Image bar_chart(const std::vector<std::string>& labels, const Numbers& values,
                const BarOptions& options = {});
// Several bars for each label, with a legend.
Image grouped_bar_chart(const std::vector<std::string>& labels, const std::vector<BarSeries>& series,
                        const BarOptions& options = {});

struct Points {
  Numbers x = {}, y = {};
  std::vector<int> classes = {};  // 0, 1, ... for each point; all 0 when left out
  std::vector<std::string> class_names = {};
};

// Where a decision background is computed: at cell centres, row 0 at the top as in every picture.
struct Grid {
  double x_low = -1, x_high = 1, y_low = -1, y_high = 1;
  Index rows = 100, cols = 100;
  double x(Index column) const { return x_low + (x_high - x_low) * (double(column) + 0.5) / double(cols); }
  double y(Index row) const { return y_high - (y_high - y_low) * (double(row) + 0.5) / double(rows); }
};

struct ScatterOptions {
  std::string title = {}, x_title = {}, y_title = {};
  Grid grid = {};
  // What the model decides at each point of the grid: 0 for class 0, 1 for class 1, ...; 0.3 is in between.
  Matrix background = {};
  int width = 480, height = 480;
};

Image scatter(const Points& points, const ScatterOptions& options = {});

}  // namespace attn::viz
