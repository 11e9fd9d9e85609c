#include "lessons/support/gallery.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // find_if, sort
#include <cctype>     // toupper
#include <fstream>    // ifstream
#include <sstream>    // istringstream

#include "core/atomic_file.hpp"
#include "core/text.hpp"  // single_line
#include "lessons/support/html.hpp"
#include "lessons/support/picture.hpp"

namespace attn {

namespace fs = std::filesystem;

namespace {

constexpr const char* title = "attention.cpp: the pictures";

constexpr const char* style = R"(html { scroll-behavior: smooth; scroll-padding-top: 5rem; }
header, main { max-width: 1600px; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); }
header { padding-top: 2.2rem; padding-bottom: 1.2rem; }
h1 { margin: 0; font-size: clamp(1.6rem, 5vw, 2.3rem); letter-spacing: -0.02em; line-height: 1.2; }
header p { margin: 0.4rem 0 0; color: var(--soft); max-width: 46rem; }
nav { position: sticky; top: 0; z-index: 1; background: var(--page); border-bottom: 1px solid var(--line); }
nav div { display: flex; flex-wrap: wrap; gap: 0.2rem 0.35rem; max-width: 1600px; margin: 0 auto; padding: 0.55rem clamp(1rem, 4vw, 2.5rem); }
nav a { flex: none; padding: 0.15rem 0.7rem; border-radius: 1rem; color: var(--soft); text-decoration: none; font-size: 0.85rem; white-space: nowrap; }
nav a:hover, nav a:focus-visible { background: var(--line); color: var(--ink); }
section { padding: 1.6rem 0 0.6rem; }
h2 { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.6rem; margin: 0 0 0.9rem; font-size: 1.35rem; letter-spacing: -0.01em; }
h2 span { color: var(--accent); font-variant-numeric: tabular-nums; }
h2 a, header a { color: var(--accent); } h2 a { font-size: 0.85rem; font-weight: 400; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); grid-auto-flow: dense; gap: 1.2rem; }
figure { display: flex; flex-direction: column; margin: 0; min-width: 0; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
@media (min-width: 48rem) { figure.wide { grid-column: span 2; } }
.picture { width: auto; } .picture img { width: 100%; padding: 0.5rem; } @media (min-width: 48rem) { .picture img { height: 19rem; object-fit: contain; } } .picture:has(.light) img { background: var(--card); }
figcaption { padding: 0.7rem 1rem 0.85rem; border-top: 1px solid var(--line); font-size: 0.92rem; overflow-wrap: anywhere; }
figcaption b { display: block; }
figcaption span { color: var(--soft); }
footer { padding: 2rem 1rem 3rem; text-align: center; color: var(--soft); font-size: 0.85rem; }
@media (max-width: 700px) {
  nav div { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; }
  nav div::-webkit-scrollbar { display: none; }
}
)";

}  // namespace

std::string folder_title(const std::string& folder) {
  std::string title = folder.substr(std::min(folder.find_first_not_of("0123456789_"), folder.size()));
  std::replace(title.begin(), title.end(), '_', ' ');
  const bool abbreviation = title == "gpt" || title == "bert";
  for (std::size_t i = 0; i < title.size() && (i == 0 || abbreviation); ++i)
    title[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[i])));
  return title;
}

std::vector<PictureRecord> recorded_pictures(const fs::path& folder) {
  std::vector<PictureRecord> records;
  std::ifstream stream(folder / "pictures.tsv");
  for (std::string line; std::getline(stream, line);) {
    std::istringstream fields(line);
    PictureRecord record;
    std::getline(fields, record.file, '\t');
    std::getline(fields, record.title, '\t');
    std::getline(fields, record.caption);
    if (!line.empty()) records.push_back(record);
  }
  return records;
}

void record_picture(const fs::path& folder, const std::string& file, const std::string& title,
                    const std::string& caption) {
  std::vector<PictureRecord> records = recorded_pictures(folder);
  // Tabs separate fields and line ends separate lines, so no field can hold one.
  const PictureRecord record{single_line(file), single_line(title), single_line(caption)};
  const auto same = std::find_if(records.begin(), records.end(),
                                 [&](const PictureRecord& each) { return each.file == record.file; });
  if (same == records.end())
    records.push_back(record);
  else
    *same = record;
  std::string text;
  for (const PictureRecord& each : records)
    text += each.file + "\t" + each.title + "\t" + each.caption + "\n";
  write_file_atomically(folder / "pictures.tsv", {text});
}

void write_gallery(const fs::path& out) {
  std::vector<fs::path> folders;
  std::error_code missing;  // no folder at all is an empty gallery; a name too long for a file is no picture
  for (const fs::directory_entry& entry : fs::directory_iterator(out, missing))
    if (fs::exists(entry.path() / "pictures.tsv", missing)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());

  std::string links, sections;
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    std::string figures;
    for (const PictureRecord& record : recorded_pictures(folder)) {
      if (!fs::exists(folder / record.file, missing)) continue;
      const PixelSize size = png_size(folder / record.file);
      const auto address = [&](const fs::path& file) {
        return escape_link(name + "/" + file.filename().string());
      };
      figures += fmt::format("<figure{}>{}\n<figcaption><b>{}</b><span>{}</span></figcaption></figure>\n",
                             size.width > 2 * size.height ? " class=\"wide\"" : "",
                             picture_html(folder / record.file, record.title, address),
                             escape_html(record.title), escape_html(record.caption));
    }
    if (figures.empty()) continue;
    const std::string number = name.substr(0, name.find_first_not_of("0123456789"));
    const std::string topic = folder_title(name);
    std::string further;  // only what is there
    const auto add_link = [&](const std::string& file, const char* text) {
      if (fs::exists(out / file)) further += fmt::format("<a href=\"{}\">{}</a>", escape_link(file), text);
    };
    add_link("book/lessons/" + name + ".html", "its page in the book");
    add_link("book/milestones/" + name + ".html", "its page in the book");
    add_link(name + "/output.txt", "what it printed");
    links += fmt::format("<a href=\"#{}\">{} {}</a>\n", escape_link(name), escape_html(number),
                         escape_html(topic));
    sections += fmt::format(
        "<section id=\"{}\">\n<h2><span>{}</span>{}{}</h2>\n<div class=\"pictures\">\n{}</div>\n</section>\n",
        escape_html(name), escape_html(number), escape_html(topic), further, figures);
  }
  if (sections.empty())
    sections = "<section><p>No pictures yet: a lesson draws them when it runs.</p></section>\n";
  std::string body = fmt::format(
      "<header>\n<h1>{}</h1>\n<p>What every lesson drew on this machine. Click a picture to enlarge "
      "it.{}</p>\n"
      "</header>\n",
      title,
      fs::exists(out / "book/index.html") ? " <a href=\"book/index.html\">The book</a> tells what they mean."
                                          : "");
  if (!links.empty()) body += "<nav aria-label=\"Lessons\"><div>\n" + links + "</div></nav>\n";
  body += "<main>\n" + sections + "</main>\n<footer>Made by the lessons of attention.cpp.</footer>";
  write_file_atomically(out / "index.html", {html_document({.title = title, .body = body, .style = style})});
}

}  // namespace attn
