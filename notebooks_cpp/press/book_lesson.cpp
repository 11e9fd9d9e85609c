#include <fmt/core.h>  // format

#include <algorithm>  // all_of, find_if, max, min
#include <iterator>   // ssize
#include <regex>      // regex, regex_replace
#include <utility>    // exchange

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/text.hpp"                // read_file
#include "lessons/support/gallery.hpp"  // folder_title
#include "lessons/support/picture.hpp"  // json_script, picture_html
#include "lessons/support/prose.hpp"    // prose_of
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"     // is_blank, is_digit, lines_of, trimmed
#include "notebooks_cpp/press/markdown.hpp"  // markdown_to_html
#include "notebooks_cpp/press/plain_math.hpp"

namespace attn::press {

namespace fs = std::filesystem;

namespace {

// Lines as they were printed; lines after lines go on in the same box.
const std::string output_begin = "<pre class=\"output\">", output_end = "</pre>\n";

// What a lesson kept of its run: an array of records, each with its kind.
std::vector<JsonValue> read_records(const fs::path& file) {
  const JsonValue records = parse_json(read_file(file));
  const std::vector<JsonValue> all = records.elements();
  std::string kind;
  const bool good = records.is_array() && std::all_of(all.begin(), all.end(), [&](const JsonValue& record) {
                      return record["kind"].to(kind);
                    });
  if (!good) fail("book: {} is not what a lesson writes; run the lesson again", file.string());
  return all;
}

std::string string(const JsonValue& record, const char* key) {
  std::string text;
  record[key].to(text);
  return text;
}

// A list of questions, in bold, with their answers: each answer folded under its question. What follows the
// next heading stays as it is.
std::string with_folded_answers(const std::string& html) {
  static const std::regex question("<li>(?:<p>)?<strong>([^<]*)</strong>"), end("</li>"), list("</?ul>\n?");
  const std::size_t next = std::min(html.find("<h2", html.find("</h2>")), html.size());
  std::string answers = std::regex_replace(html.substr(0, next), question,
                                           "<details class=\"answer\"><summary>$1</summary><p>");
  answers = std::regex_replace(std::regex_replace(answers, end, "</p></details>"), list, "");
  return answers + html.substr(next);
}

// The HTML of the records, in order.
class Told {
 public:
  Told(fs::path output, BookPage& page, const PageText& text, Ids& ids)
      : output_(std::move(output)), page_(page), text_(text), ids_(ids) {}

  std::string html(const JsonValue& record) {
    const std::string kind = string(record, "kind");
    if (kind == "prose") return prose(string(record, "text"));
    if (kind == "heading") return heading(string(record, "text"));
    if (kind == "paragraph") return "<p>" + text_.sentence(string(record, "text")) + "</p>\n";
    if (kind == "equation") return plain_equation(string(record, "text")) + "\n";
    if (kind == "claim") return claim(record);
    if (kind == "table") return table(record);
    if (kind == "figure") return figure(record);
    if (kind == "data") return panel(record);
    if (kind == "try") return suggestions(record);
    if (kind == "lines" || kind == "drawing")
      return output_begin + escape_html(string(record, "text")) + output_end;
    return "";
  }

 private:
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
    if (markdown.starts_with("## Check yourself")) html = with_folded_answers(html);
    return text_.linked(html);
  }

  std::string heading(const std::string& title) {
    return fmt::format("<h2 id=\"{}\">{}</h2>\n", escape_html(ids_.unique(title)), escape_html(title));
  }

  std::string claim(const JsonValue& record) {
    bool holds = false;
    record["holds"].to(holds);
    return fmt::format("<p class=\"claim {}\">{}</p>\n", holds ? "holds" : "broken",
                       text_.sentence(string(record, "text")));
  }

  std::string table(const JsonValue& record) {
    const auto row = [&](const JsonValue& cells, const char* tag) {
      std::string html = "<tr>";
      for (const JsonValue& cell : cells.elements()) {
        std::string text;
        cell.to(text);
        html += fmt::format("<{0}>{1}</{0}>", tag, escape_html(text));
      }
      return html + "</tr>\n";
    };
    std::string html = "<div class=\"scroll\"><table class=\"numbers\">\n<thead>";
    html += row(record["header"], "th") + "</thead>\n<tbody>";
    for (const JsonValue& cells : record["rows"].elements()) html += row(cells, "td");
    return html + "</tbody></table></div>\n";
  }

