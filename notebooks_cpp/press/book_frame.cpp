#include <fmt/core.h>  // format

#include <algorithm>  // find_if, max, min
#include <array>      // array
#include <iterator>   // ssize
#include <utility>    // pair

#include "core/json.hpp"
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_space

namespace attn::press {
namespace {

// From `at`, past the end of the element that begins there: a <script>, say, with all that is in it.
std::size_t past_element(std::string_view html, std::size_t at, std::string_view name) {
  const std::size_t end = html.find(fmt::format("</{}>", name), at);
  return end == html.npos ? html.size() : end + name.size() + 3;
}

struct PageHeading {
  std::string id, title;   // the title as plain text
  std::size_t begin, end;  // of its element in the page
};

std::vector<PageHeading> headings_of(std::string_view html) {
  constexpr std::string_view mark = "<h2 id=\"";
  std::vector<PageHeading> headings;
  for (std::size_t at = 0; (at = html.find(mark, at)) != html.npos;) {
    const std::size_t id = at + mark.size(), end = past_element(html, at, "h2");
    headings.push_back(
        {std::string(html.substr(id, html.find('"', id) - id)), text_of(html.substr(at, end - at)), at, end});
    at = end;
  }
  return headings;
}

const std::string& html_of(const BookPage& page) { return page.whole.empty() ? page.body : page.whole; }

// A list of links under a title, or nothing. The page that is open is marked.
std::string course_part(const std::vector<BookPage>& pages, const BookPage& open, const char* chapter) {
  std::string links;
  for (const BookPage& page : pages) {
    if (page.chapter != chapter) continue;
    const bool numbered = page.title.size() > 3 && is_digit(page.title[0]) && page.title[2] == ' ';
    links += fmt::format("<li><a href=\"{}\"{}>{}<span>{}</span></a></li>\n",
                         escape_html(link_from(open.address, page.address)),
                         page.address == open.address ? " aria-current=\"page\"" : "",
                         numbered ? "<b>" + page.title.substr(0, 2) + "</b>" : "",
                         escape_html(numbered ? page.title.substr(3) : page.title));
  }
  return links.empty() ? "" : fmt::format("<h2>{}</h2>\n<ul>\n{}</ul>\n", chapter, links);
}

std::string contents_of(const BookPage& page) {
  if (!page.has_contents) return "";
  std::string items;
  for (const PageHeading& heading : headings_of(html_of(page)))
    items +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escape_html(heading.id), escape_html(heading.title));
  return "<nav class=\"contents\" aria-label=\"On this page\"><details open><summary>On this "
         "page</summary><ol>\n" +
         items + "</ol></details></nav>\n";
}

}  // namespace

