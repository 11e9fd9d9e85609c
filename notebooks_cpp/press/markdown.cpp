#include "notebooks_cpp/press/markdown.hpp"

#include <fmt/core.h>  // format
#include <md4c.h>      // md_parse

#include <algorithm>   // max, min
#include <charconv>    // from_chars
#include <exception>   // current_exception, exception_ptr, rethrow_exception
#include <functional>  // function
#include <vector>      // vector

#include "core/error.hpp"
#include "notebooks_cpp/press/highlight.hpp"
#include "notebooks_cpp/press/lines.hpp"
#include "notebooks_cpp/press/math.hpp"

namespace attn::press {
namespace {

constexpr int deepest_list = 100;
constexpr unsigned most_columns = 100;
constexpr Index most_lines = 2000;  // of a paragraph

// In the order of md4c's types. What has no name here depends on more than its type.
constexpr std::string_view block_names[] = {"", "blockquote", "ul", "ol",    "li",    "",   "",   "",
                                            "", "",           "",   "thead", "tbody", "tr", "th", "td"};
constexpr std::string_view span_names[] = {"em", "strong", "", "", "code", "s"};

// Equations are taken out of a text before Markdown reads it, and put back afterwards, as Jupyter does it:
// they may hold whatever means something to Markdown (`*`, `_`, `|`, a line that begins with `+`). `$x$` is
// an equation if the dollars hug it and no digit follows: "$5 or $6" is money. `$$x$$` is one on a line of
// its own. Dollars in `code` and after a backslash are only dollars.
class Equations {
 public:
  // Throws Error if a $$ at the start of a line is never closed.
  explicit Equations(std::string source) : source_(std::move(source)) {
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

  const std::string& text() const { return text_; }  // a mark stands where an equation was

  // `text`, a part of text(): show_equation("$x$") stands where a mark was, show_text(…) for all between.
  using Show = std::function<std::string(std::string_view)>;
  std::string restored(std::string_view text, const Show& show_text, const Show& show_equation) const {
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

 private:
  static constexpr char open = '\xfe', close = '\xff';  // around a number; UTF-8 has no such bytes

  // Whether nothing but marks of lists and quotes stands before at_ on its line.
  bool starts_line() const {
    std::size_t begin = at_;
    while (begin > 0 && std::string_view(" \t>-*+.)0123456789").find(source_[begin - 1]) != std::string::npos)
      --begin;
    return begin == 0 || source_[begin - 1] == '\n';
  }

  // A blank line does, and one that begins with one of `marks`.
  bool ends_paragraph(std::size_t line, std::string_view marks) const {
    const std::size_t first = source_.find_first_not_of(" \t", line);
    return first == source_.npos || source_[first] == '\n' || marks.find(source_[first]) != marks.npos;
  }

  // Past the code that begins at at_: a fenced block, or what stands between as many backticks.
  std::size_t end_of_code() const {
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

  // Past the equation that begins at at_; at_ if there is none.
  std::size_t end_of_equation() {
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

  std::string source_, text_;
  std::size_t at_ = 0;
  std::size_t no_dollar_before_[2] = {};  // up to here we have looked in vain for the end of `$`, of `$$`
  std::vector<std::string> found_;        // with their dollars
};

// An address without a scheme, or with one that only shows something: no javascript:.
bool is_harmless(std::string_view address) {
  const std::size_t end = address.find_first_of(":/?#");
  if (end == address.npos || address[end] != ':') return true;
  const std::string_view scheme = address.substr(0, end);
  return scheme == "http" || scheme == "https" || scheme == "mailto";
}

// "$x$", "$$x$$"
std::string inside_dollars(std::string_view equation) {
  const std::size_t count = equation.starts_with("$$") ? 2 : 1;
  return std::string(equation.substr(count, equation.size() - 2 * count));
}

std::string equation_html(std::string_view equation) {
  const bool display = equation.starts_with("$$");
  const std::string math = mathml(inside_dollars(equation), display);
  return display ? "<span class=\"equation\">" + math + "</span>" : math;
}

// For each link md4c looks through all lines of its paragraph: a long one would take it forever.
void check_paragraphs(std::string_view text) {
  Index lines = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines = is_blank(text.substr(0, end)) ? 0 : lines + 1;
    if (lines > most_lines) fail("markdown: a paragraph has more than {} lines", most_lines);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string as_it_is(std::string_view text) { return std::string(text); }

// Writes HTML as md4c's parser reaches the beginning and the end of a block (paragraph, list, table cell) or
// of a span (emphasis, link), or a piece of text.
class Renderer {
 public:
  Renderer(std::string_view source, const MarkdownOptions& options)
      : equations_(std::string(source)), options_(options), ids_(options.ids ? *options.ids : own_ids_) {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_NOHTML;
    parser.enter_block = call<MD_BLOCKTYPE, &Renderer::enter>;
    parser.leave_block = call<MD_BLOCKTYPE, &Renderer::leave>;
    parser.enter_span = call<MD_SPANTYPE, &Renderer::enter>;
    parser.leave_span = call<MD_SPANTYPE, &Renderer::leave>;
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return guarded(self, [&](Renderer& renderer) { renderer.write(type, {text, size}); });
    };
    const std::string& text = equations_.text();
    check_paragraphs(text);
    const int problem = md_parse(text.data(), MD_SIZE(text.size()), &parser, this);
    if (error_) std::rethrow_exception(error_);
    if (problem) fail("markdown: md4c gave up on a text of {} bytes", text.size());
  }

  std::string html, plain;  // plain: the words alone

 private:
  // md4c is C, which no exception may cross: we keep it and make md4c stop.
  template <class Action>
  static int guarded(void* self, const Action& action) {
    Renderer& renderer = *static_cast<Renderer*>(self);
    try {
      action(renderer);
      return 0;
    } catch (...) {
      renderer.error_ = std::current_exception();
      return 1;
    }
  }

  template <class Type, void (Renderer::*action)(Type, void*)>
  static int call(Type type, void* detail, void* self) {
    return guarded(self, [&](Renderer& renderer) { (renderer.*action)(type, detail); });
  }

  static bool is_container(MD_BLOCKTYPE type) {
    return type == MD_BLOCK_QUOTE || type == MD_BLOCK_UL || type == MD_BLOCK_OL;
  }

  void enter(MD_BLOCKTYPE type, void* detail) {
    if (is_container(type) && ++depth_ > deepest_list)
      fail("markdown: lists and quotes are nested more than {} deep", deepest_list);
    // Text of an item may stand before; the parts of a table stay together.
    const bool own_line = type <= MD_BLOCK_TABLE && !html.ends_with("<li>");
    if (own_line && !html.empty() && html.back() != '\n') html += '\n';
    html_start_ = html.size();
    plain_start_ = plain.size();
    std::string attributes;
    if (type == MD_BLOCK_HR) {
      html += "<hr>\n";
    } else if (type == MD_BLOCK_TABLE) {
      const unsigned columns = static_cast<MD_BLOCK_TABLE_DETAIL*>(detail)->col_count;
      if (columns > most_columns)
        fail("markdown: a table has {} columns; {} are the most", columns, most_columns);
      html += "<div class=\"table\"><table>\n";
    } else if (type == MD_BLOCK_OL) {
      const unsigned start = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start;
      if (start != 1) attributes = fmt::format(" start=\"{}\"", start);
    } else if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
      const MD_ALIGN align = static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align;
      if (align == MD_ALIGN_CENTER) attributes = " style=\"text-align:center\"";
      if (align == MD_ALIGN_RIGHT) attributes = " style=\"text-align:right\"";
    }
    if (!block_names[type].empty()) html += fmt::format("<{}{}>", block_names[type], attributes);
    if (is_container(type) || type == MD_BLOCK_TBODY) html += '\n';
  }

  void leave(MD_BLOCKTYPE type, void* detail) {
    depth_ -= is_container(type);
    if (type == MD_BLOCK_LI && html.back() == '\n') {
      html.pop_back();
    } else if (type == MD_BLOCK_TABLE) {
      html += "</table></div>\n";
    } else if (type == MD_BLOCK_H) {
      const unsigned level = static_cast<MD_BLOCK_H_DETAIL*>(detail)->level;
      const std::string id = ids_.unique(plain.substr(plain_start_));
      wrap(fmt::format("<h{} id=\"{}\">", level, escape_html(id)), fmt::format("</h{}>\n", level));
    } else if (type == MD_BLOCK_CODE) {
      const std::string language = attribute(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang);
      const bool cpp = language == "cpp" || language == "c++" || language == "hpp" || language == "c";
      if (cpp) html.replace(html_start_, html.npos, highlight_cpp(plain.substr(plain_start_)));
      wrap("<pre><code>", "</code></pre>\n");
    } else if (type == MD_BLOCK_P) {
      const std::string_view content = std::string_view(html).substr(html_start_), end = "</span>";
      const bool equation = content.starts_with("<span") && content.find(end) + end.size() == content.size();
      wrap(equation ? "" : "<p>", equation ? "\n" : "</p>\n");
    }
    if (!block_names[type].empty())
      html +=
          fmt::format("</{}>{}", block_names[type], type == MD_BLOCK_TH || type == MD_BLOCK_TD ? "" : "\n");
  }

  // Tags around what the block has written so far.
  void wrap(const std::string& begin, const std::string& end) {
    html.insert(html_start_, begin);
    html += end;
  }

  // A picture's text becomes an attribute, with no tags in it.
  void enter(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_IMG && pictures_++ == 0) picture_start_ = plain.size();
    if (pictures_ > 0) return;
    if (type != MD_SPAN_A) {
      html += fmt::format("<{}>", span_names[type]);
      return;
    }
    const std::string address = replaced(static_cast<MD_SPAN_A_DETAIL*>(detail)->href, options_.link);
    linked_ = is_harmless(address);
    if (linked_) html += fmt::format("<a href=\"{}\">", escape_html(address));
  }

  void leave(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_IMG) --pictures_;
    if (pictures_ > 0) return;
    if (type == MD_SPAN_IMG) {
      const std::string address = replaced(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src, options_.image);
      html += fmt::format("<img src=\"{}\" alt=\"{}\">", escape_html(address),
                          escape_html(plain.substr(picture_start_)));
    } else if (type != MD_SPAN_A || linked_) {
      html += fmt::format("</{}>", type == MD_SPAN_A ? "a" : span_names[type]);
    }
  }

  void write(MD_TEXTTYPE type, std::string_view text) {
    std::string shown, words(text);
    if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) {
      shown = type == MD_TEXT_BR ? "<br>\n" : "\n";
      words = " ";
    } else if (type == MD_TEXT_NULLCHAR) {
      shown = words = "\uFFFD";
    } else if (type == MD_TEXT_ENTITY) {
      shown = words;  // &name; or &#number;, md4c has made sure
    } else if (type == MD_TEXT_CODE) {
      words = equations_.restored(text, as_it_is, as_it_is);
      shown = escape_html(words);
    } else {
      words = equations_.restored(text, as_it_is, inside_dollars);
      shown = equations_.restored(text, escape_html, equation_html);
    }
    plain += words;
    if (pictures_ == 0) html += shown;
  }

  std::string attribute(const MD_ATTRIBUTE& value) const {
    return equations_.restored({value.text, value.size}, as_it_is, as_it_is);
  }

  std::string replaced(const MD_ATTRIBUTE& address, const Linker& link) const {
    const std::string written = attribute(address), other = link ? link(written) : "";
    return other.empty() ? written : other;
  }

  Equations equations_;
  const MarkdownOptions& options_;
  Ids own_ids_;
  Ids& ids_;
  std::exception_ptr error_;
  int depth_ = 0, pictures_ = 0;                                      // how many we are in
  std::size_t html_start_ = 0, plain_start_ = 0, picture_start_ = 0;  // of the latest block, the picture
  bool linked_ = false;
};

}  // namespace

std::string markdown_to_html(std::string_view text, const MarkdownOptions& options) {
  return Renderer(text, options).html;
}

std::string plain_text(std::string_view markdown) { return Renderer(markdown, {}).plain; }

}  // namespace attn::press
