#include <fmt/core.h>  // format

#include <algorithm>  // max, min
#include <iterator>   // ssize
#include <numeric>    // iota
#include <regex>      // regex, sregex_iterator
#include <utility>    // exchange

#include "notebooks_cpp/press/book_sources.hpp"
#include "notebooks_cpp/press/html.hpp"   // escape_html, slug
#include "notebooks_cpp/press/lines.hpp"  // is_blank, is_digit, lines_of, trimmed

namespace attn::press {
namespace {

// `text` with show(match) for what matches the pattern and show_rest(…) for all between.
template <class Show, class ShowRest>
std::string replaced(const std::string& text, const std::regex& pattern, const Show& show,
                     const ShowRest& show_rest) {
  std::string result;
  auto at = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    result += show_rest(std::string(at, (*it)[0].first)) + show(*it);
    at = (*it)[0].second;
  }
  return result + show_rest(std::string(at, text.cend()));
}

// "- one" and "1. one" begin an item of a list.
std::size_t item_mark(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return 2;
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  return digits > 0 && line.substr(digits).starts_with(". ") ? digits + 2 : 0;
}

}  // namespace

Listing listing(const SourceFile& file, const Sources& sources) {
  static const std::regex note("Note \\[([^\\]]+)\\]");
  const PageText text{sources, file.page};
  const auto linked_note = [&](const std::smatch& match) {
    return text.link(sources.note(match[1]), match.str());
  };
  Listing result = lines_of(highlight_cpp(file.text, sources.linker(file)));
  const std::vector<std::string> source = lines_of(file.text);
  for (Index i = 0; i < std::ssize(source); ++i) {
    std::string& html = result[i];
    if (source[i].find("Note [") != std::string::npos)
      html = replaced(html, note, linked_note, [](const std::string& rest) { return rest; });
    if (!source[i].starts_with("#include \"")) continue;
    const std::string path = source[i].substr(10, source[i].find('"', 10) - 10);
    if (const SourceFile* included = sources.find(path))
      html.replace(html.find(path), path.size(), text.link(included->page, path));
  }
  return result;
}

std::string code_block(const Listing& lines, const std::vector<Index>& numbers) {
  std::string html = "<pre class=\"listing\"><code>";
  Index before = -1;
  for (const Index line : numbers) {
    const std::string jump =
        line == before + 1 ? "" : fmt::format(" style=\"counter-set:line {}\"", line - 1);
    html += fmt::format("<span class=\"line\" id=\"L{}\"{}>{}\n</span>", line, jump, lines[line - 1]);
    before = line;
  }
  return html + "</code></pre>\n";
}

std::string code_block(const Listing& lines, Index first, Index last) {
  std::vector<Index> numbers(std::max<Index>(last - first + 1, 0));
  std::iota(numbers.begin(), numbers.end(), first);
  return code_block(lines, numbers);
}

std::string PageText::link(const std::string& address, const std::string& html) const {
  if (address.empty() || address == page) return html;
  return fmt::format("<a href=\"{}\">{}</a>", escape_html(link_from(page, address)), html);
}

std::string PageText::code(std::string_view text) const { return highlight_cpp(text, sources.linker(page)); }

std::string PageText::sentence(std::string_view text) const {
  // `code`, *emphasis*, Note [Title], a file of the library, "lesson 07".
  static const std::regex pattern(
      "`([^`]+)`|\\*([A-Za-z][^*\n]*[A-Za-z])\\*|Note \\[([^\\]]+)\\]|"
      "\\b([a-z0-9_]+(?:/[a-z0-9_]+)+\\.[ch]pp)\\b|\\b([Ll]esson ([0-9][0-9]))\\b");
  const auto shown = [&](const std::smatch& match) {
    if (match[2].matched) return "<em>" + escape_html(match[2].str()) + "</em>";
    if (match[1].matched) {
      std::string name = match[1];
      if (name.ends_with("()")) name.resize(name.size() - 2);
      return link(sources.address(name), "<code>" + escape_html(match[1].str()) + "</code>");
    }
    std::string target;
    if (match[3].matched) target = sources.note(match[3]);
    if (match[4].matched && sources.find(match[4])) target = sources.find(match[4])->page;
    if (match[5].matched && sources.lessons.contains(match[6])) target = sources.lessons.at(match[6]);
    return link(target, escape_html(match.str()));
  };
  return replaced(std::string(text), pattern, shown, escape_html);
}

