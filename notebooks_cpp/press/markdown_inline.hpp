// What stands inside of a paragraph, a heading or a table cell: for use by markdown.cpp.
//
// Emphasis is a pair of equal marks with text right inside of them, the nearest that fits; marks inside of
// `code`, $math$ and links do not count.
#pragma once

#include <string>       // string
#include <string_view>  // string_view

#include "notebooks_cpp/press/markdown.hpp"  // MarkdownOptions

namespace attn::press {

std::string inline_to_html(std::string_view text, const MarkdownOptions& options);
std::string plain_text(std::string_view text);         // the words alone, for ids and titles
std::string display_equation(std::string_view latex);  // in a box that scrolls

}  // namespace attn::press
