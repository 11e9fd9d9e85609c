#include "core/viz/graph.hpp"

#include <algorithm>  // any_of, count, max, min
#include <cmath>      // ceil, floor, round
#include <iterator>   // ssize
#include <utility>    // move

#include "core/error.hpp"
#include "core/viz/decorations.hpp"
#include "core/viz/layered.hpp"

namespace attn::viz {

namespace {

constexpr double line_height = 19, padding = 13;
constexpr Color gradient_color{201, 48, 80};

struct Size {
  double width, height;
};

Size size_of(const GraphNode& node) {
  const int lines = 1 + !node.value.empty() + !node.gradient.empty();
  const double width =
      std::max(text_width(node.label, label_size, true), widest({node.value, node.gradient}));
  return {std::ceil(width) + 2 * padding, lines * line_height + 13};
}

void draw_node(Image& image, const GraphNode& node, const Rect& box) {
  const Color edge = node.color < 0 ? paint::faint : palette(node.color);
  draw_round_rect(image, box, 8, node.color < 0 ? paint::panel : mix(edge, paint::white, 0.86), {edge, 1.5});
  double y = box.y + 6.5 + line_height / 2;
  const auto write = [&](const std::string& text, const TextStyle& style) {
    if (text.empty()) return;
    draw_text(image, {box.center().x, y}, text, style);
    y += line_height;
  };
  write(node.label, {.bold = true, .align = Align::center});
  write(node.value, small_text(Align::center));
  write(node.gradient, {.size = small_size, .color = gradient_color, .align = Align::center});
}

// Layers and places across them become x and y here, for both directions.
class GraphPainter {
 public:
  GraphPainter(const std::vector<GraphNode>& nodes, const std::vector<GraphEdge>& edges,
               const GraphOptions& options)
      : nodes_(nodes), edges_(edges), options_(options) {
    std::vector<LayeredItem> boxes;
    for (const GraphNode& node : nodes) {
      const Size size = size_of(node);
      sizes_.push_back(size);
      boxes.push_back({.size = options.upward ? size.width : size.height, .lane = node.lane});
    }
    layout_ = lay_out(std::move(boxes), edges, options.upward ? 28 : 20, options.frames.empty() ? 40 : 72);
    for (const GraphFrame& frame : options.frames)
      for (const int node : frame.nodes)
        if (node < 0 || node >= std::ssize(nodes))
          fail("graph: frame '{}' names node {}, but the nodes are 0..{}", frame.label, node,
               std::ssize(nodes) - 1);
    place_layers();
  }

  Image paint() {
    const double width = options_.upward ? layout_.breadth : depth_,
                 height = options_.upward ? depth_ : layout_.breadth;
    const double around = options_.frames.empty() ? 0 : 26;
    Heading heading{.title = options_.title};
    if (std::any_of(nodes_.begin(), nodes_.end(),
                    [](const GraphNode& node) { return !node.gradient.empty(); }))
      heading.legend = {{"value", paint::muted, LegendEntry::Mark::point},
                        {"gradient", gradient_color, LegendEntry::Mark::point}};
    const int page_width = std::max(int(width + 2 * around) + 2 * margin, 300);
    const double top = margin + heading.height(page_width) + 4 + around;
    Image image(page_width, int(top + height + around + margin));
    origin_ = {std::floor((page_width - width) / 2), top};
    image.middle = int(top + height / 2);

    heading.draw(image);
    for (const GraphFrame& frame : options_.frames) draw_frame(image, frame);
    for (Index i = 0; i < std::ssize(edges_); ++i) draw_edge(image, i);
    for (Index i = 0; i < std::ssize(nodes_); ++i) draw_node(image, nodes_[i], box(i));
    if (nodes_.empty()) draw_text(image, {margin, top}, "no nodes", {.color = paint::muted});
    return image;
  }

 private:
  const std::vector<GraphNode>& nodes_;
  const std::vector<GraphEdge>& edges_;
  const GraphOptions& options_;
  std::vector<Size> sizes_;
  Layered layout_;
  std::vector<double> start_, thickness_;  // of each layer, along
  double depth_ = 0;                       // of all layers together
  Point origin_;

  void place_layers() {
    thickness_.assign(layout_.layers, 0);
    for (Index i = 0; i < std::ssize(nodes_); ++i) {
      double& thickness = thickness_[layout_.items[i].layer];
      thickness = std::max(thickness, options_.upward ? sizes_[i].height : sizes_[i].width);
    }
    const double between = (options_.upward ? 30 : 52) + (options_.frames.empty() ? 0 : 12);
    for (int i = 0; i < layout_.layers; ++i) {
      start_.push_back(depth_);
      depth_ += thickness_[i] + (i + 1 < layout_.layers ? between : 0);
    }
  }

