#include "notebooks_cpp/press/markdown.hpp"

#include <fmt/format.h>  // format
#include <md4c.h>        // md_parse

#include <exception>  // current_exception, exception_ptr, rethrow_exception

#include "core/error.hpp"
#include "notebooks_cpp/press/equations.hpp"
#include "notebooks_cpp/press/highlight.hpp"
#include "notebooks_cpp/press/math.hpp"

namespace attn::press {
namespace {

constexpr int deepest = 100;
constexpr unsigned most_columns = 100;

struct Tags {
  const char *begin, *end;
};

// In the order of md4c's types. What is empty here depends on details and is written where they are known.
constexpr Tags block_tags[] = {{"", ""},                                                // document
                               {"<blockquote>\n", "</blockquote>\n"},                   // quote
                               {"<ul>\n", "</ul>\n"},                                   // list
                               {"", "</ol>\n"},                                         // numbered list
                               {"<li>", "</li>\n"},                                     // item
                               {"<hr>\n", ""},                                          // rule
                               {"", ""},                                                // heading
                               {"", ""},                                                // code
                               {"", ""},                                                // HTML: not obeyed
                               {"", ""},                                                // paragraph
                               {"<div class=\"table\"><table>\n", "</table></div>\n"},  // table
                               {"<thead>", "</thead>\n"},                               // its header
                               {"<tbody>\n", "</tbody>\n"},                             // its body
                               {"<tr>", "</tr>\n"},                                     // row
                               {"", "</th>"},                                           // cell of the header
                               {"", "</td>"}};                                          // cell
constexpr Tags span_tags[] = {
    {"<em>", "</em>"}, {"<strong>", "</strong>"}, {"", ""},          // the third is a link
    {"", ""},          {"<code>", "</code>"},     {"<s>", "</s>"}};  // the fourth a picture

// An address without a scheme, or with one that only shows something: no javascript:.
bool is_harmless(std::string_view address) {
  const std::size_t end = address.find_first_of(":/?#");
  if (end == address.npos || address[end] != ':') return true;
  const std::string_view scheme = address.substr(0, end);
  return scheme == "http" || scheme == "https" || scheme == "mailto";
}

// "$x$", "$$x$$"
std::string latex_of(std::string_view equation) {
  const std::size_t count = equation.starts_with("$$") ? 2 : 1;
  return std::string(equation.substr(count, equation.size() - 2 * count));
}

std::string equation_html(std::string_view equation) {
  const bool display = equation.starts_with("$$");
  const std::string math = mathml(latex_of(equation), display);
  return display ? "<span class=\"equation\">" + math + "</span>" : math;
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
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return guarded(self, [&](Renderer& to) { to.enter(type, detail); });
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return guarded(self, [&](Renderer& to) { to.leave(type, detail); });
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
      return guarded(self, [&](Renderer& to) { to.enter(type, detail); });
    };
    parser.leave_span = [](MD_SPANTYPE type, void* detail, void* self) {
      return guarded(self, [&](Renderer& to) { to.leave(type, detail); });
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return guarded(self, [&](Renderer& to) { to.write(type, {text, size}); });
    };
    const std::string& text = equations_.text();
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

  static bool is_container(MD_BLOCKTYPE type) {
    return type == MD_BLOCK_QUOTE || type == MD_BLOCK_UL || type == MD_BLOCK_OL;
  }

  void enter(MD_BLOCKTYPE type, void* detail) {
    if (is_container(type) && ++depth_ > deepest)
      fail("markdown: lists and quotes are nested more than {} deep", deepest);
    // Text of an item may stand before; the parts of a table stay together.
    const bool own_line = type <= MD_BLOCK_TABLE && !html.ends_with("<li>");
    if (own_line && !html.empty() && html.back() != '\n') html += '\n';
    html_start_ = html.size();
    plain_start_ = plain.size();
    html += block_tags[type].begin;
    if (type == MD_BLOCK_OL) {
      const unsigned start = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start;
      html += start == 1 ? "<ol>\n" : fmt::format("<ol start=\"{}\">\n", start);
    } else if (type == MD_BLOCK_TABLE) {
      const unsigned columns = static_cast<MD_BLOCK_TABLE_DETAIL*>(detail)->col_count;
      if (columns > most_columns)
        fail("markdown: a table has {} columns; {} are the most", columns, most_columns);
    } else if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
      const MD_ALIGN align = static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align;
      html += fmt::format("<{}{}>", type == MD_BLOCK_TH ? "th" : "td",
                          align == MD_ALIGN_CENTER  ? " style=\"text-align:center\""
                          : align == MD_ALIGN_RIGHT ? " style=\"text-align:right\""
                                                    : "");
    }
  }

  void leave(MD_BLOCKTYPE type, void* detail) {
    depth_ -= is_container(type);
    const std::string text = type == MD_BLOCK_H || type == MD_BLOCK_CODE ? plain.substr(plain_start_) : "";
    if (type == MD_BLOCK_LI && html.back() == '\n') {
      html.pop_back();
    } else if (type == MD_BLOCK_H) {
      const unsigned level = static_cast<MD_BLOCK_H_DETAIL*>(detail)->level;
      wrap(fmt::format("<h{} id=\"{}\">", level, escape_html(ids_.unique(text))),
           fmt::format("</h{}>\n", level));
    } else if (type == MD_BLOCK_CODE) {
      const std::string language = attribute(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang);
      const bool cpp = language == "cpp" || language == "c++" || language == "hpp" || language == "c";
      if (cpp) html.replace(html_start_, html.npos, highlight_cpp(text));
      wrap("<pre><code>", "</code></pre>\n");
    } else if (type == MD_BLOCK_P) {
      const std::string_view content = std::string_view(html).substr(html_start_), end = "</span>";
      const bool equation = content.starts_with("<span") && content.find(end) + end.size() == content.size();
      wrap(equation ? "" : "<p>", equation ? "\n" : "</p>\n");
    }
    html += block_tags[type].end;
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
    html += span_tags[type].begin;
    if (type != MD_SPAN_A) return;
    const std::string address = replaced(static_cast<MD_SPAN_A_DETAIL*>(detail)->href, options_.link);
    linked_ = is_harmless(address);
    if (linked_) html += fmt::format("<a href=\"{}\">", escape_html(address));
  }

  void leave(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_IMG) --pictures_;
    if (pictures_ > 0) return;
    html += span_tags[type].end;
    if (type == MD_SPAN_A && linked_) html += "</a>";
    if (type == MD_SPAN_IMG) {
      const std::string address = replaced(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src, options_.image);
      html += fmt::format("<img src=\"{}\" alt=\"{}\">", escape_html(address),
                          escape_html(plain.substr(picture_start_)));
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
      words = equations_.restored(text, as_it_is, latex_of);
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
  int depth_ = 0, pictures_ = 0;                                      // how many we are inside of
  std::size_t html_start_ = 0, plain_start_ = 0, picture_start_ = 0;  // of the latest block, the picture
  bool linked_ = false;
};

}  // namespace

std::string markdown_to_html(std::string_view text, const MarkdownOptions& options) {
  return Renderer(text, options).html;
}

std::string plain_text(std::string_view markdown) { return Renderer(markdown, {}).plain; }

}  // namespace attn::press
