#include "lessons/11_transformer/pictures.hpp"

#include "lessons/support/diagram.hpp"
#include "lessons/support/lesson.hpp"  // grouped

namespace attn {

using viz::Point;

namespace {

constexpr int attention_color = 0, feed_color = 1, norm_color = 2, embedding_color = 3;
constexpr viz::Stroke thin{viz::paint::muted, 1.5}, residual{viz::paint::muted, 1.5, true};

std::string shape(Index rows, Index columns) {
  return fmt::format("({}, {})", grouped(rows), grouped(columns));
}

// A column of boxes that grows upwards. y is the upper edge of the last box.
struct Column {
  viz::Image& image;
  double x, y;
  double split = 0;  // the height at which the residual of the next sublayer leaves

  void box(const DiagramBox& what, double gap, double height = 44, double width = 236) {
    y -= gap + height;
    DiagramBox placed = what;
    placed.place = {x - width / 2, y, width, height};
    draw_box(image, placed);
  }
  void arrow_from(double below) { draw_arrow(image, {{x, below}, {x, y + last_height}}); }
  void next(const DiagramBox& what, double gap = 22) {
    const double below = y;
    box(what, gap);
    last_height = 44;
    arrow_from(below);
    split = below - gap / 3;
  }
  // One arrow becomes the three inputs of self-attention.
  void self_attention(const DiagramBox& what) {
    const double below = y, bar = y - 32;
    box(what, 62);
    const double bottom = y + 44;
    viz::line(image, {x, below}, {x, bar}, thin);
    viz::line(image, {x - 60, bar}, {x + 60, bar}, thin);
    for (const auto& [letter, across] : {std::pair("K", -60.0), std::pair("V", 0.0), std::pair("Q", 60.0)})
      input(letter, {x + across, bar}, bottom);
    split = below - 20;
  }
  void input(const char* letter, Point from, double bottom) {
    draw_arrow(image, {from, {from.x, bottom}});
    draw_text(image, {from.x + 8, bottom + 16}, letter, {.size = 13, .bold = true});
  }
  // The sum with what the sublayer read, which comes around it, and the norm.
  void add_and_norm() {
    const double below = y;
    box({.label = "add & norm", .color = norm_color}, 16, 28);
    last_height = 28;
    arrow_from(below);
    const double side = x + 140, middle = y + 14;
    draw_arrow(image, {{x, split}, {side, split}, {side, middle}, {x + 118, middle}}, residual);
  }

  double last_height = 44;
};

void draw_frame(viz::Image& image, const viz::Rect& place, const std::string& label) {
  viz::draw_round_rect(image, place, 12, mix(viz::paint::panel, viz::paint::grid, 0.35),
                       {viz::paint::faint, 1.2});
  draw_text(image, {place.x + 12, place.y + 16}, label,
            {.size = 13, .color = viz::paint::muted, .bold = true});
}

}  // namespace

viz::Image draw_architecture(const TransformerConfig& config, Index S, Index T) {
  const Index C = config.d_model, V = config.vocabulary;
  const DiagramBox embedding{.label = "embedding · √C + positions", .color = embedding_color};
  const auto sized = [](DiagramBox box, const std::string& detail) {
    box.detail = detail;
    return box;
  };
  viz::Image image(800, 940);
  draw_title(image, "The Transformer, with the shapes of this run");

  constexpr double left = 190, right = 580, bottom = 920, cross_bar = 496;
  draw_frame(image, {left - 160, 516, 320, 284}, fmt::format("encoder × {}", config.encoder_layers));
  draw_frame(image, {right - 160, 234, 320, 500}, fmt::format("decoder × {}", config.decoder_layers));

  Column encoder{image, left, bottom};
  encoder.box({.label = "source words", .detail = fmt::format("({})", S)}, 0);
  encoder.next(sized(embedding, shape(S, C)));
  encoder.self_attention({.label = "self-attention", .detail = shape(S, C), .color = attention_color});
  encoder.add_and_norm();
  encoder.next({.label = "feed-forward", .detail = "inside: " + shape(S, config.d_ff), .color = feed_color});
  encoder.add_and_norm();

  Column decoder{image, right, bottom};
  decoder.box({.label = "target words", .detail = fmt::format("({})", T)}, 0);
  decoder.next({.label = "shift right: <bos> first", .detail = fmt::format("({})", T)});
  decoder.next(sized(embedding, shape(T, C)));
  decoder.self_attention({.label = "masked self-attention", .detail = shape(T, C), .color = attention_color});
  decoder.add_and_norm();
  // Cross-attention: the queries from below, keys and values from the encoder.
  const double below = decoder.y;
  decoder.split = below - 10;
  decoder.box({.label = "cross-attention", .detail = shape(T, C), .color = attention_color},
              below - cross_bar + 30);
  const double entry = decoder.y + 44;
  decoder.input("Q", {right + 60, cross_bar}, entry);
  viz::polyline(
      image, {{right, below}, {right, cross_bar + 20}, {right + 60, cross_bar + 20}, {right + 60, cross_bar}},
      thin);
  viz::polyline(image, {{left, encoder.y}, {left, cross_bar}, {right, cross_bar}}, {viz::palette(0), 2.5});
  decoder.input("K", {right - 60, cross_bar}, entry);
  decoder.input("V", {right, cross_bar}, entry);
  draw_text(image, {left + 14, cross_bar - 16}, "memory " + shape(S, C),
            {.color = viz::palette(0), .bold = true});
  decoder.add_and_norm();
  decoder.next({.label = "feed-forward", .detail = "inside: " + shape(T, config.d_ff), .color = feed_color});
  decoder.add_and_norm();
  decoder.next({.label = "linear: x · embeddingᵀ", .detail = shape(T, V), .color = embedding_color}, 50);
  decoder.next({.label = "softmax", .detail = shape(T, V)});
  draw_note(image, {right, decoder.y - 18}, "a guess for the next word, at every position", Align::center);

  double y = 96;
  for (const auto& [name, color] : {std::pair("attention: tokens look at tokens", attention_color),
                                    std::pair("feed-forward: each token alone", feed_color),
                                    std::pair("sum with the residual, LayerNorm", norm_color),
                                    std::pair("one table of V embeddings", embedding_color)}) {
    draw_box(image, {.place = {45, y - 9, 26, 18}, .color = color});
    draw_note(image, {82, y}, name);
    y += 28;
  }
  viz::line(image, {45, y}, {71, y}, residual);
  draw_note(image, {82, y}, "residual: around the sublayer");
  draw_note(image, {45, y + 36}, fmt::format("S = {} source, T = {} target words,", S, T));
  draw_note(image, {45, y + 58}, fmt::format("C = {} channels, V = {} vocabulary", C, grouped(V)));
  return image;
}

}  // namespace attn
