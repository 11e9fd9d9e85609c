#include "lessons/coach/check_course.hpp"

#include <fmt/core.h>
#include <unistd.h>  // getpid

#include <cstdio>   // sscanf
#include <sstream>  // istringstream

#include "core/text.hpp"  // read_file
#include "lessons/coach/compile.hpp"

namespace coach {
namespace {

struct Tally {
  std::string exercise;
  int passed = 0, failed = 0;
  int functions = 0, mistakes = 0, trivial = 0;

  void check(bool holds, const std::string& what) {
    ++(holds ? passed : failed);
    if (!holds) fmt::print("{}: {}\n", exercise, what);
  }
};

// Without blanks, so that a line broken differently is the same line.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) out += c;
  return out;
}

// The beginning of what a program said: a sanitizer's report is long and wide.
std::string excerpt(const std::string& output) {
  std::istringstream lines(output);
  std::string out, line;
  for (int i = 0; i < 20 && std::getline(lines, line); ++i) out += "    " + line.substr(0, 160) + "\n";
  return out;
}

// Grades `file`, which `program` holds, and looks whether every function stands as expected.
std::vector<std::string> results_of(const std::string& program, const std::string& file, const Lesson& lesson,
                                    Tally& tally, Standing expected, std::uint64_t seed) {
  const std::string results = fmt::format("{}.{}.results", program, getpid());
  const Run graded = run(fmt::format("{} --program {} --file {} --seed {} --results {} --all",
                                     grader_of(lesson), program, file, seed, results),
                         true);
  std::vector<std::string> names;
  std::istringstream lines(std::filesystem::exists(results) ? attn::read_file(results) : "");
  for (std::string name, word; std::getline(lines, name, '\t') && std::getline(lines, word);) {
    names.push_back(name);
    tally.check(standing_from(word) == expected,
                fmt::format("{} of {} (seed {}) is \"{}\", not \"{}\"\n{}", name, file, seed, word,
                            word_for(expected), excerpt(graded.output)));
  }
  std::filesystem::remove(results);
  tally.check(names.size() == lesson.functions.size(),
              fmt::format("{} functions graded in {}, but hints.md has {}\n{}", names.size(), file,
                          lesson.functions.size(), excerpt(graded.output)));
  return names;
}

// The lines of the solution's bodies that are worth hiding: not braces, comments or heads.
std::vector<std::string> code_lines(const std::string& solution, const std::string& stub) {
  std::vector<std::string> found;
  const std::string known = squeezed(stub);
  std::istringstream lines(solution);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    const std::string code = squeezed(line.substr(0, line.find("//")));
    if (code.size() >= 12 && known.find(code) == std::string::npos) found.push_back(code);
  }
  return found;
}

void check_hints(Tally& tally, const Lesson& lesson, const std::vector<std::string>& graded) {
  const std::string stub = attn::read_file(lesson.stub()), solution = attn::read_file(lesson.solution());
  const std::vector<std::string> secrets = code_lines(solution, stub);
  tally.check(!secrets.empty(), "the solution has no code");
  tally.check(lesson.functions.size() >= 2 && lesson.functions.size() <= 6,
              "an exercise has 2 to 6 functions");
  for (std::size_t i = 0; i < lesson.functions.size(); ++i) {
    const AskedFunction& function = lesson.functions[i];
    tally.check(i < graded.size() && graded[i] == function.name,
                function.name + ": hints.md and the test name the functions differently");
    tally.check(function.hints.size() >= 3, function.name + " has fewer than three hints");
    tally.check(
        stub.find("//   " + function.name + "(") != std::string::npos,
        function.name + " has no worked example in the stub (a line //   " + function.name + "(…) = …)");
    for (const std::string& hint : function.hints)
      for (const std::string& secret : secrets)
        tally.check(squeezed(hint).find(secret) == std::string::npos,
                    fmt::format("a hint for {} contains a line of the solution: {}", function.name, secret));
  }
}

}  // namespace

int check_course(const std::vector<Lesson>& lessons) {
  Tally tally;
  for (const Lesson& lesson : lessons) {
    tally.exercise = lesson.name;
    const std::string stub = "build/graded/exercise/" + lesson.name,
                      solution = "build/graded/solution/" + lesson.name;
    const std::vector<std::string> names =
        results_of(stub, lesson.stub(), lesson, tally, Standing::not_started, 1);
    for (const std::uint64_t seed : {1, 2, 3})
      results_of(solution, lesson.solution(), lesson, tally, Standing::passed, seed);
    check_hints(tally, lesson, names);

    const Run checked = run(stub + " --self-check", true);
    const std::size_t last = checked.output.rfind("functions ");
    int functions = 0, mistakes = 0, trivial = 0, checks = 0, failed = 1;
    if (last != std::string::npos)
      std::sscanf(checked.output.c_str() + last, "functions %d mistakes %d trivial %d checks %d failed %d",
                  &functions, &mistakes, &trivial, &checks, &failed);
    if (failed || checked.code != 0) fmt::print("{}", excerpt(checked.output.substr(0, last)));
    tally.functions += functions;
    tally.mistakes += mistakes;
    tally.trivial += trivial;
    tally.passed += checks - failed;
    tally.failed += failed;
    tally.check((checked.code == 0) == (failed == 0), "the self-check ended early");
  }
  fmt::print("course: {} exercises, {} functions, {} mistakes recognised, {} trivial answers rejected\n",
             lessons.size(), tally.functions, tally.mistakes, tally.trivial);
  fmt::print("{} passed, {} failed\n", tally.passed, tally.failed);
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace coach
