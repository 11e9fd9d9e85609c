// The grader of one lesson: what build/coach starts after it has compiled the learner's file.
//
//   grader --file my/06_self_attention.hpp [--results FILE] [--color]     grades every function
//   grader --self-check                                                   checks the exercise itself
#include <fmt/format.h>

#include <cstdio>   // fputs
#include <fstream>  // ofstream
#include <regex>    // regex_search

#include "core/parallel.hpp"
#include "core/text.hpp"  // colored, read_file
#include "lessons/coach/run_answers.hpp"
#include "lessons/coach/self_check.hpp"
#include "lessons/coach/verdict.hpp"

namespace coach {

using attn::colored;

int grade(int argc, char** argv);

namespace {

constexpr std::uint64_t learner_seed = 1;
constexpr int most_printed_lines = 12;

std::string printed_text(const std::string& printed) {
  std::string out = "    it printed:\n";
  std::size_t start = 0;
  for (int line = 0; start < printed.size(); ++line) {
    if (line == most_printed_lines) return out + "      …\n";
    const std::size_t end = std::min(printed.find('\n', start), printed.size());
    out += "      " + printed.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return printed.empty() ? "" : out;
}

// The first of `names` that the learner's function calls, between the brace behind its head and the one that
// closes it.
std::string called_by(const std::string& function, const std::string& source,
                      const std::vector<std::string>& names) {
  const std::size_t head = source.find(" " + function + "("), open = source.find('{', head);
  if (head == std::string::npos || open == std::string::npos) return "";
  std::size_t close = open;
  for (int depth = 0; close < source.size(); ++close) {
    depth += (source[close] == '{') - (source[close] == '}');
    if (depth == 0) break;
  }
  const std::string body = source.substr(open, close - open);
  for (const std::string& name : names)
    if (std::regex_search(body, std::regex("\\b" + name + "\\("))) return name;
  return "";
}

int grade_all(const Exercise& exercise, const std::string& file, const std::string& results, bool color) {
  const std::string source = std::filesystem::exists(file) ? attn::read_file(file) : "";
  std::string record;
  std::vector<std::string> wrong;
  bool all = true;
  for (const Graded& function : exercise.functions) {
    const Answers answers = run_answers(function, learner, learner_seed, file);
    const Sheet sheet(function, learner_seed);
    const Verdict verdict = judge(sheet, answers.outcomes);
    const bool passed = verdict.kind == Verdict::Kind::Passed;
    const bool started = verdict.kind != Verdict::Kind::NotStarted;
    const char* const mark = passed ? "✔" : started ? "✘" : "·";
    const char* const paint = passed ? "32" : started ? "31" : "2";
    std::string text = fmt::format("  {} {}  {}\n", colored(paint, mark, color),
                                   colored("1", fmt::format("{:<20}", function.name), color),
                                   colored(paint, headline(verdict.kind), color));
    const std::string cause = passed ? "" : called_by(function.name, source, wrong);
    if (cause.empty())
      text += explain(sheet, answers.outcomes, verdict, exercise.name, color);
    else
      text += fmt::format("    It calls {}, which is not right yet: that one first.\n", cause);
    if (!passed) text += printed_text(answers.printed);
    std::fputs((text + (started ? "\n" : "")).c_str(), stdout);
    std::fflush(stdout);
    record += fmt::format("{}\t{}\n", function.name, headline(verdict.kind));
    if (!passed) wrong.push_back(function.name);
    all &= passed;
  }
  if (!results.empty()) std::ofstream(results) << record;
  return all ? 0 : 1;
}

}  // namespace

int grade(int argc, char** argv) {
  attn::set_thread_count(1);
  const Exercise exercise = coach::exercise();
  std::string file = "my/" + exercise.name + ".hpp", results;
  std::vector<std::string> answer;
  bool color = false, check = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--file" && i + 1 < argc)
      file = argv[++i];
    else if (option == "--results" && i + 1 < argc)
      results = argv[++i];
    else if (option == "--answer" && i + 3 < argc)
      answer.assign(argv + i + 1, argv + i + 4), i += 3;
    else if (option == "--color")
      color = true;
    else if (option == "--self-check")
      check = true;
    else
      return fmt::print(stderr, "grader: unknown option {}\n", option), 2;
  }
  if (check) return self_check(exercise);
  if (answer.empty()) return grade_all(exercise, file, results, color);
  for (const Graded& function : exercise.functions)
    if (function.name == answer[0])
      write_answers(function, std::stoi(answer[1]), std::stoull(answer[2]), file);
  return 0;
}

}  // namespace coach
