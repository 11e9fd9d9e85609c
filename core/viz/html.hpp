// What every page of ours is made of, be it the gallery, a notebook or the book: text that is safe inside of
// HTML, addresses, the size of a picture, and the colours and fonts.
#pragma once

#include <filesystem>   // path
#include <string>       // string
#include <string_view>  // string_view

namespace attn::viz {

std::string escape_html(std::string_view text);  // for text and for the values of attributes
std::string escape_link(std::string_view path);  // %20 for a space, and so on; slashes stay

struct PixelSize {
  unsigned width = 0, height = 0;
};

PixelSize png_size(const std::filesystem::path& path);

// CSS: the colours, as variables, by the reader's choice of light or dark; the font; nothing else.
extern const char* const base_style;

}  // namespace attn::viz
