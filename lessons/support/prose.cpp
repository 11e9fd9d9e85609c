#include "lessons/support/prose.hpp"

#include <fmt/core.h>  // format

#include <iterator>  // ssize

#include "core/error.hpp"

namespace attn {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

// After `///` and a space; null for other lines.
bool is_prose(std::string_view line, std::string_view& text) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start == line.npos || !line.substr(start).starts_with("///")) return false;
  text = line.substr(start + 3);
  if (text.starts_with('/')) return false;
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

// `void soft_lookup(Lesson& lesson) {`, which no other function contains.
bool opens_section(std::string_view line) {
  return !line.empty() && line[0] != ' ' && line[0] != '/' && line.ends_with('{') &&
         line.find("Lesson& lesson") != line.npos && line.find("const Lesson&") == line.npos;
}

std::string string_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return literal + '"';
}

}  // namespace

std::vector<Prose> prose_of(std::string_view source, const std::string& name) {
  std::vector<Prose> blocks;
  Index waiting = 0;  // the first block that no function has said yet
  bool inside = false;
  Index number = 0;
  for (const std::string_view line : lines_of(source)) {
    ++number;
    std::string_view text;
    if (is_prose(line, text)) {
      if (!inside) blocks.push_back({number, 0, line[0] == ' ' ? number : 0, ""});
      Prose& block = blocks.back();
      block.text += (block.lines++ ? "\n" : "") + std::string(text);
      inside = true;
      continue;
    }
    inside = false;
    if (!opens_section(line)) continue;
    for (; waiting < std::ssize(blocks); ++waiting)
      if (blocks[waiting].said_on == 0) blocks[waiting].said_on = number;
  }
  for (const Prose& block : blocks)
    if (block.said_on == 0)
      fail("{}:{}: nobody says this text: no function with a `Lesson& lesson` follows it", name, block.line);
  return blocks;
}

std::string program_of(std::string_view source, const std::string& name) {
  const std::vector<Prose> blocks = prose_of(source, name);
  std::string program = fmt::format("#line 1 \"{}\"\n", name);
  Index number = 0;
  for (const std::string_view line : lines_of(source)) {
    ++number;
    std::string calls;
    for (const Prose& block : blocks)
      if (block.said_on == number)
        calls += fmt::format(" lesson.prose({}, {});", block.line, string_literal(block.text));
    const bool at_function = opens_section(line);
    program += at_function ? fmt::format("{}{}\n", line, calls) : fmt::format("{}{}\n", calls, line);
  }
  return program;
}

}  // namespace attn
