#include "core/viz/graph.hpp"

#include <algorithm>  // any_of, count, max, min
#include <cmath>      // ceil
#include <utility>    // move

#include "core/error.hpp"
#include "core/viz/furniture.hpp"
#include "core/viz/layered.hpp"
#include "core/viz/text.hpp"

namespace attn::viz {

namespace {

constexpr double line_height = 19, padding = 13;
constexpr Color gradient_color{201, 48, 80};

struct Size {
  double width, height;
};

Size size_of(const GraphNode& node) {
  double width = text_width(node.label, label_size, true), lines = 1;
  for (const std::string& text : {node.value, node.gradient}) {
    if (text.empty()) continue;
    width = std::max(width, text_width(text, small_size));
    ++lines;
  }
  return {std::ceil(width) + 2 * padding, lines * line_height + 13};
}

void draw_node(Image& image, const GraphNode& node, const Rect& box) {
  const Color edge = node.color < 0 ? paint::faint : palette(node.color);
  fill_round_rect(image, box, 8, node.color < 0 ? paint::panel : mix(edge, paint::white, 0.86));
  stroke_round_rect(image, box, 8, edge, 1.5);
  double y = box.y + 6.5 + line_height / 2;
  const auto write = [&](const std::string& text, const TextStyle& style) {
    if (text.empty()) return;
    draw_text(image, {box.center().x, y}, text, style);
    y += line_height;
  };
  write(node.label, {.bold = true, .align = Align::center});
  write(node.value, {.size = small_size, .color = paint::muted, .align = Align::center});
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
    std::vector<LayeredLink> links;
    for (const GraphEdge& edge : edges) links.push_back({edge.from, edge.to});
    layout_ = lay_out(std::move(boxes), links, options.upward ? 28 : 20, options.frames.empty() ? 40 : 72);
    for (const GraphFrame& frame : options.frames)
      for (const int node : frame.nodes)
        if (node < 0 || node >= static_cast<int>(nodes.size()))
          fail("graph: frame '{}' names node {}, but the nodes are 0..{}", frame.label, node,
               static_cast<int>(nodes.size()) - 1);
    place_layers();
  }

  Image paint() {
    const double width = options_.upward ? layout_.breadth : depth_,
                 height = options_.upward ? depth_ : layout_.breadth;
    const double around = options_.frames.empty() ? 0 : 26;
    std::vector<LegendEntry> legend;
    if (std::any_of(nodes_.begin(), nodes_.end(),
                    [](const GraphNode& node) { return !node.gradient.empty(); }))
      legend = {{"value", paint::muted, LegendEntry::Mark::Point},
                {"gradient", gradient_color, LegendEntry::Mark::Point}};
    const int page_width = std::max(static_cast<int>(width + 2 * around) + 2 * margin, 300),
              inner = page_width - 2 * margin;
    const double top =
        margin + title_height(options_.title, inner) + legend_height(legend, inner) + 4 + around;
    Image image(page_width, static_cast<int>(top + height + around + margin));
    origin_ = {std::floor((page_width - width) / 2), top};
    image.middle = static_cast<int>(top + height / 2);

    draw_title(image, options_.title, {margin, margin}, inner);
    draw_legend(image, legend, {margin, margin + title_height(options_.title, inner) - 2.0}, inner);
    for (const GraphFrame& frame : options_.frames) draw_frame(image, frame);
    for (std::size_t i = 0; i < edges_.size(); ++i) draw_edge(image, i);
    for (std::size_t i = 0; i < nodes_.size(); ++i) draw_node(image, nodes_[i], box(static_cast<int>(i)));
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
    const auto layers = static_cast<std::size_t>(layout_.layers);
    thickness_.assign(layers, 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      double& thickness = thickness_[static_cast<std::size_t>(layout_.items[i].layer)];
      thickness = std::max(thickness, options_.upward ? sizes_[i].height : sizes_[i].width);
    }
    const double between =
        (options_.upward ? 30 : 52) + (options_.frames.empty() ? 0 : 12);  // frames need room
    for (std::size_t i = 0; i < layers; ++i) {
      start_.push_back(depth_);
      depth_ += thickness_[i] + (i + 1 < layers ? between : 0);
    }
  }

  Point point(double along, double across) const {
    return options_.upward ? Point{origin_.x + across, origin_.y + depth_ - along}
                           : Point{origin_.x + along, origin_.y + across};
  }

