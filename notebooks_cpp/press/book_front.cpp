#include <fmt/format.h>  // format

#include <iterator>  // ssize

#include "notebooks_cpp/press/book_pages.hpp"

namespace attn::press {

const std::vector<Folder> library_folders = {
    {"core", "The engine: tensors, their gradients and the ops. Knows no layer."},
    {"core/kernels", "The loops where the time goes, compiled once for each instruction set."},
    {"core/viz", "Pictures: heatmaps, charts, graphs, on paper (PNG) and in the terminal."},
    {"nn", "What models are made of: layers, attention, positions, the model families, decoding."},
    {"nn/text", "Text: characters, vocabularies, batches, toy languages, scores."},
    {"optim", "How models are trained: optimizers, schedules, the training loop, checkpoints."},
    {"lessons/support", "What every lesson program has in common."},
};

namespace {

// A card for each lesson, with its first picture.
std::string lesson_card(const BookPage& page) {
  const std::string picture = page.copies.empty() ? ""
                                                  : fmt::format("<img src=\"{}\" alt=\"\" loading=\"lazy\">",
                                                                escape_link(page.copies[0].second));
  return fmt::format(
      "<li><a class=\"to\" href=\"{0}\">{1}<span class=\"question\"><b>{2}</b>{3}</span></a>"
      "<span class=\"name\">{4} · <a href=\"{0}#exercise\">exercise</a></span></li>\n",
      page.address, picture, page.title.substr(0, 2), escape_html(page.summary),
      escape_html(page.title.substr(3)));
}

// Each header with its source beside it, and what it says about itself.
std::string file_list(const std::vector<BookPage>& pages, const std::string& folder, const PageText& text) {
  std::string list;
  for (const BookPage& page : pages) {
    if (page.chapter != folder) continue;
    const std::string stem = page.title.substr(0, page.title.size() - 4);
    const bool header = page.title.ends_with(".hpp");
    if (!header && text.sources.find(stem + ".hpp")) continue;  // stands with its header
    const SourceFile* twin = header ? text.sources.find(stem + ".cpp") : nullptr;
    list += fmt::format("<li>{}{} <span class=\"soft\">{}</span></li>\n",
                        text.link(page.address, "<code>" + page.title.substr(folder.size() + 1) + "</code>"),
                        twin ? fmt::format(" <a class=\"twin\" href=\"{}\">.cpp</a>", twin->page) : "",
                        text.sentence(page.summary));
  }
  return list;
}

}  // namespace

BookPage front_page(const std::vector<BookPage>& pages, const Sources& sources) {
  BookPage front{.address = "index.html", .title = "attention.cpp"};
  const PageText text{sources, front.address};
  std::string lessons, notebooks, references, files;
  for (const BookPage& page : pages) {
    if (page.chapter == "Lessons") lessons += lesson_card(page);
    if (page.chapter == "Notebooks")
      notebooks += "<li>" + text.link(page.address, escape_html(page.title)) + "</li>\n";
  }
  for (const Folder& folder : library_folders) {
    const std::string reference = reference_address(folder.path);
    files += fmt::format(
        "<details><summary><b><code>{0}</code></b> {1}</summary>\n<p><a href=\"{2}\">Reference of {0}</a></p>"
        "<ul class=\"files\">\n{3}</ul></details>\n",
        folder.path, folder.about, reference, file_list(pages, folder.path, text));
    references += fmt::format("<li><a href=\"{}\"><code>{}</code></a> <span class=\"soft\">{}</span></li>\n",
                              reference, folder.path, folder.about);
  }
  front.body = R"(<header class="opening"><p class="kicker">The book</p><h1>attention.cpp</h1>
<div class="intro"><p>The transformer, built in C++: from a tensor that knows its own gradients up to a trained translator. Every step runs, draws a picture and grades itself.</p>
<p>A page of a lesson has its text beside its code and, under each section, what that section printed and drew when it ran; then comes its exercise. Names in code lead to where they are declared. Press <kbd>/</kbd> to search by name.</p></div></header>
<h2 id="lessons">The lessons</h2>
<ol class="lessons">
)" + lessons + "</ol>\n";
  if (!notebooks.empty())
    front.body += "<h2 id=\"notebooks\">Notebooks: stories to play with</h2>\n<ul>\n" + notebooks + "</ul>\n";
  front.body += "<h2 id=\"reference\">Reference: what the headers declare</h2>\n<ul class=\"files\">\n" +
                references + "</ul>\n<h2 id=\"source\">The annotated source</h2>\n<div class=\"shelf\">" +
                files + "</div>\n";
  return front;
}

std::string framed(const std::vector<BookPage>& pages, Index i) {
  const BookPage& page = pages[i];
  const auto neighbour = [&](Index other, const char* rel, const char* before, const char* after) {
    if (other < 0 || other >= std::ssize(pages)) return std::string("<span></span>");
    return fmt::format("<a rel=\"{}\" href=\"{}\">{}{}{}</a>", rel,
                       escape_html(link_from(page.address, pages[other].address)), before,
                       escape_html(pages[other].title), after);
  };
  const std::string steps = neighbour(i - 1, "prev", "← ", "") + neighbour(i + 1, "next", "", " →");
  const std::string home = link_from(page.address, "index.html");
  const std::string bar = fmt::format(
      R"(<div class="bar"><a class="home" href="{}">attention.cpp</a><nav class="step" aria-label="Neighbours">{}</nav>)"
      R"(<div class="search" hidden><input type="search" placeholder="Search by name" aria-label="Search by name" )"
      R"(autocomplete="off" spellcheck="false"><kbd>/</kbd><ol hidden></ol></div></div>)"
      "\n",
      home, steps);
  const std::string script = fmt::format("<script src=\"{0}search.js\" data-root=\"{0}\"></script>\n",
                                         home.substr(0, home.size() - std::string_view("index.html").size()));
  if (!page.whole.empty()) {
    std::string html = page.whole;
    const auto insert = [&](const std::string& mark, const std::string& text, bool after) {
      const std::size_t at = html.find(mark);
      html.insert(at == html.npos ? html.size() : at + (after ? mark.size() : 0), text);
    };
    insert("</style>", bar_style, false);
    insert("<body>", "\n" + bar, true);
    insert("</body>", script, false);
    return html;
  }
  return html_page({.title = i == 0 ? "attention.cpp: the book" : page.title + " · attention.cpp",
                    .body = bar + "<main class=\"book\">\n" + page.body +
                            "<nav class=\"steps\" aria-label=\"Previous and next\">" + steps +
                            "</nav></main>\n" + script,
                    .description = page.summary,
                    .style = std::string(bar_style) + book_style});
}

}  // namespace attn::press