  Point point(double along, double across) const {
    return options_.upward ? Point{origin_.x + across, origin_.y + depth_ - along}
                           : Point{origin_.x + along, origin_.y + across};
  }

  Rect box(Index node) const {
    const LayeredItem& item = layout_.items[node];
    const Size size = sizes_[node];
    const Point middle = point(start_[item.layer] + thickness_[item.layer] / 2, item.across);
    return {std::round(middle.x - size.width / 2), std::round(middle.y - size.height / 2), size.width,
            size.height};
  }

  // Arrows that enter the same box get a place each on its side, in the order of where they come from.
  double entry(Index edge) const {
    const auto from = [&](Index i) {
      const std::vector<int>& path = layout_.paths[i];
      return layout_.items[path[path.size() - 2]].across;
    };
    double rank = 0, count = 0;
    for (Index i = 0; i < std::ssize(edges_); ++i)
      if (edges_[i].to == edges_[edge].to) {
        ++count;
        rank += from(i) < from(edge) || (from(i) == from(edge) && i < edge);
      }
    const LayeredItem& target = layout_.items[edges_[edge].to];
    const double spacing = std::min(22.0, target.size / (count + 1));
    return target.across + (rank - (count - 1) / 2) * spacing;
  }

  void draw_edge(Image& image, Index index) const {
    const std::vector<int>& path = layout_.paths[index];
    const Rect from = box(edges_[index].from), to = box(edges_[index].to);
    const double in = entry(index);
    const LayeredItem& source = layout_.items[path.front()];
    // Out of the source's far side, straight through each layer it passes, into the target's near side.
    std::vector<Point> stops{options_.upward ? Point{point(0, source.across).x, from.y}
                                             : Point{from.right(), point(0, source.across).y}};
    for (Index i = 1; i + 1 < std::ssize(path); ++i) {
      const LayeredItem& bend = layout_.items[path[i]];
      stops.push_back(point(start_[bend.layer], bend.across));
      stops.push_back(point(start_[bend.layer] + thickness_[bend.layer], bend.across));
    }
    const Point tip = options_.upward ? Point{point(0, in).x, to.bottom()} : Point{to.x, point(0, in).y};
    stops.push_back(options_.upward ? Point{tip.x, tip.y + 7} : Point{tip.x - 7, tip.y});
    std::vector<Point> curve;
    for (Index i = 1; i < std::ssize(stops); ++i) {
      const std::vector<Point> piece = smooth_curve(stops[i - 1], stops[i], options_.upward);
      curve.insert(curve.end(), piece.begin(), piece.end());
    }
    polyline(image, curve, {paint::muted, 1.5, edges_[index].dashed});
    arrow_head(image, curve.back(), tip, paint::muted, 9);
  }

  void draw_frame(Image& image, const GraphFrame& frame) const {
    if (frame.nodes.empty()) return;
    double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
    for (const int node : frame.nodes) {
      const Rect rect = box(node);
      left = std::min(left, rect.x), right = std::max(right, rect.right());
      top = std::min(top, rect.y), bottom = std::max(bottom, rect.bottom());
    }
    // What an arrow bends around inside the frame belongs to it too.
    for (Index i = 0; i < std::ssize(edges_); ++i) {
      const auto inside = [&](int node) {
        return std::count(frame.nodes.begin(), frame.nodes.end(), node) > 0;
      };
      if (!inside(edges_[i].from) || !inside(edges_[i].to)) continue;
      for (const int member : layout_.paths[i]) {
        const Point at = point(0, layout_.items[member].across);
        if (options_.upward)
          left = std::min(left, at.x), right = std::max(right, at.x);
        else
          top = std::min(top, at.y), bottom = std::max(bottom, at.y);
      }
    }
    const Rect rect{left - 16, top - 26, right - left + 32, bottom - top + 42};
    draw_round_rect(image, rect, 12, mix(paint::panel, paint::grid, 0.35), {paint::faint, 1.2});
    draw_text(image, {rect.x + 12, rect.y + 14}, frame.label,
              {.size = small_size, .color = paint::muted, .bold = true});
  }
};

}  // namespace

Image graph(const std::vector<GraphNode>& nodes, const std::vector<GraphEdge>& edges,
            const GraphOptions& options) {
  return GraphPainter(nodes, edges, options).paint();
}

}  // namespace attn::viz
