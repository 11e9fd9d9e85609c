// A source as rows of a page: the comment on one side, the code that it is about on the other.
//
// A comment at the left margin stands beside the code below it, up to the next such comment; what is indented
// stays in the code. A line alone that is no sentence is a heading. The comment that the file begins with and
// the includes are no rows.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "notebooks_cpp/press/book_sources.hpp"
#include "notebooks_cpp/press/html.hpp"  // Ids

namespace attn::press {

struct Row {
  std::string heading{};    // above it, or empty
  std::string comment{};    // beside it
  int first = 0, last = 0;  // the lines of code, from 1; none if last < first
  std::string section{};    // of a lesson: what ends with this row
};

// Where a section of a lesson begins: the row before ends there.
struct SectionCall {
  int line;
  std::string title;
};

Row preamble_of(std::string_view source);  // the includes
std::vector<Row> rows_of(std::string_view source, const std::vector<SectionCall>& calls = {});

std::string row_html(const Row& row, const Listing& code, const Sources& sources, const std::string& page,
                     Ids& ids);

}  // namespace attn::press
