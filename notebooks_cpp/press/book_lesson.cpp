#include <fmt/format.h>  // format

#include <algorithm>  // find_if, min
#include <iterator>   // ssize

#include "core/error.hpp"
#include "lessons/support/gallery.hpp"  // folder_title, recorded_pictures
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_space, lines_of

namespace attn::press {

namespace fs = std::filesystem;

namespace {

// lesson.section("…") and lesson.try_next(…), which prints a section of its own.
std::vector<SectionCall> section_calls(std::string_view source) {
  std::vector<SectionCall> calls;
  const std::vector<Token> all = tokens(source);
  for (Index i = 1; i + 2 < std::ssize(all); ++i) {
    if (all[i - 1].text != "." || all[i + 1].text != "(") continue;
    Index text = i + 2;
    if (all[i].text == "section" && all[text].kind == Token::Kind::string)
      calls.push_back({all[i].line, string_literal(all, text)});
    if (all[i].text == "try_next") calls.push_back({all[i].line, "Try"});
  }
  return calls;
}

bool is_dashes(std::string_view text) { return !text.empty() && text.find_first_not_of('-') == text.npos; }

std::string without_space(std::string text) {
  std::erase_if(text, is_space);
  return text;
}

// What a section printed: text as it is, with pictures in their places.
struct Printed {
  fs::path folder;  // of the lesson's output
  BookPage& page;
  const PageText& text;
  std::vector<PictureRecord> pictures;

  std::string html(const std::vector<std::string>& lines) {
    std::string result, block;
    const auto flush = [&] {
      block.erase(0, block.find_first_not_of('\n'));
      if (!block.empty()) result += "<pre class=\"output\">" + block + "</pre>\n";
      block.clear();
    };
    for (Index i = 0; i < std::ssize(lines); ++i) {
      const PictureRecord* picture = picture_of(lines[i]);
      const bool holds = lines[i].starts_with("✓"), claim = holds || lines[i].starts_with("✗");
      if (picture) {
        flush();
        result += figure(*picture);
        i += lines_of_caption(lines, i + 1, picture->caption);
      } else if (claim) {
        block +=
            fmt::format("<span class=\"{}\">{}</span>\n", holds ? "holds" : "broken", escape_html(lines[i]));
      } else {
        block += escape_html(lines[i]) + "\n";
      }
    }
    flush();
    return result;
  }

  // What `[picture] FILE` stands for, or null.
  const PictureRecord* picture_of(const std::string& line) const {
    if (!line.starts_with("[picture] ")) return nullptr;
    const std::string file = fs::path(line.substr(10)).filename().string();
    std::error_code missing;
    for (const PictureRecord& each : pictures)
      if (each.file == file && fs::exists(folder / file, missing)) return &each;
    return nullptr;
  }

  std::string figure(const PictureRecord& record) {
    const std::string address = "pictures/" + folder.filename().string() + "/" + record.file;
    page.copies.emplace_back(folder / record.file, address);
    const PixelSize size = png_size(folder / record.file);
    return fmt::format(
        "<figure><a href=\"{0}\"><img src=\"{0}\" width=\"{1}\" height=\"{2}\" loading=\"lazy\" "
        "alt=\"{3}\"></a>\n<figcaption><b>{3}</b> {4}</figcaption></figure>\n",
        escape_html(link_from(page.address, escape_link(address))), size.width, size.height,
        escape_html(record.title), text.sentence(record.caption));
  }

