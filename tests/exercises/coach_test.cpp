// Tests build/coach as a learner meets it: in a folder of its own, with answers that fail in every way there
// is. Prints what fails and "N passed, N failed". Run in the project's folder; needs build/coach and the
// graders. With arguments, only those groups: commands, holes, facts, limits.
#include <fmt/core.h>
#include <stdlib.h>    // mkdtemp
#include <sys/wait.h>  // WEXITSTATUS

#include <algorithm>  // find
#include <cstdio>     // popen
#include <fstream>    // ofstream
#include <sstream>    // ostringstream

#include "tests/exercises/coach_testing.hpp"

namespace testing {

int passed = 0, failed = 0;

void check(bool holds, const std::string& fact, const std::string& evidence) {
  ++(holds ? passed : failed);
  if (!holds) fmt::print("FAILED: {}\n{}\n", fact, evidence);
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

Said coach(const std::string& words, const std::string& typed) {
  FILE* pipe = popen(fmt::format("printf '{}' | build/coach {} 2>&1", typed, words).c_str(), "r");
  std::string text;
  char block[4096];
  for (std::size_t count; (count = std::fread(block, 1, sizeof block, pipe)) > 0;) text.append(block, count);
  return {WEXITSTATUS(pclose(pipe)), text};
}

void expect(const Said& said, int code, const std::vector<std::string>& phrases, const std::string& fact) {
  check(said.code == code, fmt::format("{}: exit code {}, not {}", fact, said.code, code), said.text);
  for (const std::string& phrase : phrases)
    check(said.text.find(phrase) != std::string::npos, fmt::format("{}: says \"{}\"", fact, phrase),
          said.text);
  check(said.text.find('\033') == std::string::npos, fact + ": no colours in a pipe", said.text);
}

std::string solution(const std::string& lesson) { return read("lessons/" + lesson + "/solution.hpp"); }

std::string with_body(std::string text, const std::string& function, const std::string& body) {
  const std::size_t head = text.find(" " + function + "("), open = text.find("{\n", head) + 2;
  return text.replace(open, text.find("\n}", open) - open, body);
}

namespace {
std::string in_one_line(const std::string& text) {
  std::string out, word;
  for (std::istringstream words(text); words >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}
}  // namespace

Checked::Checked(const std::string& lesson, const std::vector<Body>& bodies, const std::string& top)
    : lesson_(lesson) {
  std::string text = solution(lesson);
  for (const Body& body : bodies) text = with_body(text, body.function, body.text);
  const std::string once = "#pragma once\n";
  text.insert(text.find(once) + once.size(), top);
  write("my/" + lesson + ".hpp", text);
  said_ = coach("check " + lesson.substr(0, 2) + " --all --seed 1");
}

std::string Checked::verdict(const std::string& function) const {
  const std::size_t begin = said_.text.find(fmt::format(" {:<20}  ", function));
  if (begin == std::string::npos) return "";
  std::size_t end = said_.text.size();
  for (const char* mark : {"\n  ✔ ", "\n  ✘ ", "\n  · ", "\n  ! "})
    end = std::min(end, said_.text.find(mark, begin));
  return in_one_line(said_.text.substr(begin, end - begin));
}

void Checked::expect(const std::string& function, const std::string& headline,
                     const std::vector<std::string>& phrases) const {
  const std::string fact = fmt::format("{} of {}", function, lesson_), said = verdict(function);
  check(!said.empty(), fact + " has a verdict", said_.text);
  check(said.starts_with(function + " " + headline), fmt::format("{}: {}", fact, headline), said);
  for (const std::string& phrase : phrases)
    check(said.find(phrase) != std::string::npos, fmt::format("{}: says \"{}\"", fact, phrase), said);
  for (const char* trace : {"Sanitizer", "#0 ", "===", "heap-buffer", "runtime error"})
    check(said.find(trace) == std::string::npos, fact + ": nothing of a sanitizer", said);
}

}  // namespace testing

int main(int argc, char** argv) {
  using namespace testing;
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  const fs::path project = fs::current_path();
  std::string pattern = (fs::temp_directory_path() / "coach_test.XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  for (const char* name : {"core", "lessons", "Makefile"}) fs::create_symlink(project / name, folder / name);
  fs::create_directories(folder / "build/graded");
  fs::create_directories(folder / "my");
  for (const char* name : {"coach", "graded/libgrading.so", "graded/tests", "graded/exercise",
                           "graded/exercise.hpp", "graded/exercise.hpp.gch"})
    if (fs::exists(project / "build" / name))
      fs::create_symlink(project / "build" / name, folder / "build" / name);
  fs::current_path(folder);

  const std::pair<const char*, void (*)()> groups[] = {
      {"commands", test_commands}, {"holes", test_holes}, {"facts", test_facts}, {"limits", test_limits}};
  for (const auto& [name, test] : groups)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) test();

  fs::current_path(project);
  fs::remove_all(folder);
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
