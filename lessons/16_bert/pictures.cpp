#include "lessons/16_bert/pictures.hpp"

#include <fmt/core.h>  // format

#include <iterator>  // ssize

namespace attn {

viz::Image three_embeddings(const std::vector<std::string>& tokens, const std::vector<int>& segments) {
  const double left = 130, column = 82, row = 62, box = 36;
  viz::Image image(int(left + column * double(tokens.size()) + 20), 400);
  viz::draw_text(image, {20, 30}, "What BERT reads: three vectors for each token, summed",
                 {.size = 17, .bold = true});
  const std::vector<std::string> names = {"tokens", "word", "position", "segment", "input"};
  const std::vector<std::string> signs = {"", "", "+", "+", "="};
  for (Index i = 0; i < std::ssize(names); ++i)
    viz::draw_text(image, {20, 80 + row * double(i)}, names[i], {.bold = true});
  for (Index t = 0; t < std::ssize(tokens); ++t) {
    const double x = left + column * double(t), middle = x + (column - 10) / 2;
    const auto cell = [&](Index i, const std::string& text, viz::Color edge) {
      const double y = 80 + row * double(i);
      viz::draw_round_rect(image, {x, y - box / 2, column - 10, box}, 7,
                           viz::mix(viz::paint::white, edge, 0.15), {edge, 1.5});
      viz::draw_text(image, {middle, y}, viz::shorten(text, column - 16, 12),
                     {.size = 12, .align = Align::center});
      if (i > 1)
        viz::draw_text(image, {middle, y - row / 2}, signs[i], {.bold = true, .align = Align::center});
    };
    cell(0, tokens[t], viz::paint::faint);
    cell(1, tokens[t], viz::palette(0));
    cell(2, fmt::format("P {}", t), viz::palette(1));
    cell(3, segments[t] ? "B" : "A", viz::palette(segments[t] ? 4 : 2));
    cell(4, fmt::format("x {}", t), viz::paint::muted);
  }
  viz::draw_text(image, {20, 382}, "A: of the first sentence, B: of the second. A norm follows (not drawn).",
                 viz::TextStyle{.size = 13, .color = viz::paint::muted});
  return image;
}

}  // namespace attn
