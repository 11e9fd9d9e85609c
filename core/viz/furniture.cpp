#include "core/viz/furniture.hpp"

#include <algorithm>  // any_of, max, min
#include <cmath>      // ceil, isnan, round, sqrt
#include <limits>     // numeric_limits
#include <utility>    // move

#include "core/viz/text.hpp"

namespace attn::viz {

namespace {

constexpr int legend_line = 22, bar_width = 14, special_line = 20;

// From the left end of a legend entry to its text.
double mark_width(const LegendEntry& entry) {
  const bool is_line = entry.mark == LegendEntry::Mark::Line || entry.mark == LegendEntry::Mark::Dashes;
  return is_line ? 27 : 20;
}

// Where each legend entry goes, relative to the legend's corner.
std::vector<Point> legend_places(const std::vector<LegendEntry>& entries, double width) {
  std::vector<Point> places;
  Point at;
  for (const LegendEntry& entry : entries) {
    const double room = mark_width(entry) + text_width(entry.name, small_size);
    if (at.x > 0 && at.x + room > width) at = {0, at.y + legend_line};
    places.push_back(at);
    at.x += room + 20;
  }
  return places;
}

}  // namespace

int title_height(const std::string& title, double width, double size) {
  if (title.empty()) return 0;
  return static_cast<int>(1.35 * size * static_cast<double>(wrap(title, width, size, true).size())) + 7;
}

void draw_title(Image& image, const std::string& title, Point top_left, double width, double size) {
  double y = top_left.y + size / 2;
  for (const std::string& line : wrap(title, width, size, true)) {
    draw_text(image, {top_left.x, y}, line, {.size = size, .bold = true});
    y += 1.35 * size;
  }
}

int legend_height(const std::vector<LegendEntry>& entries, double width) {
  if (entries.empty()) return 0;
  return static_cast<int>(legend_places(entries, width).back().y) + legend_line + 6;
}

void draw_legend(Image& image, const std::vector<LegendEntry>& entries, Point top_left, double width) {
  const std::vector<Point> places = legend_places(entries, width);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Point at{top_left.x + places[i].x, top_left.y + places[i].y + legend_line / 2.0};
    const LegendEntry& entry = entries[i];
    switch (entry.mark) {
      case LegendEntry::Mark::Line:
      case LegendEntry::Mark::Dashes:
        polyline(image, {{at.x + 1, at.y}, {at.x + 21, at.y}}, entry.color, 2.2,
                 entry.mark == LegendEntry::Mark::Dashes);
        break;
      case LegendEntry::Mark::Point:
        fill_circle(image, {at.x + 6, at.y}, 4.5, entry.color);
        break;
      case LegendEntry::Mark::Box:
        fill_round_rect(image, {at.x, at.y - 6, 13, 13}, 3, entry.color);
        break;
    }
    draw_text(image, {at.x + mark_width(entry), at.y}, entry.name, {.size = small_size, .color = paint::ink});
  }
}

ColorBar::ColorBar(const ColorScale& scale, const std::vector<const Matrix*>& matrices, std::string title)
    : scale(scale), axis(make_axis(scale.low, scale.high, Scale::Linear, 5, false)), title(std::move(title)) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto occurs = [&](auto&& is) {
    return std::any_of(matrices.begin(), matrices.end(), [&](const Matrix* matrix) {
      return std::any_of(matrix->values.begin(), matrix->values.end(), is);
    });
  };
  if (occurs([](float value) { return value == infinity; })) special.push_back({"+∞", paint::plus_infinity});
  if (occurs([](float value) { return value == -infinity; }))
    special.push_back({"−∞", paint::minus_infinity});
  if (occurs([](float value) { return std::isnan(value); })) special.push_back({"NaN", paint::not_a_number});
}

int ColorBar::width() const {
  double labels = special.empty() ? 0 : text_width("NaN", small_size);
  for (const std::string& label : axis.labels) labels = std::max(labels, text_width(label, small_size));
  return bar_width + 9 + static_cast<int>(std::ceil(labels)) + (title.empty() ? 0 : 24);
}

int ColorBar::least_height() const {
  const int titled = title.empty() ? 0 : static_cast<int>(text_width(title, small_size));
  return std::max(96, titled) + special_line * static_cast<int>(special.size());
}

void ColorBar::draw(Image& image, Point top_left, double height) const {
  const double x = top_left.x, top = top_left.y;
  const double length =
      height - special_line * static_cast<double>(special.size()) - (special.empty() ? 0 : 4);
  for (int y = 0; y < length; ++y)
    fill_rect(image, {x, top + y, bar_width, 1}, map_color(scale.colors, 1 - (y + 0.5) / length));
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double y = top + (1 - axis.fraction(axis.ticks[i])) * length;
    fill_rect(image, {x + bar_width, std::min(std::round(y - 0.5), top + length - 1), 4, 1}, paint::faint);
    draw_text(image, {x + bar_width + 8, y}, axis.labels[i], {.size = small_size, .color = paint::muted});
  }
  if (!title.empty())
    draw_text(image, {x + width() - 7, top + length / 2}, title,
              {.size = small_size, .color = paint::muted, .align = Align::center, .angle = 90});
  double y = top + length + 8;
  for (const LegendEntry& entry : special) {
    fill_rect(image, {x, y, bar_width, 14}, entry.color);
    draw_text(image, {x + bar_width + 8, y + 7}, entry.name, {.size = small_size, .color = paint::muted});
    y += special_line;
  }
}

EdgeLabels::EdgeLabels(const std::vector<std::string>& labels, double slot, double longest) {
  double widest = 0;
  for (const std::string& label : labels) {
    texts.push_back(shorten(visible(label), longest));
    widest = std::max(widest, text_width(texts.back()));
  }
  if (widest + 6 <= slot) {
    height = 18;
    return;
  }
  angle = slot >= 20 ? 45 : 90;
  const double slanted = std::sqrt(0.5) * (widest + 10);
  height = angle == 45 ? slanted + 6 : widest + 12;
  if (angle == 45 && !texts.empty()) overhang = std::max(0.0, slanted - slot / 2);
  const auto stride = static_cast<std::size_t>(angle == 90 ? std::ceil(16 / slot) : 1);
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (i % stride != 0) texts[i].clear();
}

void EdgeLabels::draw(Image& image, double left, double slot, double y, bool above) const {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const double x = left + (static_cast<double>(i) + 0.5) * slot;
    TextStyle style{.size = size, .color = color, .align = Align::center, .angle = angle};
    if (angle != 0) style.align = above ? Align::left : Align::right;
    const double away = angle == 0 ? 10 : 8;
    draw_text(image, {angle == 45 ? x + (above ? 2 : 4) : x, y + (above ? -away : away)}, texts[i], style);
  }
}

}  // namespace attn::viz
