#include "notebooks_cpp/press/markdown_inline.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // min
#include <cctype>     // isalnum, isdigit, ispunct, isspace

#include "notebooks_cpp/press/math.hpp"

namespace attn::press {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80); }
bool is_punctuation(char c) { return std::ispunct(static_cast<unsigned char>(c)); }

constexpr std::size_t none = std::string_view::npos;

class Inline {
 public:
  Inline(std::string_view text, const MarkdownOptions& options) : text_(text), options_(options) {}

  std::string run() {
    while (at_ < text_.size())
      if (!(escape() || line_break() || code() || math() || link() || address() || emphasis()))
        html_ += escape_html(text_.substr(at_++, 1));
    return std::move(html_);
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts(std::string_view mark) const { return text_.substr(at_, mark.size()) == mark; }
  std::string inner(std::string_view text) const { return Inline(text, options_).run(); }

  bool put(std::string html, std::size_t end) {
    html_ += html;
    at_ = end;
    return true;
  }

  bool escape() {
    if (peek(0) != '\\' || !is_punctuation(peek(1))) return false;
    return put(escape_html(text_.substr(at_ + 1, 1)), at_ + 2);
  }

  // Two blanks or a backslash at the end of a line.
  bool line_break() {
    if (starts("\\\n")) return put("<br>\n", at_ + 2);
    const std::size_t end = text_.find_first_not_of(' ', at_);
    if (end == none || text_[end] != '\n' || end == at_) return false;
    return put(end - at_ >= 2 ? "<br>\n" : "\n", end + 1);
  }

  // Where a piece that holds no marks (code, math, an escape) beginning at `from` ends; `from` if none does.
  std::size_t end_of_piece(std::size_t from) const {
    if (text_[from] == '\\') return std::min(from + 2, text_.size());
    if (text_[from] == '`') {
      const std::size_t count = std::min(text_.find_first_not_of('`', from), text_.size()) - from;
      for (std::size_t i = from + count; (i = text_.find('`', i)) != none;) {
        const std::size_t end = std::min(text_.find_first_not_of('`', i), text_.size());
        if (end - i == count) return end;
        i = end;
      }
    }
    if (text_[from] == '$') {
      const std::size_t count = text_.substr(from, 2) == "$$" ? 2 : 1;
      if (from + count >= text_.size() || (count == 1 && is_space(text_[from + 1]))) return from;
      for (std::size_t i = from + count; i < text_.size(); ++i) {
        if (text_[i] == '\\') {
          ++i;
        } else if (text_.substr(i, count) == std::string_view("$$").substr(0, count)) {
          const bool price = i + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i + 1]));
          if (count == 2 || (!is_space(text_[i - 1]) && !price)) return i + count;
        }
      }
    }
    return from;
  }

  bool code() {
    if (peek(0) != '`') return false;
    const std::size_t end = end_of_piece(at_);
    if (end == at_) {  // not closed: all of them are just backticks
      const std::size_t last = std::min(text_.find_first_not_of('`', at_), text_.size());
      return put(std::string(text_.substr(at_, last - at_)), last);
    }
    const std::size_t count = text_.find_first_not_of('`', at_) - at_;
    std::string content(text_.substr(at_ + count, end - at_ - 2 * count));
    for (char& c : content)
      if (c == '\n') c = ' ';
    // `` `x` `` has a blank at each end so that the backticks stay apart.
    if (content.size() > 2 && content.front() == ' ' && content.back() == ' ')
      content = content.substr(1, content.size() - 2);
    return put("<code>" + escape_html(content) + "</code>", end);
  }

  bool math() {
    if (peek(0) != '$') return false;
    const std::size_t end = end_of_piece(at_), count = starts("$$") ? 2 : 1;
    if (end == at_) return false;
    const std::string_view latex = text_.substr(at_ + count, end - at_ - 2 * count);
    return put(count == 2 ? display_equation(latex) : mathml(latex, false), end);
  }

  // [text](address "title") and ![text](address).
  bool link() {
    const bool image = starts("![");
    if (!image && peek(0) != '[') return false;
    const std::size_t open = at_ + image;
    std::size_t close = open;
    for (int depth = 0; close < text_.size(); ++close) {
      const std::size_t piece = end_of_piece(close);
      if (piece != close) {
        close = piece - 1;
        continue;
      }
      depth += (text_[close] == '[') - (text_[close] == ']');
      if (depth == 0) break;
    }
    if (close + 1 >= text_.size() || text_[close + 1] != '(') return false;
    std::size_t end = close + 1;
    for (int depth = 0; end < text_.size(); ++end) {
      depth += (text_[end] == '(') - (text_[end] == ')');
      if (depth == 0) break;
    }
    if (end == text_.size()) return false;
    std::string_view target = text_.substr(close + 2, end - close - 2);
    target = target.substr(0, target.find(' '));  // a title is left out
    const std::string_view label = text_.substr(open + 1, close - open - 1);
    const Linker& replace = image ? options_.image : options_.link;
    std::string address = replace ? replace(target) : "";
    if (address.empty()) address = target;
    if (image)
      return put(
          fmt::format("<img src=\"{}\" alt=\"{}\">", escape_html(address), escape_html(plain_text(label))),
          end + 1);
    return put(fmt::format("<a href=\"{}\">{}</a>", escape_html(address), inner(label)), end + 1);
  }

  bool address() {  // <https://...>
    if (!starts("<http://") && !starts("<https://")) return false;
    const std::size_t end = text_.find('>', at_);
    if (end == none) return false;
    const std::string shown = escape_html(text_.substr(at_ + 1, end - at_ - 1));
    return put(fmt::format("<a href=\"{0}\">{0}</a>", shown), end + 1);
  }

  bool emphasis() {
    for (const auto& [mark, tag] : {std::pair<std::string_view, const char*>{"**", "strong"},
                                    {"__", "strong"},
                                    {"~~", "s"},
                                    {"*", "em"},
                                    {"_", "em"}}) {
      if (!starts(mark)) continue;
      const std::size_t begin = at_ + mark.size(), end = closing(mark, begin);
      if (end == none) continue;
      return put(fmt::format("<{0}>{1}</{0}>", tag, inner(text_.substr(begin, end - begin))),
                 end + mark.size());
    }
    // Marks that mean nothing here: taken at once, or the rest of them would be looked at again.
    const char c = peek(0);
    if (c != '*' && c != '_' && c != '~') return false;
    const std::size_t end = std::min(text_.find_first_not_of(c, at_), text_.size());
    return put(std::string(text_.substr(at_, end - at_)), end);
  }

  std::size_t closing(std::string_view mark, std::size_t begin) const {
    if (begin >= text_.size() || is_space(text_[begin])) return none;
    const bool inside_word = at_ > 0 && is_word(text_[at_ - 1]);
    if (mark[0] == '_' && inside_word) return none;  // snake_case_name
    for (std::size_t i = begin; i < text_.size(); ++i) {
      const std::size_t piece = end_of_piece(i);
      if (piece != i) {
        i = piece - 1;
        continue;
      }
      if (text_[i] != mark[0]) continue;
      const std::size_t count = std::min(text_.find_first_not_of(mark[0], i), text_.size()) - i;
      const std::size_t next = i + count;
      const bool fits = i > begin && !is_space(text_[i - 1]) && (count == mark.size() || count == 3) &&
                        !(mark[0] == '_' && next < text_.size() && is_word(text_[next]));
      // Of three, the inner mark closes first: *a **b*** and **a *b***.
      if (fits) return count == 3 ? next - mark.size() : i;
      i = next - 1;
    }
    return none;
  }

  std::string_view text_;
  const MarkdownOptions& options_;
  std::size_t at_ = 0;
  std::string html_;
};

}  // namespace

std::string inline_to_html(std::string_view text, const MarkdownOptions& options) {
  return Inline(text, options).run();
}

std::string plain_text(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') continue;
    if (text[i] == ']' && i + 1 < text.size() && text[i + 1] == '(') {
      i = std::min(text.find(')', i), text.size() - 1);
      continue;
    }
    if (std::string_view("*`$").find(text[i]) == none) plain += text[i];
  }
  return plain;
}

std::string display_equation(std::string_view latex) {
  return "<span class=\"equation\">" + mathml(latex, true) + "</span>";
}

}  // namespace attn::press
