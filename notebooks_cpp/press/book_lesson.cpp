#include "notebooks_cpp/press/book_lesson.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // find_if
#include <cctype>     // isspace

#include "core/error.hpp"
#include "lessons/support/gallery.hpp"  // folder_title, recorded_pictures
#include "notebooks_cpp/press/book_exercise.hpp"
#include "notebooks_cpp/press/html.hpp"

namespace attn::press {

namespace fs = std::filesystem;

namespace {

// lesson.section("…") and lesson.try_next(…), which prints a section of its own.
std::vector<SectionCall> section_calls(std::string_view source) {
  std::vector<SectionCall> calls;
  const std::vector<Token> all = tokens(source);
  for (std::size_t i = 1; i + 2 < all.size(); ++i) {
    if (all[i - 1].text != "." || all[i + 1].text != "(") continue;
    std::size_t text = i + 2;
    if (all[i].text == "section" && all[text].kind == Token::Kind::string) {
      const int line = all[i].line;
      calls.push_back({line, string_literal(all, text)});
    } else if (all[i].text == "try_next") {
      calls.push_back({all[i].line, "Try"});
    }
  }
  return calls;
}

bool is_dashes(std::string_view text) {
  return !text.empty() && text.find_first_not_of('-') == std::string_view::npos;
}

// What a section printed: text as it is, with pictures in their places.
class Printed {
 public:
  Printed(const fs::path& folder, BookPage& page, const Sources& sources)
      : folder_(folder), page_(page), sources_(sources), pictures_(recorded_pictures(folder)) {}

  std::string html(const std::vector<std::string>& lines) {
    std::string result, text;
    const auto flush = [&] {
      while (!text.empty() && text.front() == '\n') text.erase(0, 1);
      if (!text.empty()) result += "<pre class=\"output\">" + text + "</pre>\n";
      text.clear();
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].starts_with("[picture] ")) {
        const bool claim = lines[i].starts_with("✓"), broken = lines[i].starts_with("✗");
        const std::string escaped = escape_html(lines[i]);
        text += claim    ? "<span class=\"holds\">" + escaped + "</span>\n"
                : broken ? "<span class=\"broken\">" + escaped + "</span>\n"
                         : escaped + "\n";
        continue;
      }
      const std::string file = fs::path(lines[i].substr(10)).filename().string();
      const auto record = std::find_if(pictures_.begin(), pictures_.end(),
                                       [&](const PictureRecord& each) { return each.file == file; });
      if (record == pictures_.end() || !fs::exists(folder_ / file)) {
        text += escape_html(lines[i]) + "\n";
        continue;
      }
      flush();
      result += figure(*record);
      i += lines_of_caption(lines, i + 1, record->caption);
    }
    flush();
    return result;
  }

 private:
  std::string figure(const PictureRecord& record) {
    const std::string address = "pictures/" + folder_.filename().string() + "/" + record.file;
    page_.copies.emplace_back(folder_ / record.file, address);
    const std::string link = escape_html(link_from(page_.address, escape_link(address)));
    const PixelSize size = png_size(folder_ / record.file);
    return fmt::format(
        "<figure><a href=\"{0}\"><img src=\"{0}\" width=\"{1}\" height=\"{2}\" loading=\"lazy\" "
        "alt=\"{3}\"></a>\n"
        "<figcaption><b>{3}</b> {4}</figcaption></figure>\n",
        link, size.width, size.height, escape_html(record.title),
        inline_prose(record.caption, sources_, page_.address));
  }

  // The caption was printed under the picture, too, in lines of its own: how many?
  static std::size_t lines_of_caption(const std::vector<std::string>& lines, std::size_t first,
                                      const std::string& caption) {
    const auto squeezed = [](const std::string& text) {
      std::string result;
      for (const char c : text)
        if (!std::isspace(static_cast<unsigned char>(c))) result += c;
      return result;
    };
    const std::string wanted = squeezed(caption);
    std::string seen;
    for (std::size_t i = first; i < lines.size() && wanted.starts_with(seen); ++i) {
      seen += squeezed(lines[i]);
      if (seen == wanted) return i + 1 - first;
    }
    return 0;
  }

  fs::path folder_;
  BookPage& page_;
  const Sources& sources_;
  std::vector<PictureRecord> pictures_;
};

std::string printed_row(const std::string& title, const std::string& id, const std::string& html) {
  return fmt::format(
      "<section class=\"row printed\" id=\"{}\"><div class=\"words\"><h3>{}</h3><p class=\"soft\">what it "
      "prints</p></div><div class=\"made\">\n{}</div></section>\n",
      escape_html(id), escape_html(title), html);
}

}  // namespace

