// Reading LaTeX, word by word: the lower half of math.cpp, which knows what the words mean.
#pragma once

#include <fmt/core.h>  // format

#include <string>       // string
#include <string_view>  // string_view

#include "core/error.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_letter, is_space

namespace attn::press {

class LatexReader {
 protected:
  explicit LatexReader(std::string_view latex) : latex_(latex) {}

  [[noreturn]] void wrong(const std::string& what) const { fail("math: {:.200} in `{:.200}`", what, latex_); }

  // The parser calls itself for what is nested. Beyond some depth we refuse, or the stack would overflow.
  static constexpr int deepest = 200;
  struct Level {
    LatexReader& reader;
    explicit Level(LatexReader& to) : reader(to) {
      if (++reader.depth_ > deepest) reader.wrong(fmt::format("nested more than {} deep", deepest));
    }
    ~Level() { --reader.depth_; }
  };

  void skip_blanks() {
    while (at_ < latex_.size() && is_space(latex_[at_])) ++at_;
  }
  char peek() {
    skip_blanks();
    return at_ < latex_.size() ? latex_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  // A command with its backslash ("\frac", "\,"), or one character with all its bytes.
  std::string_view next_word() {
    if (peek() == '\0') return {};
    std::size_t end = at_ + 1;
    if (latex_[at_] == '\\') {
      if (end < latex_.size() && !is_letter(latex_[end]))
        ++end;
      else
        while (end < latex_.size() && is_letter(latex_[end])) ++end;
    } else {
      while (end < latex_.size() && (static_cast<unsigned char>(latex_[end]) & 0xC0) == 0x80) ++end;
    }
    return latex_.substr(at_, end - at_);
  }
  std::string_view take_word() {
    const std::string_view word = next_word();
    at_ += word.size();
    return word;
  }
  bool take_command(std::string_view command) {
    if (next_word() != command) return false;
    at_ += command.size();
    return true;
  }
  // {any text}, taken literally.
  std::string_view braced_text(std::string_view command) {
    if (!take('{')) wrong(fmt::format("{} needs {{...}} after it", command));
    int depth = 1;
    const std::size_t begin = at_;
    for (; at_ < latex_.size(); ++at_) {
      if (latex_[at_] == '{') ++depth;
      if (latex_[at_] == '}' && --depth == 0) return latex_.substr(begin, at_++ - begin);
    }
    wrong("a { that is never closed");
  }

  bool at_end_of_sequence() {
    const char c = peek();
    if (c == '\0' || c == '}' || c == '&') return true;
    if (c == ']' && in_brackets_) return true;
    const std::string_view word = next_word();
    return word == "\\\\" || word == "\\right" || word == "\\end";
  }

  std::string_view latex_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool in_brackets_ = false;  // a ] ends what is being read
};

}  // namespace attn::press
