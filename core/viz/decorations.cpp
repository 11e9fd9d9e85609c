#include "core/viz/decorations.hpp"

#include <algorithm>  // max, min
#include <cmath>      // ceil, INFINITY, isnan, round, sqrt
#include <iterator>   // ssize
#include <utility>    // move

namespace attn::viz {

namespace {

constexpr int legend_line = 22, bar_width = 14, special_line = 20;

// From the left end of a legend entry to its text.
double mark_width(const LegendEntry& entry) {
  return entry.mark == LegendEntry::Mark::line || entry.mark == LegendEntry::Mark::dashes ? 27 : 20;
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

double widest(const std::vector<std::string>& texts, double size) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text, size));
  return width;
}

int Heading::title_height(int page_width) const {
  if (title.empty()) return 0;
  return int(1.35 * size * double(wrap(title, page_width - 2 * margin, size, true).size())) + 7;
}

int Heading::height(int page_width) const {
  const int above = title_height(page_width);
  if (legend.empty()) return above;
  return above + int(legend_places(legend, page_width - 2 * margin).back().y) + legend_line + 6;
}

void Heading::draw(Image& image) const {
  const int width = image.width() - 2 * margin;
  double y = margin + size / 2;
  for (const std::string& line : wrap(title, width, size, true)) {
    draw_text(image, {margin, y}, line, {.size = size, .bold = true});
    y += 1.35 * size;
  }
  const double top = margin + title_height(image.width()) - 2;
  const std::vector<Point> places = legend_places(legend, width);
  for (Index i = 0; i < std::ssize(legend); ++i) {
    const Point at{margin + places[i].x, top + places[i].y + legend_line / 2.0};
    const LegendEntry& entry = legend[i];
    const bool dashed = entry.mark == LegendEntry::Mark::dashes;
    if (dashed || entry.mark == LegendEntry::Mark::line)
      line(image, {at.x + 1, at.y}, {at.x + 21, at.y}, {entry.color, 2.2, dashed});
    else if (entry.mark == LegendEntry::Mark::point)
      fill_circle(image, {at.x + 6, at.y}, 4.5, entry.color);
    else
      fill_round_rect(image, {at.x, at.y - 6, 13, 13}, 3, entry.color);
    draw_text(image, {at.x + mark_width(entry), at.y}, entry.name, {.size = small_size});
  }
}

ColorBar::ColorBar(const ColorScale& scale, const std::vector<const Matrix*>& matrices, std::string title)
    : scale(scale), axis(make_axis(scale.low, scale.high, Scale::linear, 5, false)), title(std::move(title)) {
  bool above = false, below = false, none = false;
  for (const Matrix* matrix : matrices)
    for (const float value : matrix->values)
      above |= value == INFINITY, below |= value == -INFINITY, none |= std::isnan(value);
  if (above) special.push_back({"+∞", paint::plus_infinity});
  if (below) special.push_back({"−∞", paint::minus_infinity});
  if (none) special.push_back({"NaN", paint::not_a_number});
}

int ColorBar::width() const {
  const double labels = std::max(widest(axis.labels), special.empty() ? 0 : text_width("NaN", small_size));
  return bar_width + 9 + int(std::ceil(labels)) + (title.empty() ? 0 : 24);
}

int ColorBar::least_height() const {
  return std::max(96, int(text_width(title, small_size))) + special_line * int(special.size());
}

void ColorBar::draw(Image& image, Point top_left, double height) const {
  const double x = top_left.x, top = top_left.y;
  const double length = height - special_line * double(special.size()) - (special.empty() ? 0 : 4);
  for (int y = 0; y < length; ++y)
    fill_rect(image, {x, top + y, bar_width, 1}, map_color(scale.colors, 1 - (y + 0.5) / length));
  if (scale.colors == Colors::sequential) image.kept.push_back({x, top, bar_width, std::ceil(length)});
  for (Index i = 0; i < std::ssize(axis.ticks); ++i) {
    const double y = top + (1 - axis.fraction(axis.ticks[i])) * length;
    fill_rect(image, {x + bar_width, std::min(std::round(y - 0.5), top + length - 1), 4, 1}, paint::faint);
    draw_text(image, {x + bar_width + 8, y}, axis.labels[i], small_text());
  }
  draw_text(image, {x + width() - 7, top + length / 2}, title, small_text(Align::center, 90));
  double y = top + length + 8;
  for (const LegendEntry& entry : special) {
    fill_rect(image, {x, y, bar_width, 14}, entry.color);
    draw_text(image, {x + bar_width + 8, y + 7}, entry.name, small_text());
    y += special_line;
  }
}

EdgeLabels::EdgeLabels(const std::vector<std::string>& labels, double slot, double longest) {
  for (const std::string& label : labels) texts.push_back(shorten(visible(label), longest));
  const double widest = viz::widest(texts, label_size);
  if (widest + 6 <= slot) {
    height = 18;
    return;
  }
  angle = slot >= 20 ? 45 : 90;
  const double slanted = std::sqrt(0.5) * (widest + 10);
  height = angle == 45 ? slanted + 6 : widest + 12;
  if (angle == 45 && !texts.empty()) overhang = std::max(0.0, slanted - slot / 2);
  const Index stride = angle == 90 ? Index(std::ceil(16 / slot)) : 1;
  for (Index i = 0; i < std::ssize(texts); ++i)
    if (i % stride != 0) texts[i].clear();
}

void EdgeLabels::draw(Image& image, double left, double slot, double y, bool above) const {
  for (Index i = 0; i < std::ssize(texts); ++i) {
    const double x = left + (double(i) + 0.5) * slot;
    TextStyle style{.size = size, .color = color, .align = Align::center, .angle = angle};
    if (angle != 0) style.align = above ? Align::left : Align::right;
    const double away = angle == 0 ? 10 : 8;
    draw_text(image, {angle == 45 ? x + (above ? 2 : 4) : x, y + (above ? -away : away)}, texts[i], style);
  }
}

}  // namespace attn::viz