LessonSource read_lesson(std::string_view source) {
  LessonSource lesson;
  const std::string manual = manual_of(source), title = manual.substr(0, manual.find('\n'));
  if (!title.starts_with("Lesson ") || title.size() < 12)
    fail("a lesson begins with `// Lesson NN. Its question?`, not with `{}`", title);
  lesson.number = title.substr(7, 2);
  lesson.question = title.substr(11);
  lesson.introduction = manual.substr(std::min(title.size() + 1, manual.size()));

  lesson.preamble = preamble_of(source);
  lesson.rows = rows_of(source, section_calls(source));
  return lesson;
}

std::vector<OutputSection> output_sections(std::string_view output) {
  const std::vector<std::string> lines = lines_of(output);
  std::vector<OutputSection> sections(1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool underlined = !lines[i].empty() && i + 1 < lines.size() && is_dashes(lines[i + 1]) &&
                            (i == 0 || lines[i - 1].empty()) && lines[i][0] != ' ';
    if (underlined) {
      sections.push_back({lines[i++], {}});
    } else {
      sections.back().lines.push_back(lines[i]);
    }
  }
  for (OutputSection& section : sections)
    while (!section.lines.empty() && section.lines.back().empty()) section.lines.pop_back();
  return sections;
}

bool is_extra_file(const std::string& file) {
  const bool source = file.ends_with(".hpp") || file.ends_with(".cpp");
  return source && file != "lesson.cpp" && file != "exercise.hpp" && file != "solution.hpp" &&
         file != "types.hpp" && !file.starts_with("mistakes");
}

BookPage lesson_page(const fs::path& folder, const fs::path& output, const fs::path& grader,
                     const Sources& sources) {
  const std::string name = folder.filename().string();
  const SourceFile* file = sources.find("lessons/" + name + "/lesson.cpp");
  if (!file) fail("book: lessons/{}/lesson.cpp is not among the sources", name);
  const LessonSource lesson = read_lesson(file->text);
  const Listing code = listing(*file, sources);
  BookPage page{.address = file->page,
                .title = lesson.number + " " + folder_title(name),
                .chapter = "Lessons",
                .summary = lesson.question,
                .body = {},
                .whole = {},
                .entries = {},
                .copies = {}};
  page.entries.push_back({page.title, "lesson", lesson.question, page.address});

  std::vector<OutputSection> printed = output_sections(read_file(output / "output.txt"));
  Printed pictures(output, page, sources);
  Ids ids;
  std::string rows, contents;
  const auto print = [&](OutputSection& section) {
    const std::string id = ids.unique(section.title);
    rows += printed_row(section.title, id, pictures.html(section.lines));
    contents +=
        fmt::format("<li><a href=\"#{0}\">{1}</a></li>\n", escape_html(id), escape_html(section.title));
    page.entries.push_back({section.title, "section", page.title, page.address + "#" + id});
    section = {};
  };
  printed[0].lines.clear();  // name and question again
  for (const Row& row : lesson.rows) {
    rows += row_html(row, code, sources, page.address, ids);
    const auto section = std::find_if(printed.begin(), printed.end(), [&](const OutputSection& each) {
      return !row.section.empty() && each.title == row.section;
    });
    if (section != printed.end()) print(*section);
  }
  for (OutputSection& section : printed)
    if (!section.title.empty()) print(section);

  std::string others;
  for (const auto& each : sources.files()) {
    const std::string prefix = "lessons/" + name + "/";
    if (each.get() == file || !each->path.starts_with(prefix)) continue;
    others += fmt::format("<li><a href=\"{}\"><code>{}</code></a> {}</li>\n",
                          link_from(page.address, each->page), each->path.substr(prefix.size()),
                          inline_prose(first_sentence(manual_of(each->text)), sources, page.address));
  }
  page.body = fmt::format(
      "<header class=\"opening\"><p class=\"kicker\">Lesson {} · {}</p>\n<h1>{}</h1>\n<div "
      "class=\"intro\">{}</div>\n"
      "<nav class=\"sections\" aria-label=\"Sections\"><ol>\n{}<li><a "
      "href=\"#exercise\">Exercise</a></li>\n</ol></nav>"
      "\n<p class=\"soft run\">Run it: <code>make {}</code></p></header>\n"
      "<details class=\"preamble\"><summary>What it includes</summary>{}</details>\n{}",
      lesson.number, escape_html(folder_title(name)), escape_html(lesson.question),
      prose(lesson.introduction, sources, page.address), contents, lesson.number,
      code.block(lesson.preamble.first, lesson.preamble.last), rows);
  if (!others.empty())
    page.body +=
        "<h2 id=\"files\">The other files of this lesson</h2>\n<ul class=\"files\">\n" + others + "</ul>\n";
  add_exercise(page, folder, grader, sources);
  return page;
}

}  // namespace attn::press
