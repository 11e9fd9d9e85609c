#include "core/viz/chart.hpp"

#include <algorithm>  // max, min
#include <cmath>      // floor, isfinite, pow
#include <iterator>   // ssize
#include <limits>     // numeric_limits
#include <utility>    // move

#include "core/error.hpp"

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

// Room above and below the curves.
Range padded(Range range, Scale scale) {
  if (scale != Scale::linear) {
    const double pad = std::pow(range.high / range.low, 0.04);
    return {range.low / pad, range.high * pad};
  }
  const double pad = 0.04 * (range.high - range.low);
  // Values that start near zero are shown from zero, so that heights can be compared.
  return {range.low >= 0 && range.low <= 0.4 * range.high ? 0 : range.low - pad, range.high + pad};
}

// The ends that were asked for, or else those of the data.
Range with_ends(Range range, Scale scale, std::optional<double> low, std::optional<double> high) {
  if (scale != Scale::linear && ((low && *low <= 0) || (high && *high <= 0)))
    fail("line_chart: a logarithmic axis cannot reach {}: its ends must be above zero",
         std::min(low.value_or(1), high.value_or(1)));
  if (low && high && !(*low < *high)) fail("line_chart: an axis from {} to {} is empty", *low, *high);
  return {low.value_or(range.low), high.value_or(range.high)};
}

}  // namespace

ChartAxes fit_axes(const std::vector<Series>& series, const ChartOptions& options, int x_ticks, int y_ticks) {
  ChartAxes axes;
  std::vector<Numbers> ys;
  for (const Series& each : series) {
    Numbers x = each.x;
    if (x.empty())
      for (Index i = 0; i < std::ssize(each.y); ++i) x.push_back(double(i));
    if (x.size() != each.y.size())
      fail("line_chart: series '{}' has {} x and {} y", each.name, x.size(), each.y.size());
    if (each.labels.size() > each.y.size())
      fail("line_chart: series '{}' has {} labels for {} points", each.name, each.labels.size(),
           each.y.size());
    axes.xs.push_back(std::move(x));
    ys.push_back(each.y);
  }
  Range x = range_of(axes.xs, options.x_scale), y = range_of(ys, options.y_scale);
  axes.has_data = !x.empty() && !y.empty();
  // Guides count for the value axis: a target that no curve reaches must still be on the page.
  for (const Guide& guide : options.y_guides) ys.push_back({guide.at});
  y = range_of(ys, options.y_scale);
  const auto one_decade = [](Scale scale) { return scale == Scale::linear ? Range{0, 1} : Range{1, 10}; };
  x = x.empty() ? one_decade(options.x_scale) : x;
  y = y.empty() ? one_decade(options.y_scale) : padded(y, options.y_scale);
  x = with_ends(x, options.x_scale, options.x_low, options.x_high);
  y = with_ends(y, options.y_scale, options.y_low, options.y_high);
  axes.x = make_axis(x.low, x.high, options.x_scale, x_ticks, false);
  axes.y = make_axis(y.low, y.high, options.y_scale, y_ticks, !options.y_low && !options.y_high);
  return axes;
}

Series histogram(const std::string& name, const Numbers& values, int bins, std::optional<double> low,
                 std::optional<double> high) {
  if (bins < 1) fail("histogram: {} bins: at least one is needed", bins);
  const Range range = range_of({values}, Scale::linear);
  double from = low.value_or(range.empty() ? 0 : range.low),
         to = high.value_or(range.empty() ? 1 : range.high);
  if (!(from < to)) from -= 0.5, to += 0.5;
  Series series{.name = name, .fill = true};
  Numbers counts(bins, 0.0);
  double total = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    ++total;
    const double bin = std::floor((value - from) / (to - from) * bins);
    if (value == to)
      ++counts.back();  // the last interval holds its upper end
    else if (bin >= 0 && bin < bins)
      ++counts[Index(bin)];
  }
  for (int i = 0; i < bins; ++i) {
    series.x.push_back(from + (to - from) * (i + 0.5) / bins);
    series.y.push_back(total > 0 ? counts[i] / total : 0);
  }
  return series;
}

}  // namespace attn::viz
