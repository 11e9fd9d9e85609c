#include "notebooks_cpp/press/highlight.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // any_of, find, min
#include <array>      // array
#include <cctype>     // isalnum, isalpha, isdigit, islower, isupper

#include "notebooks_cpp/press/html.hpp"  // escape_html

namespace attn::press {
namespace {

constexpr std::array keywords = {"alignas",
                                 "alignof",
                                 "asm",
                                 "break",
                                 "case",
                                 "catch",
                                 "class",
                                 "co_await",
                                 "co_return",
                                 "co_yield",
                                 "concept",
                                 "const",
                                 "const_cast",
                                 "consteval",
                                 "constexpr",
                                 "constinit",
                                 "continue",
                                 "decltype",
                                 "default",
                                 "delete",
                                 "do",
                                 "dynamic_cast",
                                 "else",
                                 "enum",
                                 "explicit",
                                 "export",
                                 "extern",
                                 "false",
                                 "final",
                                 "for",
                                 "friend",
                                 "goto",
                                 "if",
                                 "inline",
                                 "mutable",
                                 "namespace",
                                 "new",
                                 "noexcept",
                                 "nullptr",
                                 "operator",
                                 "override",
                                 "private",
                                 "protected",
                                 "public",
                                 "register",
                                 "reinterpret_cast",
                                 "requires",
                                 "return",
                                 "sizeof",
                                 "static",
                                 "static_assert",
                                 "static_cast",
                                 "struct",
                                 "switch",
                                 "template",
                                 "this",
                                 "thread_local",
                                 "throw",
                                 "true",
                                 "try",
                                 "typedef",
                                 "typeid",
                                 "typename",
                                 "union",
                                 "using",
                                 "virtual",
                                 "volatile",
                                 "while"};

constexpr std::array built_in_types = {
    "auto", "bool",  "char",   "char8_t", "char16_t",    "char32_t", "double", "float", "int",    "long",
    "real", "short", "signed", "string",  "string_view", "unsigned", "vector", "void",  "wchar_t"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Tensor, but not T (a size) nor ATTN_DOUBLE (a macro).
bool looks_like_a_type(std::string_view word) {
  if (contains(built_in_types, word) || (word.size() > 2 && word.substr(word.size() - 2) == "_t"))
    return true;
  return std::isupper(static_cast<unsigned char>(word[0])) &&
         std::any_of(word.begin(), word.end(),
                     [](char c) { return std::islower(static_cast<unsigned char>(c)); });
}

class Highlighter {
 public:
  Highlighter(std::string_view code, const Linker& link) : code_(code), link_(link) {}

  std::string run() {
    bool line_start = true;  // only blanks so far in this line
    while (at_ < code_.size()) {
      const char c = code_[at_];
      const bool was_line_start = line_start;
      line_start = c == '\n' || (line_start && (c == ' ' || c == '\t'));
      if (starts("//"))
        emit("c", end_of_line());
      else if (starts("/*"))
        emit("c", after("*/", at_ + 2));
      else if (c == '#' && was_line_start)
        preprocessor();
      else if (const std::size_t prefix = string_prefix(); prefix != std::string_view::npos)
        emit("s", end_of_string(at_ + prefix));
      else if (is_digit(c) || (c == '.' && is_digit(peek(1))))
        emit("n", end_of_number());
      else if (is_word_start(c))
        word();
      else
        emit("", at_ + 1);
    }
    return std::move(html_);
  }

 private:
  bool starts(std::string_view text) const { return code_.substr(at_, text.size()) == text; }
  char peek(std::size_t ahead) const { return at_ + ahead < code_.size() ? code_[at_ + ahead] : '\0'; }
  std::size_t after(std::string_view text, std::size_t from) const {
    const std::size_t found = code_.find(text, from);
    return found == std::string_view::npos ? code_.size() : found + text.size();
  }

  // A backslash in front of the line end continues the line, even in a comment.
  std::size_t end_of_line() const {
    std::size_t end = code_.find('\n', at_);
    while (end != std::string_view::npos && end > 0 && code_[end - 1] == '\\')
      end = code_.find('\n', end + 1);
    return std::min(end, code_.size());
  }

  void emit(std::string_view kind, std::size_t end) {
    const std::string text = escape_html(code_.substr(at_, end - at_));
    html_ += kind.empty() ? text : fmt::format("<span class=\"{}\">{}</span>", kind, text);
    at_ = end;
  }

  // The directive's name, and of an #include also the file: the rest is C++ like any other.
  void preprocessor() {
    std::size_t end = at_ + 1;
    while (end < code_.size() && (code_[end] == ' ' || code_[end] == '\t')) ++end;
    const std::size_t name = end;
    while (end < code_.size() && is_word(code_[end])) ++end;
    const bool include = code_.substr(name, end - name) == "include";
    emit("p", end);
    if (!include) return;
    while (at_ < code_.size() && code_[at_] == ' ') emit("", at_ + 1);
    if (peek(0) == '<') emit("s", std::min(after(">", at_), end_of_line()));
  }

  // How many letters stand in front of the quote if a literal begins here (u8R"...), or npos. The quote in
  // 1'000'000 never comes here: numbers are taken whole.
  std::size_t string_prefix() const {
    for (const std::string_view prefix : {"", "L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R"})
      if (starts(prefix) && (peek(prefix.size()) == '"' ||
                             (peek(prefix.size()) == '\'' && (prefix.empty() || prefix.back() != 'R'))))
        return prefix.size();
    return std::string_view::npos;
  }

  std::size_t end_of_string(std::size_t quote) const {
    if (code_[quote] == '"' && quote > at_ && code_[quote - 1] == 'R') {
      const std::size_t open = std::min(code_.find('(', quote), code_.size());
      return after(fmt::format("){}\"", code_.substr(quote + 1, open - quote - 1)), open);
    }
    for (std::size_t i = quote + 1; i < code_.size(); ++i) {
      if (code_[i] == '\\')
        ++i;
      else if (code_[i] == code_[quote])
        return i + 1;
      else if (code_[i] == '\n')
        return i;  // not closed: the rest of the file is not a string
    }
    return code_.size();
  }

  std::size_t end_of_number() const {
    std::size_t end = at_ + 1;
    while (end < code_.size()) {
      const char c = code_[end], previous = code_[end - 1];
      const bool hexadecimal = starts("0x") || starts("0X");
      const bool exponent =
          hexadecimal ? previous == 'p' || previous == 'P' : previous == 'e' || previous == 'E';
      const bool separator = c == '\'' && end + 1 < code_.size() && is_word(code_[end + 1]);
      if (!is_word(c) && c != '.' && !separator && !((c == '+' || c == '-') && exponent)) break;
      ++end;
    }
    return end;
  }

  void word() {
    std::size_t end = at_;
    while (end < code_.size() && is_word(code_[end])) ++end;
    const std::string_view name = code_.substr(at_, end - at_);
    if (contains(keywords, name)) return emit("k", end);
    const std::string address = link_ ? link_(name) : "";
    if (!address.empty()) html_ += fmt::format("<a href=\"{}\">", escape_html(address));
    emit(looks_like_a_type(name) ? "t" : "", end);
    if (!address.empty()) html_ += "</a>";
  }

  std::string_view code_;
  const Linker& link_;
  std::size_t at_ = 0;
  std::string html_;
};

}  // namespace

std::string highlight_cpp(std::string_view code, const Linker& link) { return Highlighter(code, link).run(); }

}  // namespace attn::press
