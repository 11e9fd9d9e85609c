#include "notebooks_cpp/press/book_front.hpp"

#include <fmt/format.h>  // format

#include "notebooks_cpp/press/book_library.hpp"
#include "notebooks_cpp/press/html.hpp"

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

std::string item(const BookPage& page, const std::string& label, const std::string& more = {}) {
  return fmt::format("<li><a href=\"{}\">{}</a>{}</li>\n", escape_html(page.address), label, more);
}

const BookPage* at_address(const std::vector<BookPage>& pages, const std::string& address) {
  for (const BookPage& page : pages)
    if (page.address == address) return &page;
  return nullptr;
}

// A card for each lesson, with its first picture.
std::string lesson_list(const std::vector<BookPage>& pages) {
  std::string list;
  for (const BookPage& page : pages) {
    if (page.chapter != "Lessons") continue;
    const std::string picture =
        page.copies.empty()
            ? ""
            : fmt::format("<img src=\"{}\" alt=\"\" loading=\"lazy\">", escape_link(page.copies[0].second));
    list += fmt::format(
        "<li><a class=\"to\" href=\"{0}\">{1}<span class=\"question\"><b>{2}</b>{3}</span></a><span "
        "class=\"name\">{4} · <a href=\"{0}#exercise\">exercise</a></span></li>\n",
        page.address, picture, page.title.substr(0, 2), escape_html(page.summary),
        escape_html(page.title.substr(3)));
  }
  return list;
}

// Each header with its source beside it, and what it says about itself.
std::string file_list(const std::vector<BookPage>& pages, const std::string& folder, const Sources& sources) {
  std::string list;
  for (const BookPage& page : pages) {
    if (page.chapter != folder) continue;
    const std::string stem = page.title.substr(0, page.title.size() - 4),
                      name = page.title.substr(folder.size() + 1);
    const BookPage* twin = at_address(pages, stem + ".cpp.html");
    if (page.title.ends_with(".cpp") && at_address(pages, stem + ".hpp.html"))
      continue;  // stands with its header
    std::string more;
    if (twin && twin != &page) more += fmt::format(" <a class=\"twin\" href=\"{}\">.cpp</a>", twin->address);
    list +=
        item(page, "<code>" + name + "</code>",
             more + " <span class=\"soft\">" + inline_prose(page.summary, sources, "index.html") + "</span>");
  }
  return list;
}

}  // namespace

BookPage front_page(const std::vector<BookPage>& pages, const Sources& sources) {
  std::string notebooks, references, files;
  for (const BookPage& page : pages)
    if (page.chapter == "Notebooks") notebooks += item(page, escape_html(page.title));
  for (const Folder& folder : library_folders) {
    std::string reference = folder.path;
    for (char& c : reference)
      if (c == '/') c = '-';
    files += fmt::format(
        "<details><summary><b><code>{0}</code></b> {1}</summary>\n<p><a "
        "href=\"reference/{2}.html\">Reference of "
        "{0}</a></p><ul class=\"files\">\n{3}</ul></details>\n",
        folder.path, folder.about, reference, file_list(pages, folder.path, sources));
    references += fmt::format(
        "<li><a href=\"reference/{}.html\"><code>{}</code></a> <span class=\"soft\">{}</span></li>\n",
        reference, folder.path, folder.about);
  }
  BookPage front{.address = "index.html",
                 .title = "attention.cpp",
                 .chapter = {},
                 .summary = {},
                 .body = {},
                 .whole = {},
                 .entries = {},
                 .copies = {}};
  front.body =
      "<header class=\"opening\"><p class=\"kicker\">The book</p><h1>attention.cpp</h1>\n<div "
      "class=\"intro\"><p>The "
      "transformer, built in C++: from a tensor that knows its own gradients up to a trained translator. "
      "Every step "
      "runs, draws a picture and grades itself.</p>\n<p>A page of a lesson has its text beside its code and, "
      "under "
      "each section, what that section printed and drew when it ran; then comes its exercise. Names in "
      "code lead "
      "to where they are declared. Press <kbd>/</kbd> to search by name.</p></div></header>\n"
      "<h2 id=\"lessons\">The lessons</h2>\n<ol class=\"lessons\">\n" +
      lesson_list(pages) + "</ol>\n";
  if (!notebooks.empty())
    front.body += "<h2 id=\"notebooks\">Notebooks: stories to play with</h2>\n<ul>\n" + notebooks + "</ul>\n";
  front.body += "<h2 id=\"reference\">Reference: what the headers declare</h2>\n<ul class=\"files\">\n" +
                references + "</ul>\n<h2 id=\"source\">The annotated source</h2>\n<div class=\"shelf\">" +
                files + "</div>\n";
  return front;
}

std::string framed(const std::vector<BookPage>& pages, std::size_t i) {
  const BookPage& page = pages[i];
  const auto neighbour = [&](std::size_t other, const char* rel, const char* before, const char* behind) {
    if (other >= pages.size()) return std::string("<span></span>");
    return fmt::format("<a rel=\"{}\" href=\"{}\">{}{}{}</a>", rel,
                       escape_html(link_from(page.address, pages[other].address)), before,
                       escape_html(pages[other].title), behind);
  };
  const std::string steps = neighbour(i - 1, "prev", "← ", "") + neighbour(i + 1, "next", "", " →");
  const std::string home = escape_html(link_from(page.address, "index.html"));
  const std::string root = home.substr(0, home.size() - std::string("index.html").size());
  const std::string bar = fmt::format(
      "<div class=\"bar\"><a class=\"home\" href=\"{}\">attention.cpp</a><nav class=\"step\" "
      "aria-label=\"Neighbours\">{}</nav><div class=\"search\" hidden><input type=\"search\" "
      "placeholder=\"Search by "
      "name\" aria-label=\"Search by name\" autocomplete=\"off\" spellcheck=\"false\"><kbd>/</kbd><ol "
      "hidden></ol></div></div>\n",
      home, steps);
  const std::string script = fmt::format("<script src=\"{0}search.js\" data-root=\"{0}\"></script>\n", root);
  if (!page.whole.empty()) {
    std::string html = page.whole;
    const auto insert = [&](const std::string& mark, const std::string& text, bool behind) {
      const std::size_t at = html.find(mark);
      html.insert(at == std::string::npos ? html.size() : at + (behind ? mark.size() : 0), text);
    };
    insert("</style>", bar_style, false);
    insert("<body>", "\n" + bar, true);
    insert("</body>", script, false);
    return html;
  }
  const std::string body = bar + "<main class=\"book\">\n" + page.body +
                           "<nav class=\"steps\" aria-label=\"Previous and next\">" + steps +
                           "</nav></main>\n" + script;
  const std::string title = i == 0 ? "attention.cpp: the book" : page.title + " · attention.cpp";
  return html_page({.title = title,
                    .body = body,
                    .description = page.summary,
                    .style = std::string(bar_style) + book_style});
}

}  // namespace attn::press
