#include "notebooks_cpp/press/markdown.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // any_of, max, min
#include <cctype>     // isdigit
#include <string>     // string
#include <vector>     // vector

#include "core/error.hpp"
#include "notebooks_cpp/press/markdown_inline.hpp"

namespace attn::press {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t indent_of(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }
bool is_blank(const std::string& line) { return line.find_first_not_of(" \t") == std::string::npos; }
std::string trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin));
}

// What a line begins

std::size_t heading_level(const std::string& line) {  // 0: none
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  return level <= 6 && (level == line.size() || line[level] == ' ') ? level : 0;
}

bool is_rule(const std::string& line) {
  const std::string text = trimmed(line);
  std::size_t count = 0;
  for (const char c : text) {
    if (c != ' ' && c != text[0]) return false;
    count += c == text[0];
  }
  return count >= 3 && std::string_view("-*_").find(text[0]) != std::string_view::npos;
}

std::string fence_of(const std::string& line) {  // ``` or ~~~, as many as there are; "" if it is none
  const std::string text = trimmed(line);
  if (text.size() < 3 || (text[0] != '`' && text[0] != '~')) return "";
  const std::size_t count = std::min(text.find_first_not_of(text[0]), text.size());
  return count >= 3 ? text.substr(0, count) : "";
}

struct ListMark {
  bool found = false, ordered = false;
  int start = 1;
  std::size_t content = 0;  // the column in which the item's text begins
};

ListMark list_mark(const std::string& line) {
  ListMark mark;
  const std::size_t begin = indent_of(line);
  std::size_t end = begin;
  if (end < line.size() && std::string_view("-*+").find(line[end]) != std::string_view::npos) {
    ++end;
  } else {
    while (end < line.size() && end - begin < 9 && std::isdigit(static_cast<unsigned char>(line[end]))) ++end;
    if (end == begin || end == line.size() || (line[end] != '.' && line[end] != ')')) return mark;
    mark.ordered = true;
    mark.start = std::stoi(line.substr(begin, end - begin));
    ++end;
  }
  if (end < line.size() && line[end] != ' ') return mark;
  mark.content = std::min(std::max(line.find_first_not_of(' ', end), end + 1), end + 4);
  mark.found = !is_rule(line);
  return mark;
}

// | a | b | without the outer bars; a bar in `code` or behind a backslash does not separate.
Lines cells_of(const std::string& line) {
  Lines cells(1);
  bool code = false;
  const std::string text = trimmed(line);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') code = !code;
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '|')
      cells.back() += text[++i];
    else if (text[i] == '|' && !code)
      cells.emplace_back();
    else
      cells.back() += text[i];
  }
  if (text.front() == '|') cells.erase(cells.begin());
  if (cells.size() > 1 && is_blank(cells.back())) cells.pop_back();
  for (std::string& cell : cells) cell = trimmed(cell);
  return cells;
}

bool is_table_rule(const std::string& line) {
  if (line.find('-') == std::string::npos || line.find('|') == std::string::npos) return false;
  return line.find_first_not_of(" |:-") == std::string::npos;
}

// Blocks

class Blocks {
 public:
  Blocks(const MarkdownOptions& options, Ids& ids) : options_(options), ids_(ids) {}

  // `tight`: paragraphs of a list without blank lines are not set apart.
  std::string html(const Lines& lines, bool tight = false) const {
    std::string html;
    for (std::size_t i = 0; i < lines.size();) {
      if (is_blank(lines[i]))
        ++i;
      else if (indent_of(lines[i]) >= 4)
        html += indented_code(lines, i);
      else if (!fence_of(lines[i]).empty())
        html += fenced_code(lines, i);
      else if (heading_level(lines[i]))
        html += heading(lines[i++]);
      else if (is_rule(lines[i]))
        html += "<hr>\n", ++i;
      else if (lines[i][indent_of(lines[i])] == '>')
        html += quote(lines, i);
      else if (trimmed(lines[i]).substr(0, 2) == "$$")
        html += equation(lines, i);
      else if (list_mark(lines[i]).found)
        html += list(lines, i);
      else if (i + 1 < lines.size() && is_table_rule(lines[i + 1]) && lines[i].find('|') != std::string::npos)
        html += table(lines, i);
      else
        html += paragraph(lines, i, tight);
    }
    return html;
  }

 private:
  std::string inlines(std::string_view text) const { return inline_to_html(text, options_); }

