#include "notebooks_cpp/press/book_exercise.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // any_of, min, sort
#include <cctype>     // isdigit

#include "core/error.hpp"
#include "notebooks_cpp/press/highlight.hpp"
#include "notebooks_cpp/press/html.hpp"

namespace attn::press {

namespace fs = std::filesystem;

namespace {

std::string code_block(const std::string& code, const Sources& sources, const std::string& page) {
  return "<pre class=\"listing\"><code>" + highlight_cpp(code, sources.linker(code, page)) +
         "</code></pre>\n";
}

std::string lines_between(const std::vector<std::string>& lines, int first, int last) {
  std::string text;
  for (int line = first; line <= last; ++line) text += lines[static_cast<std::size_t>(line - 1)] + "\n";
  return text;
}

// What stands between an answer and the one before it, helpers and comments, belongs to it.
std::map<std::string, std::string> answers_in(std::string_view source,
                                              const std::vector<Declaration>& asked) {
  std::map<std::string, std::string> answers;
  const std::vector<std::string> lines = lines_of(source);
  int first = 0;
  for (const Declaration& each : declarations(source)) {
    if (first == 0) first = each.first_line;
    const bool wanted = std::any_of(asked.begin(), asked.end(),
                                    [&](const Declaration& one) { return one.name == each.name; });
    if (!wanted || !each.defined) continue;
    answers[each.name] = lines_between(lines, first, each.last_line);
    first = 0;
  }
  return answers;
}

std::string folded(const std::string& title, const std::string& html) {
  return "<details><summary>" + title + "</summary>\n" + html + "</details>\n";
}

}  // namespace

std::map<std::string, std::vector<KnownMistake>> known_mistakes(std::string_view source) {
  std::map<std::string, std::vector<KnownMistake>> result;
  std::string function;
  const std::vector<Token> all = tokens(source);
  for (std::size_t i = 0; i + 3 < all.size(); ++i) {
    // Mistakes < decltype ( exercise :: function
    if (all[i].text == "Mistakes" && all[i + 1].text == "<" && i + 6 < all.size()) function = all[i + 6].text;
    if (all[i].text != "." || all[i + 2].text != "=" || all[i + 3].kind != Token::Kind::string) continue;
    const std::string_view field = all[i + 1].text;
    std::size_t at = i + 3;
    std::vector<KnownMistake>& mistakes = result[function];
    if (field == "name") mistakes.push_back({string_literal(all, at), "", ""});
    if (field == "why" && !mistakes.empty()) mistakes.back().why = string_literal(all, at);
    if (field == "where" && !mistakes.empty()) mistakes.back().where = string_literal(all, at);
  }
  return result;
}

std::map<std::string, std::vector<std::string>> hints_of(std::string_view markdown) {
  std::map<std::string, std::vector<std::string>> result;
  std::vector<std::string>* hints = nullptr;
  for (const std::string& line : lines_of(markdown)) {
    if (line.starts_with("## ")) {
      hints = &result[line.substr(3)];
    } else if (hints && !line.empty() && std::isdigit(static_cast<unsigned char>(line[0]))) {
      hints->push_back(line.substr(line.find(' ') + 1));
    } else if (hints && !hints->empty() && line.find_first_not_of(' ') != std::string::npos) {
      hints->back().append(" ").append(line, line.find_first_not_of(' '));
    }
  }
  return result;
}

std::map<std::string, std::string> notices_of(std::string_view grader) {
  std::map<std::string, std::string> result;
  std::string function;
  const std::vector<Token> all = tokens(grader);
  for (std::size_t i = 0; i + 3 < all.size(); ++i) {
    if (all[i].text != "." || all[i + 2].text != "=" || all[i + 3].kind != Token::Kind::string) continue;
    std::size_t at = i + 3;
    if (all[i + 1].text == "name") function = string_literal(all, at);
    if (all[i + 1].text == "notice") result[function] = string_literal(all, at);
  }
  return result;
}

void add_exercise(BookPage& page, const fs::path& folder, const fs::path& grader, const Sources& sources) {
  if (!fs::exists(folder / "exercise.hpp")) return;
  const std::string stub = read_file(folder / "exercise.hpp"), solution = read_file(folder / "solution.hpp");
  std::map<std::string, std::vector<KnownMistake>> mistakes;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("mistakes")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    for (const auto& [function, known] : known_mistakes(read_file(file)))
      mistakes[function].insert(mistakes[function].end(), known.begin(), known.end());
  auto hints = hints_of(read_file(folder / "hints.md"));
  auto notices = fs::exists(grader) ? notices_of(read_file(grader)) : std::map<std::string, std::string>{};

  std::vector<Declaration> asked;
  for (const Declaration& each : declarations(stub))
    if (each.kind == Declaration::Kind::function && each.defined) asked.push_back(each);
  auto answers = answers_in(solution, asked);

  const std::string number = folder.filename().string().substr(0, 2);
  const std::string manual = manual_of(stub);
  page.body += fmt::format(
      "<h2 id=\"exercise\">Exercise {}</h2>\n<section class=\"row alone\"><div class=\"words\">{}", number,
      prose(manual.substr(std::min(manual.find('\n'), manual.size())), sources, page.address));
  if (fs::exists(folder / "types.hpp"))
    page.body += folded("The types: <code>types.hpp</code>",
                        code_block(read_file(folder / "types.hpp"), sources, page.address));
  page.body += "</div></section>\n";

  for (const Declaration& each : asked) {
    const std::string id = "exercise-" + slug(each.name);
    page.entries.push_back({each.name, "exercise", page.title, page.address + "#" + id});
    std::string folds;
    int count = 0;
    for (const std::string& hint : hints[each.name])
      folds += folded(fmt::format("Hint {}", ++count),
                      "<p>" + inline_prose(hint, sources, page.address) + "</p>\n");
    std::string list;
    for (const KnownMistake& mistake : mistakes[each.name]) {
      const std::string mistake_id = id + "-" + slug(mistake.name);
      const std::string place =
          page.body.find("id=\"" + escape_html(slug(mistake.where)) + "\"") == std::string::npos
              ? escape_html(mistake.where)
              : fmt::format("<a href=\"#{}\">{}</a>", escape_html(slug(mistake.where)),
                            escape_html(mistake.where));
      list += fmt::format("<dt id=\"{}\">{}</dt><dd>{} <span class=\"soft\">See {}.</span></dd>\n",
                          escape_html(mistake_id), inline_prose(mistake.name, sources, page.address),
                          inline_prose(mistake.why, sources, page.address), place);
      page.entries.push_back(
          {mistake.name, "mistake", each.name + ", " + page.title, page.address + "#" + mistake_id});
    }
    if (!list.empty())
      folds += folded(fmt::format("{} mistakes that the grader knows by name", mistakes[each.name].size()),
                      "<dl class=\"mistakes\">\n" + list + "</dl>\n");
    if (answers[each.name].empty()) fail("{}: solution.hpp has no {}", folder.string(), each.name);
    std::string answer = code_block(answers[each.name], sources, page.address);
    if (!notices[each.name].empty())
      answer += "<p>" + inline_prose(notices[each.name], sources, page.address) + "</p>\n";
    folds += folded("Our answer", answer);
    page.body += fmt::format(
        "<section class=\"row task\" id=\"{}\"><div class=\"words\"><h3><code>{}</code></h3>{}</div>"
        "<div class=\"made\">{}{}</div></section>\n",
        escape_html(id), escape_html(each.name), prose(each.comment, sources, page.address),
        code_block(each.signature + ";\n", sources, page.address), folds);
  }
}

}  // namespace attn::press
