#include "core/viz/tree.hpp"

#include <algorithm>  // any_of, max
#include <cmath>      // ceil, round
#include <iterator>   // ssize
#include <utility>    // pair

#include "core/error.hpp"
#include "core/viz/decorations.hpp"

namespace attn::viz {

namespace {

constexpr double node_height = 30, slot = 40, between = 56;

struct Placed {
  Index depth = 0;
  double width = 0, y = 0;  // y of the centre
  std::vector<Index> children;
};

struct Look {
  Color line, fill, text;
  double way, outline;  // widths of the line that leads here and of the one around the box
};

Look look_of(Branch branch) {
  switch (branch) {
    case Branch::best:
      return {palette(2), mix(palette(2), paint::white, 0.82), paint::ink, 3, 2};
    case Branch::kept:
      return {palette(0), mix(palette(0), paint::white, 0.88), paint::ink, 1.8, 1.4};
    default:
      return {mix(paint::faint, paint::white, 0.3), paint::white, mix(paint::muted, paint::white, 0.25), 1.2,
              1.4};
  }
}

std::vector<Placed> place(const std::vector<TreeNode>& nodes) {
  std::vector<Placed> placed(nodes.size());
  for (Index i = 0; i < std::ssize(nodes); ++i) {
    const Index parent = nodes[i].parent;
    if (parent >= i || parent < -1)
      fail("tree: node {} ('{}') has parent {}: a parent comes earlier in the list, a root has -1", i,
           nodes[i].label, parent);
    if (parent >= 0) {
      placed[i].depth = placed[parent].depth + 1;
      placed[parent].children.push_back(i);
    }
    const double detail = nodes[i].detail.empty() ? 0 : 9 + text_width(nodes[i].detail, small_size);
    placed[i].width = std::ceil(text_width(visible(nodes[i].label), label_size, true) + detail) + 24;
  }
  // Leaves take the next free line, in the order of a walk from the root; a parent stands at the middle of
  // its children. The walk keeps its own stack, so that a chain of any length is fine.
  double next = slot / 2;
  for (Index root = 0; root < std::ssize(nodes); ++root) {
    if (nodes[root].parent >= 0) continue;
    std::vector<std::pair<Index, Index>> stack{{root, 0}};  // node, its next child
    while (!stack.empty()) {
      auto& [node, child] = stack.back();
      Placed& here = placed[node];
      if (child < std::ssize(here.children)) {
        stack.push_back({here.children[child++], 0});
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
  std::vector<double> widths, lefts;
  double height = 0;
  for (const std::string& step : options.steps) widths.push_back(text_width(step, small_size));
  for (const Placed& each : placed) {
    if (each.depth >= std::ssize(widths)) widths.resize(each.depth + 1, 0);
    widths[each.depth] = std::max(widths[each.depth], each.width);
    height = std::max(height, each.y + slot / 2);
  }
  double right = margin;
  for (const double width : widths) lefts.push_back(right), right += width + between;
  right -= widths.empty() ? 0 : between;

  Heading heading{.title = options.title};
  for (const auto& [branch, name] :
       {std::pair{Branch::best, "chosen"}, {Branch::kept, "kept"}, {Branch::pruned, "dropped"}})
    if (std::any_of(nodes.begin(), nodes.end(), [b = branch](const TreeNode& n) { return n.branch == b; }))
      heading.legend.push_back({name, look_of(branch).line});
  const int width = std::max(int(right) + margin, 340);
  double top = margin + heading.height(width);
  const double headings = top + 10;
  if (!options.steps.empty()) top += 28;
  Image image(width, int(top + std::max(height, slot)) + margin);
  image.middle = int(top + height / 2);

  heading.draw(image);
  for (Index i = 0; i < std::ssize(options.steps); ++i)
    draw_text(image, {lefts[i], headings}, options.steps[i], small_text());
  // The chosen way is drawn last, over the others.
  for (const Branch branch : {Branch::pruned, Branch::kept, Branch::best})
    for (Index i = 0; i < std::ssize(nodes); ++i) {
      if (nodes[i].branch != branch || nodes[i].parent < 0) continue;
      const Placed &parent = placed[nodes[i].parent], &child = placed[i];
      const Point from{lefts[parent.depth] + parent.width, top + parent.y};
      polyline(image, smooth_curve(from, {lefts[child.depth], top + child.y}),
               {look_of(branch).line, look_of(branch).way});
    }
  for (Index i = 0; i < std::ssize(nodes); ++i) {
    const Look look = look_of(nodes[i].branch);
    const Rect box{lefts[placed[i].depth], std::round(top + placed[i].y - node_height / 2), placed[i].width,
                   node_height};
    draw_round_rect(image, box, 7, look.fill, {look.line, look.outline});
    draw_text(image, {box.x + 12, box.center().y}, visible(nodes[i].label),
              {.color = look.text, .bold = true});
    draw_text(image, {box.right() - 12, box.center().y}, nodes[i].detail,
              {.size = small_size, .color = mix(look.text, paint::muted, 0.7), .align = Align::right});
  }
  if (nodes.empty()) draw_text(image, {margin, top}, "no nodes", {.color = paint::muted});
  return image;
}

}  // namespace attn::viz
