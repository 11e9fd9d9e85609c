#include "notebooks_cpp/press/book_rows.hpp"

#include <fmt/format.h>  // format

#include <set>  // set

namespace attn::press {
namespace {

// Lines that are inside of a token, as those of a raw string: they are no place to cut.
std::set<Index> inner_lines(std::string_view source) {
  std::set<Index> inner;
  for (const Token& token : tokens(source))
    for (Index line = token.line + 1; line <= token.last_line; ++line) inner.insert(line);
  return inner;
}

// Includes and the like, up to the namespace; what the preprocessor decides behind that belongs to the code.
bool is_preamble(const std::string& line, bool in_namespace) {
  if (line.empty() || line.starts_with("namespace ")) return true;
  return !in_namespace && (line[0] == '#' || line.starts_with("using namespace "));
}

// A piece of source between blank lines at the left margin: its comment, then code.
Row row_of(const std::vector<std::string>& lines, int first, int last) {
  Row row;
  for (; first <= last; ++first) {
    const std::string& line = lines[static_cast<std::size_t>(first - 1)];
    if (!line.starts_with("//")) break;
    row.comment += comment_text(line) + "\n";
  }
  row.first = first;
  row.last = last;
  // A line that stands alone and is no sentence is a heading.
  const bool one_line = !row.comment.empty() && row.comment.find('\n') + 1 == row.comment.size();
  if (first > last && one_line && !row.comment.ends_with(".\n")) {
    row.heading = row.comment.substr(0, row.comment.size() - 1);
    row.comment.clear();
  }
  return row;
}

void add_row(std::vector<Row>& rows, Row row, const std::vector<std::string>& lines,
             const std::vector<SectionCall>& calls, bool closes_namespace) {
  std::vector<SectionCall> inside;
  for (const SectionCall& call : calls)
    if (call.line >= row.first && call.line <= row.last) inside.push_back(call);
  // What has no comment goes on with the row before, unless a comment stands there that is not about it.
  const bool plain = row.heading.empty() && row.comment.empty() && inside.empty();
  if (plain && !rows.empty() && rows.back().section.empty() &&
      (rows.back().comment.empty() || closes_namespace)) {
    if (rows.back().first > rows.back().last) rows.back().first = row.first;  // it was a heading alone
    rows.back().last = row.last;
    return;
  }
  if (plain && !rows.empty() && !rows.back().section.empty() && closes_namespace) return;  // nothing to read
  const int last = row.last;
  for (std::size_t i = 0; i < inside.size(); ++i) {  // a function of several sections becomes as many rows
    row.section = inside[i].title;
    row.last = i + 1 < inside.size() ? inside[i + 1].line - 1 : last;
    rows.push_back(row);
    while (lines[static_cast<std::size_t>(rows.back().last - 1)].empty()) --rows.back().last;
    row = Row{.first = row.last + 1, .last = last};
  }
  if (inside.empty()) rows.push_back(row);
}

int manual_lines(const std::vector<std::string>& lines) {
  int count = 0;
  while (count < static_cast<int>(lines.size()) && lines[static_cast<std::size_t>(count)].starts_with("//"))
    ++count;
  return count;
}

}  // namespace

Row preamble_of(std::string_view source) {
  const std::vector<std::string> lines = lines_of(source);
  const auto text = [&](int i) -> const std::string& { return lines[static_cast<std::size_t>(i - 1)]; };
  const int first = manual_lines(lines) + 1;
  int last = first;
  bool in_namespace = false;
  for (; last <= static_cast<int>(lines.size()) && is_preamble(text(last), in_namespace); ++last)
    in_namespace = in_namespace || text(last).starts_with("namespace ");
  do --last;
  while (last >= first && text(last).empty());
  return {.first = first, .last = last};
}

std::vector<Row> rows_of(std::string_view source, const std::vector<SectionCall>& calls) {
  const std::vector<std::string> lines = lines_of(source);
  const auto text = [&](int i) -> const std::string& { return lines[static_cast<std::size_t>(i - 1)]; };
  const std::set<Index> inner = inner_lines(source);
  const int count = static_cast<int>(lines.size());
  std::vector<Row> rows;
  for (int line = preamble_of(source).last + 1; line <= count;) {
    if (text(line).empty()) {
      ++line;
      continue;
    }
    int last = line;  // to the blank line in front of something at the left margin
    for (int next = line + 1; next <= count; ++next) {
      if (text(next).empty()) continue;
      if (!inner.count(next) && text(next - 1).empty() && text(next)[0] != ' ') break;
      last = next;
    }
    add_row(rows, row_of(lines, line, last), lines, calls, text(line).starts_with("}  // namespace"));
    line = last + 1;
  }
  return rows;
}

std::string row_html(const Row& row, const Listing& code, const Sources& sources, const std::string& page,
                     Ids& ids) {
  std::string html;
  if (!row.heading.empty())
    html += fmt::format("<h2 id=\"part-{}\">{}</h2>\n", escape_html(ids.unique(row.heading)),
                        escape_html(row.heading));
  const bool has_code = row.first <= row.last;
  if (!has_code && row.comment.empty()) return html;
  html += fmt::format("<section class=\"row{}\"><div class=\"words\">{}</div>", has_code ? "" : " alone",
                      prose(row.comment, sources, page));
  if (has_code) html += "<div class=\"made\">" + code.block(row.first, row.last) + "</div>";
  return html + "</section>\n";
}

}  // namespace attn::press
