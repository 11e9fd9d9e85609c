#include "lessons/support/gallery.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // find_if, sort
#include <cctype>     // toupper
#include <fstream>    // ifstream
#include <sstream>    // istringstream

#include "core/atomic_file.hpp"
#include "core/text.hpp"  // single_line
#include "lessons/support/html.hpp"

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
h2 a { font-size: 0.85rem; font-weight: 400; color: var(--soft); }
.pictures { display: flex; flex-wrap: wrap; gap: 1.2rem; align-items: flex-start; }
figure { margin: 0; max-width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
figure img { display: block; width: 100%; height: auto; background: #fff; }
figcaption { padding: 0.7rem 1rem 0.85rem; border-top: 1px solid var(--line); font-size: 0.92rem; overflow-wrap: anywhere; }
figcaption b { display: block; }
figcaption span { color: var(--soft); }
footer { padding: 2rem 1rem 3rem; text-align: center; color: var(--soft); font-size: 0.85rem; }
@media (max-width: 700px) {
  nav div { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; }
  nav div::-webkit-scrollbar { display: none; }
}
@media (prefers-color-scheme: dark) { figure img { filter: brightness(0.92); } }
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
      const std::string link = escape_link(name + "/" + record.file);
      figures += fmt::format(
          "<figure style=\"width:{5}px\"><a href=\"{2}\"><img src=\"{2}\" width=\"{0}\" height=\"{1}\" "
          "loading=\"lazy\" alt=\"{3}\"></a>\n<figcaption><b>{3}</b><span>{4}</span></figcaption></figure>\n",
          size.width, size.height, link, escape_html(record.title), escape_html(record.caption),
          size.width + 2);  // with its border
    }
    if (figures.empty()) continue;
    const std::string number = name.substr(0, name.find_first_not_of("0123456789"));
    const std::string topic = folder_title(name);
    const std::string text_link =
        fs::exists(folder / "output.txt")
            ? fmt::format("<a href=\"{}\">what it printed</a>", escape_link(name + "/output.txt"))
            : "";
    links += fmt::format("<a href=\"#{}\">{} {}</a>\n", escape_link(name), escape_html(number),
                         escape_html(topic));
    sections += fmt::format(
        "<section id=\"{}\">\n<h2><span>{}</span>{}{}</h2>\n<div class=\"pictures\">\n{}</div>\n</section>\n",
        escape_html(name), escape_html(number), escape_html(topic), text_link, figures);
  }
  if (sections.empty())
    sections = "<section><p>No pictures yet: a lesson draws them when it runs.</p></section>\n";
  std::string body = fmt::format(
      "<header>\n<h1>{}</h1>\n<p>What every lesson drew on this machine. Click a picture to enlarge it.</p>\n"
      "</header>\n",
      title);
  if (!links.empty()) body += "<nav aria-label=\"Lessons\"><div>\n" + links + "</div></nav>\n";
  body += "<main>\n" + sections + "</main>\n<footer>Made by the lessons of attention.cpp.</footer>";
  write_file_atomically(out / "index.html", {html_document({.title = title, .body = body, .style = style})});
}

}  // namespace attn
