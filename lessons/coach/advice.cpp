#include "lessons/coach/advice.hpp"

#include <fmt/core.h>

#include <regex>    // regex_replace
#include <sstream>  // istringstream

#include "core/text.hpp"  // read_file

namespace coach {
namespace {

constexpr std::size_t longest_line = 400;  // of a message that names whole templates

// The compiler's types as the learner wrote them.
std::string plain(const std::string& text) {
  static const std::pair<std::regex, const char*> shorter[] = {
      {std::regex("(attn|exercise)::"), ""},
      {std::regex("std::__cxx11::basic_string<char>"), "std::string"},
      {std::regex(" \\{aka [^}]*\\}"), ""},
      {std::regex(" \\[-W[^\\]]*\\]"), ""},
      {std::regex("‘|’"), "'"},
  };
  std::string out = text.substr(0, longest_line);
  for (const auto& [pattern, replacement] : shorter) out = std::regex_replace(out, pattern, replacement);
  return out + (text.size() > longest_line ? " …" : "");
}

// What stands in the first pair of quotes, without arguments and namespaces.
std::string quoted_name(const std::string& message) {
  const std::size_t open = message.find('\''), close = message.find_first_of("'(", open + 1);
  if (open == std::string::npos || close == std::string::npos) return "";
  const std::string name = message.substr(open + 1, close - open - 1);
  return name.substr(name.rfind(':') + 1);
}

// What to do about it: `message` is plain, `after` is what the compiler says below.
std::string advice(const std::string& message, const std::string& after) {
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  if (says("ambiguous"))
    if (const std::string name = quoted_name(message); !name.empty())
      return fmt::format(
          "    The library has a {0}, too, so that the compiler cannot choose. Call yours my_{0}.\n", name);
  if (says("conflicting declaration of C function 'int main"))
    return "    The grader has a main() of its own: take yours out, and let make check call your "
           "functions.\n";
  static const std::string defined = "defined in header '<";
  if (const std::size_t at = after.find(defined); at != std::string::npos) {
    const std::size_t begin = at + defined.size();
    return fmt::format("    It needs a header: add #include <{}> at the top of your file.\n",
                       after.substr(begin, after.find('>', begin) - begin));
  }
  return "";
}

}  // namespace

std::string first_message(const std::string& output, const std::string& answer, const std::string& kind) {
  // A fatal error is one like any other to the learner.
  std::istringstream lines(std::regex_replace(output, std::regex(": fatal error: "), ": error: "));
  std::string elsewhere;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("./")) line.erase(0, 2);  // found through -I.
    const std::size_t mark = line.find(": " + kind + ": ");
    const bool theirs = line.starts_with(answer + ":");
    if (mark != std::string::npos && !theirs && elsewhere.empty())
      elsewhere = line.substr(mark + kind.size() + 4);
    if (theirs && mark == std::string::npos && !elsewhere.empty() &&
        line.find("required from") != std::string::npos)
      return fmt::format("    {}: {}\n", line.substr(0, line.find(':', answer.size() + 1)), plain(elsewhere));
    if (mark == std::string::npos || !theirs) continue;

    const std::size_t number_end = line.find(':', answer.size() + 1);
    const std::string message = plain(line.substr(mark + kind.size() + 4));
    std::string said = fmt::format("    {}: {}\n", line.substr(0, number_end), message), code, after;
    // The line of code and the one with the mark below it; then notes, until the next message.
    int shown = 0;
    while (std::getline(lines, code) && code.find(": " + kind + ": ") == std::string::npos) {
      if (shown < 2 && code.find(" | ") != std::string::npos)
        said += "    " + code.substr(0, longest_line) + "\n";
      ++shown;
      after += plain(code) + "\n";
    }
    return said + advice(message, after);
  }
  return elsewhere.empty() ? "" : fmt::format("    {}\n", plain(elsewhere)) + advice(plain(elsewhere), "");
}

std::string missing_function(const Lesson& lesson, const std::string& answer, const std::string& output) {
  static const std::regex undefined("undefined (?:reference to|symbol:) [`']?exercise::(\\w+)\\(");
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    line.resize(std::min(line.size(), 4 * longest_line));
    if (!std::regex_search(line, match, undefined)) continue;
    const std::string name = match[1];
    const bool there = attn::read_file(answer).find(" " + name + "(") != std::string::npos;
    return fmt::format(
        "    {} {}. It must read:\n      {}\n", name,
        there ? "has other arguments than the exercise asks for, or stands outside of namespace exercise"
              : "is missing from your file",
        signature(attn::read_file(lesson.stub()), name));
  }
  return "";
}

}  // namespace coach
