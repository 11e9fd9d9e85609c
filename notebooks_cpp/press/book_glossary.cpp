#include <fmt/core.h>  // format

#include <algorithm>  // find_if, sort
#include <cctype>     // tolower
#include <iterator>   // ssize

#include "core/error.hpp"
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"  // lines_of

namespace attn::press {
namespace {

struct Term {
  std::vector<std::string> names;  // the term, then what else it is called
  std::string lesson, meaning;     // "14"
};

// `**KV cache** (key/value cache), lesson 14`, then lines that say what it means, then an empty line.
std::vector<Term> terms_of(std::string_view glossary) {
  std::vector<Term> terms;
  bool inside = false;
  for (const std::string& line : lines_of(glossary)) {
    if (line.starts_with("**")) {
      const std::size_t end = line.find("**", 2), lesson = line.find(", lesson ");
      if (end == line.npos || lesson == line.npos) fail("glossary: '{}' is not `**term**, lesson NN`", line);
      Term term{{line.substr(2, end - 2)}, line.substr(lesson + 9, 2), ""};
      std::string others = line.substr(end + 2, lesson - end - 2);
      if (others.starts_with(" (")) others = others.substr(2, others.size() - 3);
      for (std::size_t comma; !others.empty(); others.erase(0, std::min(comma, others.size() - 2) + 2)) {
        comma = std::min(others.find(", "), others.size());
        term.names.push_back(others.substr(0, comma));
      }
      terms.push_back(term);
      inside = true;
    } else if (is_blank(line)) {
      inside = false;
    } else if (inside) {
      terms.back().meaning += (terms.back().meaning.empty() ? "" : " ") + line;
    }
  }
  return terms;
}

// Small letters, and one space for what may as well be a hyphen.
std::string folded(std::string_view text) {
  std::string result;
  for (const char c : text)
    result += c == '-' || c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// A title that is the term beats its definition, in bold; then come a title that has the term, and mentions.
Index fit(const Term& term, const PageSection& section) {
  Index points = 0;
  const std::string html = folded(section.html), text = folded(text_of(section.html)),
                    title = folded(section.title);
  for (const std::string& name : term.names) {
    const std::string wanted = folded(name);
    if (!section.id.empty()) points += title == wanted ? 1000 : title.find(wanted) != title.npos ? 100 : 0;
    points += (html.find("<strong>" + wanted) != html.npos ? 150 : 0) +
              (html.find("<em>" + wanted) != html.npos ? 50 : 0);
    for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) ++points;
  }
  const bool after_the_lesson = section.title == "Check yourself" || section.title == "Read on" ||
                                section.title == "Try" || section.id == "exercise" || section.id == "files";
  return after_the_lesson ? 0 : points;
}

}  // namespace

BookPage glossary_page(std::string_view glossary, const std::vector<BookPage>& pages,
                       const Sources& sources) {
  BookPage page{.address = "glossary.html",
                .title = "Glossary",
                .chapter = "The book",
                .summary = "What the words mean."};
  const PageText text{sources, page.address};
  std::vector<Term> terms = terms_of(glossary);
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return folded(a.names[0]) < folded(b.names[0]); });
  std::string list;
  Ids ids;
  for (const Term& term : terms) {
    const auto lesson = std::find_if(pages.begin(), pages.end(), [&](const BookPage& each) {
      return each.chapter == "Lessons" && each.title.starts_with(term.lesson);
    });
    if (lesson == pages.end())
      fail("glossary: '{}' is to be explained by lesson {}, which is not there", term.names[0], term.lesson);
    PageSection best{"", lesson->title, ""};
    Index most = 0;
    for (const PageSection& section : sections_of(*lesson))
      if (const Index points = fit(term, section); points > most) most = points, best = section;
    // What comes before the first heading is at the start; a term that the lesson does not have is nowhere.
    const std::string address =
        most == 0 ? lesson->address : lesson->address + "#" + (best.id.empty() ? "start" : best.id);
    std::string others;
    for (Index i = 1; i < std::ssize(term.names); ++i) others += (i > 1 ? ", " : "") + term.names[i];
    list += fmt::format(
        "<dt id=\"{}\">{}{}</dt>\n<dd>{} <span class=\"soft\">→ <a href=\"{}\">{}</a></span></dd>\n",
        escape_html(ids.unique(term.names[0])), escape_html(term.names[0]),
        others.empty() ? "" : " <span class=\"soft\">(" + escape_html(others) + ")</span>",
        text.sentence(term.meaning), escape_html(address),
        escape_html(best.id.empty() ? lesson->title : fmt::format("{}, lesson {}", best.title, term.lesson)));
    for (const std::string& name : term.names)
      page.entries.push_back({name, "glossary", lesson->title, address, term.meaning});
  }
  page.body =
      "<header class=\"opening\"><h1>Glossary</h1>\n<p class=\"intro\">What the words mean, each with the "
      "section that "
      "explains it.</p></header>\n<dl class=\"glossary\">\n" +
      list + "</dl>\n";
  return page;
}

}  // namespace attn::press
