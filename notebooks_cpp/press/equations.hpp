// Equations are taken out of a text before Markdown reads it, and put back afterwards, as Jupyter does it:
// they may hold whatever means something to Markdown (`*`, `_`, `|`, a line that begins with `+`).
//
// `$x$` is an equation if the dollars hug it and no digit follows: "$5 or $6" is money. `$$x$$` is one on a
// line of its own. Dollars in `code` and behind a backslash are only dollars.
#pragma once

#include <functional>   // function
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn::press {

class Equations {
 public:
  explicit Equations(std::string source);  // throws Error if a $$ at the start of a line is never closed

  const std::string& text() const { return text_; }  // a mark stands where an equation was

  // `text`, a part of text(): show_equation("$x$") stands where a mark was, show_text(…) for all between.
  using Show = std::function<std::string(std::string_view)>;
  std::string restored(std::string_view text, const Show& show_text, const Show& show_equation) const;

 private:
  static constexpr char open = '\xfe',
                        close = '\xff';  // around an equation's number: UTF-8 has no such bytes

  std::size_t end_of_code() const;
  std::size_t end_of_equation();
  bool ends_paragraph(std::size_t line, std::string_view marks) const;
  bool starts_line() const;

  std::string source_, text_;
  std::size_t at_ = 0;
  std::size_t no_dollar_before_[2] = {};  // up to here we have looked in vain for the end of `$`, of `$$`
  std::vector<std::string> found_;        // with their dollars
};

}  // namespace attn::press
