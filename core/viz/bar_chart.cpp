#include "core/viz/chart.hpp"

#include <algorithm>  // any_of, clamp, max, min
#include <cmath>      // abs, isfinite, round
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/viz/plot.hpp"

namespace attn::viz {

namespace {

void check(const std::vector<std::string>& labels, const std::vector<BarSeries>& series,
           const BarOptions& options) {
  for (const BarSeries& each : series)
    if (each.values.size() != labels.size())
      fail("bar_chart: {} values for {} labels{}", each.values.size(), labels.size(),
           each.name.empty() ? "" : " in series '" + each.name + "'");
  if (!options.colors.empty() && (series.size() != 1 || options.colors.size() != labels.size()))
    fail("bar_chart: {} colours: one for each of the {} bars of a single series is needed",
         options.colors.size(), labels.size());
}

// Bars start at zero, always: one that does not misleads.
Axis value_axis(const std::vector<BarSeries>& series, const BarOptions& options, int wanted) {
  double low = 0, high = 0;
  for (const BarSeries& each : series)
    for (const double value : each.values)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  return make_axis(low, options.high.value_or(high), Scale::linear, wanted, !options.high);
}

// Numbers of such bars stand on the other side of zero, where the names are, and need room there.
bool any_below_zero(const std::vector<BarSeries>& series) {
  return std::any_of(series.begin(), series.end(), [](const BarSeries& each) {
    return std::any_of(each.values.begin(), each.values.end(), [](double value) { return value < 0; });
  });
}

std::string number(double value, const BarOptions& options) { return format_number(value) + options.unit; }

Color bar_color(const BarOptions& options, Index bar, Index series) {
  if (options.colors.empty()) return palette(series);
  return options.colors[bar] < 0 ? mix(paint::faint, paint::white, 0.35) : palette(options.colors[bar]);
}

std::vector<LegendEntry> legend_of(const std::vector<BarSeries>& series) {
  std::vector<LegendEntry> legend;
  for (Index i = 0; i < std::ssize(series); ++i)
    if (!series[i].name.empty()) legend.push_back({series[i].name, palette(i)});
  return legend;
}

// A bar whose far end is rounded and whose foot stands square on the axis.
void draw_bar(Image& image, const Rect& bar, const Rect& foot, Color color) {
  if (bar.width < 0.5 || bar.height < 0.5) return;
  fill_round_rect(image, bar, 3, color);
  fill_rect(image, foot, color);
}

Image upright_bars(const std::vector<std::string>& labels, const std::vector<BarSeries>& series,
                   const BarOptions& options) {
  const double count = double(std::max<Index>(std::ssize(labels), 1));
  const double groups = double(std::max<Index>(std::ssize(series), 1));
  const Axis values = value_axis(series, options, options.height / 70);
  const double below = options.numbers && any_below_zero(series) ? 18 : 0;
  const EdgeLabels edge(labels, (options.width - 2 * margin - 60) / count, 130);
  Plot plot({.heading = {.title = options.title, .legend = legend_of(series)},
             .y_title = options.value_title,
             .width = options.width,
             .height = options.height,
             .extra_top = options.numbers ? 14.0 : 0.0,
             .extra_bottom = edge.height + below,
             .x_grid = false},
            {.low = 0, .high = count}, values);
  // Whole pixels keep the edges of bars sharp.
  const double slot = plot.area.width / count,
               thick = std::max(1.0, std::round(std::min(0.74 * slot / groups, 64.0)));
  const auto height_of = [&](double value) {
    return std::round(plot.area.bottom() - plot.y.fraction(value) * plot.area.height);
  };
  const double zero = height_of(0);
  for (Index i = 0; i < std::ssize(labels); ++i)
    for (Index k = 0; k < std::ssize(series); ++k) {
      const double value = series[k].values[i];
      const double left =
          std::round(plot.area.x + slot * (double(i) + 0.5) + thick * (double(k) - groups / 2)) +
          (groups > 1);
      const double shown = std::isfinite(value) ? std::clamp(value, values.low, values.high) : 0;
      const double tip = height_of(shown), middle = left + thick / 2;
      const double top = std::min(zero, tip), tall = std::abs(zero - tip);
      const double wide = thick - 2 * (groups > 1), foot = std::min(tall, 4.0);
      draw_bar(plot.image, {left, top, wide, tall}, {left, value < 0 ? zero : zero - foot, wide, foot},
               bar_color(options, i, k));
      const std::string text = number(value, options);
      if (options.numbers &&
          text_width(text, small_size) < (groups > 1 ? thick + 6 : slot))  // else they would touch
        draw_text(plot.image, {middle, value < 0 ? tip + 10 : tip - 9}, text,
                  {.size = small_size, .align = Align::center});
    }
  fill_rect(plot.image, {plot.area.x, zero, plot.area.width, 1}, paint::faint);
  edge.draw(plot.image, plot.area.x, slot, plot.area.bottom() + below, false);
  return plot.image;
}

Image level_bars(const std::vector<std::string>& labels, const std::vector<BarSeries>& series,
                 const BarOptions& options) {
  const double count = double(std::max<Index>(std::ssize(labels), 1));
  const double groups = double(std::max<Index>(std::ssize(series), 1));
  const double thick = groups > 1 ? 18 : 24, slot = thick * groups + 14;
  double widest = 0;
  for (const BarSeries& each : series)
    for (const double value : each.values)
      widest = std::max(widest, text_width(number(value, options), small_size));
  Axis names{.low = 0, .high = count};
  for (Index i = 0; i < std::ssize(labels); ++i) {
    names.ticks.push_back(count - double(i) - 0.5);
    names.labels.push_back(shorten(visible(labels[i]), options.width * 0.4));
  }
  PlotFrame frame{.heading = {.title = options.title, .legend = legend_of(series)},
                  .x_title = options.value_title,
                  .width = options.width,
                  .height = 0,
                  .extra_left = options.numbers && any_below_zero(series) ? widest + 8 : 0,
                  .extra_right = options.numbers ? widest + 8 : 0,
                  .y_grid = false,
                  .y_names = true};
  frame.height = int(slot * count) + frame.heading.height(options.width) + (frame.x_title.empty() ? 66 : 90);
  Plot plot(frame, value_axis(series, options, options.width / 110), names);
  const auto place_of = [&](double value) {
    return std::round(plot.area.x + plot.x.fraction(value) * plot.area.width);
  };
  const double zero = place_of(0);
  for (Index i = 0; i < std::ssize(labels); ++i)
    for (Index k = 0; k < std::ssize(series); ++k) {
      const double value = series[k].values[i];
      const double middle = std::round(plot.at(0, names.ticks[i]).y) + thick * (double(k) + 0.5 - groups / 2);
      const double shown = std::isfinite(value) ? std::clamp(value, plot.x.low, plot.x.high) : 0;
      const double tip = place_of(shown);
      const double wide = std::abs(tip - zero), tall = thick - 2 * (groups > 1), foot = std::min(wide, 4.0);
      draw_bar(plot.image, {std::min(zero, tip), middle - tall / 2, wide, tall},
               {value < 0 ? zero - foot : zero, middle - tall / 2, foot, tall}, bar_color(options, i, k));
      if (options.numbers)
        draw_text(plot.image, {value < 0 ? tip - 6 : tip + 6, middle}, number(value, options),
                  {.size = small_size, .align = value < 0 ? Align::right : Align::left});
    }
  fill_rect(plot.image, {zero, plot.area.y, 1, plot.area.height}, paint::faint);
  return plot.image;
}

}  // namespace

Image grouped_bar_chart(const std::vector<std::string>& labels, const std::vector<BarSeries>& series,
                        const BarOptions& options) {
  check(labels, series, options);
  return options.vertical ? upright_bars(labels, series, options) : level_bars(labels, series, options);
}

Image bar_chart(const std::vector<std::string>& labels, const Numbers& values, const BarOptions& options) {
  return grouped_bar_chart(labels, {{.values = values}}, options);
}

}  // namespace attn::viz
