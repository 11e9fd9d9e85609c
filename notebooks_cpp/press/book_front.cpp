#include <fmt/core.h>  // format

#include "lessons/support/picture.hpp"  // dark_twin, picture_html
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_digit

namespace attn::press {

namespace fs = std::filesystem;

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

// A card: a picture, and text that leads to an address.
std::string card(const fs::path& cover, const std::string& address, const std::string& text) {
  std::error_code missing;
  const auto copied = [&](const fs::path& file) { return escape_link(picture_address(file)); };
  const std::string picture = fs::exists(cover, missing) ? picture_html(cover, "", copied) : "";
  const std::string link =
      address.empty() ? "<span class=\"text\">" + text + "</span>"
                      : fmt::format("<a class=\"text\" href=\"{}\">{}</a>", escape_html(address), text);
  return "<li>" + picture + link + "</li>\n";
}

std::string lesson_card(const BookPage& page) {
  const bool numbered = is_digit(page.title[0]);
  return card(
      page.cover, page.address,
      fmt::format("{}{}<span>{}</span>", numbered ? "<b>" + page.title.substr(0, 2) + "</b>" : "",
                  escape_html(page.summary), escape_html(numbered ? page.title.substr(3) : page.title)));
}

std::string exercise_card(const BookPage& page) {
  std::string names;
  for (const std::string& task : page.tasks) names += (names.empty() ? "" : ", ") + task;
  fs::path picture = page.cover;  // the last one that the lesson's card does not show
  for (const auto& copy : page.copies)
    if (copy.first != page.cover && !copy.first.stem().string().ends_with("-dark")) picture = copy.first;
  return card(picture, page.address + "#exercise",
              fmt::format("<b>{}</b>{}<span>{}</span>", page.title.substr(0, 2),
                          escape_html(page.title.substr(3)), escape_html(names)));
}

std::string cards(const char* id, const char* title, const std::string& list, const char* kind = "") {
  return list.empty()
             ? ""
             : fmt::format("<h2 id=\"{}\">{}</h2>\n<ul class=\"cards{}\">\n{}</ul>\n", id, title, kind, list);
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

std::string picture_address(const fs::path& picture) {
  return "pictures/" + picture.parent_path().filename().string() + "/" + picture.filename().string();
}

BookPage front_page(const std::vector<BookPage>& pages, const Sources& sources, const Neighbours& beside) {
  BookPage front{.address = "index.html", .title = "Start", .chapter = "The book"};
  const PageText text{sources, front.address};
  std::string lessons, exercises, milestones, notebooks, references, files;
  for (const BookPage& page : pages) {
    if (page.chapter == "Lessons") lessons += lesson_card(page);
    if (page.chapter == "Milestones") milestones += lesson_card(page);
    if (page.chapter == "Notebooks") notebooks += lesson_card(page);
    if (!page.tasks.empty()) exercises += exercise_card(page);
    if (page.cover.empty()) continue;
    for (const fs::path& file : {page.cover, dark_twin(page.cover)})
      if (fs::exists(file)) front.copies.emplace_back(file, picture_address(file));
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
  const std::string live =
      card({}, beside.live ? "../live/index.html" : "",
           beside.live ? "The live page<span>Your own model, translating and training in the browser.</span>"
                       : "The live page<span>Your own model, translating and training in the browser: "
                         "<code>make live</code> makes it, <code>make book</code> then links to it.</span>");
  front.body = R"(<header class="opening"><p class="kicker">The book</p><h1>attention.cpp</h1>
<div class="intro"><p>The transformer, built in C++: from a tensor that knows its own gradients up to a trained translator. Every step runs, draws a picture and grades itself.</p>
<p>A page of a lesson is the lesson as it runs: text, tables, claims and pictures, with the code of each idea to unfold; then comes its exercise. Point at a cell of an attention map to read its numbers. Names in code lead to where they are declared. Press <kbd>/</kbd> to search.</p></div></header>
)" + cards("lessons", "The lessons", lessons) +
               cards("milestones", "Milestones: models that run on what you wrote", milestones) +
               cards("live", "Live", live) +
               cards("speed", "Speed",
                     beside.bench ? card({}, "../bench/index.html",
                                         "The benchmarks<span>Beside OpenBLAS, oneDNN, BLIS and "
                                         "libtorch, as measured on this machine.</span>")
                                  : "") +
               cards("notebooks", "Notebooks: stories to play with", notebooks) +
               cards("exercises", "Exercises: write it yourself", exercises, " small");
  front.body += "<h2 id=\"reference\">Reference: what the headers declare</h2>\n<ul class=\"files\">\n" +
                references + "</ul>\n<h2 id=\"source\">The annotated source</h2>\n<div class=\"shelf\">" +
                files + "</div>\n";
  return front;
}

}  // namespace attn::press
