// build/coach: the exercises from the learner's side. `make start`, `make check` and so on only call it.
#include <fmt/core.h>
#include <signal.h>  // sigaction

#include <cstdio>    // fputs
#include <iostream>  // cin, getline
#include <random>    // random_device
#include <sstream>   // istringstream

#include "core/error.hpp"
#include "core/text.hpp"  // colored, in_color, on_terminal, read_file
#include "lessons/coach/check_course.hpp"
#include "lessons/coach/compile.hpp"
#include "lessons/coach/course.hpp"
#include "lessons/coach/watcher.hpp"
#include "lessons/support/options.hpp"

namespace coach {
namespace {

namespace fs = std::filesystem;
using attn::colored;

constexpr int passed_code = 0, not_yet_code = 1, interrupted_code = 128 + SIGINT;
volatile sig_atomic_t interrupted = 0;  // by Ctrl-C, which reaches the grader as well

constexpr const char* commands =
    "  start              copy the exercises to my/, leaving alone what is there\n"
    "  check [NN]         grade your answer of lesson NN; without a number, the next unfinished one\n"
    "    NAME             only that function\n"
    "  watch [NN]         grade whenever you save a file in my/, with a key for each of next, hint, list, "
    "quit\n"
    "  hint NN [NAME]     the next hint, for the first function that is not done, or for NAME\n"
    "  progress           the whole course, and what is done\n"
    "  solution NN        our answer, once yours has passed; asks before\n"
    "  reset NN           begin lesson NN again; asks first, and keeps a copy of yours\n"
    "  list               the exercises and their functions\n"
    "  check-course       examine the exercises themselves, for authors: run `make check-course`\n"
    "\n"
    "Exit code: 0 passed or done, 1 not yet, 2 a command that makes no sense.";

bool confirmed(const std::string& question) {
  fmt::print("{} [y/N] ", question);
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  if (!attn::on_terminal(stdin)) fmt::print("\n");
  return answer == "y" || answer == "Y" || answer == "yes";
}

// The first that is not done: after lesson 10 comes 11, and what was left out before it comes last.
const Lesson* next_lesson(const std::vector<Lesson>& lessons, const Progress& progress,
                          const Lesson* current = nullptr) {
  const std::size_t first = current ? std::size_t(current - lessons.data()) + 1 : 0;
  for (std::size_t i = 0; i < lessons.size(); ++i)
    if (const Lesson& lesson = lessons[(first + i) % lessons.size()]; !progress.done(lesson)) return &lesson;
  return nullptr;
}

// The first function that is not done, or null.
const AskedFunction* next_function(const Lesson& lesson, const Progress& progress) {
  for (const AskedFunction& function : lesson.functions)
    if (!progress.passed(lesson, function.name)) return &function;
  return nullptr;
}

void advise(const std::vector<Lesson>& lessons, const Lesson& lesson, const Progress& progress) {
  const AskedFunction* function = next_function(lesson, progress);
  if (function) {
    fmt::print("{} of {} functions of lesson {} done. Next: {} in {}; make hint-{} helps.\n",
               progress.passed(lesson), lesson.functions.size(), lesson.number, function->name,
               lesson.answer().string(), lesson.number);
    return;
  }
  const Lesson* next = next_lesson(lessons, progress, &lesson);
  fmt::print("{} make solution-{} shows how we did it. {}\n",
             colored("32;1", fmt::format("Lesson {} is done.", lesson.number)), lesson.number,
             next ? fmt::format("Next: lesson {}, {} (make {}), then make check-{}.", next->number,
                                next->title, next->number, next->number)
                  : "That was the last one: the whole course is yours.");
}

struct CheckOptions {
  std::string only = {};  // one function
  std::string seed = {};  // of the drawn inputs; a fresh one if empty
  bool all = false;       // every failing function in full
};

const AskedFunction& find_function(const Lesson& lesson, const std::string& name) {
  for (const AskedFunction& asked : lesson.functions)
    if (asked.name == name) return asked;
  attn::fail("lesson {} has no function \"{}\"; see build/coach list", lesson.number, name);
}

int check(const std::vector<Lesson>& lessons, const Lesson& lesson, const CheckOptions& options = {}) {
  if (!options.only.empty()) find_function(lesson, options.only);
  if (start(lesson)) fmt::print("{} is new: the exercise, for you to fill in.\n", lesson.answer().string());
  fmt::print("{}\n\n", colored("1", fmt::format("Lesson {}, {}: {}", lesson.number, lesson.title,
                                                lesson.answer().string())));
  const Workshop workshop(lesson);
  const Compiled compiled = compile(lesson, lesson.answer(), workshop);
  if (compiled.interrupted) return interrupted_code;
  if (!compiled.good) {
    fmt::print("  {} {}\n{}\n", colored("31", "✘"), colored("31", "it does not compile"), compiled.said);
    return not_yet_code;
  }
  const Progress before;
  std::string passed_before;
  for (const AskedFunction& function : lesson.functions)
    if (before.passed(lesson, function.name)) passed_before += function.name + ",";
  const std::string seed =
      options.seed.empty() ? std::to_string(std::random_device()() % 1000000) : options.seed;
  const std::string results = workshop.path("results");
  const Run graded = run(fmt::format("{} --program {} --file {} --results {} --seed {}{}{}{}{}",
                                     grader_of(lesson), compiled.program, lesson.answer().string(), results,
                                     seed, options.only.empty() ? "" : " --only " + options.only,
                                     passed_before.empty() ? "" : " --passed " + passed_before,
                                     options.all ? " --all" : "", attn::in_color() ? " --color" : ""),
                         false);
  if (graded.code == interrupted_code || interrupted) {
    interrupted = 1;
    return interrupted_code;
  }
  if (!fs::exists(results)) attn::fail("the grader ended early (exit code {})", graded.code);
  Progress progress;
  std::istringstream lines(attn::read_file(results));
  for (std::string name, word; std::getline(lines, name, '\t') && std::getline(lines, word);)
    progress.of(lesson, name).standing = standing_from(word);
  progress.save();
  const bool passed = graded.code == 0;
  if (!passed && !compiled.said.empty()) fmt::print("  The compiler remarks:\n{}\n", compiled.said);
  advise(lessons, lesson, progress);
  fmt::print(
      "{}\n",
      colored("2", fmt::format("Some inputs were drawn at random: make check-{} SEED={} draws the same.",
                               lesson.number, seed)));
  return passed ? passed_code : not_yet_code;
}

int check_next(const std::vector<Lesson>& lessons, const CheckOptions& options) {
  const Progress progress;
  const Lesson* lesson = next_lesson(lessons, progress);
  if (lesson) return check(lessons, *lesson, options);
  fmt::print("Every exercise is done. make check-NN grades one again.\n");
  return passed_code;
}

int start_all(const std::vector<Lesson>& lessons) {
  int made = 0;
  for (const Lesson& lesson : lessons) made += start(lesson);
  const Progress progress;
  const Lesson* next = next_lesson(lessons, progress);
  fmt::print("{} exercises copied to my/, {} were there already and are untouched.\n", made,
             std::ssize(lessons) - made);
  if (next)
    fmt::print(
        "Open {} and replace the first todo(); then make check, or make watch to grade on every save.\n",
        next->answer().string());
  return passed_code;
}

int hint(const Lesson& lesson, const std::string& name) {
  Progress progress;
  const AskedFunction* function = next_function(lesson, progress);
  if (!name.empty()) function = &find_function(lesson, name);
  if (!function) {
    fmt::print("Lesson {} is done: nothing left to hint at. make solution-{} shows ours.\n", lesson.number,
               lesson.number);
    return passed_code;
  }
  std::size_t& shown = progress.of(lesson, function->name).hints;
  const std::size_t count = function->hints.size();
  const bool all = shown >= count;
  const std::size_t first = all ? 0 : shown;
  if (all) fmt::print("These were all hints for {}; once more:\n\n", function->name);
  for (std::size_t i = first; i < (all ? count : first + 1); ++i)
    fmt::print("{}\n{}\n\n", colored("1", fmt::format("{}, hint {} of {}", function->name, i + 1, count)),
               function->hints[i]);
  if (all) fmt::print("make solution-{} asks whether you are sure, and shows ours.\n", lesson.number);
  if (!all) ++shown;
  progress.save();
  return passed_code;
}

int show_progress(const std::vector<Lesson>& lessons) {
  const Progress progress;
  const Lesson* next = next_lesson(lessons, progress);
  std::size_t done = 0, all = 0;
  for (const Lesson& lesson : lessons) {
    std::string boxes;
    for (const AskedFunction& function : lesson.functions)
      boxes += progress.passed(lesson, function.name) ? colored("32", "■") + " " : colored("2", "□") + " ";
    boxes += std::string(2 * (6 - std::min<std::size_t>(lesson.functions.size(), 6)), ' ');
    const std::size_t passed = progress.passed(lesson);
    done += passed;
    all += lesson.functions.size();
    fmt::print("{} {} {:<16} {} {}{}\n", &lesson == next ? colored("1", "▸") : " ", lesson.number,
               lesson.title, boxes,
               passed == lesson.functions.size() ? colored("32", "done")
                                                 : fmt::format("{} of {}", passed, lesson.functions.size()),
               &lesson == next ? fmt::format("   make check-{}", lesson.number) : "");
  }
  const std::size_t width = 40, filled = all ? done * width / all : 0;
  std::string bar;
  for (std::size_t i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  fmt::print("\n  {} {} of {} functions\n", bar, done, all);
  return passed_code;
}

int show_solution(const Lesson& lesson) {
  const Progress progress;
  if (!progress.done(lesson) &&
      !confirmed(fmt::format("{} of {} functions of lesson {} pass so far. Show our solution all the same?",
                             progress.passed(lesson), lesson.functions.size(), lesson.number)))
    return not_yet_code;
  fmt::print("{}", attn::read_file(lesson.solution()));
  return passed_code;
}

int reset(const Lesson& lesson) {
  if (!fs::exists(lesson.answer())) {
    start(lesson);
    fmt::print("{} is new.\n", lesson.answer().string());
    return passed_code;
  }
  fs::path copy;
  for (int i = 1; copy.empty() || fs::exists(copy); ++i) copy = fmt::format("my/{}.{}.old", lesson.name, i);
  if (!confirmed(fmt::format("Begin lesson {} again? Yours is kept as {}.", lesson.number, copy.string())))
    return not_yet_code;
  fs::rename(lesson.answer(), copy);
  start(lesson);
  Progress progress;
  progress.forget(lesson);
  progress.save();
  fmt::print("{} is the empty exercise again; yours is {}.\n", lesson.answer().string(), copy.string());
  return passed_code;
}

int list(const std::vector<Lesson>& lessons) {
  for (const Lesson& lesson : lessons) {
    std::string names;
    for (const AskedFunction& function : lesson.functions)
      names += (names.empty() ? "" : ", ") + function.name;
    fmt::print("{} {:<16} {}\n", lesson.number, lesson.title, names);
  }
  return passed_code;
}

int watch(const std::vector<Lesson>& lessons, const Lesson* lesson, bool poll_only) {
  for (const Lesson& each : lessons) start(each);
  Watcher watcher(poll_only);
  watcher.look(lessons);
  if (!lesson) lesson = next_lesson(lessons, Progress());
  if (!lesson) lesson = &lessons.back();
  const auto clear = [] {
    if (attn::in_color()) fmt::print("\033[2J\033[H");
  };
  clear();
  check(lessons, *lesson);
  while (!interrupted) {
    fmt::print("{}\n",
               colored("2", fmt::format("Watching my/{}. Save to grade again; n next lesson, h hint, l list, "
                                        "q quit.",
                                        watcher.asks_the_system() ? "" : " (twice a second)")));
    std::fflush(stdout);
    const Event event = watcher.wait(lessons, interrupted);
    if (event.interrupted || event.key == 'q') break;
    const Lesson* next = event.saved;
    if (event.key == 'n') next = next_lesson(lessons, Progress(), lesson);
    if (event.key == 'n' && !next) fmt::print("Every exercise is done.\n");
    if (next) {
      lesson = next;
      clear();
      check(lessons, *lesson);
    } else if (event.key == 'h') {
      hint(*lesson, "");
    } else if (event.key == 'l') {
      show_progress(lessons);
    }
  }
  fmt::print("\n");
  return passed_code;
}

int command(const std::vector<std::string>& arguments) {
  bool poll_only = false;
  CheckOptions options;
  attn::Options standard(
      "build/coach COMMAND [NN] [options]",
      "The exercises of the course. The same through make: make check-06, make hint-06, …");
  standard.add("--seed", &options.seed, {.value = "N", .help = "check: draw the same inputs again"});
  standard.add("--all", &options.all,
               {.help = "check: explain every function that fails, not only the first"});
  standard.add("--poll", &poll_only, {.help = "watch: look twice a second instead of asking the system"});
  standard.add_text(commands);
  const std::vector<std::string> words = standard.parse(arguments, 3);
  if (words.empty()) attn::fail("which command? build/coach --help lists them");
  if (options.seed.find_first_not_of("0123456789") != std::string::npos || options.seed.size() > 18)
    attn::fail("--seed takes a whole number, not \"{}\"", options.seed);
  const std::string verb = words[0];
  if (verb == "check" && words.size() > 2) options.only = words[2];
  const std::size_t count = words.size() - 1;
  const auto needs = [&](std::size_t least, std::size_t most) {
    if (count < least) attn::fail("{} needs the number of a lesson: build/coach {} 06", verb, verb);
    if (count > most) attn::fail("unexpected \"{}\" after {}", words[most + 1], verb);
    if (poll_only && verb != "watch") attn::fail("--poll is for watch only");
  };
  const std::vector<Lesson> lessons = find_lessons();
  const auto named = [&]() -> const Lesson& { return find_lesson(lessons, words[1]); };
  if (lessons.empty()) attn::fail("no lesson has an exercise yet");

  if (verb == "start") return needs(0, 0), start_all(lessons);
  if (verb == "check")
    return needs(0, 2), count ? check(lessons, named(), options) : check_next(lessons, options);
  if (verb == "watch") return needs(0, 1), watch(lessons, count ? &named() : nullptr, poll_only);
  if (verb == "hint") return needs(1, 2), hint(named(), count == 2 ? words[2] : "");
  if (verb == "progress") return needs(0, 0), show_progress(lessons);
  if (verb == "solution") return needs(1, 1), show_solution(named());
  if (verb == "reset") return needs(1, 1), reset(named());
  if (verb == "list") return needs(0, 0), list(lessons);
  if (verb == "check-course") return needs(0, 0), check_course(lessons);
  attn::fail("no command \"{}\"; build/coach --help lists them", verb);
}

}  // namespace
}  // namespace coach

int main(int argc, char** argv) {
  struct sigaction stop = {};
  stop.sa_handler = [](int) { coach::interrupted = 1; };
  sigaction(SIGINT, &stop, nullptr);
  return attn::run_program("coach", [&] { return coach::command({argv + 1, argv + argc}); });
}