  // The caption was printed under the picture, too, in lines of its own: how many?
  static Index lines_of_caption(const std::vector<std::string>& lines, Index first,
                                const std::string& caption) {
    const std::string wanted = without_space(caption);
    std::string seen;
    for (Index i = first; i < std::ssize(lines) && wanted.starts_with(seen); ++i) {
      seen += without_space(lines[i]);
      if (seen == wanted) return i + 1 - first;
    }
    return 0;
  }
};

}  // namespace

LessonSource read_lesson(std::string_view source) {
  const std::string manual = manual_of(source), title = manual.substr(0, manual.find('\n'));
  if (!title.starts_with("Lesson ") || title.size() < 12)
    fail("a lesson begins with `// Lesson NN. Its question?`, not with `{}`", title);
  return {.number = title.substr(7, 2),
          .question = title.substr(11),
          .introduction = manual.substr(std::min(title.size() + 1, manual.size())),
          .rows = rows_of(source, section_calls(source))};
}

std::vector<OutputSection> output_sections(std::string_view output) {
  const std::vector<std::string> lines = lines_of(output);
  std::vector<OutputSection> sections(1);
  for (Index i = 0; i < std::ssize(lines); ++i) {
    const bool underlined = !lines[i].empty() && i + 1 < std::ssize(lines) && is_dashes(lines[i + 1]) &&
                            (i == 0 || lines[i - 1].empty()) && lines[i][0] != ' ';
    if (underlined)
      sections.push_back({lines[i++], {}});
    else
      sections.back().lines.push_back(lines[i]);
  }
  for (OutputSection& section : sections)
    while (!section.lines.empty() && section.lines.back().empty()) section.lines.pop_back();
  return sections;
}

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
  const LessonSource lesson = read_lesson(file->text);
  const std::string name = folder_title(folder.filename().string());
  BookPage page{.address = file->page,
                .title = lesson.number + " " + name,
                .chapter = "Lessons",
                .summary = lesson.question};
  page.entries.push_back({page.title, "lesson", lesson.question, ""});
  const PageText text{sources, page.address};
  const Listing code = listing(*file, sources);

  std::vector<OutputSection> printed = output_sections(read_file(output / "output.txt"));
  printed.erase(printed.begin());  // name and question again
  Printed shown{output, page, text, recorded_pictures(output)};
  Ids ids;
  std::string rows, contents, others;
  const auto print = [&](OutputSection& section) {
    const std::string id = ids.unique(section.title), title = escape_html(section.title);
    rows += fmt::format(
        "<section class=\"row printed\" id=\"{}\"><div class=\"words\"><h3>{}</h3><p class=\"soft\">"
        "what it prints</p></div><div class=\"made\">\n{}</div></section>\n",
        escape_html(id), title, shown.html(section.lines));
    contents += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escape_html(id), title);
    page.entries.push_back({section.title, "section", page.title, id});
    section.title.clear();  // is done
  };
  for (const Row& row : lesson.rows) {
    rows += row_html(row, code, text, ids);
    const auto section = std::find_if(printed.begin(), printed.end(), [&](const OutputSection& each) {
      return !row.section.empty() && each.title == row.section;
    });
    if (section != printed.end()) print(*section);
  }
  for (OutputSection& section : printed)
    if (!section.title.empty()) print(section);

  for (const auto& each : sources.files())
    if (each.get() != file && each->path.starts_with(prefix))
      others += fmt::format("<li>{} {}</li>\n",
                            text.link(each->page, "<code>" + each->path.substr(prefix.size()) + "</code>"),
                            text.sentence(first_sentence(manual_of(each->text))));
  page.body = fmt::format(
      R"(<header class="opening"><p class="kicker">Lesson {0} · {1}</p>
<h1>{2}</h1>
<div class="intro">{3}</div>
<nav class="sections" aria-label="Sections"><ol>
{4}<li><a href="#exercise">Exercise</a></li>
</ol></nav>
<p class="soft run">Run it: <code>make {0}</code></p></header>
{5}{6})",
      lesson.number, escape_html(name), escape_html(lesson.question), text.prose(lesson.introduction),
      contents, preamble_html(file->text, code), rows);
  if (!others.empty())
    page.body +=
        "<h2 id=\"files\">The other files of this lesson</h2>\n<ul class=\"files\">\n" + others + "</ul>\n";
  add_exercise(page, folder, grader, sources);
  return page;
}

}  // namespace attn::press