  std::string figure(const JsonValue& record) {
    const std::string file = fs::path(string(record, "file")).filename().string();
    std::error_code missing;
    if (file.empty() || !fs::exists(output_ / file, missing)) return "";
    const auto address = [&](const fs::path& picture) {
      page_.copies.emplace_back(picture, picture_address(picture));
      return link_from(page_.address, escape_link(picture_address(picture)));
    };
    if (page_.cover.empty()) page_.cover = output_ / file;
    return fmt::format("<figure>{}\n<figcaption><b>{}</b> {}</figcaption></figure>\n",
                       picture_html(output_ / file, string(record, "title"), address),
                       escape_html(string(record, "title")), text_.sentence(string(record, "caption")));
  }

  // The data of a figure that answers; web/figures.js draws it, right after the picture that shows the same.
  static std::string panel(const JsonValue& record) {
    return fmt::format("<div class=\"panel\" data-figure=\"{}\">{}</div>\n",
                       escape_html(string(record, "figure")), json_script("data", record["values"].text()));
  }

  std::string suggestions(const JsonValue& record) {
    std::string html = "<ol class=\"try\">\n";
    for (const JsonValue& each : record["suggestions"].elements())
      html += fmt::format("<li>{}<br><span class=\"soft\">→ {}</span></li>\n",
                          text_.sentence(string(each, "change")), text_.sentence(string(each, "effect")));
    return html + "</ol>\n";
  }

  fs::path output_;
  BookPage& page_;
  const PageText& text_;
  Ids& ids_;
};

// What a statement does for the output alone: the reader sees that it was done.
bool is_plumbing(std::string_view statement) {
  for (const char* start :
       {"lesson.", "return lesson.", "rows.push_back(", "std::vector<std::vector<std::string>> rows"})
    if (statement.starts_with(start)) return true;
  return false;
}

// `for (…)` or `if (…)`, on a line of its own, of the one statement that follows.
bool leads_in(std::string_view line) {
  return (line.starts_with("for (") || line.starts_with("if (") || line == "else") && !line.ends_with('{') &&
         !line.ends_with(';');
}

// The lines of `first` to `last` that are not plumbing; none if only braces are left.
std::vector<Index> told_lines(const std::vector<std::string>& lines, Index first, Index last) {
  std::vector<Index> kept;
  bool says_something = false;
  for (Index line = first; line <= last; ++line) {
    const std::string_view text = trimmed(lines[line - 1]);
    if (is_plumbing(text)) {
      while (!kept.empty() && leads_in(trimmed(lines[kept.back() - 1]))) kept.pop_back();
      while (line < last && !trimmed(lines[line - 1]).ends_with(";")) ++line;
      continue;
    }
    if (text.empty() && (kept.empty() || is_blank(lines[kept.back() - 1]))) continue;
    kept.push_back(line);
    says_something = says_something || text.find_first_not_of("{});, ") != text.npos;
  }
  while (!kept.empty() && is_blank(lines[kept.back() - 1])) kept.pop_back();
  return says_something ? kept : std::vector<Index>{};
}

std::string folded_code(const Listing& code, const std::vector<std::string>& lines, Index first, Index last) {
  const std::vector<Index> told = told_lines(lines, first, last);
  return told.empty() ? ""
                      : "<details class=\"code\"><summary>The code</summary>" + code_block(code, told) +
                            "</details>\n";
}

// Code may name a function whose own lines are nowhere on the page: such a link is taken off.
std::string without_dead_lines(std::string html) {
  constexpr std::string_view mark = " href=\"#L";
  for (std::size_t at = 0; (at = html.find(mark, at)) != html.npos;) {
    const std::size_t end = html.find('"', at + mark.size());
    const std::string line = html.substr(at + mark.size() - 1, end - at - mark.size() + 1);
    if (html.find("id=\"" + line + "\"") == html.npos)
      html.erase(at, end + 1 - at);
    else
      at = end;
  }
  return html;
}

}  // namespace

