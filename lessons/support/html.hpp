// What all our pages share, be it the gallery, a notebook or the book: the skeleton of a page with its
// colours and fonts, text that is safe inside HTML, addresses, and the size of a picture.
#pragma once

#include <filesystem>   // path
#include <string>       // string
#include <string_view>  // string_view

namespace attn {

std::string escape_html(std::string_view text);  // for text and for the values of attributes
std::string escape_link(std::string_view path);  // %20 for a space, and so on; slashes stay

struct Page {
  std::string title;             // as plain text
  std::string body;              // as HTML
  std::string description = {};  // one sentence for search engines, as plain text
  std::string style = {};        // CSS on top of what all pages have: colours (as variables) and fonts
};

// A whole file that needs nothing from elsewhere and follows the reader's choice of light or dark.
std::string html_document(const Page& page);

struct PixelSize {
  unsigned width = 0, height = 0;
};

PixelSize png_size(const std::filesystem::path& path);

}  // namespace attn
