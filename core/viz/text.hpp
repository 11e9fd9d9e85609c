// Text on pictures: UTF-8, drawn with the system's DejaVu Sans through stb_truetype, at any angle.
//
//   draw_text(image, {x, y}, "été 나는", {.size = 14, .align = Align::Center});
//
// The point given is the middle of the capital letters' height, so text centres in a box by the box's centre.
// Letters that DejaVu lacks come from a Korean font (Nanum) when one is installed; a letter that no font has
// is an empty box, and one line on stderr says what to install. Without any font everything is boxes, never
// an error. Glyphs are cached by size; kerning is applied; right-to-left and combining scripts are not
// shaped.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/viz/image.hpp"

namespace attn::viz {

enum class Align { Left, Center, Right };

struct TextStyle {
  double size = 14;  // pixels per em, as in CSS
  Color color = paint::ink;
  bool bold = false;
  Align align = Align::Left;
  double angle = 0;  // degrees, counterclockwise about the given point
};

void draw_text(Image& image, Point at, std::string_view text, const TextStyle& style = {});
double text_width(std::string_view text, double size = 14, bool bold = false);

// The text, or its start and "…" where it is wider than `width`.
std::string shorten(std::string_view text, double width, double size = 14, bool bold = false);
// Lines no wider than `width`, cut at spaces (inside of a word only where one alone is too wide).
std::vector<std::string> wrap(std::string_view text, double width, double size = 14, bool bold = false);
// A token as it can be seen: a line feed is "⏎", a tab "⇥", a blank at either end "␣".
std::string visible(std::string_view token);

// Code points; each byte that is not valid UTF-8 becomes U+FFFD.
std::vector<char32_t> decode_utf8(std::string_view text);
std::string encode_utf8(char32_t letter);
// Columns in a terminal: Hangul and other wide letters take two.
int terminal_width(std::string_view text);

// Looks for fonts in these folders only (for tests and unusual systems); an empty list means the usual
// places.
void set_font_folders(std::vector<std::string> folders);

}  // namespace attn::viz
