#include "lessons/15_gpt/pictures.hpp"

namespace attn {
namespace {

enum { sees_all = 0, feed_forward = 1, crosses = 2, embeds = 3, masked = 4, plain = -1 };  // palette colours

constexpr double box_width = 180, box_height = 44, step = 84, bottom = 640;

// A column of boxes, one above the other; `level` counts from the bottom.
struct Column {
  viz::Image& image;
  double x;  // of its middle

  viz::Rect at(int level) const {
    return {x - box_width / 2, bottom - step * level - box_height, box_width, box_height};
  }
  void frame(int lowest, int highest, const std::string& times) const {
    const viz::Rect rect{x - box_width / 2 - 14, at(highest).y - 14, box_width + 28,
                         at(lowest).bottom() - at(highest).y + 28};
    viz::draw_round_rect(image, rect, 12, viz::paint::panel, {viz::paint::faint, 1.5});
    viz::draw_text(image, {rect.x + 4, rect.y - 10}, times,
                   {.size = 13, .color = viz::paint::muted, .bold = true});
  }
  void box(int level, const std::string& label, const std::string& detail = {}, int color = plain) const {
    const viz::Color edge = color < 0 ? viz::paint::faint : viz::palette(color);
    const viz::Rect rect = at(level);
    viz::draw_round_rect(image, rect, 8, viz::mix(viz::paint::white, edge, 0.15), {edge, 1.5});
    const double middle = rect.center().y, shift = detail.empty() ? 0 : 9;
    viz::draw_text(image, {x, middle - shift}, label, {.bold = true, .align = Align::center});
    viz::draw_text(image, {x, middle + shift}, detail,
                   {.size = 12, .color = viz::paint::muted, .align = Align::center});
  }
  void arrow(int from, int to) const {
    const viz::Point start{x, at(from).y}, end{x, at(to).bottom() + 1};
    viz::line(image, start, {end.x, end.y + 6}, {viz::paint::muted, 1.5});
    viz::arrow_head(image, start, end, viz::paint::muted, 8);
  }
  void title(const std::string& name, const std::string& part) const {
    viz::draw_text(image, {x, 34}, name, {.size = 17, .bold = true, .align = Align::center});
    viz::draw_text(image, {x, 58}, part, {.color = viz::paint::muted, .align = Align::center});
  }
};

struct Layer {
  std::string label, detail;
  int color;
};
const Layer network{"feed-forward", "", feed_forward};

// From what a stack reads up to its last layer: the number of levels.
int stack(const Column& column, const std::string& reads, const std::string& times,
          const std::vector<Layer>& layers) {
  const int count = int(layers.size());
  column.frame(2, count + 1, times);
  column.box(0, reads);
  column.box(1, "embedding", "+ positions", embeds);
  for (int i = 0; i < count; ++i) column.box(2 + i, layers[i].label, layers[i].detail, layers[i].color);
  for (int level = 0; level <= count; ++level) column.arrow(level, level + 1);
  return count + 2;
}

void output(const Column& column, int level, const std::string& writes) {
  column.box(level, "linear", "", embeds);
  column.box(level + 1, writes);
  column.arrow(level - 1, level);
  column.arrow(level, level + 1);
}

}  // namespace

viz::Image families() {
  viz::Image image(1080, 670);
  const Column bert{image, 130}, source{image, 410}, target{image, 680}, gpt{image, 950};
  const Layer both_sides{"self-attention", "sees both sides", sees_all},
      past{"self-attention", "sees the past", masked}, cross{"cross-attention", "sees the source", crosses};
  bert.title("BERT", "the encoder");
  output(bert, stack(bert, "a text with gaps", "12 times", {both_sides, network}), "what is in the gaps");

  Column{image, 545}.title("Transformer", "both");
  stack(source, "source text", "6 times", {both_sides, network});
  output(target, stack(target, "target so far", "6 times", {past, cross, network}), "the next word");
  const viz::Point from{source.at(3).right(), source.at(3).center().y}, to{target.at(3).x, from.y};
  viz::line(image, from, {to.x - 6, to.y}, {viz::paint::muted, 1.5});
  viz::arrow_head(image, from, to, viz::paint::muted, 8);
  viz::draw_text(image, {(from.x + to.x) / 2, to.y - 13}, "K, V",
                 {.color = viz::paint::muted, .bold = true, .align = Align::center});

  gpt.title("GPT", "the decoder");
  output(gpt, stack(gpt, "the text so far", "12 times", {past, network}), "the next token");
  return image;
}

}  // namespace attn
