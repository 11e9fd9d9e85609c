#include "lessons/coach/compile.hpp"

#include <sys/wait.h>  // WEXITSTATUS

#include <cstdio>   // popen
#include <cstdlib>  // system
#include <regex>    // regex_replace
#include <sstream>  // istringstream

#include "core/error.hpp"
#include "core/text.hpp"  // read_file

namespace coach {

namespace fs = std::filesystem;

namespace {

const std::string graded = "build/graded";

// The compiler's types as the learner wrote them.
std::string plain(std::string text) {
  static const std::pair<std::regex, const char*> shorter[] = {
      {std::regex("(attn|exercise)::"), ""},
      {std::regex("std::__cxx11::basic_string<char>"), "std::string"},
      {std::regex(" \\{aka [^}]*\\}"), ""},
      {std::regex(" \\[-W[^\\]]*\\]"), ""},
      {std::regex("‘|’"), "'"},
  };
  for (const auto& [pattern, replacement] : shorter) text = std::regex_replace(text, pattern, replacement);
  return text;
}

// The first message of this kind in the learner's file, with the line of code that the compiler shows below
// it.
std::string first_message(const std::string& output, const std::string& answer, const std::string& kind) {
  std::istringstream lines(output);
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
    std::string said =
        fmt::format("    {}: {}\n", line.substr(0, number_end), plain(line.substr(mark + kind.size() + 4)));
    std::string code;
    for (int shown = 0; shown < 2 && std::getline(lines, code) && code.find(" | ") != std::string::npos;
         ++shown)
      said += "    " + code + "\n";
    return said;
  }
  return elsewhere.empty() ? "" : fmt::format("    {}\n", plain(elsewhere));
}

// A function that the grader asks for and the linker does not find.
std::string missing_function(const Lesson& lesson, const std::string& output) {
  static const std::regex undefined("undefined (?:reference to|symbol:) [`']?exercise::(\\w+)\\(");
  std::smatch match;
  if (!std::regex_search(output, match, undefined)) return "";
  const std::string name = match[1];
  const std::string expected = signature(attn::read_file(lesson.stub()), name);
  const bool there = attn::read_file(lesson.answer()).find(" " + name + "(") != std::string::npos;
  return fmt::format(
      "    {} {}. It must read:\n      {}\n", name,
      there ? "has other arguments than the exercise asks for, or stands outside of namespace exercise"
            : "is missing from your file",
      expected);
}

}  // namespace

Run run(const std::string& command, bool capture) {
  std::fflush(stdout);
  if (!capture) {
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), ""};
  }
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) attn::fail("no process could be started");
  std::string output;
  char block[4096];
  for (std::size_t count; (count = std::fread(block, 1, sizeof block, pipe)) > 0;)
    output.append(block, count);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output};
}

Compiled compile(const Lesson& lesson, const std::string& answer) {
  const std::string grader = graded + "/tests/exercises/" + lesson.name + "_test.o";
  const std::string library = graded + "/libgrading.so";
  if (!fs::exists(grader) || !fs::exists(library)) {
    std::printf("Building the grader of lesson %s. The first time takes minutes, because of the library.\n",
                lesson.number.c_str());
    const Run built = run("make -s " + grader + " " + library, true);
    if (built.code != 0) attn::fail("the grader could not be built:\n{}", built.output);
  }
  const std::string program = graded + "/my/" + lesson.name;
  fs::create_directories(graded + "/my");
  const Run compiled = run(fmt::format(COACH_COMPILE " -DEXERCISE='\"{}\"' -o {}.o", answer, program), true);
  if (compiled.code != 0) {
    const std::string said = first_message(compiled.output, answer, "error");
    return {false, "", said.empty() ? compiled.output : said};
  }
  const Run linked = run(fmt::format(COACH_LINK " {0}.o {1} " COACH_LIBS " -o {0}", program, grader), true);
  if (linked.code != 0) {
    const std::string said = missing_function(lesson, linked.output);
    return {false, "", said.empty() ? linked.output : said};
  }
  return {true, program, first_message(compiled.output, answer, "warning")};
}

}  // namespace coach
