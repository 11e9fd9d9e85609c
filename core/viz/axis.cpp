#include "core/viz/axis.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // clamp, max, min
#include <cmath>      // floor, log, log10, pow

namespace attn::viz {

namespace {

std::string superscript(int number) {
  static const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char c : fmt::format("{}", std::abs(number))) text += digits[c - '0'];
  return text;
}

std::string with_minus(std::string text) {
  if (text.empty() || text[0] != '-') return text;
  // What rounds to zero has no sign.
  if (text.find_first_of("123456789") == std::string::npos) return text.substr(1);
  return "−" + text.substr(1);
}

// Digits and perhaps a sign and decimals, with a comma before every third digit of the whole part.
std::string with_thousands(const std::string& text) {
  const std::size_t end = std::min(text.find('.'), text.size());
  std::string grouped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && i < end && (end - i) % 3 == 0 && text[i - 1] != '-') grouped += ',';
    grouped += text[i];
  }
  return grouped;
}

void linear_ticks(Axis& axis, int wanted, bool snap) {
  const double step = round_step((axis.high - axis.low) / std::max(wanted, 1));
  if (snap) {
    axis.low = std::floor(axis.low / step + 1e-6) * step;
    axis.high = std::ceil(axis.high / step - 1e-6) * step;
  }
  const double first = std::ceil(axis.low / step - 1e-6), last = std::floor(axis.high / step + 1e-6);
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  const int decimals = int(std::clamp(-std::floor(std::log10(step) + 1e-9), 0.0, 12.0));
  for (double i = first; i <= last; ++i) {
    const double value = i * step + 0.0;  // never -0
    axis.ticks.push_back(value);
    axis.labels.push_back(largest >= 1e6 || largest < 1e-3 ? format_number(value)
                                                           : format_fixed(value, decimals));
  }
}

void log_ticks(Axis& axis, int wanted) {
  const double base = axis.scale == Scale::log2 ? 2 : 10;
  const auto power_of = [&](double value) { return std::log(value) / std::log(base); };
  const int first = int(std::ceil(power_of(axis.low) - 1e-9));
  const int last = int(std::floor(power_of(axis.high) + 1e-9));
  if (last - first < (base == 10 ? 2 : 1)) {  // too few powers to show: round numbers in between
    std::vector<double> ticks;
    for (int power = first - 1; power <= last; ++power)
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10, power);
        if (value >= axis.low * (1 - 1e-9) && value <= axis.high * (1 + 1e-9)) ticks.push_back(value);
      }
    if (axis.scale == Scale::log2 || ticks.size() < 2) return linear_ticks(axis, wanted, false);
    for (const double value : ticks) axis.ticks.push_back(value), axis.labels.push_back(format_number(value));
    return;
  }
  const int stride = (last - first) / std::max(wanted, 1) + 1;
  const bool plain = std::pow(base, last) < 1e6 && std::pow(base, first) >= 1e-3;
  for (int power = first; power <= last; power += stride) {
    const double value = std::pow(base, power);
    axis.ticks.push_back(value);
    axis.labels.push_back(plain ? format_number(value) : fmt::format("{}{}", base, superscript(power)));
  }
}

}  // namespace

double round_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

bool Axis::can_show(double value) const {
  return std::isfinite(value) && (scale == Scale::linear || value > 0);
}

double Axis::fraction(double value) const {
  if (scale == Scale::linear) return (value - low) / (high - low);
  return std::log(value / low) / std::log(high / low);
}

Axis make_axis(double low, double high, Scale scale, int wanted, bool snap) {
  if (scale == Scale::linear && !(low < high)) {
    const double pad = low == 0 ? 1 : std::abs(low) * 0.5;
    if (low == 0)
      high = pad;
    else
      low -= pad, high += pad;
  }
  if (scale != Scale::linear && !(low < high)) low /= 2, high *= 2;
  Axis axis{.low = low, .high = high, .scale = scale};
  if (scale == Scale::linear)
    linear_ticks(axis, wanted, snap);
  else
    log_ticks(axis, wanted);
  return axis;
}

std::string format_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e15) {
    const int power = int(std::floor(std::log10(size) + 1e-9));
    const std::string factor = with_minus(fmt::format("{:.3g}", value / std::pow(10, power)));
    return (factor == "1" ? "" : factor == "−1" ? "−" : factor + "×") + "10" + superscript(power);
  }
  if (size >= 999.5e9) return with_minus(fmt::format("{:.3g}T", value / 1e12));
  if (size >= 999.5e6) return with_minus(fmt::format("{:.3g}G", value / 1e9));
  if (size >= 999.5e3) return with_minus(fmt::format("{:.3g}M", value / 1e6));
  if (size >= 999.5) return with_minus(with_thousands(fmt::format("{:.0f}", value)));
  return with_minus(fmt::format("{:.3g}", value));
}

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return format_number(value);
  return with_minus(with_thousands(fmt::format("{:.{}f}", value, decimals)));
}

}  // namespace attn::viz
