#include <algorithm>  // max, min
#include <cmath>      // floor, isfinite, pow
#include <limits>     // numeric_limits
#include <utility>    // move

#include "core/error.hpp"
#include "core/viz/chart.hpp"

namespace attn::viz {

namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool empty() const { return low > high; }
};

Range range_of(const std::vector<Numbers>& lists, Scale scale) {
  Range range;
  const Axis axis{.scale = scale};
  for (const Numbers& list : lists)
    for (const double value : list)
      if (axis.can_show(value)) range = {std::min(range.low, value), std::max(range.high, value)};
  return range;
}

Axis fit_axis(Range range, Scale scale, std::optional<double> low, std::optional<double> high, int wanted,
              bool is_value_axis) {
  if (scale != Scale::Linear && ((low && *low <= 0) || (high && *high <= 0)))
    fail("line_chart: a logarithmic axis cannot reach {}: its ends must be above zero",
         std::min(low.value_or(1), high.value_or(1)));
  const bool snap = is_value_axis && !low && !high;
  if (range.empty()) {
    range = scale == Scale::Linear ? Range{0, 1} : Range{1, 10};
  } else if (is_value_axis) {
    if (scale == Scale::Linear) {
      const double pad = 0.04 * (range.high - range.low);
      // Values that start near zero are shown from zero, so that heights can be compared.
      range.low = range.low >= 0 && range.low <= 0.4 * range.high ? 0 : range.low - pad;
      range.high += pad;
    } else {
      const double pad = std::pow(range.high / range.low, 0.04);
      range = {range.low / pad, range.high * pad};
    }
  }
  range = {low.value_or(range.low), high.value_or(range.high)};
  if (low && high && !(*low < *high)) fail("line_chart: an axis from {} to {} is empty", *low, *high);
  return make_axis(range.low, range.high, scale, wanted, snap);
}

}  // namespace

ChartAxes fit_axes(const std::vector<Series>& series, const ChartOptions& options, int x_ticks, int y_ticks) {
  ChartAxes axes;
  std::vector<Numbers> ys;
  for (const Series& each : series) {
    Numbers x = each.x;
    if (x.empty())
      for (std::size_t i = 0; i < each.y.size(); ++i) x.push_back(static_cast<double>(i));
    if (x.size() != each.y.size())
      fail("line_chart: series '{}' has {} x and {} y", each.name, x.size(), each.y.size());
    if (each.labels.size() > each.y.size())
      fail("line_chart: series '{}' has {} labels for {} points", each.name, each.labels.size(),
           each.y.size());
    axes.xs.push_back(std::move(x));
    ys.push_back(each.y);
  }
  axes.has_data = !range_of(axes.xs, options.x_scale).empty() && !range_of(ys, options.y_scale).empty();
  // Guides count for the value axis: a target that no curve reaches must still be on the page.
  ys.emplace_back();
  for (const Guide& guide : options.y_guides) ys.back().push_back(guide.at);
  axes.x = fit_axis(range_of(axes.xs, options.x_scale), options.x_scale, options.x_low, options.x_high,
                    x_ticks, false);
  axes.y =
      fit_axis(range_of(ys, options.y_scale), options.y_scale, options.y_low, options.y_high, y_ticks, true);
  return axes;
}

Series histogram(const std::string& name, const Numbers& values, int bins, std::optional<double> low,
                 std::optional<double> high) {
  if (bins < 1) fail("histogram: {} bins: at least one is needed", bins);
  const Range range = range_of({values}, Scale::Linear);
  double from = low.value_or(range.empty() ? 0 : range.low),
         to = high.value_or(range.empty() ? 1 : range.high);
  if (!(from < to)) from -= 0.5, to += 0.5;
  Series series{.name = name, .fill = true};
  Numbers counts(static_cast<std::size_t>(bins), 0.0);
  double total = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    ++total;
    const double bin = std::floor((value - from) / (to - from) * bins);
    if (value == to)
      ++counts.back();  // the last interval holds its upper end
    else if (bin >= 0 && bin < bins)
      ++counts[static_cast<std::size_t>(bin)];
  }
  for (int i = 0; i < bins; ++i) {
    series.x.push_back(from + (to - from) * (i + 0.5) / bins);
    series.y.push_back(total > 0 ? counts[static_cast<std::size_t>(i)] / total : 0);
  }
  return series;
}

}  // namespace attn::viz
