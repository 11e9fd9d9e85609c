#include "notebooks_cpp/press/tokens.hpp"

#include <algorithm>  // count, min
#include <iterator>   // ssize

#include "core/error.hpp"
#include "notebooks_cpp/press/lines.hpp"

namespace attn::press {
namespace {

constexpr std::size_t none = std::string_view::npos;
constexpr Index most_tokens = 200'000;

bool is_word(char c) { return is_name(c) || static_cast<unsigned char>(c) >= 0x80; }

std::size_t behind_word(std::string_view source, std::size_t at) {
  while (at < source.size() && is_word(source[at])) ++at;
  return at;
}

std::size_t behind(std::string_view mark, std::string_view source, std::size_t from) {
  const std::size_t found = source.find(mark, from);
  return found == none ? source.size() : found + mark.size();
}

// A backslash before the line end continues the line, even in a comment.
std::size_t end_of_line(std::string_view source, std::size_t at) {
  std::size_t end = source.find('\n', at);
  while (end != none && end > 0 && source[end - 1] == '\\') end = source.find('\n', end + 1);
  return std::min(end, source.size());
}

std::size_t behind_quoted(std::string_view source, std::size_t at) {
  const char quote = source[at];
  for (++at; at < source.size(); ++at) {
    if (source[at] == quote) return at + 1;
    if (source[at] == '\n') return at;  // not closed: the rest of the file is not a string
    if (source[at] == '\\') ++at;
  }
  return source.size();
}

// R"mark( ... )mark"
std::size_t behind_raw_string(std::string_view source, std::size_t quote) {
  const std::size_t open = std::min(source.find('(', quote), source.size());
  const std::string mark(source.substr(quote + 1, open - quote - 1));
  return behind(")" + mark + "\"", source, open);
}

std::size_t behind_number(std::string_view source, std::size_t at) {
  const bool hexadecimal = source.substr(at, 2) == "0x" || source.substr(at, 2) == "0X";
  for (++at; at < source.size(); ++at) {
    const char c = source[at];
    const bool exponent = std::string_view(hexadecimal ? "pP" : "eE").find(source[at - 1]) != none;
    const bool separator = c == '\'' && at + 1 < source.size() && is_word(source[at + 1]);
    if (!is_word(c) && c != '.' && !separator && !((c == '+' || c == '-') && exponent)) break;
  }
  return at;
}

struct Extent {
  Token::Kind kind;
  std::size_t end;
};

// The token that begins at `at`. `before`: the token before, null at the start of a line.
Extent extent_at(std::string_view source, std::size_t at, const Token* before) {
  const char c = source[at], next = at + 1 < source.size() ? source[at + 1] : '\0';
  if (c == '#' && !before)
    return {Token::Kind::directive,
            behind_word(source, std::min(source.find_first_not_of(" \t", at + 1), source.size()))};
  if (c == '/' && next == '/') return {Token::Kind::comment, end_of_line(source, at)};
  if (c == '/' && next == '*') return {Token::Kind::comment, behind("*/", source, at + 2)};
  if (c == '<' && before && before->kind == Token::Kind::directive && before->text.ends_with("include"))
    return {Token::Kind::string, std::min(behind(">", source, at), end_of_line(source, at))};
  if (c == '"') return {Token::Kind::string, behind_quoted(source, at)};
  if (c == '\'') return {Token::Kind::character, behind_quoted(source, at)};
  if (is_digit(c) || (c == '.' && is_digit(next))) return {Token::Kind::number, behind_number(source, at)};
  if (is_word(c)) {
    const std::size_t end = behind_word(source, at);
    const char quote = end < source.size() ? source[end] : '\0';
    std::string_view prefix = source.substr(at, end - at);
    const bool raw = prefix.ends_with('R');
    if (raw) prefix.remove_suffix(1);
    const bool known = prefix == "u8" || prefix == "u" || prefix == "U" || prefix == "L";
    if (raw && quote == '"' && (known || prefix.empty()))
      return {Token::Kind::string, behind_raw_string(source, end)};
    if (!raw && known && quote == '"') return {Token::Kind::string, behind_quoted(source, end)};
    if (!raw && known && quote == '\'') return {Token::Kind::character, behind_quoted(source, end)};
    return {Token::Kind::word, end};
  }
  const bool pair = (c == ':' && next == ':') || (c == '-' && next == '>');
  return {Token::Kind::symbol, at + (pair ? 2 : 1)};
}

// What a backslash and the character after it stand for.
char unescaped(char c) { return c == 'n' ? '\n' : c == 't' ? '\t' : c == '0' ? '\0' : c; }

}  // namespace

std::vector<Token> tokens(std::string_view source) {
  std::vector<Token> result;
  Index line = 1, line_begin = 0;
  bool line_start = true, in_directive = false;
  for (std::size_t at = 0; at < source.size();) {
    const bool joins_lines = source.substr(at, 2) == "\\\n", space = is_space(source[at]);
    std::size_t end = at + (joins_lines ? 2 : 1);
    if (source[at] == '\n') line_start = true, in_directive = false;
    if (!joins_lines && !space) {
      if (std::ssize(result) == most_tokens) fail("source: more than {} tokens", most_tokens);
      const Extent extent = extent_at(source, at, line_start ? nullptr : &result.back());
      end = extent.end;
      line_start = false;
      in_directive = in_directive || extent.kind == Token::Kind::directive;
      const std::string_view text = source.substr(at, end - at);
      const Index last_line = line + std::count(text.begin(), text.end(), '\n');
      result.push_back({extent.kind, text, line, last_line, Index(at) - line_begin, in_directive});
    }
    for (; at < end; ++at)
      if (source[at] == '\n') ++line, line_begin = Index(at) + 1;
  }
  return result;
}

std::string comment_text(std::string_view comment) {
  if (comment.starts_with("/*")) {
    comment.remove_prefix(2);
    if (comment.ends_with("*/")) comment.remove_suffix(2);
  }
  std::string result;
  for (const std::string& line : lines_of(comment)) {
    std::size_t skip = line.starts_with("//") ? 2 : 0;
    if (skip < line.size() && line[skip] == ' ') ++skip;
    result += (result.empty() ? "" : "\n") + line.substr(skip);
  }
  while (!result.empty() && is_space(result.back())) result.pop_back();
  return result;
}

std::string string_literal(const std::vector<Token>& tokens, Index& at) {
  if (at >= std::ssize(tokens) || tokens[at].kind != Token::Kind::string)
    fail("source: no string where one was expected");
  std::string result;
  for (; at < std::ssize(tokens) && tokens[at].kind == Token::Kind::string; ++at) {
    const std::string_view text = tokens[at].text;
    const std::size_t quote = std::min(text.find('"'), text.size());
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

}  // namespace attn::press
