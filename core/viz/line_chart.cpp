#include <algorithm>  // find_if
#include <cmath>      // isfinite

#include "core/error.hpp"
#include "core/viz/chart.hpp"
#include "core/viz/plot.hpp"
#include "core/viz/text.hpp"

namespace attn::viz {

namespace {

// The mean of what came before, each older value counting `smooth` times less; corrected for its start at
// nothing.
Numbers running_mean(const Numbers& values, double smooth) {
  Numbers means;
  double sum = 0, weight = 0;
  for (const double value : values) {
    if (std::isfinite(value)) sum = smooth * sum + value, weight = smooth * weight + 1;
    means.push_back(std::isfinite(value) ? sum / weight : value);
  }
  return means;
}

void cross(Image& image, Point at, Color color) {
  line(image, {at.x - 4, at.y - 4}, {at.x + 4, at.y + 4}, color, 2);
  line(image, {at.x - 4, at.y + 4}, {at.x + 4, at.y - 4}, color, 2);
}

void draw_curve(Plot& plot, const Numbers& x, const Numbers& y, Color color, double width, bool dashed) {
  std::vector<Point> piece;
  for (std::size_t i = 0; i <= y.size(); ++i) {
    if (i < y.size() && plot.x.can_show(x[i]) && plot.y.can_show(y[i])) {
      piece.push_back(plot.at(x[i], y[i]));
    } else if (!piece.empty()) {
      polyline(plot.image, piece, color, width, dashed);
      piece.clear();
    }
  }
}

void draw_fill(Plot& plot, const Numbers& x, const Numbers& y, Color color) {
  for (std::size_t i = 1; i < y.size(); ++i) {
    if (!plot.x.can_show(x[i - 1]) || !plot.x.can_show(x[i])) continue;
    if (!plot.y.can_show(y[i - 1]) || !plot.y.can_show(y[i])) continue;
    const Point a = plot.at(x[i - 1], y[i - 1]), b = plot.at(x[i], y[i]);
    for (int column = static_cast<int>(std::ceil(a.x - 0.5)); column + 0.5 < b.x; ++column) {
      const double height = a.y + (b.y - a.y) * (column + 0.5 - a.x) / (b.x - a.x);
      fill_rect(plot.image, {static_cast<double>(column), height, 1, plot.area.bottom() - height}, color,
                0.16);
    }
  }
}

// The points of a series, and a cross at the start of each run of values that have no place on the page.
void draw_marks(Plot& plot, const Series& series, const Numbers& x, Color color) {
  const bool alone = series.y.size() == 1;  // one value makes no line, but it can be seen
  bool was_shown = true;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (!plot.x.can_show(x[i])) continue;
    const bool shown = plot.y.can_show(series.y[i]);
    // Zero on a logarithmic axis and minus infinity lie below everything, the others above.
    const double edge = series.y[i] <= 0 ? plot.area.bottom() - 5 : plot.area.y + 5;
    if (!shown && was_shown) cross(plot.image, {plot.at(x[i], plot.y.high).x, edge}, color);
    if (shown && (series.points || !series.line || alone)) {
      fill_circle(plot.image, plot.at(x[i], series.y[i]), 5, paint::white);
      fill_circle(plot.image, plot.at(x[i], series.y[i]), 4, color);
    }
    was_shown = shown;
  }
}

// Nothing but paper and grid lines, and not in the picture's margin.
bool is_blank(const Image& image, const Rect& place) {
  constexpr double edge = margin / 2.0;
  if (place.x < edge || place.y < edge || place.right() > image.width() - edge ||
      place.bottom() > image.height() - edge)
    return false;
  for (int y = static_cast<int>(place.y); y < place.bottom(); ++y)
    for (int x = static_cast<int>(place.x); x < place.right(); ++x)
      if (lightness(image.at(x, y)) < 0.9) return false;
  return true;
}

// Text beside each point, at the first of four places where it covers nothing.
void draw_point_labels(Plot& plot, const Series& series, const Numbers& x, Color color) {
  for (std::size_t i = 0; i < series.labels.size(); ++i) {
    if (!plot.x.can_show(x[i]) || !plot.y.can_show(series.y[i])) continue;
    const Point at = plot.at(x[i], series.y[i]);
    const double width = text_width(series.labels[i], small_size);
    const Rect places[] = {{at.x + 9, at.y - 7, width, 14},
                           {at.x - 9 - width, at.y - 7, width, 14},
                           {at.x - width / 2, at.y - 22, width, 14},
                           {at.x - width / 2, at.y + 8, width, 14}};
    const Rect* best = std::find_if(std::begin(places), std::end(places),
                                    [&](const Rect& place) { return is_blank(plot.image, place); });
    if (best == std::end(places)) best = places + (at.x > plot.area.center().x);  // towards the middle
    draw_text(plot.image, {best->x, best->center().y}, series.labels[i],
              {.size = small_size, .color = mix(color, paint::ink, 0.35)});
  }
}

void draw_guides(Plot& plot, const ChartOptions& options) {
  const TextStyle style{.size = small_size, .color = paint::muted};
  for (const Guide& guide : options.x_guides) {
    if (!plot.x.can_show(guide.at) || guide.at < plot.x.low || guide.at > plot.x.high) continue;
    const double x = plot.at(guide.at, plot.y.low).x;
    polyline(plot.image, {{x, plot.area.y}, {x, plot.area.bottom()}}, paint::muted, 1.2, true);
    TextStyle aligned = style;
    const bool to_left = x + 7 + text_width(guide.label, small_size) > plot.area.right();
    if (to_left) aligned.align = Align::right;
    draw_text(plot.image, {to_left ? x - 7 : x + 7, plot.area.y + 9}, guide.label, aligned);
  }
  for (const Guide& guide : options.y_guides) {
    if (!plot.y.can_show(guide.at) || guide.at < plot.y.low || guide.at > plot.y.high) continue;
    const double y = plot.at(plot.x.low, guide.at).y;
    polyline(plot.image, {{plot.area.x, y}, {plot.area.right(), y}}, paint::muted, 1.2, true);
    TextStyle aligned = style;
    aligned.align = Align::right;
    draw_text(plot.image, {plot.area.right() - 4, y - 9}, guide.label, aligned);
  }
}

}  // namespace

