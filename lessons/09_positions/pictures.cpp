#include "lessons/09_positions/pictures.hpp"

#include <fmt/core.h>  // format

#include <cmath>     // cos, remainder, sin
#include <iterator>  // ssize

#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"  // matrix_of
#include "nn/positions.hpp"

namespace attn {
namespace {

using viz::Point;

void arrow(viz::Image& image, Point from, std::complex<double> vector, viz::Color color) {
  const Point to{from.x + vector.real(), from.y - vector.imag()};
  viz::line(image, from, to, {color, 3});
  viz::arrow_head(image, from, to, color, 12);
}

void circle(viz::Image& image, Point center, double radius) {
  viz::fill_circle(image, center, radius, viz::paint::grid);
  viz::fill_circle(image, center, radius - 1.5, viz::paint::white);
}

}  // namespace

viz::Image turning_arrows(const std::vector<Turned>& panels) {
  const double side = 280, radius = 104, top = 84;
  viz::Image image(int(side * double(panels.size())) + 20, int(top + side) + 30);
  viz::draw_text(image, {20, 30}, "RoPE: both arrows turn, the angle between them stays the same",
                 {.size = 17, .bold = true});
  for (Index i = 0; i < std::ssize(panels); ++i) {
    const Turned& turned = panels[i];
    const Point center{10 + side * (double(i) + 0.5), top + side / 2};
    viz::draw_text(image, {center.x, top - 14}, fmt::format("query at {}, key at {}", turned.m, turned.n),
                   {.bold = true, .align = Align::center});
    circle(image, center, radius);
    viz::line(image, {center.x - radius, center.y}, {center.x + radius, center.y}, {viz::paint::grid, 1});
    viz::line(image, {center.x, center.y - radius}, {center.x, center.y + radius}, {viz::paint::grid, 1});
    const double from = std::arg(turned.query), angle = std::remainder(std::arg(turned.key) - from, 2 * M_PI);
    std::vector<Point> arc;
    for (int step = 0; step <= 40; ++step) {
      const double at = from + angle * step / 40;
      arc.push_back({center.x + 40 * std::cos(at), center.y - 40 * std::sin(at)});
    }
    viz::polyline(image, arc, {viz::palette(2), 3});
    const auto tip = [&](std::complex<double> vector, const char* name, viz::Color color) {
      arrow(image, center, 0.9 * radius * vector, color);
      const std::complex<double> label = 1.22 * radius * vector / std::abs(vector);
      viz::draw_text(image, {center.x + label.real(), center.y - label.imag()}, name,
                     {.size = 16, .color = color, .bold = true, .align = Align::center});
    };
    tip(turned.query, "q", viz::palette(0));
    tip(turned.key, "k", viz::palette(1));
    const std::complex<double> product = std::conj(turned.query) * turned.key;
    viz::draw_text(
        image, {center.x, top + side + 6},
        fmt::format("angle {:.0f}°, q · k = {}", angle * 180 / M_PI, viz::format_fixed(product.real(), 3)),
        {.color = viz::paint::muted, .align = Align::center});
  }
  return image;
}

viz::Image clocks(const std::vector<int>& positions, const std::vector<std::vector<double>>& hands,
                  const std::vector<std::string>& names) {
  const double step = 130, left = 120, top = 104, radius = 36, row_step = 92;
  viz::Image image(int(left + step * double(names.size())) + 20,
                   int(top + row_step * double(positions.size())) + 4);
  viz::draw_text(image, {20, 30}, "Clocks: each pair turns by its own angle per position",
                 {.size = 17, .bold = true});
  for (Index i = 0; i < std::ssize(names); ++i)
    viz::draw_text(image, {left + step * (double(i) + 0.5), top - 20}, names[i],
                   {.size = 13, .color = viz::paint::muted, .align = Align::center});
  for (Index row = 0; row < std::ssize(positions); ++row) {
    const double y = top + row_step * (double(row) + 0.5);
    viz::draw_text(image, {left - 14, y}, fmt::format("position {}", positions[row]),
                   {.align = Align::right});
    for (Index i = 0; i < std::ssize(names); ++i) {
      const Point center{left + step * (double(i) + 0.5), y};
      circle(image, center, radius);
      arrow(image, center, std::polar(0.85 * radius, hands[row][i]), viz::palette(i));
    }
  }
  return image;
}

viz::Image bits_and_sines(const Tensor& table) {
  viz::Matrix bits(table.size(0), 6);
  for (Index p = 0; p < bits.rows; ++p)
    for (Index bit = 0; bit < bits.cols; ++bit) bits(p, bit) = float(p >> bit & 1);
  return viz::row(
      {viz::heatmap(
           bits, {.title = "Bits", .x_title = "bit", .y_title = "position", .color_bar = false, .cell = 11}),
       viz::heatmap(matrix_of(table), {.title = "Sinusoidal positions",
                                       .x_title = "channel",
                                       .y_title = "position",
                                       .colors = viz::Colors::diverging,
                                       .low = -1,
                                       .high = 1,
                                       .cell = 11})});
}

viz::Image products_by_distance(const Tensor& products, const std::vector<Index>& rows) {
  std::vector<viz::Series> by_position, by_distance;
  for (const Index m : rows) {
    viz::Series curve{.name = fmt::format("m = {}", m)};
    for (Index n = 0; n < products.size(1); ++n)
      curve.y.push_back(products(m, n)), curve.x.push_back(double(n));
    by_position.push_back(curve);
    for (double& n : curve.x) n -= double(m);
    curve.dashed = !by_distance.empty();
    by_distance.push_back(curve);
  }
  const viz::ChartOptions chart{
      .title = "against the position n", .x_title = "n", .y_title = "product", .y_low = 0, .width = 600};
  viz::ChartOptions moved = chart;
  moved.title = "against the distance n − m", moved.x_title = "n − m";
  return viz::row({viz::line_chart(by_position, chart), viz::line_chart(by_distance, moved)},
                  {.title = "PE_m · PE_n for three positions m"});
}

viz::Image bias_maps(Index T) {
  viz::Matrix buckets(T, T);
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < T; ++j) buckets(i, j) = float(t5_bucket(j - i, true));
  return viz::row({viz::heatmap(matrix_of(alibi_bias(8, T, T), {1}), {.title = "ALiBi, head 2 of 8",
                                                                      .x_title = "key",
                                                                      .y_title = "query",
                                                                      .value_title = "added to the score"}),
                   viz::heatmap(buckets, {.title = "T5's buckets",
                                          .x_title = "key",
                                          .y_title = "query",
                                          .value_title = "bucket: one learned number each"})});
}

viz::Image learned_against_fixed(const Tensor& t5_bias) {
  const Index T = t5_bias.size(0);
  viz::HeatmapOptions map{.title = "T5, learned",
                          .x_title = "key",
                          .y_title = "query",
                          .value_title = "added to the score",
                          .faded = viz::Matrix(T, T)};
  for (Index i = 0; i < T; ++i)
    for (Index j = i + 1; j < T; ++j) map.faded(i, j) = 1;
  viz::HeatmapOptions fixed = map;
  fixed.title = "ALiBi, fixed";
  return viz::row(
      {viz::heatmap(matrix_of(t5_bias), map), viz::heatmap(matrix_of(mean(alibi_bias(4, T, T), 0)), fixed)},
      {.title = "Mean of the heads"});
}

}  // namespace attn
