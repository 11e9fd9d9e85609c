#include <fmt/core.h>  // format

#include <iterator>  // ssize
#include <set>       // set

#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"  // lines_of

namespace attn::press {
namespace {

// Lines that begin inside a token, such as a raw string: no place to cut.
std::set<Index> inner_lines(std::string_view source) {
  std::set<Index> inner;
  for (const Token& token : tokens(source))
    for (Index line = token.line + 1; line <= token.last_line; ++line) inner.insert(line);
  return inner;
}

// Includes and the like, up to the namespace; what the preprocessor decides after that belongs to the code.
bool is_preamble(const std::string& line, bool in_namespace) {
  if (line.empty() || line.starts_with("namespace ")) return true;
  return !in_namespace && (line[0] == '#' || line.starts_with("using namespace "));
}

// A piece of source between blank lines at the left margin: its comment, then code.
Row row_of(const std::vector<std::string>& lines, Index first, Index last) {
  Row row{.first = first, .last = last};
  for (; row.first <= last && lines[row.first - 1].starts_with("//"); ++row.first)
    row.comment += comment_text(lines[row.first - 1]) + "\n";
  // A line that stands alone and is no sentence is a heading.
  if (first == last && row.first > last && !row.comment.ends_with(".\n")) {
    row.heading = row.comment.substr(0, row.comment.size() - 1);
    row.comment.clear();
  }
  return row;
}

// What has no comment goes on with the row before, unless a comment stands there that is not about it.
void add_row(std::vector<Row>& rows, const Row& row, const std::vector<std::string>& lines) {
  const bool closes_namespace = row.first <= row.last && lines[row.first - 1].starts_with("}  // namespace");
  if (!rows.empty() && row.heading.empty() && row.comment.empty() &&
      (rows.back().comment.empty() || closes_namespace)) {
    Row& before = rows.back();
    if (before.first > before.last) before.first = row.first;  // it was a heading alone
    before.last = row.last;
    return;
  }
  rows.push_back(row);
}

}  // namespace

Row preamble_of(std::string_view source) {
  const std::vector<std::string> lines = lines_of(source);
  const Index count = std::ssize(lines);
  Row row{.first = 1};
  while (row.first <= count && lines[row.first - 1].starts_with("//")) ++row.first;
  bool in_namespace = false;
  for (row.last = row.first; row.last <= count && is_preamble(lines[row.last - 1], in_namespace); ++row.last)
    in_namespace = in_namespace || lines[row.last - 1].starts_with("namespace ");
  do --row.last;
  while (row.last >= row.first && lines[row.last - 1].empty());
  return row;
}

std::vector<Row> rows_of(std::string_view source) {
  const std::vector<std::string> lines = lines_of(source);
  const std::set<Index> inner = inner_lines(source);
  std::vector<Row> rows;
  for (Index line = preamble_of(source).last + 1; line <= std::ssize(lines); ++line) {
    if (lines[line - 1].empty()) continue;
    Index last = line;  // to the blank line before something at the left margin
    for (Index next = line + 1; next <= std::ssize(lines); ++next) {
      if (lines[next - 1].empty()) continue;
      if (!inner.contains(next) && lines[next - 2].empty() && lines[next - 1][0] != ' ') break;
      last = next;
    }
    add_row(rows, row_of(lines, line, last), lines);
    line = last;
  }
  return rows;
}

std::string row_html(const Row& row, const Listing& code, const PageText& text, Ids& ids) {
  std::string html;
  if (!row.heading.empty())
    html += fmt::format("<h2 id=\"part-{}\">{}</h2>\n", escape_html(ids.unique(row.heading)),
                        escape_html(row.heading));
  const bool has_code = row.first <= row.last;
  if (!has_code && row.comment.empty()) return html;
  html += fmt::format("<section class=\"row{}\"><div class=\"words\">{}</div>", has_code ? "" : " alone",
                      text.prose(row.comment));
  if (has_code) html += "<div class=\"made\">" + code_block(code, row.first, row.last) + "</div>";
  return html + "</section>\n";
}

std::string preamble_html(std::string_view source, const Listing& code) {
  const Row includes = preamble_of(source);
  if (includes.first > includes.last) return "";
  return "<details class=\"preamble\"><summary>What it includes</summary>" +
         code_block(code, includes.first, includes.last) + "</details>\n";
}

}  // namespace attn::press
