// Diagrams that a lesson lays out by hand: boxes and arrows where it wants them, in the looks of viz::graph,
// which finds the places by itself.
//
//   viz::Image image(400, 300);
//   draw_box(image, {.place = {20, 200, 160, 46}, .label = "attention", .detail = "(5, 512)", .color = 0});
//   draw_arrow(image, {{100, 280}, {100, 246}});
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/viz.hpp"

namespace attn {

struct DiagramBox {
  viz::Rect place = {};
  std::string label = {};
  std::string detail = {};  // below the label, small: a shape
  int color = -1;           // of the palette; -1 is plain
};

void draw_box(viz::Image& image, const DiagramBox& box);
// Along the points, with its head at the last of them.
void draw_arrow(viz::Image& image, const std::vector<viz::Point>& way,
                const viz::Stroke& stroke = {viz::paint::muted, 1.5});
void draw_title(viz::Image& image, const std::string& title);
// A circle with a plus: where a residual is added.
void draw_plus(viz::Image& image, viz::Point center);
// Small text, for what stands beside a line.
void draw_note(viz::Image& image, viz::Point at, const std::string& text, Align align = Align::left);

}  // namespace attn
