#include "core/viz/chart.hpp"

#include <algorithm>  // find_if
#include <cmath>      // ceil, isfinite
#include <iterator>   // ssize

#include "core/viz/plot.hpp"

namespace attn::viz {

namespace {

// The mean so far, each older value counting `smooth` times less; corrected for its start at nothing.
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
  line(image, {at.x - 4, at.y - 4}, {at.x + 4, at.y + 4}, {color, 2});
  line(image, {at.x - 4, at.y + 4}, {at.x + 4, at.y - 4}, {color, 2});
}

void draw_curve(Plot& plot, const Numbers& x, const Numbers& y, const Stroke& stroke) {
  std::vector<Point> piece;
  for (Index i = 0; i <= std::ssize(y); ++i) {
    if (i < std::ssize(y) && plot.can_show(x[i], y[i])) {
      piece.push_back(plot.at(x[i], y[i]));
    } else if (!piece.empty()) {
      polyline(plot.image, piece, stroke);
      piece.clear();
    }
  }
}

void draw_fill(Plot& plot, const Numbers& x, const Numbers& y, Color color) {
  for (Index i = 1; i < std::ssize(y); ++i) {
    if (!plot.can_show(x[i - 1], y[i - 1]) || !plot.can_show(x[i], y[i])) continue;
    const Point a = plot.at(x[i - 1], y[i - 1]), b = plot.at(x[i], y[i]);
    for (int column = int(std::ceil(a.x - 0.5)); column + 0.5 < b.x; ++column) {
      const double height = a.y + (b.y - a.y) * (column + 0.5 - a.x) / (b.x - a.x);
      fill_rect(plot.image, {double(column), height, 1, plot.area.bottom() - height}, color, 0.16);
    }
  }
}

// The points of a series, and a cross at the start of each run of values that have no place on the page.
void draw_marks(Plot& plot, const Series& series, const Numbers& x, Color color) {
  const bool alone = series.y.size() == 1;  // one value makes no line, but it can be seen
  bool was_shown = true;
  for (Index i = 0; i < std::ssize(series.y); ++i) {
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
  for (int y = int(place.y); y < place.bottom(); ++y)
    for (int x = int(place.x); x < place.right(); ++x)
      if (lightness(image.at(x, y)) < 0.9) return false;
  return true;
}

// Text beside each point, at the first of four places where it covers nothing.
void draw_point_labels(Plot& plot, const Series& series, const Numbers& x, Color color) {
  for (Index i = 0; i < std::ssize(series.labels); ++i) {
    if (!plot.can_show(x[i], series.y[i])) continue;
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
  const auto within = [](const Axis& axis, double at) {
    return axis.can_show(at) && at >= axis.low && at <= axis.high;
  };
  const Stroke stroke{paint::muted, 1.2, true};
  for (const Guide& guide : options.x_guides) {
    if (!within(plot.x, guide.at)) continue;
    const double x = plot.at(guide.at, plot.y.low).x;
    line(plot.image, {x, plot.area.y}, {x, plot.area.bottom()}, stroke);
    const bool to_left = x + 7 + text_width(guide.label, small_size) > plot.area.right();
    draw_text(plot.image, {to_left ? x - 7 : x + 7, plot.area.y + 9}, guide.label,
              small_text(to_left ? Align::right : Align::left));
  }
  for (const Guide& guide : options.y_guides) {
    if (!within(plot.y, guide.at)) continue;
    const double y = plot.at(plot.x.low, guide.at).y;
    line(plot.image, {plot.area.x, y}, {plot.area.right(), y}, stroke);
    draw_text(plot.image, {plot.area.right() - 4, y - 9}, guide.label, small_text(Align::right));
  }
}

}  // namespace

Image line_chart(const std::vector<Series>& series, const ChartOptions& options) {
  const ChartAxes axes = fit_axes(series, options, options.width / 90, options.height / 70);
  const Index count = std::ssize(series);
  const auto color_of = [&](Index i) { return palette(series[i].color < 0 ? i : series[i].color); };
  using Mark = LegendEntry::Mark;
  std::vector<LegendEntry> legend;
  for (Index i = 0; i < count; ++i) {
    const Mark mark = !series[i].line ? Mark::point : series[i].dashed ? Mark::dashes : Mark::line;
    if (!series[i].name.empty()) legend.push_back({series[i].name, color_of(i), mark});
  }
  const PlotFrame frame{.heading = {.title = options.title, .legend = legend},
                        .x_title = options.x_title,
                        .y_title = options.y_title,
                        .width = options.width,
                        .height = options.height};
  Plot plot(frame, axes.x, axes.y);
  if (!axes.has_data) {
    fill_rect(plot.image, {plot.area.center().x - 40, plot.area.center().y - 12, 80, 24}, paint::white);
    draw_text(plot.image, plot.area.center(), "no data", axis_title());
  }

  const Rect page = plot.image.clip;
  plot.image.clip = {plot.area.x - 4, plot.area.y - 4, plot.area.width + 9, plot.area.height + 6};
  for (Index i = 0; i < count; ++i)
    if (series[i].fill) draw_fill(plot, axes.xs[i], series[i].y, color_of(i));
  draw_guides(plot, options);
  for (Index i = 0; i < count; ++i) {
    if (!series[i].line) continue;
    Stroke stroke{color_of(i), 2.2, series[i].dashed};
    if (series[i].smooth > 0) stroke.color = mix(stroke.color, paint::white, 0.7), stroke.width = 1.2;
    draw_curve(plot, axes.xs[i], series[i].y, stroke);
  }
  for (Index i = 0; i < count; ++i) {
    if (series[i].line && series[i].smooth > 0)
      draw_curve(plot, axes.xs[i], running_mean(series[i].y, series[i].smooth),
                 {color_of(i), 2.2, series[i].dashed});
    draw_marks(plot, series[i], axes.xs[i], color_of(i));
  }
  plot.image.clip = page;
  for (Index i = 0; i < count; ++i) draw_point_labels(plot, series[i], axes.xs[i], color_of(i));
  return plot.image;
}

}  // namespace attn::viz