  Rect box(int node) const {
    const LayeredItem& item = layout_.items[static_cast<std::size_t>(node)];
    const auto layer = static_cast<std::size_t>(item.layer);
    const Size size = sizes_[static_cast<std::size_t>(node)];
    const Point middle = point(start_[layer] + thickness_[layer] / 2, item.across);
    return {std::round(middle.x - size.width / 2), std::round(middle.y - size.height / 2), size.width,
            size.height};
  }

  // Arrows that enter the same box get a place each on its side, in the order of where they come from.
  double entry(std::size_t edge) const {
    const auto from = [&](std::size_t i) {
      const std::vector<int>& items = layout_.edges[i].items;
      return layout_.items[static_cast<std::size_t>(items[items.size() - 2])].across;
    };
    double rank = 0, count = 0;
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (edges_[i].to == edges_[edge].to) {
        ++count;
        rank += from(i) < from(edge) || (from(i) == from(edge) && i < edge);
      }
    const LayeredItem& target = layout_.items[static_cast<std::size_t>(edges_[edge].to)];
    const double spacing = std::min(22.0, target.size / (count + 1));
    return target.across + (rank - (count - 1) / 2) * spacing;
  }

  void draw_edge(Image& image, std::size_t index) const {
    const std::vector<int>& items = layout_.edges[index].items;
    const Rect from = box(edges_[index].from), to = box(edges_[index].to);
    const double in = entry(index);
    const LayeredItem& source = layout_.items[static_cast<std::size_t>(items.front())];
    // Out of the source's far side, straight through each layer it passes, into the target's near side.
    std::vector<Point> stops{options_.upward ? Point{point(0, source.across).x, from.y}
                                             : Point{from.right(), point(0, source.across).y}};
    for (std::size_t i = 1; i + 1 < items.size(); ++i) {
      const LayeredItem& bend = layout_.items[static_cast<std::size_t>(items[i])];
      const auto layer = static_cast<std::size_t>(bend.layer);
      stops.push_back(point(start_[layer], bend.across));
      stops.push_back(point(start_[layer] + thickness_[layer], bend.across));
    }
    const Point tip = options_.upward ? Point{point(0, in).x, to.bottom()} : Point{to.x, point(0, in).y};
    stops.push_back(options_.upward ? Point{tip.x, tip.y + 7} : Point{tip.x - 7, tip.y});
    std::vector<Point> path;
    for (std::size_t i = 1; i < stops.size(); ++i) {
      const std::vector<Point> piece = smooth_curve(stops[i - 1], stops[i], options_.upward);
      path.insert(path.end(), piece.begin(), piece.end());
    }
    polyline(image, path, paint::muted, 1.5, edges_[index].dashed);
    arrow_head(image, path.back(), tip, paint::muted, 9);
  }

  void draw_frame(Image& image, const GraphFrame& frame) const {
    if (frame.nodes.empty()) return;
    double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
    for (const int node : frame.nodes) {
      const Rect rect = box(node);
      left = std::min(left, rect.x), right = std::max(right, rect.right());
      top = std::min(top, rect.y), bottom = std::max(bottom, rect.bottom());
    }
    // What an arrow bends around inside of the frame belongs to it too.
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const auto inside = [&](int node) {
        return std::count(frame.nodes.begin(), frame.nodes.end(), node) > 0;
      };
      if (!inside(edges_[i].from) || !inside(edges_[i].to)) continue;
      for (const int member : layout_.edges[i].items) {
        const Point at = point(0, layout_.items[static_cast<std::size_t>(member)].across);
        if (options_.upward)
          left = std::min(left, at.x), right = std::max(right, at.x);
        else
          top = std::min(top, at.y), bottom = std::max(bottom, at.y);
      }
    }
    const Rect rect{left - 16, top - 26, right - left + 32, bottom - top + 42};
    fill_round_rect(image, rect, 12, mix(paint::panel, paint::grid, 0.35));
    stroke_round_rect(image, rect, 12, paint::faint, 1.2);
    draw_text(image, {rect.x + 12, rect.y + 14}, frame.label,
              {.size = small_size, .color = paint::muted, .bold = true});
  }
};

}  // namespace

Image graph(const std::vector<GraphNode>& nodes, const std::vector<GraphEdge>& edges,
            const GraphOptions& options) {
  return GraphPainter(nodes, edges, options).paint();
}

void graph(const std::filesystem::path& path, const std::vector<GraphNode>& nodes,
           const std::vector<GraphEdge>& edges, const GraphOptions& options) {
  write_png(path, graph(nodes, edges, options));
}

}  // namespace attn::viz