bool is_extra_file(const std::string& file) {
  const bool source = file.ends_with(".hpp") || file.ends_with(".cpp");
  return source && file != "lesson.cpp" && file != "exercise.hpp" && file != "solution.hpp" &&
         file != "types.hpp";
}

std::string milestone_source(const std::string& name) { return "lessons/mine/" + name + ".cpp"; }

BookPage lesson_page(const fs::path& folder, const fs::path& output, const fs::path& grader,
                     const Sources& sources) {
  const std::string id = folder.filename().string(), prefix = "lessons/" + id + "/";
  const bool is_lesson = is_digit(id[0]);  // else a milestone: "mine_1_gradients"
  const SourceFile* file = sources.find(is_lesson ? prefix + "lesson.cpp" : milestone_source(id));
  const std::vector<JsonValue> records = read_records(output / "lesson.json");
  const std::string question = records.empty() ? "" : string(records[0], "question");
  const std::string number = is_lesson ? id.substr(0, 2) : id.substr(std::min<std::size_t>(5, id.size()), 1);
  const std::string name =
      is_lesson ? folder_title(id)
                : "Milestone " + number + ": " + folder_title(id.substr(std::min<std::size_t>(5, id.size())));
  BookPage page{.address = file ? file->page : "milestones/" + id + ".html",
                .title = is_lesson ? number + " " + name : name,
                .chapter = is_lesson ? "Lessons" : "Milestones",
                .kind = is_lesson ? "lesson" : "milestone",
                .summary = question,
                .has_contents = true,
                .has_text = true};
  const PageText text{sources, page.address};
  const Listing code = file ? listing(*file, sources) : Listing{};
  const std::vector<std::string> lines = file ? lines_of(file->text) : std::vector<std::string>{};
  const std::vector<Prose> blocks = file ? prose_of(file->text, file->path) : std::vector<Prose>{};
  const Row includes = file ? preamble_of(file->text) : Row{};

  // Each block of prose, the code that follows it in the source, and what was said from there on.
  Ids ids;
  Told told(output, page, text, ids);
  std::string body;
  const auto is = [&](Index i, const char* kind) {
    return i >= 0 && i < std::ssize(records) && string(records[i], "kind") == kind;
  };
  for (Index i = 0; i < std::ssize(records); ++i) {
    const bool drawn_again = is(i, "drawing") && is(i + 1, "figure");  // in the terminal, and as a picture
    const std::string html = drawn_again ? "" : told.html(records[i]);
    const bool goes_on = is(i, "lines") && is(i - 1, "lines");
    if (goes_on) body.replace(body.size() - output_end.size(), output_end.size(), "\n");
    body += goes_on ? html.substr(output_begin.size()) : html;
    Index line = 0;
    if (!is(i, "prose") || !records[i]["line"].to(line)) continue;
    const auto here =
        std::find_if(blocks.begin(), blocks.end(), [&](const Prose& block) { return line == block.line; });
    if (here == blocks.end()) continue;
    const auto next = here + 1;
    const Index first = std::max(here->line + here->lines, includes.last + 1),
                last = next == blocks.end() ? std::ssize(lines) : next->line - 1;
    body += folded_code(code, lines, first, last);
  }

  std::string others;
  for (const auto& each : sources.files())
    if (each.get() != file && each->path.starts_with(prefix))
      others += fmt::format("<li>{} {}</li>\n",
                            text.link(each->page, "<code>" + each->path.substr(prefix.size()) + "</code>"),
                            text.sentence(first_sentence(manual_of(each->text))));
  page.body = fmt::format(
      "<header class=\"opening\"><p class=\"kicker\">{}</p>\n<h1>{}</h1>\n{}</header>\n<article "
      "class=\"lesson\" id=\"start\">\n{}</article>\n",
      escape_html(is_lesson ? fmt::format("Lesson {} · {}", number, name) : name), escape_html(question),
      fmt::format("<p class=\"soft run\">Run it: <code>make {}{}</code></p>", is_lesson ? "" : "mine-",
                  number),
      without_dead_lines(body));
  if (!others.empty())
    page.body +=
        "<h2 id=\"files\">The other files of this lesson</h2>\n<ul class=\"files\">\n" + others + "</ul>\n";
  add_exercise(page, folder, grader, sources);
  return page;
}

}  // namespace attn::press
