#include "lessons/18_fast_attention/pictures.hpp"

#include <string>  // string
#include <vector>  // vector

#include "core/viz/arrange.hpp"
#include "core/viz/text.hpp"

namespace attn {

using namespace viz;

namespace {

const TextStyle centred{.size = 13, .align = Align::center},
    bold{.size = 14, .bold = true, .align = Align::center};

Color pale(int number) { return mix(palette(number), paint::white, 0.8); }

void arrow(Image& image, Point from, Point to, Color color) {
  line(image, from, to, {color, 2});
  arrow_head(image, from, to, color, 9);
}

}  // namespace

Image tiles_picture() {
  constexpr double cell = 15, tile = 4 * cell, left = 150, top = 150, rows = 12 * cell, cols = 16 * cell;
  constexpr int at_row = 1, at_column = 2;  // the tile that is being computed
  Image image(690, 375);
  const Rect scores{left, top, cols, rows};
  fill_rect(image, scores, paint::panel);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 4; ++c) {
      const Rect box{left + c * tile, top + r * tile, tile, tile};
      const bool now = r == at_row && c == at_column, done = r < at_row || (r == at_row && c < at_column);
      fill_rect(image, {box.x + 1, box.y + 1, tile - 2, tile - 2},
                now    ? palette(1)
                : done ? mix(paint::grid, paint::faint, 0.3)
                       : paint::white);
    }
  for (int i = 0; i <= 12; ++i)
    line(image, {left, top + i * cell}, {left + cols, top + i * cell},
         {i % 4 ? paint::grid : paint::faint, 1});
  for (int j = 0; j <= 16; ++j)
    line(image, {left + j * cell, top}, {left + j * cell, top + rows},
         {j % 4 ? paint::grid : paint::faint, 1});
  const Rect now{left + at_column * tile, top + at_row * tile, tile, tile};
  draw_text(image, {now.center().x, now.center().y - 5}, "now",
            {.size = 14, .color = paint::white, .bold = true, .align = Align::center});
  // Queries at the left, keys and values on top: the strips that the tile needs.
  const Rect q{left - 60, top, 44, rows}, k{left, top - 56, cols, 24}, v{left, top - 26, cols, 18};
  for (const Rect& strip : {q, k, v}) draw_round_rect(image, strip, 3, paint::panel, {paint::faint, 1});
  fill_rect(image, {q.x + 1, top + at_row * tile, q.width - 2, tile}, palette(0), 0.75);
  fill_rect(image, {left + at_column * tile, k.y + 1, tile, k.height - 2}, palette(2), 0.75);
  fill_rect(image, {left + at_column * tile, v.y + 1, tile, v.height - 2}, palette(2), 0.45);
  draw_text(image, {q.center().x, q.bottom() + 16}, "Q (T, D)", centred);
  draw_text(image, {left - 10, k.center().y}, "Kᵀ", {.size = 13, .align = Align::right});
  draw_text(image, {left - 10, v.center().y}, "Vᵀ", {.size = 13, .align = Align::right});
  draw_text(image, {left + cols / 2, top + rows + 16}, "Q Kᵀ (T, S): never whole in memory", centred);
  arrow(image, {left + 6, top + tile * (at_row + 0.5) + 22},
        {left + cols - 6, top + tile * (at_row + 0.5) + 22}, palette(3));
  // What each row of tiles keeps.
  const double state = left + cols + 60;
  const Rect m{state, top, 26, rows}, l{state + 38, top, 26, rows}, o{state + 76, top, 96, rows};
  for (const Rect& strip : {m, l, o}) {
    draw_round_rect(image, strip, 3, paint::panel, {paint::faint, 1});
    fill_rect(image, {strip.x + 1, top + 1, strip.width - 2, tile - 2}, mix(paint::grid, paint::faint, 0.3));
    fill_rect(image, {strip.x + 1, top + at_row * tile, strip.width - 2, tile}, palette(3), 0.6);
  }
  arrow(image, {left + cols + 10, top + tile * (at_row + 0.5)}, {state - 8, top + tile * (at_row + 0.5)},
        palette(3));
  draw_text(image, {m.center().x, top - 16}, "m", bold);
  draw_text(image, {l.center().x, top - 16}, "ℓ", bold);
  draw_text(image, {o.center().x, top - 16}, "o (T, D)", bold);
  draw_text(image, {(m.x + o.right()) / 2, top + rows + 16}, "kept per query, rescaled by each tile",
            centred);
  draw_text(image, {20, 30}, "FlashAttention: a tile at a time", {.size = 17, .bold = true});
  draw_text(image, {20, 58},
            "A block of queries stays in fast memory; blocks of keys and values stream past it.",
            {.size = 13, .color = paint::muted});
  return image;
}

namespace {

Image grouping(const std::string& name, const std::string& detail, int kv_heads) {
  constexpr int heads = 8;
  constexpr double box = 26, gap = 8, left = 20, kv_top = 96, q_top = 190;
  Image image(int(2 * left + heads * (box + gap) - gap), 262);
  draw_text(image, {left, 24}, name, {.size = 15, .bold = true});
  draw_text(image, {left, 46}, detail, {.size = 13, .color = paint::muted});
  const auto x_of = [&](double head) { return left + head * (box + gap); };
  const int group = heads / kv_heads;
  for (int kv = 0; kv < kv_heads; ++kv) {
    const double middle = x_of(kv * group + (group - 1) / 2.0) + box / 2;
    for (int h = kv * group; h < (kv + 1) * group; ++h)
      line(image, {x_of(h) + box / 2, q_top}, {middle, kv_top + 44}, {palette(kv), 2});
    for (int part = 0; part < 2; ++part) {
      const Rect rect{middle - box / 2, kv_top - part * 30 + 20, box, 24};
      draw_round_rect(image, rect, 4, pale(kv), {palette(kv), 1.5});
      draw_text(image, rect.center(), part ? "v" : "k", centred);
    }
  }
  for (int h = 0; h < heads; ++h) {
    const Rect rect{x_of(h), q_top, box, 30};
    draw_round_rect(image, rect, 4, pale(h / group), {palette(h / group), 1.5});
    draw_text(image, rect.center(), "q" + std::to_string(h + 1), {.size = 12, .align = Align::center});
  }
  draw_text(image, {left, 242}, "query heads", {.size = 13, .color = paint::muted});
  return image;
}

}  // namespace

Image grouping_picture() {
  return row({grouping("multi-head (MHA)", "8 heads of keys and values", 8),
              grouping("grouped-query (GQA)", "2 heads: a quarter of the cache", 2),
              grouping("multi-query (MQA)", "1 head: an eighth", 1)},
             {.title = "Who shares keys and values"});
}

}  // namespace attn