Image line_chart(const std::vector<Series>& series, const ChartOptions& options) {
  const ChartAxes axes = fit_axes(series, options, options.width / 90, options.height / 70);
  PlotFrame frame{.title = options.title,
                  .x_title = options.x_title,
                  .y_title = options.y_title,
                  .width = options.width,
                  .height = options.height};
  const auto color_of = [&](std::size_t i) {
    return palette(series[i].color < 0 ? static_cast<int>(i) : series[i].color);
  };
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Series& each = series[i];
    using Mark = LegendEntry::Mark;
    if (!each.name.empty())
      frame.legend.push_back({each.name, color_of(i),
                              !each.line    ? Mark::Point
                              : each.dashed ? Mark::Dashes
                                            : Mark::Line});
  }
  Plot plot(frame, axes.x, axes.y);
  if (!axes.has_data) {
    fill_rect(plot.image, {plot.area.center().x - 40, plot.area.center().y - 12, 80, 24}, paint::white);
    draw_text(plot.image, plot.area.center(), "no data", {.color = paint::muted, .align = Align::center});
  }

  const Rect page = plot.image.clip;
  plot.image.clip = {plot.area.x - 4, plot.area.y - 4, plot.area.width + 9, plot.area.height + 6};
  for (std::size_t i = 0; i < series.size(); ++i)
    if (series[i].fill) draw_fill(plot, axes.xs[i], series[i].y, color_of(i));
  draw_guides(plot, options);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Color color = color_of(i);
    const bool smoothed = series[i].smooth > 0;
    if (series[i].line)
      draw_curve(plot, axes.xs[i], series[i].y, smoothed ? mix(color, paint::white, 0.7) : color,
                 smoothed ? 1.2 : 2.2, series[i].dashed);
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Color color = color_of(i);
    if (series[i].line && series[i].smooth > 0)
      draw_curve(plot, axes.xs[i], running_mean(series[i].y, series[i].smooth), color, 2.2, series[i].dashed);
    draw_marks(plot, series[i], axes.xs[i], color);
  }
  plot.image.clip = page;
  for (std::size_t i = 0; i < series.size(); ++i) draw_point_labels(plot, series[i], axes.xs[i], color_of(i));
  return plot.image;
}

void line_chart(const std::filesystem::path& path, const std::vector<Series>& series,
                const ChartOptions& options) {
  write_png(path, line_chart(series, options));
}

}  // namespace attn::viz
