// Markdown in a terminal: the little of it that lessons use, as text to print.
//
// Headings, paragraphs, quotes, lists, tables, code and equations ($$ … $$). In a line, **strong** and
// *emphasis* are shown in colour or lose their stars, $…$ loses its dollars, and `code` stays as it is.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn {

struct MarkdownBlock {
  enum class Kind { heading, paragraph, quote, item, equation, code, table };
  Kind kind;
  std::string text;                                 // one line; several for code
  std::string mark = {};                            // of an item: "-" or "1."
  std::vector<std::vector<std::string>> rows = {};  // of a table; the first is its header
};

std::vector<MarkdownBlock> markdown_blocks(std::string_view markdown);

// A line without its marks, or with colour in their place.
std::string markdown_line(std::string_view text, bool color);

}  // namespace attn
