#include <fmt/core.h>  // format

#include <algorithm>  // any_of, min
#include <iterator>   // ssize

#include "core/error.hpp"
#include "lessons/coach/mistakes.hpp"
#include "notebooks_cpp/press/book_pages.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_digit, lines_of, trimmed

namespace attn::press {

namespace fs = std::filesystem;

namespace {

// What stands between an answer and the one before it, helpers and comments, belongs to it.
ByFunction<std::string> answers_in(std::string_view source, const std::vector<Declaration>& asked) {
  ByFunction<std::string> answers;
  const std::vector<std::string> lines = lines_of(source);
  Index first = 0;
  for (const Declaration& each : declarations(source)) {
    if (first == 0) first = each.first_line;
    const bool wanted = std::any_of(asked.begin(), asked.end(),
                                    [&](const Declaration& one) { return one.name == each.name; });
    if (!wanted || !each.defined) continue;
    for (answers[each.name] = ""; first <= each.last_line; ++first)
      answers[each.name] += lines[first - 1] + "\n";
    first = 0;
  }
  return answers;
}

std::string folded(const std::string& title, const std::string& html) {
  return "<details><summary>" + title + "</summary>\n" + html + "</details>\n";
}

std::string diff_html(const std::vector<coach::DiffLine>& change) {
  std::string html;
  for (const coach::DiffLine& line : change) {
    const char* const tag = line.sign == '-' ? "del" : line.sign == '+' ? "ins" : "span";
    html += fmt::format("<{0}>{1}{2}</{0}>\n", tag, line.sign, escape_html(line.text));
  }
  return "<pre class=\"listing diff\"><code>" + html + "</code></pre>\n";
}

}  // namespace

ByFunction<std::string> notices_of(std::string_view grader) {
  ByFunction<std::string> result;
  std::string function;
  const std::vector<Token> all = tokens(grader);
  for (Index i = 1; i + 2 < std::ssize(all); ++i) {  // . name = "text"
    Index text = i + 2;
    if (all[i - 1].text != "." || all[i + 1].text != "=" || all[text].kind != Token::Kind::string) continue;
    if (all[i].text == "name") function = string_literal(all, text);
    if (all[i].text == "notice") result[function] = string_literal(all, text);
  }
  return result;
}

ByFunction<std::vector<std::string>> hints_of(std::string_view markdown) {
  ByFunction<std::vector<std::string>> result;
  std::vector<std::string>* hints = nullptr;
  for (const std::string& line : lines_of(markdown)) {
    if (line.starts_with("## "))
      hints = &result[line.substr(3)];
    else if (hints && !line.empty() && is_digit(line[0]))
      hints->push_back(line.substr(line.find(' ') + 1));
    else if (hints && !hints->empty() && !is_blank(line))
      hints->back().append(" ").append(trimmed(line));
  }
  return result;
}

void add_exercise(BookPage& page, const fs::path& folder, const fs::path& grader, const Sources& sources) {
  if (!fs::exists(folder / "exercise.hpp")) return;
  const PageText text{sources, page.address};
  const auto shown = [&](const std::string& code) {
    return "<pre class=\"listing\"><code>" + text.code(code) + "</code></pre>\n";
  };
  ByFunction<std::vector<coach::WrittenMistake>> mistakes;
  for (const coach::WrittenMistake& mistake : coach::read_mistakes(folder / "mistakes.diff"))
    mistakes[mistake.function].push_back(mistake);
  ByFunction<std::vector<std::string>> hints = hints_of(read_file(folder / "hints.md"));
  ByFunction<std::string> notices = notices_of(fs::exists(grader) ? read_file(grader) : "");
  const std::string stub = read_file(folder / "exercise.hpp");
  std::vector<Declaration> asked;
  for (const Declaration& each : declarations(stub))
    if (each.kind == Declaration::Kind::function && each.defined) asked.push_back(each);
  ByFunction<std::string> answers = answers_in(read_file(folder / "solution.hpp"), asked);

  const std::string manual = manual_of(stub);
  page.body += fmt::format(
      "<h2 id=\"exercise\">Exercise {}</h2>\n<section class=\"row alone\"><div class=\"words\">{}",
      folder.filename().string().substr(0, 2),
      text.prose(manual.substr(std::min(manual.find('\n'), manual.size()))));
  if (fs::exists(folder / "types.hpp"))
    page.body += folded("The types: <code>types.hpp</code>", shown(read_file(folder / "types.hpp")));
  page.body += "</div></section>\n";

  for (const Declaration& each : asked) {
    const std::string id = "exercise-" + slug(each.name);
    page.entries.push_back({each.name, "exercise", page.title, id});
    page.tasks.push_back(each.name);
    std::string folds, list;
    for (Index i = 0; i < std::ssize(hints[each.name]); ++i)
      folds += folded(fmt::format("Hint {}", i + 1), "<p>" + text.sentence(hints[each.name][i]) + "</p>\n");
    for (const coach::WrittenMistake& mistake : mistakes[each.name]) {
      const std::string mistake_id = id + "-" + slug(mistake.name), where = slug(mistake.where);
      const bool printed = page.body.find("id=\"" + escape_html(where) + "\"") != std::string::npos;
      const std::string place = printed ? page.address + "#" + where : "";
      list += fmt::format("<dt id=\"{}\">{}</dt><dd>{} <span class=\"soft\">See {}.</span>\n{}</dd>\n",
                          escape_html(mistake_id), text.sentence(mistake.name), text.sentence(mistake.why),
                          text.link(place, escape_html(mistake.where)), diff_html(mistake.change));
      page.entries.push_back({mistake.name, "mistake", each.name + ", " + page.title, mistake_id});
    }
    if (!list.empty())
      folds += folded(fmt::format("{} mistakes that the grader knows by name", mistakes[each.name].size()),
                      "<dl class=\"mistakes\">\n" + list + "</dl>\n");
    if (answers[each.name].empty()) fail("{}: solution.hpp has no {}", folder.string(), each.name);
    const std::string& notice = notices[each.name];
    folds += folded("Our answer", shown(answers[each.name]) +
                                      (notice.empty() ? "" : "<p>" + text.sentence(notice) + "</p>\n"));
    page.body += fmt::format(
        "<section class=\"row task\" id=\"{}\"><div class=\"words\"><h3><code>{}</code></h3>{}</div>"
        "<div class=\"made\">{}{}</div></section>\n",
        escape_html(id), escape_html(each.name), text.prose(each.comment), shown(each.signature + ";\n"),
        folds);
  }
}

}  // namespace attn::press
