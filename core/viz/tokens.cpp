#include "core/viz/tokens.hpp"

#include <algorithm>  // any_of, max
#include <cmath>      // ceil
#include <iterator>   // ssize

#include "core/viz/decorations.hpp"

namespace attn::viz {

namespace {

constexpr double box_height = 30, note_height = 18, row_gap = 22;

// Where the boxes of one row go, relative to the corner of the row.
struct Flow {
  std::vector<Rect> boxes;
  std::vector<std::string> texts;
  double width = 0, height = 0;
};

Flow flow_of(const TokenRow& row, double room) {
  Flow flow;
  const bool noted =
      std::any_of(row.tokens.begin(), row.tokens.end(), [](const Token& t) { return !t.note.empty(); });
  const double gap = row.boxed ? 5 : 4, padding = row.boxed ? 9 : 0;
  const double line = (row.boxed ? box_height + 6 : 22) + (noted ? note_height : 0);
  double x = 0, y = 0;
  for (const Token& token : row.tokens) {
    flow.texts.push_back(shorten(row.boxed ? visible(token.text) : token.text, room - 2 * padding));
    const double text =
        std::max(text_width(flow.texts.back()), text_width(token.note, small_size) - 2 * padding);
    const double width = std::ceil(text) + 2 * padding;
    if (x > 0 && x + width > room) x = 0, y += line;
    flow.boxes.push_back({x, y, width, row.boxed ? box_height : 20});
    x += width + gap;
    flow.width = std::max(flow.width, x - gap);
  }
  flow.height = y + line - 6;
  return flow;
}

void draw_token(Image& image, const Token& token, const std::string& text, const Rect& box, bool boxed) {
  const Color color = token.color < 0 ? paint::faint : palette(token.color);
  if (boxed)
    draw_round_rect(image, box, 6, token.color < 0 ? paint::panel : mix(color, paint::white, 0.82),
                    {mix(color, paint::white, token.color < 0 ? 0.35 : 0.25), 1.2});
  const bool tinted = !boxed && token.color >= 0;
  draw_text(image, box.center(), text,
            {.color = tinted ? mix(color, paint::ink, 0.2) : paint::ink, .align = Align::center});
  draw_text(image, {box.center().x, box.bottom() + 10}, token.note, small_text(Align::center));
}

}  // namespace

Image token_rows(const std::vector<TokenRow>& rows, const TokenOptions& options) {
  double names = 0;
  for (const TokenRow& row : rows)
    names = std::max({names, text_width(row.name, label_size, true), text_width(row.detail, small_size)});
  names = std::min(std::ceil(names), options.width / 3.0);
  const double left = margin + (names > 0 ? names + 18 : 0);
  std::vector<Flow> flows;
  double width = left + margin, height = 0;
  for (const TokenRow& row : rows) {
    flows.push_back(flow_of(row, options.width - left - margin));
    flows.back().height = std::max(flows.back().height, row.detail.empty() ? 0 : 38.0);
    width = std::max(width, left + flows.back().width + margin);
    height += flows.back().height + row_gap;
  }
  Heading heading{.title = options.title};
  for (const Token& token : options.legend)
    heading.legend.push_back({token.text, token.color < 0 ? paint::faint : palette(token.color)});
  const double titled =
      std::min<double>(text_width(options.title, title_size, true) + 2 * margin + 1, options.width);
  const int page_width = int(std::ceil(std::max({width, titled, 200.0})));
  const double top = margin + heading.height(page_width) + 4;
  Image image(page_width, int(std::ceil(top + std::max(height - row_gap, 20.0))) + margin);
  image.middle = int(top + height / 2);

  heading.draw(image);
  double y = top;
  for (Index i = 0; i < std::ssize(rows); ++i) {
    draw_text(image, {margin, y + (rows[i].boxed ? 15 : 10)}, shorten(rows[i].name, names, label_size, true),
              {.bold = true});
    draw_text(image, {margin, y + (rows[i].boxed ? 33 : 28)}, shorten(rows[i].detail, names, small_size),
              small_text());
    for (Index k = 0; k < std::ssize(rows[i].tokens); ++k) {
      Rect box = flows[i].boxes[k];
      box.x += left, box.y += y;
      draw_token(image, rows[i].tokens[k], flows[i].texts[k], box, rows[i].boxed);
    }
    y += flows[i].height + row_gap;
  }
  if (rows.empty()) draw_text(image, {margin, top + 8}, "no tokens", {.color = paint::muted});
  return image;
}

std::vector<Token> plain_tokens(const std::vector<std::string>& texts, int color) {
  std::vector<Token> tokens;
  for (const std::string& text : texts) tokens.emplace_back(text, color);
  return tokens;
}

}  // namespace attn::viz