std::string text_of(std::string_view html) {
  static constexpr std::array<std::pair<const char*, const char*>, 5> entities = {
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}};
  std::string text;
  const auto add_space = [&] {
    if (!text.empty() && text.back() != ' ') text += ' ';
  };
  for (std::size_t at = 0; at < html.size();) {
    if (html[at] == '<') {
      const std::string_view rest = html.substr(at + 1);
      const char* skipped = nullptr;
      for (const char* name : {"script", "style", "math", "nav"})
        if (rest.starts_with(name)) skipped = name;
      if (rest.starts_with("pre class=\"listing")) skipped = "pre";
      if (rest.starts_with("details class=\"code\"")) skipped = "details";
      const bool inline_tag = rest.starts_with("code") || rest.starts_with("/code") ||
                              rest.starts_with("em>") || rest.starts_with("/em>") || rest.starts_with("a ") ||
                              rest.starts_with("/a>") || rest.starts_with("strong>") ||
                              rest.starts_with("/strong>");
      if (!inline_tag) add_space();
      at = skipped ? past_element(html, at, skipped) : std::min(html.find('>', at), html.size() - 1) + 1;
      continue;
    }
    const auto entity = std::find_if(entities.begin(), entities.end(), [&](const auto& each) {
      return html.substr(at).starts_with(each.first);
    });
    if (entity != entities.end()) {
      text += entity->second;
      at += std::string_view(entity->first).size();
    } else if (is_space(html[at])) {
      add_space();
      ++at;
    } else {
      text += html[at++];
    }
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::vector<PageSection> sections_of(const BookPage& page) {
  const std::string& html = html_of(page);
  const std::vector<PageHeading> headings = headings_of(html);
  const std::size_t begin = std::min(html.find("</h1>"), html.size()),
                    first = headings.empty() ? html.size() : headings[0].begin;
  std::vector<PageSection> sections{{"", page.title, html.substr(begin, std::max(first, begin) - begin)}};
  for (Index i = 0; i < std::ssize(headings); ++i) {
    const std::size_t end = i + 1 < std::ssize(headings) ? headings[i + 1].begin : html.size();
    sections.push_back(
        {headings[i].id, headings[i].title, html.substr(headings[i].end, end - headings[i].end)});
  }
  return sections;
}

std::string search_index(const std::vector<BookPage>& pages) {
  std::vector<Json> index;
  const auto add = [&](const std::vector<std::string>& found) { index.push_back(found); };
  for (const BookPage& page : pages) {
    for (const Entry& entry : page.entries)
      add({entry.name, entry.kind, entry.text,
           entry.id.find(".html") != std::string::npos ? entry.id
           : entry.id.empty()                          ? page.address
                                                       : page.address + "#" + entry.id,
           entry.full});
    if (!page.has_text) continue;
    for (const PageSection& section : sections_of(page)) {
      const bool whole_page = section.id.empty();
      add({section.title, whole_page ? page.kind : "section", whole_page ? page.summary : page.title,
           whole_page ? page.address : page.address + "#" + section.id, text_of(section.html)});
    }
  }
  return "const book_index = " + Json(index).text + ";\n";
}

std::string framed(const std::vector<BookPage>& pages, Index i) {
  const BookPage& page = pages[i];
  const auto neighbour = [&](Index other, const char* rel, const char* before, const char* after) {
    if (other < 0 || other >= std::ssize(pages)) return std::string("<span></span>");
    return fmt::format("<a rel=\"{}\" href=\"{}\">{}{}{}</a>", rel,
                       escape_html(link_from(page.address, pages[other].address)), before,
                       escape_html(pages[other].title), after);
  };
  const std::string steps = "<nav class=\"steps\" aria-label=\"Previous and next\">" +
                            neighbour(i - 1, "prev", "← ", "") + neighbour(i + 1, "next", "", " →") +
                            "</nav>\n";
  const std::string home = link_from(page.address, "index.html"),
                    root = home.substr(0, home.size() - std::string_view("index.html").size());
  std::string course;
  for (const char* chapter : {"The book", "Lessons", "Milestones", "Notebooks", "Reference"})
    course += course_part(pages, page, chapter);
  const std::string frame = fmt::format(
      R"(<div class="bar"><button class="menu" type="button" aria-label="The course" aria-expanded="false" hidden>☰</button>)"
      R"(<a class="home" href="{}">attention.cpp</a>)"
      R"(<div class="search" hidden><input type="search" placeholder="Search" aria-label="Search the book" )"
      R"(autocomplete="off" spellcheck="false"><kbd>/</kbd><ol hidden></ol></div>)"
      R"(<button class="theme" type="button" hidden></button></div>)"
      "\n<nav class=\"course\" id=\"course\" aria-label=\"The course\">\n{}<h2>Pictures</h2><ul><li><a "
      "href=\"{}\">"
      "<span>Gallery</span></a></li></ul></nav>\n",
      home, course, escape_html(link_from(page.address, "../index.html")));
  const std::string style = fmt::format("<link rel=\"stylesheet\" href=\"{}book.css\">\n", root),
                    scripts = fmt::format(
                        "<script src=\"{0}book.js\" data-root=\"{0}\"></script>\n"
                        "<script src=\"{0}figures.js\"></script>\n",
                        root);
  std::string html = page.whole;
  if (html.empty())
    html = html_page({.title = i == 0 ? "attention.cpp: the book" : page.title + " · attention.cpp",
                      .body = "<main class=\"book\">\n" + page.body + "</main>",
                      .description = page.summary});
  const auto insert = [&](std::size_t at, const std::string& text) {
    html.insert(std::min(at, html.size()), text);
  };
  insert(html.rfind("</body>"), scripts);
  insert(html.rfind("</main>"), steps);
  if (page.has_contents) insert(html.find('\n', html.find("</h1>")), "\n" + contents_of(page));
  const std::size_t body = std::min(html.find("<body>"), html.size());
  html.replace(body, 6, page.has_contents ? "<body class=\"with-contents\">\n" + frame : "<body>\n" + frame);
  insert(html.find("</head>"), style);
  return html;
}

}  // namespace attn::press