  std::string heading(const std::string& line) const {
    const std::size_t level = heading_level(line);
    std::string text = trimmed(line.substr(level));
    // A closing row of # is no part of the title, but that of `C#` is.
    const std::size_t end = text.find_last_not_of('#');
    if (end != std::string::npos && text[end] == ' ') text = trimmed(text.substr(0, end));
    const std::string content = inlines(text);
    return fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", level, escape_html(ids_.unique(plain_text(text))),
                       content);
  }

  std::string code(const std::string& text, const std::string& language) const {
    const bool cpp = language == "cpp" || language == "c++" || language == "hpp" || language == "c";
    return fmt::format("<pre><code>{}</code></pre>\n", cpp ? highlight_cpp(text) : escape_html(text));
  }

  std::string fenced_code(const Lines& lines, std::size_t& i) const {
    const std::string fence = fence_of(lines[i]);
    const std::size_t indent = indent_of(lines[i]);
    const std::string language = trimmed(trimmed(lines[i]).substr(fence.size()));
    std::string text;
    for (++i; i < lines.size() && trimmed(lines[i]).substr(0, fence.size()) != fence; ++i)
      text += lines[i].substr(std::min(indent, indent_of(lines[i]))) + "\n";
    i = std::min(i + 1, lines.size());
    return code(text, language);
  }

  std::string indented_code(const Lines& lines, std::size_t& i) const {
    std::string text;
    for (; i < lines.size() && (indent_of(lines[i]) >= 4 || is_blank(lines[i])); ++i)
      text += (is_blank(lines[i]) ? "" : lines[i].substr(4)) + "\n";
    text.erase(text.find_last_not_of('\n') + 2);
    return code(text, "");
  }

  std::string quote(const Lines& lines, std::size_t& i) const {
    Lines inside;
    for (; i < lines.size() && !is_blank(lines[i]); ++i) {
      const std::size_t begin = indent_of(lines[i]);
      const bool marked = lines[i][begin] == '>';
      const bool blank_behind = marked && begin + 1 < lines[i].size() && lines[i][begin + 1] == ' ';
      inside.push_back(lines[i].substr(begin + marked + blank_behind));
    }
    return "<blockquote>\n" + html(inside) + "</blockquote>\n";
  }

  std::string equation(const Lines& lines, std::size_t& i) const {
    std::string text = trimmed(lines[i++]).substr(2);
    while (text.find("$$") == std::string::npos && i < lines.size()) text += "\n" + lines[i++];
    const std::size_t end = text.find("$$");
    if (end == std::string::npos) fail("markdown: $$ that is never closed: {}", text);
    const std::string rest = trimmed(text.substr(end + 2));
    return display_equation(text.substr(0, end)) + "\n" +
           (rest.empty() ? "" : "<p>" + inlines(rest) + "</p>\n");
  }

  std::string list(const Lines& lines, std::size_t& i) const {
    const ListMark first = list_mark(lines[i]);
    const std::size_t indent = indent_of(lines[i]);
    std::vector<Lines> items;
    bool loose = false;
    while (i < lines.size()) {
      const ListMark mark = list_mark(lines[i]);
      if (!mark.found || mark.ordered != first.ordered || indent_of(lines[i]) > indent + 3) break;
      Lines item{lines[i].substr(std::min(mark.content, lines[i].size()))};
      for (++i; i < lines.size(); ++i) {
        if (is_blank(lines[i])) {
          std::size_t next = i;
          while (next < lines.size() && is_blank(lines[next])) ++next;
          if (next == lines.size() || indent_of(lines[next]) < mark.content) break;
          item.emplace_back();
          continue;
        }
        // Less indented lines still belong to the item's paragraph, unless they begin something else.
        const bool lazy = !is_blank(item.back()) && !begins_block(lines[i]) && !list_mark(lines[i]).found;
        if (indent_of(lines[i]) < mark.content && !lazy) break;
        item.push_back(lines[i].substr(std::min(mark.content, indent_of(lines[i]))));
      }
      loose |= std::any_of(item.begin(), item.end(), is_blank);
      items.push_back(std::move(item));
      std::size_t next = i;
      while (next < lines.size() && is_blank(lines[next])) ++next;
      const bool goes_on = next < lines.size() && list_mark(lines[next]).found &&
                           list_mark(lines[next]).ordered == first.ordered &&
                           indent_of(lines[next]) <= indent + 3;
      if (!goes_on) break;
      loose |= next > i;
      i = next;
    }
    const char* tag = first.ordered ? "ol" : "ul";
    std::string html_text =
        fmt::format("<{}{}>\n", tag, first.start != 1 ? fmt::format(" start=\"{}\"", first.start) : "");
    for (const Lines& item : items) html_text += "<li>" + trimmed(html(item, !loose)) + "</li>\n";
    return html_text + fmt::format("</{}>\n", tag);
  }

  std::string table(const Lines& lines, std::size_t& i) const {
    const Lines header = cells_of(lines[i]), rule = cells_of(lines[i + 1]);
    const auto row = [&](const Lines& cells, const char* tag) {
      std::string html = "<tr>";
      for (std::size_t c = 0; c < header.size(); ++c) {
        const std::string look = c < rule.size() ? rule[c] : "";
        const bool left = !look.empty() && look.front() == ':', right = !look.empty() && look.back() == ':';
        const char* align = left && right ? " style=\"text-align:center\""
                            : right       ? " style=\"text-align:right\""
                                          : "";
        html += fmt::format("<{0}{1}>{2}</{0}>", tag, align, c < cells.size() ? inlines(cells[c]) : "");
      }
      return html + "</tr>\n";
    };
    std::string html = "<div class=\"table\"><table>\n<thead>" + row(header, "th") + "</thead>\n<tbody>\n";
    for (i += 2; i < lines.size() && !is_blank(lines[i]) && lines[i].find('|') != std::string::npos; ++i)
      html += row(cells_of(lines[i]), "td");
    return html + "</tbody>\n</table></div>\n";
  }

  static bool begins_block(const std::string& line) {
    const ListMark mark = list_mark(line);
    return is_blank(line) || heading_level(line) || is_rule(line) || !fence_of(line).empty() ||
           line[indent_of(line)] == '>' || trimmed(line).substr(0, 2) == "$$" ||
           (mark.found && (!mark.ordered || mark.start == 1));
  }

  std::string paragraph(const Lines& lines, std::size_t& i, bool tight) const {
    std::string text;
    do text += lines[i].substr(indent_of(lines[i])) + "\n";
    while (++i < lines.size() && !begins_block(lines[i]));
    text.erase(text.find_last_not_of(" \n") + 1);
    return tight ? inlines(text) + "\n" : "<p>" + inlines(text) + "</p>\n";
  }

  const MarkdownOptions& options_;
  Ids& ids_;
};

}  // namespace

std::string markdown_to_html(std::string_view text, const MarkdownOptions& options) {
  Ids own;
  return Blocks(options, options.ids ? *options.ids : own).html(lines_of(text));
}

}  // namespace attn::press
