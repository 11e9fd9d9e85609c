#include "lessons/coach/mistakes.hpp"

#include <fstream>  // ifstream

#include "core/error.hpp"

namespace coach {
namespace {

const std::string runs_away = "(runs away)";

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// What is wrong with the last of the mistakes, if anything.
std::string fault(const std::vector<WrittenMistake>& mistakes) {
  const WrittenMistake& last = mistakes.back();
  if (last.why.empty()) return "no text says why it is wrong";
  if (last.change.empty()) return "nothing is changed: no line with - or +";
  if (last.where.empty()) return "no heading of the lesson, here or after See:";
  for (const WrittenMistake& other : mistakes)
    if (&other != &last && other.function == last.function && other.name == last.name)
      return "a second one of that name";
  return "";
}

}  // namespace

std::vector<WrittenMistake> read_mistakes(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) attn::fail("{}: cannot be read", path.string());
  std::vector<WrittenMistake> mistakes;
  std::string function, where;
  bool open = false;  // a mistake that may go on
  int number = 0;

  const auto complain = [&](int line, const std::string& what) {
    attn::fail("{}:{}: {:.300}", path.string(), line, what);
  };
  const auto complain_about = [&](const WrittenMistake& mistake, int line, const std::string& what) {
    complain(line, mistake.function + ", \"" + mistake.name + "\": " + what);
  };
  const auto finish = [&] {
    if (open && !fault(mistakes).empty())
      complain_about(mistakes.back(), mistakes.back().number, fault(mistakes));
    open = false;
  };
  const auto begin = [&](const std::string& line) {
    const std::size_t end = line.find(" @@", 2);
    if (function.empty()) complain(number, "a mistake before the first ## function");
    WrittenMistake mistake;
    mistake.function = function;
    if (end != std::string::npos) mistake.name = trimmed(line.substr(2, end - 2));
    if (mistake.name.empty()) complain(number, "a mistake begins with `@@ its name @@`");
    mistake.where = trimmed(line.substr(end + 3));
    mistake.number = number;
    mistake.runs_away = mistake.where.ends_with(runs_away);
    if (mistake.runs_away)
      mistake.where = trimmed(mistake.where.substr(0, mistake.where.size() - runs_away.size()));
    if (mistake.where.empty()) mistake.where = where;
    mistakes.push_back(mistake);
    open = true;
  };

  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with("## ") || line.starts_with("@@")) finish();
    if (line.empty()) continue;
    if (line.starts_with("## ")) {
      function = trimmed(line.substr(3));
      where.clear();
    } else if (line.starts_with("See: ")) {
      where = trimmed(line.substr(5));
    } else if (line.starts_with("@@")) {
      begin(line);
    } else if (!open) {
      if (!function.empty()) complain(number, "text that belongs to no mistake");
    } else if (line[0] == '-' || line[0] == '+' || line[0] == ' ') {
      mistakes.back().change.push_back({line[0], line.substr(1), number});
    } else if (mistakes.back().change.empty()) {
      mistakes.back().why += (mistakes.back().why.empty() ? "" : " ") + trimmed(line);
    } else {
      complain_about(mistakes.back(), number, "a line of a change begins with -, + or a space");
    }
  }
  finish();
  return mistakes;
}

}  // namespace coach
