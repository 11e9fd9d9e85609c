// Markdown, as notebooks are written in it, becomes HTML.
//
//   markdown_to_html("# Masks\nWhat is hidden gets $-\\infty$.")
//
// Headings (with ids), paragraphs, *emphasis*, **strong**, ~~struck~~, `code`, fenced and indented code (C++
// in colours), lists in lists, tables, quotes, rules, links, pictures, $math$ and $$math$$. A box that may be
// too wide for a phone (table, equation, code) scrolls by itself. HTML in the text is shown, not obeyed.
#pragma once

#include <string>       // string
#include <string_view>  // string_view

#include "notebooks_cpp/press/highlight.hpp"  // Linker
#include "notebooks_cpp/press/html.hpp"       // Ids

namespace attn::press {

struct MarkdownOptions {
  Linker link, image;  // the address to write instead of the given one; "" leaves it
  Ids* ids = nullptr;  // of headings, if several texts are on one page
};

std::string markdown_to_html(std::string_view text, const MarkdownOptions& options = {});

}  // namespace attn::press
