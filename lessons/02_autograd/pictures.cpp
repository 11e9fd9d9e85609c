#include "lessons/02_autograd/pictures.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // clamp, max
#include <cmath>      // hypot

#include "core/viz/chart.hpp"
#include "core/viz/text.hpp"

namespace attn {

using namespace viz;

namespace {

constexpr double box_height = 78, apart = 11;  // of the two lines of an arrow, from its middle
constexpr Color back_color{201, 48, 80};
const std::vector<Point> centers = {{70, 170},  {70, 330},  {320, 120}, {320, 250},  // w, x, target, guess
                                    {640, 150}, {896, 150}, {1136, 250}};            // error, error², loss

std::string whole(double value) { return format_fixed(value, 0); }

Rect box_of(const Graph& graph, int id) {
  const double width = std::max(100.0, text_width(graph[id].name, 14, true) + 26);
  return {centers[id].x - width / 2, centers[id].y - box_height / 2, width, box_height};
}

void draw_box(Image& image, const Rect& box, const Node& node) {
  const Color outline = node.inputs.empty() ? palette(0) : paint::faint;
  draw_round_rect(image, box, 8, node.inputs.empty() ? mix(outline, paint::white, 0.86) : paint::panel,
                  {outline, 1.5});
  const auto write = [&](double y, const std::string& text, const TextStyle& style) {
    draw_text(image, {box.center().x, box.y + y}, text, style);
  };
  write(16, node.name, {.bold = true, .align = Align::center});
  write(37, whole(node.value), {.align = Align::center});
  write(58, "gradient " + whole(node.gradient), {.size = 13, .color = back_color, .align = Align::center});
}

// A line with an arrow head and a label on it.
void draw_arrow(Image& image, Point from, Point to, Color color, const std::string& label) {
  line(image, from, to, {color, 1.8});
  arrow_head(image, from, to, color, 10);
  const Point middle{(from.x + to.x) / 2, (from.y + to.y) / 2};
  const double width = text_width(label, 13) + 8;
  fill_rect(image, {middle.x - width / 2, middle.y - 9, width, 18}, paint::white);
  draw_text(image, middle, label, {.size = 13, .color = color, .align = Align::center});
}

// Forwards along the upper line and back along the lower one.
void draw_both_ways(Image& image, const Graph& graph, int from, int to, const std::string& derivative,
                    const std::string& share) {
  const Rect left = box_of(graph, from), right = box_of(graph, to);
  const double lower =
      std::clamp(0.3 * (left.center().y - right.center().y), -26.0, 26.0);  // where it comes from
  const Point start{left.right() + 3, left.center().y - lower}, end{right.x - 3, right.center().y + lower};
  const double length = std::hypot(end.x - start.x, end.y - start.y);
  const double dx = -(end.y - start.y) / length * apart, dy = (end.x - start.x) / length * apart;
  draw_arrow(image, {start.x - dx, start.y - dy}, {end.x - dx, end.y - dy}, paint::muted, derivative);
  draw_arrow(image, {end.x + dx, end.y + dy}, {start.x + dx, start.y + dy}, back_color, share);
}

}  // namespace

Image graph_picture(const Graph& graph) {
  const int last = int(graph.size()) - 1;
  Image image(int(box_of(graph, last).right()) + 20, int(box_of(graph, 1).bottom()) + 20);
  draw_text(image, {20, 30}, "Values go to the right, gradients come back", {.size = 17, .bold = true});
  draw_text(image, {20, 58}, "→  derivative of the step", {.size = 13, .color = paint::muted});
  draw_text(image, {220, 58}, "←  gradient · derivative, the share that goes back",
            {.size = 13, .color = back_color});
  for (int id = 0; id <= last; ++id) {
    const Node& node = graph[id];
    for (std::size_t n = 0; n < node.inputs.size(); ++n) {
      const std::string derivative = whole(node.derivatives[n]),
                        share = whole(node.gradient * node.derivatives[n]);
      if (node.inputs.back() != node.inputs.front()) {
        draw_both_ways(image, graph, node.inputs[n], id, derivative,
                       fmt::format("{} · {} = {}", whole(node.gradient), derivative, share));
      } else if (n == 1) {  // error · error: both factors on one arrow
        draw_both_ways(image, graph, node.inputs[n], id, derivative + " and " + derivative,
                       share + " + " + share);
      }
    }
  }
  for (int id = 0; id <= last; ++id) draw_box(image, box_of(graph, id), graph[id]);
  return image;
}

Image descent_picture(const std::function<double(double)>& loss, const std::vector<double>& way,
                      const std::vector<double>& wild) {
  const double w0 = way[0], h = 1e-4, slope = (loss(w0 + h) - loss(w0 - h)) / (2 * h);
  Series curve{.name = "loss", .color = 7},
      tangent{.name = fmt::format("slope at w = {:.0f}: {:.0f}", w0, slope), .dashed = true, .color = 3};
  for (double w = 1.25; w < 3.3; w += 0.01) curve.x.push_back(w), curve.y.push_back(loss(w));
  for (const double step : {-0.35, 0.2})
    tangent.x.push_back(w0 + step), tangent.y.push_back(loss(w0) + slope * step);
  const auto steps_of = [&](const std::string& name, const std::vector<double>& at, int color) {
    Series series{.name = name, .x = at, .points = true, .color = color};
    for (const double w : at) series.y.push_back(loss(w));
    return series;
  };
  return line_chart({curve, tangent, steps_of("rate 0.05", way, 0), steps_of("rate 0.26", wild, 1)},
                    {.title = "Gradient descent on one weight", .x_title = "w", .y_title = "loss"});
}

}  // namespace attn
