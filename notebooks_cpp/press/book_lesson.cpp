#include <fmt/format.h>  // format

#include <algorithm>          // all_of, find_if, max
#include <iterator>           // ssize
#include <nlohmann/json.hpp>  // json
#include <regex>              // regex, sregex_iterator
#include <utility>            // exchange

#include "core/error.hpp"
#include "core/text.hpp"                // read_file
#include "lessons/support/gallery.hpp"  // folder_title
#include "lessons/support/prose.hpp"    // prose_of
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"     // is_blank, lines_of
#include "notebooks_cpp/press/markdown.hpp"  // markdown_to_html
#include "notebooks_cpp/press/plain_math.hpp"

namespace attn::press {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Lines as they were printed; lines after lines go on in the same box.
const std::string output_begin = "<pre class=\"output\">", output_end = "</pre>\n";

// What a lesson kept of its run: an array of records, each with its kind.
json read_records(const fs::path& file) {
  const json records = json::parse(read_file(file), nullptr, false);
  const bool good = records.is_array() && std::all_of(records.begin(), records.end(), [](const json& record) {
                      return record.is_object() && record.contains("kind") && record["kind"].is_string();
                    });
  if (!good) fail("book: {} is not what a lesson writes; run the lesson again", file.string());
  return records;
}

// The HTML of the records, in order.
class Told {
 public:
  Told(fs::path output, BookPage& page, const PageText& text, Ids& ids)
      : output_(std::move(output)), page_(page), text_(text), ids_(ids) {}

  std::string html(const json& record) {
    const std::string kind = record["kind"];
    if (kind == "prose") return prose(string(record, "text"));
    if (kind == "heading") return heading(string(record, "text"));
    if (kind == "paragraph") return "<p>" + text_.sentence(string(record, "text")) + "</p>\n";
    if (kind == "equation") return plain_equation(string(record, "text")) + "\n";
    if (kind == "claim") return claim(record);
    if (kind == "table") return table(record);
    if (kind == "figure") return figure(record);
    if (kind == "try") return suggestions(record);
    if (kind == "lines" || kind == "drawing")
      return output_begin + escape_html(string(record, "text")) + output_end;
    return "";
  }

 private:
  static std::string string(const json& record, const char* key) {
    return record.contains(key) && record[key].is_string() ? record[key].get<std::string>() : "";
  }

  std::string prose(const std::string& markdown) {
    // Markdown knows equations in LaTeX; these are set apart from it.
    std::string html, text;
    for (const std::string& line : lines_of(markdown + "\n$$$$")) {
      const bool equation = line.starts_with("$$") && line.ends_with("$$") && line.size() >= 4;
      if (!equation) {
        text += line + "\n";
        continue;
      }
      html += markdown_to_html(std::exchange(text, ""), {.ids = &ids_});
      if (line.size() > 4) html += plain_equation(line.substr(2, line.size() - 4)) + "\n";
    }
    static const std::regex title("<h2 id=\"([^\"]*)\">(.*?)</h2>");
    for (std::sregex_iterator it(html.begin(), html.end(), title), end; it != end; ++it)
      page_.entries.push_back({plain_text((*it)[2].str()), "section", page_.title, (*it)[1]});
    return text_.linked(html);
  }

  std::string heading(const std::string& title) {
    const std::string id = ids_.unique(title);
    page_.entries.push_back({title, "section", page_.title, id});
    return fmt::format("<h2 id=\"{}\">{}</h2>\n", escape_html(id), escape_html(title));
  }

  std::string claim(const json& record) {
    const bool holds = record.value("holds", false);
    return fmt::format("<p class=\"claim {}\">{}</p>\n", holds ? "holds" : "broken",
                       text_.sentence(string(record, "text")));
  }

  std::string table(const json& record) {
    const auto row = [&](const json& cells, const char* tag) {
      std::string html = "<tr>";
      for (const json& cell : cells)
        html +=
            fmt::format("<{0}>{1}</{0}>", tag, escape_html(cell.is_string() ? cell.get<std::string>() : ""));
      return html + "</tr>\n";
    };
    std::string html = "<div class=\"scroll\"><table class=\"numbers\">\n<thead>";
    html += row(record.value("header", json::array()), "th") + "</thead>\n<tbody>";
    for (const json& cells : record.value("rows", json::array())) html += row(cells, "td");
    return html + "</tbody></table></div>\n";
  }

  std::string figure(const json& record) {
    const std::string file = fs::path(string(record, "file")).filename().string();
    std::error_code missing;
    if (file.empty() || !fs::exists(output_ / file, missing)) return "";
    const std::string address = "pictures/" + output_.filename().string() + "/" + file;
    page_.copies.emplace_back(output_ / file, address);
    const PixelSize size = png_size(output_ / file);
    return fmt::format(
        "<figure><a href=\"{0}\"><img src=\"{0}\" width=\"{1}\" height=\"{2}\" loading=\"lazy\" "
        "alt=\"{3}\"></a>\n<figcaption><b>{3}</b> {4}</figcaption></figure>\n",
        escape_html(link_from(page_.address, escape_link(address))), size.width, size.height,
        escape_html(string(record, "title")), text_.sentence(string(record, "caption")));
  }

