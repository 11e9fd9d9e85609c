#include "notebooks_cpp/press/equations.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // max, min
#include <charconv>   // from_chars

#include "core/error.hpp"
#include "notebooks_cpp/press/lines.hpp"

namespace attn::press {

Equations::Equations(std::string source) : source_(std::move(source)) {
  for (char& c : source_)
    if (c == open || c == close) c = ' ';
  while (at_ < source_.size()) {
    std::size_t end = end_of_equation();
    if (end > at_) {
      text_ += fmt::format("{}{}{}", open, found_.size(), close);
      found_.push_back(source_.substr(at_, end - at_));
      std::string& equation = found_.back();
      std::size_t line = equation.find('\n');
      const bool quoted = line != equation.npos &&
                          source_[source_.find_first_not_of(' ', source_.rfind('\n', at_) + 1)] == '>';
      // In a quote, the marks that begin its lines are no part of it.
      for (; quoted && line != equation.npos; line = equation.find('\n', line + 1))
        equation.erase(line + 1, equation.find_first_not_of("> ", line + 1) - line - 1);
    } else {
      end = std::max(end_of_code(), at_ + (source_[at_] == '\\' ? 2 : 1));
      text_ += source_.substr(at_, end - at_);
    }
    at_ = end;
  }
}

std::string Equations::restored(std::string_view text, const Show& show_text,
                                const Show& show_equation) const {
  std::string result;
  for (std::size_t begin; (begin = text.find(open)) != text.npos;) {
    std::size_t number = 0;
    const std::size_t end = std::min(text.find(close, begin), text.size());
    std::from_chars(text.data() + begin + 1, text.data() + end, number);
    result += show_text(text.substr(0, begin)) + show_equation(found_.at(number));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result + show_text(text);
}

// Whether nothing but marks of lists and quotes stands before at_ on its line.
bool Equations::starts_line() const {
  std::size_t begin = at_;
  while (begin > 0 && std::string_view(" \t>-*+.)0123456789").find(source_[begin - 1]) != std::string::npos)
    --begin;
  return begin == 0 || source_[begin - 1] == '\n';
}

// A blank line does, and one that begins with one of `marks`.
bool Equations::ends_paragraph(std::size_t line, std::string_view marks) const {
  const std::size_t first = source_.find_first_not_of(" \t", line);
  return first == source_.npos || source_[first] == '\n' || marks.find(source_[first]) != marks.npos;
}

// Behind the code that begins at at_: a fenced block, or what stands between as many backticks.
std::size_t Equations::end_of_code() const {
  const char c = source_[at_];
  if (c != '`' && c != '~') return at_;
  const auto behind_run = [&](std::size_t from) {
    return std::min(source_.find_first_not_of(c, from), source_.size());
  };
  const std::size_t begin = behind_run(at_), count = begin - at_;
  if (count >= 3 && starts_line()) {
    for (std::size_t line = at_; (line = source_.find('\n', line) + 1) > 0;) {
      const std::size_t fence = std::min(source_.find_first_not_of(" \t>", line), source_.size());
      if (behind_run(fence) - fence >= count) return behind_run(fence);
    }
    return source_.size();
  }
  for (std::size_t i = begin; c == '`' && i < source_.size(); ++i) {
    if (source_[i] == '\n' && ends_paragraph(i + 1, "")) break;
    if (source_[i] != c) continue;
    const std::size_t end = behind_run(i);
    if (end - i == count) return end;
    i = end - 1;
  }
  return begin;  // not closed: they are only backticks
}

// Behind the equation that begins at at_; at_ if there is none.
std::size_t Equations::end_of_equation() {
  if (source_[at_] != '$') return at_;
  const std::size_t count = source_.compare(at_, 2, "$$") == 0 ? 2 : 1;
  std::size_t i = at_ + count;
  if (count == 1 && (i == source_.size() || is_space(source_[i]))) return at_;
  std::size_t& no_dollar_before = no_dollar_before_[count - 1];
  for (; at_ >= no_dollar_before && i < source_.size(); ++i) {
    if (source_[i] == '\n' && ends_paragraph(i + 1, count == 1 ? "-*+>#|" : "")) break;
    if (source_[i] == '\\') {
      ++i;
    } else if (source_.compare(i, count, "$$", count) == 0) {
      const bool price = i + 1 < source_.size() && is_digit(source_[i + 1]);
      if (count == 2 || (!is_space(source_[i - 1]) && !price)) return i + count;
    }
  }
  if (count == 2 && starts_line()) fail("markdown: $$ that is never closed: {:.80}", source_.substr(at_));
  no_dollar_before = std::max(no_dollar_before, i);
  return at_;
}

}  // namespace attn::press
