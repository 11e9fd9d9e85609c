#include "lessons/10_blocks/pictures.hpp"

#include <iterator>  // ssize

#include "lessons/support/diagram.hpp"

namespace attn {

using viz::Point;

namespace {

constexpr int attention_color = 0, feed_color = 1, norm_color = 2, plain = -1;

void draw_tokens(viz::Image& image, Point corner, bool by_token) {
  const std::vector<std::string> words = {"the", "cat", "drank", "dogs", "sleep", "<pad>"};
  constexpr double cell = 34, between_sentences = 16;
  constexpr Index channels = 5;
  for (Index row = 0; row < std::ssize(words); ++row) {
    const double y = corner.y + cell * double(row) + (row < 3 ? 0 : between_sentences);
    draw_text(image, {corner.x - 10, y + cell / 2}, words[row],
              {.color = words[row] == "<pad>" ? viz::paint::faint : viz::paint::ink, .align = Align::right});
    for (Index channel = 0; channel < channels; ++channel) {
      const viz::Color color = viz::palette(by_token ? row : channel);
      const double x = corner.x + cell * double(channel);
      viz::draw_round_rect(image, {x + 1, y + 1, cell - 2, cell - 2}, 4, mix(color, viz::paint::white, 0.55),
                           {color, 1.2});
    }
  }
  draw_note(image, {corner.x + cell * channels / 2, corner.y - 14}, "channels", Align::center);
}

// Leaves the residual path to the left, passes through the boxes from the bottom up, and is added to the
// path again; returns the height of the sum.
double draw_branch(viz::Image& image, Point start, const std::vector<DiagramBox>& boxes) {
  const double x = start.x - 150;
  std::vector<Point> way{start, {x, start.y}};
  double y = start.y;
  for (DiagramBox box : boxes) {
    const double height = box.color == plain ? 26 : 36;
    y -= height + 20;
    way.push_back({x, y + height});
    draw_arrow(image, way);
    box.place = {x - 75, y, 150, height};
    draw_box(image, box);
    way = {{x, y}};
  }
  const Point sum{start.x, y - 24};
  way.push_back({x, sum.y});
  way.push_back({sum.x - 11, sum.y});
  draw_arrow(image, way);
  return sum.y;
}

void draw_block(viz::Image& image, double path, bool pre_norm) {
  constexpr double bottom = 560, top = 96;
  const DiagramBox norm{.label = "LayerNorm", .color = norm_color}, drop{.label = "dropout"};
  const std::vector<DiagramBox> sublayers = {{.label = "attention", .color = attention_color},
                                             {.label = "feed-forward", .color = feed_color}};
  draw_arrow(image, {{path, bottom}, {path, top}}, {viz::palette(3), 4});
  draw_note(image, {path, bottom + 14}, "x: tokens (T, C)", Align::center);
  double y = bottom - 12;
  for (const DiagramBox& sublayer : sublayers) {
    y = draw_branch(image, {path, y},
                    pre_norm ? std::vector{norm, sublayer, drop} : std::vector{sublayer, drop});
    draw_plus(image, {path, y});
    if (!pre_norm) {
      y -= 64;
      draw_box(image, {.place = {path - 62, y, 124, 36}, .label = norm.label, .color = norm_color});
    }
    y -= 22;
  }
}

}  // namespace

viz::Image draw_norm_axes() {
  viz::Image image(640, 380);
  draw_title(image, "Numbers of one colour share a mean and a deviation");
  for (const bool by_token : {true, false}) {
    const double left = by_token ? 100 : 420;
    draw_text(image, {left, 70}, by_token ? "LayerNorm" : "BatchNorm", {.bold = true});
    draw_note(image, {left, 90}, by_token ? "one token, all its channels" : "one channel, all tokens");
    draw_tokens(image, {left, 132}, by_token);
  }
  return image;
}

viz::Image draw_blocks() {
  viz::Image image(760, 600);
  draw_title(image, "One block, wired in two ways");
  for (const bool pre_norm : {false, true}) {
    const double left = pre_norm ? 400 : 20;
    draw_text(image, {left, 62}, pre_norm ? "pre-norm: x + f(LN(x))" : "post-norm: LN(x + f(x))",
              {.bold = true});
    draw_block(image, left + 260, pre_norm);
  }
  return image;
}

}  // namespace attn