  std::string suggestions(const json& record) {
    std::string html = "<ol class=\"try\">\n";
    for (const json& each : record.value("suggestions", json::array()))
      html += fmt::format("<li>{}<br><span class=\"soft\">→ {}</span></li>\n",
                          text_.sentence(string(each, "change")), text_.sentence(string(each, "effect")));
    return html + "</ol>\n";
  }

  fs::path output_;
  BookPage& page_;
  const PageText& text_;
  Ids& ids_;
};

// Lines `first` to `last` of the source, folded; blank lines at the ends are left out.
std::string folded_code(const Listing& code, const std::vector<std::string>& lines, Index first, Index last) {
  while (first <= last && is_blank(lines[first - 1])) ++first;
  while (last >= first && is_blank(lines[last - 1])) --last;
  if (first > last) return "";
  return "<details class=\"code\"><summary>The code</summary>" + code_block(code, first, last) +
         "</details>\n";
}

}  // namespace

bool is_extra_file(const std::string& file) {
  const bool source = file.ends_with(".hpp") || file.ends_with(".cpp");
  return source && file != "lesson.cpp" && file != "exercise.hpp" && file != "solution.hpp" &&
         file != "types.hpp";
}

BookPage lesson_page(const fs::path& folder, const fs::path& output, const fs::path& grader,
                     const Sources& sources) {
  const std::string prefix = "lessons/" + folder.filename().string() + "/";
  const SourceFile* file = sources.find(prefix + "lesson.cpp");
  if (!file) fail("book: {}lesson.cpp is not among the sources", prefix);
  const json records = read_records(output / "lesson.json");
  const std::string question =
      records.empty() || !records[0].contains("question") ? "" : records[0]["question"].get<std::string>();
  const std::string name = folder_title(folder.filename().string()),
                    number = folder.filename().string().substr(0, 2);
  BookPage page{
      .address = file->page, .title = number + " " + name, .chapter = "Lessons", .summary = question};
  page.entries.push_back({page.title, "lesson", question, ""});
  const PageText text{sources, page.address};
  const Listing code = listing(*file, sources);
  const std::vector<std::string> lines = lines_of(file->text);
  const std::vector<Prose> blocks = prose_of(file->text, file->path);
  const Row includes = preamble_of(file->text);

  // Each block of prose, the code that follows it in the source, and what was said from there on.
  Ids ids;
  Told told(output, page, text, ids);
  std::string body;
  for (Index i = 0; i < std::ssize(records); ++i) {
    const bool drawn_again = records[i]["kind"] == "drawing" && i + 1 < std::ssize(records) &&
                             records[i + 1]["kind"] == "figure";  // in the terminal, and as a picture
    const std::string html = drawn_again ? "" : told.html(records[i]);
    const bool goes_on = i > 0 && records[i]["kind"] == "lines" && records[i - 1]["kind"] == "lines";
    if (goes_on) body.replace(body.size() - output_end.size(), output_end.size(), "\n");
    body += goes_on ? html.substr(output_begin.size()) : html;
    if (records[i]["kind"] != "prose") continue;
    const auto here = std::find_if(blocks.begin(), blocks.end(), [&](const Prose& block) {
      return records[i].value("line", Index{0}) == block.line;
    });
    if (here == blocks.end()) continue;
    const auto next = here + 1;
    const Index first = std::max(here->line + here->lines, includes.last + 1),
                last = next == blocks.end() ? std::ssize(lines) : next->line - 1;
    body += folded_code(code, lines, first, last);
  }

  std::string contents, others;
  for (const Entry& entry : page.entries)
    if (entry.kind == "section")
      contents +=
          fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escape_html(entry.id), escape_html(entry.name));
  for (const auto& each : sources.files())
    if (each.get() != file && each->path.starts_with(prefix))
      others += fmt::format("<li>{} {}</li>\n",
                            text.link(each->page, "<code>" + each->path.substr(prefix.size()) + "</code>"),
                            text.sentence(first_sentence(manual_of(each->text))));
  page.body = fmt::format(
      R"(<header class="opening"><p class="kicker">Lesson {0} · {1}</p>
<h1>{2}</h1>
<nav class="sections" aria-label="Sections"><ol>
{3}<li><a href="#exercise">Exercise</a></li>
</ol></nav>
<p class="soft run">Run it: <code>make {0}</code></p></header>
<article class="lesson">
{4}{5}</article>
)",
      number, escape_html(name), escape_html(question), contents, preamble_html(file->text, code), body);
  if (!others.empty())
    page.body +=
        "<h2 id=\"files\">The other files of this lesson</h2>\n<ul class=\"files\">\n" + others + "</ul>\n";
  add_exercise(page, folder, grader, sources);
  return page;
}

}  // namespace attn::press
