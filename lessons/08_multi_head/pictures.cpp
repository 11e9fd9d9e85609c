#include "lessons/08_multi_head/pictures.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // max
#include <cmath>      // fabs
#include <iterator>   // ssize

namespace attn {
namespace {

constexpr double cell = 34, gap = 14, head_height = 208, top = 134;

// A matrix as a grid of numbers, each column in a colour of the palette: color_of(column), or grey for -1.
template <class ColorOf>
void draw_grid(viz::Image& image, viz::Point corner, const Tensor& matrix, const std::string& name,
               const ColorOf& color_of) {
  const double width = cell * double(matrix.size(1));
  viz::draw_text(image, {corner.x + width / 2, corner.y - 26}, name, {.bold = true, .align = Align::center});
  viz::draw_text(image, {corner.x + width / 2, corner.y - 10}, matrix.shape().str(),
                 {.size = 12, .color = viz::paint::muted, .align = Align::center});
  for (Index i = 0; i < matrix.size(0); ++i)
    for (Index j = 0; j < matrix.size(1); ++j) {
      const viz::Rect box{corner.x + cell * double(j), corner.y + cell * double(i), cell - 1, cell - 1};
      const double value = std::fabs(matrix(i, j)) < 0.05 ? 0 : matrix(i, j);  // writes no -0.0
      const viz::Color full = color_of(j) < 0 ? viz::paint::faint : viz::palette(color_of(j));
      viz::fill_rect(image, box, viz::mix(viz::paint::white, full, 0.12 + 0.5 * std::min(1.0, value)));
      viz::draw_text(image, box.center(), fmt::format("{:.1f}", value), {.size = 13, .align = Align::center});
    }
}

void draw_arrow(viz::Image& image, viz::Point from, viz::Point to, viz::Color color) {
  const std::vector<viz::Point> curve = viz::smooth_curve(from, to);
  viz::polyline(image, curve, {color, 2});
  viz::arrow_head(image, {to.x - 10, to.y}, to, color, 9);
}

}  // namespace

viz::Image split_and_join(const std::vector<std::string>& words, const Tensor& x,
                          const std::vector<HeadNumbers>& heads, const Tensor& joined, const Tensor& w_output,
                          const Tensor& output) {
  const double T = double(x.size(0)), C = double(x.size(1)), D = double(heads[0].query.size(1)),
               H = double(heads.size());
  const double left = 76, wide = C * cell, thin = D * cell, tall = T * cell;
  const double height = top + (H - 1) * head_height + tall + 40,
               middle = top + ((H - 1) * head_height + tall) / 2;
  const double at_query = left + wide + 90, at_weights = at_query + 3 * (thin + gap) + 64,
               at_output = at_weights + tall + 34, at_joined = at_output + thin + 96,
               at_matrix = at_joined + wide + 34, at_end = at_matrix + wide + 34;
  viz::Image image(int(at_end + wide + 20), int(height));
  const auto plain = [](Index) { return -1; };
  const auto by_head = [&](Index column) { return int(double(column) / D); };
  viz::draw_text(image, {20, 30},
                 "Multi-head attention: every head reads all channels, W_O joins what they found",
                 {.size = 17, .bold = true});
  const double y = middle - tall / 2;
  draw_grid(image, {left, y}, x, "x", plain);
  for (Index t = 0; t < std::ssize(words); ++t)
    viz::draw_text(image, {left - 8, y + (double(t) + 0.5) * cell}, words[t], {.align = Align::right});
  for (Index h = 0; h < std::ssize(heads); ++h) {
    const double row = top + double(h) * head_height;
    const auto colored = [h](Index) { return int(h); };
    const viz::Color color = viz::palette(h);
    viz::fill_round_rect(image, {at_query - 16, row - 44, at_output + thin - at_query + 32, tall + 60}, 10,
                         viz::mix(viz::paint::white, color, 0.06));
    draw_arrow(image, {left + wide + 6, middle}, {at_query - 20, row + tall / 2}, color);
    draw_grid(image, {at_query, row}, heads[h].query, fmt::format("Q_{}", h + 1), colored);
    draw_grid(image, {at_query + thin + gap, row}, heads[h].key, fmt::format("K_{}", h + 1), colored);
    draw_grid(image, {at_query + 2 * (thin + gap), row}, heads[h].value, fmt::format("V_{}", h + 1), colored);
    draw_arrow(image, {at_query + 3 * thin + 2 * gap + 8, row + tall / 2}, {at_weights - 8, row + tall / 2},
               color);
    viz::draw_text(image, {at_weights - 40, row + tall / 2 - 14}, "softmax",
                   {.size = 12, .color = viz::paint::muted, .align = Align::center});
    viz::draw_text(image, {at_query - 16, row - 58},
                   fmt::format("head {}: all of x, times W_Q,{}, W_K,{} and W_V,{}, each ({:.0f},{:.0f})",
                               h + 1, h + 1, h + 1, h + 1, C, D),
                   {.size = 13, .color = viz::paint::muted});
    draw_grid(image, {at_weights, row}, heads[h].weights, "weights", colored);
    viz::draw_text(image, {at_weights + tall + 17, row + tall / 2},
                   "· V =", {.size = 13, .align = Align::center});
    draw_grid(image, {at_output, row}, heads[h].output, fmt::format("head_{}", h + 1), colored);
    draw_arrow(image, {at_output + thin + 20, row + tall / 2},
               {at_joined - 8, y + (double(h) + 0.5) * tall / H}, color);
  }
  draw_grid(image, {at_joined, y}, joined, "Concat", by_head);
  viz::draw_text(image, {at_joined + wide + 17, middle}, "×", {.size = 20, .align = Align::center});
  draw_grid(image, {at_matrix, middle - wide / 2}, w_output, "W_O", plain);
  viz::draw_text(image, {at_matrix + wide + 17, middle}, "=", {.size = 20, .align = Align::center});
  draw_grid(image, {at_end, y}, output, "output", plain);
  return image;
}

viz::Image head_grid(const std::vector<std::vector<viz::Matrix>>& layers,
                     const std::vector<std::string>& tokens, int size) {
  std::vector<viz::Image> rows;
  for (Index layer = 0; layer < std::ssize(layers); ++layer) {
    std::vector<viz::Image> maps;
    for (Index h = 0; h < std::ssize(layers[layer]); ++h)
      maps.push_back(viz::heatmap(
          layers[layer][h], {.title = layers.size() > 1 ? fmt::format("layer {}, head {}", layer + 1, h + 1)
                                                        : fmt::format("head {}", h + 1),
                             .x_title = "keys",
                             .y_title = "queries",
                             .row_labels = tokens,
                             .column_labels = tokens,
                             .low = 0,
                             .high = 1,
                             .value_title = "weight",
                             .color_bar = h + 1 == std::ssize(layers[layer]),
                             .cell = size}));
    rows.push_back(viz::row(maps));
  }
  return viz::column(rows);
}

}  // namespace attn
