// Text on pictures: UTF-8, drawn with the system's DejaVu Sans through stb_truetype, at any angle.
//
//   draw_text(image, {x, y}, "été 나는", {.size = 14, .align = Align::center});
//
// The point given lies at half the height of a capital letter: at a box's centre, text is centred in it.
// Letters that DejaVu lacks come from a Korean font (Nanum) if one is installed. A letter that no font has is
// an empty box, and one line on stderr says what to install; without any font everything is boxes, never an
// error. Glyphs are cached by size, with kerning but without the shaping that some scripts need.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/text.hpp"  // Align
#include "core/viz/image.hpp"

namespace attn::viz {

struct TextStyle {
  double size = 14;  // pixels per em, as in CSS
  Color color = paint::ink;
  bool bold = false;
  Align align = Align::left;
  double angle = 0;  // degrees, counterclockwise about the given point
};

void draw_text(Image& image, Point at, std::string_view text, const TextStyle& style = {});
double text_width(std::string_view text, double size = 14, bool bold = false);

// The text, or its start and "…" where it is wider than `width`.
std::string shorten(std::string_view text, double width, double size = 14, bool bold = false);
// Lines no wider than `width`, broken at blanks and line ends, inside a word only if it is too wide alone.
std::vector<std::string> wrap(std::string_view text, double width, double size = 14, bool bold = false);
// A token as it can be seen: a line feed is "⏎", a tab "⇥", a blank at either end "␣".
std::string visible(std::string_view token);

// Looks for fonts in these folders only, for tests and unusual systems; an empty list means the usual places.
void set_font_folders(std::vector<std::string> folders);

}  // namespace attn::viz
