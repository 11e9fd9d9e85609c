// The pages that the press makes, notebooks and book alike: one skeleton and one stylesheet.
//
//   Page page{.title = "Attention by hand"};
//   page.body = "<main class=\"sheet\"><h1>...</h1>...</main>";
//   std::string text = html_page(page);                     // a whole file
//
// A page needs nothing from elsewhere: fonts are the system's, pictures may be inside (data_uri). It follows
// the reader's choice of light or dark, and on a phone it is as wide as the screen while code, tables and
// equations scroll. Classes for the body: main.sheet (one column to read), .cell (a code cell: pre, then
// pre.output and pre.output.error for what it printed), figure with figcaption, .table and .equation (boxes
// that scroll), nav.steps (previous and next), .soft (fainter).
#pragma once

#include <filesystem>   // path
#include <map>          // map
#include <string>       // string
#include <string_view>  // string_view

#include "core/text.hpp"             // read_file
#include "lessons/support/html.hpp"  // escape_html, escape_link, Page

namespace attn::press {

// The document with the press's stylesheet before the page's own.
std::string html_page(Page page);

// "Who looks at whom?" becomes "who-looks-at-whom": letters (also beyond ASCII), digits and hyphens.
std::string slug(std::string_view title);

// Slugs that differ from all before: "loss", "loss-2", ...
struct Ids {
  std::string unique(std::string_view title);
  std::map<std::string, int> used;
};

std::string data_uri(const std::filesystem::path& path);  // a picture (PNG, JPEG, GIF, SVG) as an address

}  // namespace attn::press
