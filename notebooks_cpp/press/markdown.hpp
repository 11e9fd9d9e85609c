// Markdown, as notebooks are written in it, becomes HTML.
//
//   markdown_to_html("# Masks\nWhat is hidden gets $-\\infty$.")
//
// md4c parses it: CommonMark with tables and ~~strikethrough~~. We add ids to headings, colours to C++, and
// $math$ and $$math$$. A box that may be too wide for a phone (table, equation) scrolls by itself. HTML in
// the text is shown, not obeyed; a link whose scheme is not http, https or mailto stays plain text. Throws
// Error for an equation that is wrong or has no end, for blocks nested more than 100 deep, and for a table of
// more than 100 columns.
#pragma once

#include <functional>   // function
#include <string>       // string
#include <string_view>  // string_view

#include "notebooks_cpp/press/html.hpp"  // Ids

namespace attn::press {

// The address to write instead of the given one; "" leaves it.
using Linker = std::function<std::string(std::string_view address)>;

struct MarkdownOptions {
  Linker link, image;
  Ids* ids = nullptr;  // of headings, if several texts are on one page
};

std::string markdown_to_html(std::string_view text, const MarkdownOptions& options = {});
std::string plain_text(std::string_view markdown);  // the words alone, for ids and titles

}  // namespace attn::press
