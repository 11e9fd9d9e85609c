#include "lessons/coach/source.hpp"

#include <algorithm>  // find
#include <cctype>     // isalnum, isspace

namespace coach {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Comments and the contents of strings become blanks.
std::string code_only(const std::string& text) {
  std::string out = text;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
    return to;
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out.compare(i, 2, "//") == 0) {
      i = blank(i, std::min(out.find('\n', i), out.size()));
    } else if (out.compare(i, 2, "/*") == 0) {
      i = blank(i, std::min(out.find("*/", i + 2), out.size() - 2) + 2);
    } else if (out[i] == '"' || (out[i] == '\'' && (i == 0 || !is_word(out[i - 1])))) {
      std::size_t end = i + 1;
      while (end < out.size() && out[end] != out[i] && out[end] != '\n') end += out[end] == '\\' ? 2 : 1;
      i = blank(i + 1, end);
    }
  }
  return out;
}

std::string without_blanks(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), is_blank), text.end());
  return text;
}

// Whether `name` is followed by a parenthesis somewhere, and is not a member of something.
bool is_called(const std::string& body, const std::string& name) {
  if (!std::all_of(name.begin(), name.end(), is_word))
    return without_blanks(body).find(without_blanks(name)) != std::string::npos;
  for (std::size_t at = body.find(name); at != std::string::npos; at = body.find(name, at + 1)) {
    const char before = at > 0 ? body[at - 1] : ' ';
    std::size_t after = at + name.size();
    while (after < body.size() && is_blank(body[after])) ++after;
    if (!is_word(before) && before != '.' && before != '>' && after < body.size() && body[after] == '(')
      return true;
  }
  return false;
}

// The name of the function whose body begins with the brace at `open`; "" if none does.
std::string function_at(const std::string& code, std::size_t open) {
  std::size_t end = open;
  const auto skip_blanks = [&] {
    while (end > 0 && is_blank(code[end - 1])) --end;
  };
  skip_blanks();
  for (const std::string word : {"noexcept", "const"})
    if (end >= word.size() && code.compare(end - word.size(), word.size(), word) == 0) {
      end -= word.size();
      skip_blanks();
    }
  if (end == 0 || code[end - 1] != ')') return "";
  int depth = 0;
  while (end > 0) {
    const char c = code[--end];
    depth += (c == ')') - (c == '(');
    if (depth == 0) break;
  }
  skip_blanks();
  std::size_t begin = end;
  while (begin > 0 && is_word(code[begin - 1])) --begin;
  const std::string name = code.substr(begin, end - begin);
  for (const char* keyword : {"if", "for", "while", "switch", "catch"})
    if (name == keyword) return "";
  return name;
}

}  // namespace

Source::Source(const std::string& text) {
  const std::string code = code_only(text);
  for (std::size_t open = code.find('{'); open != std::string::npos; open = code.find('{', open + 1)) {
    const std::string name = function_at(code, open);
    if (name.empty()) continue;
    std::size_t close = open;
    for (int depth = 0; close < code.size(); ++close) {
      depth += (code[close] == '{') - (code[close] == '}');
      if (depth == 0) break;
    }
    bodies_[name] += code.substr(open, close - open);
    open = close;
  }
}

std::string Source::calls(const std::string& function, const std::vector<std::string>& names) const {
  std::vector<std::string> reached{function};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto body = bodies_.find(reached[i]);
    if (body == bodies_.end()) continue;
    for (const std::string& name : names)
      if (name != function && is_called(body->second, name)) return name;
    for (const auto& [name, unused] : bodies_)
      if (std::find(reached.begin(), reached.end(), name) == reached.end() && is_called(body->second, name))
        reached.push_back(name);
  }
  return "";
}

}  // namespace coach
