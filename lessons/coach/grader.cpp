// The grader of one lesson, linked with the empty exercise: nothing of the learner's runs in it. What
// build/coach starts after it has compiled the learner's file:
//
//   grader --program PROGRAM --file my/06_self_attention.hpp [--seed N] [--only FUNCTION] [--all]
//          [--passed scores,attend] [--results FILE] [--color]
//   grader --self-check                                   checks the exercise itself
//
// The same code, linked with the learner's file, is PROGRAM, which only ever answers (answering.hpp).
#include <fcntl.h>  // open
#include <fmt/core.h>
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // fork, pipe, alarm

#include <algorithm>  // find
#include <cstdio>     // fputs
#include <fstream>    // ofstream
#include <sstream>    // istringstream

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"  // colored, read_file
#include "lessons/coach/answering.hpp"
#include "lessons/coach/examine.hpp"
#include "lessons/coach/self_check.hpp"
#include "lessons/coach/source.hpp"
#include "lessons/coach/standing.hpp"
#include "lessons/coach/verdict.hpp"

namespace coach {

using attn::colored;

int grade(int argc, char** argv);

namespace {

using attn::colored;
using Kind = Verdict::Kind;

constexpr unsigned most_seconds = 60;  // of our own work on one function

struct Options {
  Subject subject;
  std::string only, results;
  std::vector<std::string> passed;  // in an earlier check
  bool all = false;                 // every failing function in full, not only the first
  bool color = false;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What is said about one function.
struct Report {
  Standing standing = Standing::wrong;
  bool ran_away = false;
  std::string text;
};

std::string line(const std::string& name, const char* mark, const char* paint, const std::string& words,
                 bool color) {
  return fmt::format("  {} {}  {}\n", colored(paint, mark, color),
                     colored("1", fmt::format("{:<20}", name), color), colored(paint, words, color));
}

Report report(const Exercise& exercise, const Task& task, const Finding& finding, const Source& source,
              const Options& options, bool in_full) {
  const Kind kind = finding.verdict.kind;
  if (kind == Kind::passed) {
    const std::string op = source.calls(task.name, task.library);
    std::string text =
        line(task.name, "✔", "32",
             op.empty() ? headline(kind)
                        : fmt::format("{}, by the library's {}: now with loops", headline(kind), op),
             options.color);
    if (!contains(options.passed, task.name)) text += wrapped(task.notice, 4);
    return {Standing::passed, false, text};
  }
  if (kind == Kind::not_started)
    return {Standing::not_started, false, line(task.name, "·", "2", headline(kind), options.color)};
  if (kind == Kind::not_run)
    return {Standing::wrong, true,
            line(task.name, "·", "2", fmt::format("not run: it calls {}, which does not end", finding.cause),
                 options.color)};
  std::string words = headline(kind);
  if (!in_full) {
    const std::string more = in_short(task, finding);
    if (!more.empty()) words += ": " + more;
  }
  return {Standing::wrong, kind == Kind::ran_away,
          line(task.name, "✘", "31", words, options.color) +
              (in_full ? explain(task, finding, exercise.name, options.color) : "")};
}

// Our own part may fail, too: an oracle on an input that nobody thought of. So each function has a process of
// its own, and the others go on.
Report examine_apart(const Exercise& exercise, const Task& task, const std::string& cause,
                     const Source& source, const Options& options, bool in_full) {
  int ends[2];
  if (pipe(ends) != 0) attn::fail("grader: no pipe could be made");
  const pid_t child = fork();
  if (child < 0) attn::fail("grader: no process could be started");
  if (child == 0) {
    alarm(most_seconds);
    dup2(open("/dev/null", O_WRONLY), 2);  // if we die, the learner is not to see our trace
    Finding finding = examine(task, options.subject);
    if (finding.verdict.kind != Kind::passed && finding.verdict.kind != Kind::not_started)
      finding.cause = cause;
    const Report said = report(exercise, task, finding, source, options, in_full);
    Writer writer;
    writer.number(static_cast<std::uint64_t>(said.standing));
    writer.number(said.ran_away);
    writer.text(said.text);
    for (std::size_t sent = 0; sent < writer.bytes.size();) {
      const ssize_t count = ::write(ends[1], writer.bytes.data() + sent, writer.bytes.size() - sent);
      if (count <= 0) _exit(1);
      sent += std::size_t(count);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char block[4096];
  for (ssize_t count; (count = read(ends[0], block, sizeof block)) > 0;)
    said.append(block, std::size_t(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0)
    return {
        Standing::wrong, false,
        line(task.name, "!", "33", "the grader itself failed here: our fault, not yours", options.color) +
            wrapped(fmt::format("Please report it, with your function and SEED={}.", options.subject.seed),
                    4)};
  Reader reader(said);
  Report out;
  out.standing = static_cast<Standing>(reader.number(static_cast<std::uint64_t>(Standing::passed)));
  out.ran_away = reader.number(1);
  out.text = reader.text();
  return out;
}

int grade_all(const Exercise& exercise, const Options& options) {
  const Source source(attn::read_file(options.subject.file));
  std::string results;
  std::vector<std::string> wrong, runaways;
  bool block = false;
  for (const Task& task : exercise.tasks) {
    if (!options.only.empty() && task.name != options.only) continue;
    const bool in_full = options.all || wrong.empty();
    const std::string runaway = source.calls(task.name, runaways), cause = source.calls(task.name, wrong);
    Finding not_run;
    not_run.verdict.kind = Kind::not_run;
    not_run.cause = runaway;
    const Report said = runaway.empty() ? examine_apart(exercise, task, cause, source, options, in_full)
                                        : report(exercise, task, not_run, source, options, false);
    // A blank line after what takes more than one.
    block = std::count(said.text.begin(), said.text.end(), '\n') > 1;
    std::fputs((said.text + (block ? "\n" : "")).c_str(), stdout);
    std::fflush(stdout);
    results += fmt::format("{}\t{}\n", task.name, word_for(said.standing));
    if (said.standing == Standing::wrong) wrong.push_back(task.name);
    if (said.ran_away) runaways.push_back(task.name);
  }
  if (!block) std::fputs("\n", stdout);
  if (!options.results.empty()) std::ofstream(options.results) << results;
  return results.find("\tnot") == std::string::npos && wrong.empty() ? 0 : 1;
}

}  // namespace

int grade(int argc, char** argv) {
  attn::set_thread_count(1);
  const Exercise exercise = coach::exercise();
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "--answer") answer(exercise, Request::parse(words));
  Options options;
  options.subject = {.program = "", .file = "my/" + exercise.name + ".hpp", .seed = 1};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] {
      if (i + 1 == words.size()) attn::fail("grader: {} needs a value", words[i]);
      return words[++i];
    };
    if (words[i] == "--self-check")
      return self_check(exercise);
    else if (words[i] == "--program")
      options.subject.program = value();
    else if (words[i] == "--file")
      options.subject.file = value();
    else if (words[i] == "--seed")
      options.subject.seed = std::stoull(value());
    else if (words[i] == "--only")
      options.only = value();
    else if (words[i] == "--results")
      options.results = value();
    else if (words[i] == "--passed") {
      std::istringstream names(value());
      for (std::string name; std::getline(names, name, ',');) options.passed.push_back(name);
    } else if (words[i] == "--all")
      options.all = true;
    else if (words[i] == "--color")
      options.color = true;
    else
      return fmt::print(stderr, "grader: unknown option {}\n", words[i]), 2;
  }
  return grade_all(exercise, options);
}

}  // namespace coach