std::string PageText::linked(const std::string& html) const {
  static const std::regex pattern(
      "<a [^>]*>[^<]*</a>|<code>([A-Za-z0-9_:]+)</code>|\\b([Ll]esson ([0-9][0-9]))\\b");
  const auto shown = [&](const std::smatch& match) {
    if (!match[1].matched && !match[2].matched) return match.str();  // a link already
    if (match[1].matched && sources.notebooks.contains(match[1]))
      return link(sources.notebooks.at(match[1]), match.str());
    if (match[1].matched) return link(sources.address(match[1].str()), match.str());
    return link(sources.lessons.contains(match[3]) ? sources.lessons.at(match[3]) : "", match.str());
  };
  return replaced(html, pattern, shown, [](const std::string& rest) { return rest; });
}

std::string PageText::prose(std::string_view comment) const {
  const std::vector<std::string> lines = lines_of(comment);
  const Index count = std::ssize(lines);
  const auto indented = [&](Index i) {
    return i < count && lines[i].starts_with("  ") && !is_blank(lines[i]);
  };
  std::string html;
  for (Index i = 0; i < count;) {
    if (is_blank(lines[i])) {
      ++i;
    } else if (indented(i)) {
      std::string block, gap;  // blank lines between indented ones belong to the block
      for (; i < count && (is_blank(lines[i]) || indented(i)); ++i) {
        if (indented(i)) block += std::exchange(gap, "") + lines[i].substr(2);
        gap += "\n";
      }
      html += "<pre class=\"aside\">" + escape_html(block) + "\n</pre>\n";
    } else if (item_mark(lines[i])) {
      const char* list = is_digit(lines[i][0]) ? "ol" : "ul";
      html += fmt::format("<{}>\n", list);
      while (i < count && item_mark(lines[i])) {
        std::string item = lines[i].substr(item_mark(lines[i]));
        for (++i; indented(i); ++i) item += " " + std::string(trimmed(lines[i]));
        html += "<li>" + sentence(item) + "</li>\n";
      }
      html += fmt::format("</{}>\n", list);
    } else {
      std::string paragraph = lines[i++];
      for (; i < count && !is_blank(lines[i]) && !indented(i) && !item_mark(lines[i]); ++i)
        paragraph += " " + lines[i];
      if (!paragraph.starts_with("Note [")) {
        html += "<p>" + sentence(paragraph) + "</p>\n";
        continue;
      }
      // The note itself: what others refer to.
      const std::size_t end = std::min(paragraph.find(']'), paragraph.size() - 1) + 1;
      html += fmt::format("<p id=\"note-{}\"><strong>{}</strong>{}</p>\n",
                          escape_html(slug(paragraph.substr(6, end - 7))),
                          escape_html(paragraph.substr(0, end)), sentence(paragraph.substr(end)));
    }
  }
  return html;
}

std::string manual_of(std::string_view source) {
  std::string text;
  for (const std::string& line : lines_of(source)) {
    if (!line.starts_with("//")) break;
    text += comment_text(line) + "\n";
  }
  return text;
}

std::string first_sentence(std::string_view text) {
  std::string sentence;
  for (const std::string& line : lines_of(text)) {
    if (is_blank(line)) break;
    sentence += (sentence.empty() ? "" : " ") + line;
  }
  const std::size_t end = sentence.find(". ");
  return end == sentence.npos ? sentence : sentence.substr(0, end + 1);
}

}  // namespace attn::press
