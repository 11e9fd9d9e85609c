#include "core/viz/plot.hpp"

#include <algorithm>  // max
#include <cmath>      // ceil, round
#include <iterator>   // ssize
#include <utility>    // move

namespace attn::viz {

Plot::Plot(const PlotFrame& frame, Axis x_axis, Axis y_axis)
    : image(frame.width, frame.height), x(std::move(x_axis)), y(std::move(y_axis)) {
  const TextStyle y_style = {.size = frame.y_names ? label_size : small_size,
                             .color = frame.y_names ? paint::ink : paint::muted,
                             .align = Align::right};
  area.x = margin + (frame.y_title.empty() ? 0 : 26) + std::ceil(widest(y.labels, y_style.size)) + 10 +
           std::ceil(frame.extra_left);
  area.y = margin + frame.heading.height(frame.width) + 4 + frame.extra_top;
  const double half_last = x.labels.empty() ? 0 : text_width(x.labels.back(), small_size) / 2;
  const double overhang =
      x.ticks.empty() ? 0 : half_last - (1 - x.fraction(x.ticks.back())) * (frame.width - 2 * margin);
  area.width =
      std::max(frame.width - margin - 4 - std::max(frame.extra_right, std::ceil(overhang)) - area.x, 20.0);
  const double below = (x.labels.empty() ? 8 : 28) + (frame.x_title.empty() ? 0 : 24) + frame.extra_bottom;
  area.height = std::max(frame.height - margin + 6 - below - area.y, 20.0);
  image.middle = int(area.center().y);

  frame.heading.draw(image);
  for (Index i = 0; i < std::ssize(y.ticks); ++i) {
    const double height = std::round(area.bottom() - y.fraction(y.ticks[i]) * area.height);
    if (frame.y_grid) fill_rect(image, {area.x, height, area.width, 1}, paint::grid);
    draw_text(image, {area.x - 8 - std::ceil(frame.extra_left), height + 0.5}, y.labels[i], y_style);
  }
  double free_from = -1e9;  // labels that would touch the one before are left out
  for (Index i = 0; i < std::ssize(x.ticks); ++i) {
    const double place = std::round(area.x + x.fraction(x.ticks[i]) * area.width);
    if (frame.x_grid) fill_rect(image, {place, area.y, 1, area.height}, paint::grid);
    const double half = text_width(x.labels[i], small_size) / 2;
    if (place - half < free_from) continue;
    draw_text(image, {place + 0.5, area.bottom() + 15}, x.labels[i], small_text(Align::center));
    free_from = place + half + 8;
  }
  fill_rect(image, {area.x, area.bottom(), area.width + 1, 1}, paint::faint);

  draw_text(image, {area.center().x, frame.height - margin - 4.0}, frame.x_title, axis_title());
  draw_text(image, {margin + 7.0, area.center().y}, frame.y_title, axis_title(90));
}

Point Plot::at(double x_value, double y_value) const {
  return {area.x + x.fraction(x_value) * area.width + 0.5,
          area.bottom() - y.fraction(y_value) * area.height + 0.5};
}

}  // namespace attn::viz
