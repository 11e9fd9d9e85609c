#include "core/viz/tree.hpp"

#include <algorithm>  // max
#include <cmath>      // ceil, round
#include <utility>    // pair

#include "core/error.hpp"
#include "core/viz/furniture.hpp"
#include "core/viz/text.hpp"

namespace attn::viz {

namespace {

constexpr double box_height = 30, slot = 40, between = 56;

struct Placed {
  std::size_t depth = 0;
  double width = 0, y = 0;  // y of the centre
  std::vector<std::size_t> children;
};

struct Look {
  Color line, fill, text;
};

Look look_of(Branch branch) {
  switch (branch) {
    case Branch::Best:
      return {palette(2), mix(palette(2), paint::white, 0.82), paint::ink};
    case Branch::Kept:
      return {palette(0), mix(palette(0), paint::white, 0.88), paint::ink};
    default:
      return {mix(paint::faint, paint::white, 0.3), paint::white, mix(paint::muted, paint::white, 0.25)};
  }
}

std::vector<Placed> place(const std::vector<TreeNode>& nodes) {
  std::vector<Placed> placed(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int parent = nodes[i].parent;
    if (parent >= static_cast<int>(i) || parent < -1)
      fail("tree: node {} ('{}') has parent {}: a parent comes earlier in the list, a root has -1", i,
           nodes[i].label, parent);
    if (parent >= 0) {
      placed[i].depth = placed[static_cast<std::size_t>(parent)].depth + 1;
      placed[static_cast<std::size_t>(parent)].children.push_back(i);
    }
    const double detail = nodes[i].detail.empty() ? 0 : 9 + text_width(nodes[i].detail, small_size);
    placed[i].width = std::ceil(text_width(visible(nodes[i].label), label_size, true) + detail) + 24;
  }
  // Leaves take the next free line, in the order of a walk from the root; a parent stands at the middle of
  // its children. The walk keeps its own stack, so that a chain of any length is fine.
  double next = slot / 2;
  struct Visit {
    std::size_t node, child;
  };
  for (std::size_t root = 0; root < nodes.size(); ++root) {
    if (nodes[root].parent >= 0) continue;
    std::vector<Visit> stack{{root, 0}};
    while (!stack.empty()) {
      Visit& top = stack.back();
      Placed& here = placed[top.node];
      if (top.child < here.children.size()) {
        stack.push_back({here.children[top.child++], 0});
        continue;
      }
      if (here.children.empty())
        here.y = next, next += slot;
      else
        here.y = (placed[here.children.front()].y + placed[here.children.back()].y) / 2;
      stack.pop_back();
    }
  }
  return placed;
}

}  // namespace

Image tree(const std::vector<TreeNode>& nodes, const TreeOptions& options) {
  const std::vector<Placed> placed = place(nodes);
  std::vector<double> widths(options.steps.size(), 0), lefts;
  double height = 0;
  for (std::size_t i = 0; i < options.steps.size(); ++i) widths[i] = text_width(options.steps[i], small_size);
  for (const Placed& each : placed) {
    if (each.depth >= widths.size()) widths.resize(each.depth + 1, 0);
    widths[each.depth] = std::max(widths[each.depth], each.width);
    height = std::max(height, each.y + slot / 2);
  }
  double right = margin;
  for (const double width : widths) lefts.push_back(right), right += width + between;
  right -= widths.empty() ? 0 : between;

  std::vector<LegendEntry> legend;
  for (const auto& [branch, name] :
       {std::pair{Branch::Best, options.best}, std::pair{Branch::Kept, options.kept},
        std::pair{Branch::Pruned, options.pruned}})
    for (const TreeNode& node : nodes)
      if (node.branch == branch) {
        legend.push_back({name, look_of(branch).line});
        break;
      }
  const int width = std::max(static_cast<int>(right) + margin, 340), inner = width - 2 * margin;
  double top = margin + title_height(options.title, inner) + legend_height(legend, inner);
  const double headings = top + 10;
  if (!options.steps.empty()) top += 28;
  Image image(width, static_cast<int>(top + std::max(height, slot)) + margin);
  image.middle = static_cast<int>(top + height / 2);

  draw_title(image, options.title, {margin, margin}, inner);
  draw_legend(image, legend, {margin, margin + title_height(options.title, inner) - 2.0}, inner);
  for (std::size_t i = 0; i < options.steps.size(); ++i)
    draw_text(image, {lefts[i], headings}, options.steps[i], {.size = small_size, .color = paint::muted});
  // The chosen way is drawn last, over the others.
  for (const Branch branch : {Branch::Pruned, Branch::Kept, Branch::Best})
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].branch != branch || nodes[i].parent < 0) continue;
      const auto parent = static_cast<std::size_t>(nodes[i].parent);
      const Point from{lefts[placed[parent].depth] + placed[parent].width, top + placed[parent].y};
      polyline(image, smooth_curve(from, {lefts[placed[i].depth], top + placed[i].y}), look_of(branch).line,
               branch == Branch::Best   ? 3
               : branch == Branch::Kept ? 1.8
                                        : 1.2);
    }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Look look = look_of(nodes[i].branch);
    const Rect box{lefts[placed[i].depth], std::round(top + placed[i].y - box_height / 2), placed[i].width,
                   box_height};
    fill_round_rect(image, box, 7, look.fill);
    stroke_round_rect(image, box, 7, look.line, nodes[i].branch == Branch::Best ? 2 : 1.4);
    draw_text(image, {box.x + 12, box.center().y}, visible(nodes[i].label),
              {.color = look.text, .bold = true});
    draw_text(image, {box.right() - 12, box.center().y}, nodes[i].detail,
              {.size = small_size, .color = mix(look.text, paint::muted, 0.7), .align = Align::right});
  }
  if (nodes.empty()) draw_text(image, {margin, top}, "no nodes", {.color = paint::muted});
  return image;
}

void tree(const std::filesystem::path& path, const std::vector<TreeNode>& nodes, const TreeOptions& options) {
  write_png(path, tree(nodes, options));
}

}  // namespace attn::viz
