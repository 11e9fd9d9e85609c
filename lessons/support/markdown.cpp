#include "lessons/support/markdown.hpp"

#include <cctype>   // isdigit, isspace
#include <utility>  // move

#include "core/text.hpp"

namespace attn {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// "- " or "12. ", or nothing.
std::string_view item_mark(std::string_view line) {
  if (line.starts_with("- ")) return line.substr(0, 1);
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits]))) ++digits;
  return digits && line.substr(digits).starts_with(". ") ? line.substr(0, digits + 1) : std::string_view();
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line = trimmed(line);
  line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  for (std::size_t end = 0; end != line.npos; line.remove_prefix(end == line.npos ? 0 : end + 1)) {
    end = line.find('|');
    cells.emplace_back(trimmed(line.substr(0, end)));
  }
  return cells;
}

bool is_rule(std::string_view line) { return line.find_first_not_of("|-: ") == line.npos; }

}  // namespace

std::vector<MarkdownBlock> markdown_blocks(std::string_view markdown) {
  using Kind = MarkdownBlock::Kind;
  std::vector<MarkdownBlock> blocks;
  bool open = false;    // the next line goes on with the last block
  bool fenced = false;  // between ``` and ```
  while (!markdown.empty()) {
    const std::size_t end = markdown.find('\n');
    std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(end == markdown.npos ? markdown.size() : end + 1);
    if (line.starts_with("```")) {
      fenced = !fenced;
      if (fenced) blocks.push_back({Kind::code, ""});
      open = false;
      continue;
    }
    const bool code = fenced || (line.starts_with("    ") && !open);
    const bool goes_on = open && !blocks.empty();
    if (code) {
      if (!fenced) line.remove_prefix(4);
      const bool more = !blocks.empty() && blocks.back().kind == Kind::code &&
                        (fenced ? !blocks.back().text.empty() : true);
      if (!fenced && !more) blocks.push_back({Kind::code, ""});
      blocks.back().text += (blocks.back().text.empty() ? "" : "\n") + std::string(line);
      continue;
    }
    const std::string_view text = trimmed(line);
    open = false;
    if (text.empty()) continue;
    if (text.starts_with('#')) {
      blocks.push_back({Kind::heading, std::string(trimmed(text.substr(text.find_first_not_of('#'))))});
    } else if (text.starts_with("$$") && text.ends_with("$$") && text.size() > 4) {
      blocks.push_back({Kind::equation, std::string(trimmed(text.substr(2, text.size() - 4)))});
    } else if (text.starts_with("> ")) {
      blocks.push_back({Kind::quote, std::string(text.substr(2))});
    } else if (text.starts_with('|')) {
      if (!goes_on || blocks.back().kind != Kind::table) blocks.push_back({Kind::table, ""});
      if (!is_rule(text)) blocks.back().rows.push_back(cells_of(text));
      open = true;
    } else if (const std::string_view mark = item_mark(text); !mark.empty()) {
      blocks.push_back({Kind::item, std::string(trimmed(text.substr(mark.size()))), std::string(mark)});
      open = true;
    } else if (goes_on && (blocks.back().kind == Kind::paragraph || blocks.back().kind == Kind::item)) {
      blocks.back().text += " " + std::string(text);
      open = true;
    } else {
      blocks.push_back({Kind::paragraph, std::string(text)});
      open = true;
    }
  }
  return blocks;
}

std::string markdown_line(std::string_view text, bool color) {
  std::string line;
  const auto space_at = [&](std::size_t i) {
    return i >= text.size() || std::isspace(static_cast<unsigned char>(text[i]));
  };
  bool strong = false, emphasis = false, code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') code = !code;
    if (code || (c != '*' && c != '$')) {
      line += c;
      continue;
    }
    if (c == '$') continue;
    const bool two = text.substr(i, 2) == "**";
    bool& on = two ? strong : emphasis;
    const std::size_t after = i + (two ? 2 : 1);
    // A star with a space before and after it is a product.
    const bool marks =
        on ? i > 0 && !space_at(i - 1) : !space_at(after) && text.find('*', after) != text.npos;
    if (!marks) {
      line += c;
      continue;
    }
    on = !on;
    if (color) line += on ? (two ? "\x1b[1m" : "\x1b[3m") : (two ? "\x1b[22m" : "\x1b[23m");
    i = after - 1;
  }
  return line;
}

}  // namespace attn
