#include <algorithm>  // min
#include <cctype>     // isalnum, isdigit, isspace

#include "core/error.hpp"
#include "notebooks_cpp/press/source.hpp"

namespace attn::press {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

// Where the token that begins at `at` ends, and what it is.
struct Extent {
  Token::Kind kind;
  std::size_t end;
};

std::size_t end_of_line(std::string_view source, std::size_t at) {
  while (at < source.size() && source[at] != '\n') at += source[at] == '\\' && at + 1 < source.size() ? 2 : 1;
  return std::min(at, source.size());
}

std::size_t end_of_quoted(std::string_view source, std::size_t at) {
  const char quote = source[at++];
  while (at < source.size() && source[at] != quote) at += source[at] == '\\' ? 2 : 1;
  return std::min(at + 1, source.size());
}

// R"mark( ... )mark"
std::size_t end_of_raw_string(std::string_view source, std::size_t quote) {
  const std::size_t open = std::min(source.find('(', quote), source.size());
  const std::string close = ")" + std::string(source.substr(quote + 1, open - quote - 1)) + "\"";
  const std::size_t found = source.find(close, open);
  return found == std::string_view::npos ? source.size() : found + close.size();
}

Extent extent_at(std::string_view source, std::size_t at, bool line_start) {
  using Kind = Token::Kind;
  const char c = source[at], next = at + 1 < source.size() ? source[at + 1] : '\0';
  if (c == '#' && line_start) return {Kind::Directive, end_of_line(source, at)};
  if (c == '/' && next == '/') return {Kind::Comment, end_of_line(source, at)};
  if (c == '/' && next == '*') {
    const std::size_t close = source.find("*/", at + 2);
    return {Kind::Comment, close == std::string_view::npos ? source.size() : close + 2};
  }
  if (c == '"') return {Kind::String, end_of_quoted(source, at)};
  if (c == '\'') return {Kind::Character, end_of_quoted(source, at)};
  if (is_digit(c) || (c == '.' && is_digit(next))) {
    std::size_t end = at + 1;
    while (end < source.size() &&
           (is_word(source[end]) || source[end] == '.' || source[end] == '\'' ||
            ((source[end] == '+' || source[end] == '-') &&
             std::string_view("eEpP").find(source[end - 1]) != std::string_view::npos)))
      ++end;
    return {Kind::Number, end};
  }
  if (is_word(c)) {
    std::size_t end = at;
    while (end < source.size() && is_word(source[end])) ++end;
    const std::string_view word = source.substr(at, end - at);
    const bool prefix = word == "R" || word == "u8" || word == "u8R" || word == "L" || word == "LR";
    if (prefix && end < source.size() && source[end] == '"')
      return {Kind::String, word.back() == 'R' ? end_of_raw_string(source, end) : end_of_quoted(source, end)};
    return {Kind::Word, end};
  }
  const bool pair = (c == ':' && next == ':') || (c == '-' && next == '>');
  return {Kind::Symbol, at + (pair ? 2 : 1)};
}

// What a backslash and the character behind it stand for.
char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '0':
      return '\0';
    default:
      return c;
  }
}

}  // namespace

std::vector<Token> tokens(std::string_view source) {
  std::vector<Token> result;
  int line = 1;
  std::size_t line_begin = 0;
  bool line_start = true;
  for (std::size_t at = 0; at < source.size();) {
    if (is_space(source[at])) {
      if (source[at] == '\n') ++line, line_begin = at + 1, line_start = true;
      ++at;
      continue;
    }
    const Extent extent = extent_at(source, at, line_start);
    Token token{extent.kind, source.substr(at, extent.end - at), line, line,
                static_cast<int>(at - line_begin)};
    for (; at < extent.end; ++at)
      if (source[at] == '\n') ++line, line_begin = at + 1;
    token.last_line = line;
    line_start = false;
    result.push_back(token);
  }
  return result;
}

std::string comment_text(std::string_view comment) {
  if (comment.starts_with("/*")) {
    comment.remove_prefix(2);
    if (comment.ends_with("*/")) comment.remove_suffix(2);
  }
  std::string result;
  for (std::string& line : lines_of(comment)) {
    std::size_t skip = line.starts_with("//") ? 2 : 0;
    if (skip < line.size() && line[skip] == ' ') ++skip;
    result += (result.empty() ? "" : "\n") + line.substr(skip);
  }
  while (!result.empty() && is_space(result.back())) result.pop_back();
  return result;
}

std::string string_literal(const std::vector<Token>& tokens, std::size_t& at) {
  if (at >= tokens.size() || tokens[at].kind != Token::Kind::String)
    fail("source: no text where one was expected");
  std::string result;
  for (; at < tokens.size() && tokens[at].kind == Token::Kind::String; ++at) {
    std::string_view text = tokens[at].text;
    const std::size_t quote = text.find('"');
    if (quote > 0 && text[quote - 1] == 'R') {
      const std::size_t open = text.find('('), close = text.rfind(')');
      result += text.substr(open + 1, close - open - 1);
      continue;
    }
    for (std::size_t i = quote + 1; i + 1 < text.size(); ++i)
      result += text[i] == '\\' ? unescaped(text[++i]) : text[i];
  }
  return result;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace attn::press
