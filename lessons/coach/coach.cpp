// build/coach: the exercises from the learner's side. `make start`, `make check` and so on only call it.
#include <fmt/format.h>
#include <poll.h>         // poll
#include <signal.h>       // sigaction
#include <sys/inotify.h>  // inotify_add_watch
#include <unistd.h>       // close, read

#include <cstdio>    // fputs
#include <iostream>  // cin, getline
#include <sstream>   // istringstream

#include "core/error.hpp"
#include "core/text.hpp"  // colored, in_color, on_terminal, read_file
#include "lessons/coach/check_course.hpp"
#include "lessons/coach/compile.hpp"
#include "lessons/coach/course.hpp"
#include "lessons/support/options.hpp"

namespace coach {
namespace {

namespace fs = std::filesystem;
using attn::colored;

constexpr int passed_code = 0, not_yet_code = 1, interrupted_code = 128 + SIGINT;
volatile sig_atomic_t interrupted = 0;  // by Ctrl-C, which reaches the compiler and the grader as well

constexpr const char* commands =
    "  start              copy the exercises to my/, leaving alone what is there\n"
    "  check [NN]         grade your answer of lesson NN; without a number, the next unfinished one\n"
    "  watch [NN]         grade whenever you save a file in my/ (Ctrl-C ends it)\n"
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

const Lesson* next_lesson(const std::vector<Lesson>& lessons, const Progress& progress) {
  for (const Lesson& lesson : lessons)
    if (!progress.done(lesson)) return &lesson;
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
  const Lesson* next = next_lesson(lessons, progress);
  fmt::print("{} make solution-{} shows how we did it. {}\n",
             colored("32;1", fmt::format("Lesson {} is done.", lesson.number)), lesson.number,
             next ? fmt::format("Next: lesson {}, {} (make {}), then make check-{}.", next->number,
                                next->title, next->number, next->number)
                  : "That was the last one: the whole course is yours.");
}

int check(const std::vector<Lesson>& lessons, const Lesson& lesson) {
  if (start(lesson)) fmt::print("{} is new: the exercise, for you to fill in.\n", lesson.answer().string());
  fmt::print("{}\n\n", colored("1", fmt::format("Lesson {}, {}: {}", lesson.number, lesson.title,
                                                lesson.answer().string())));
  Progress progress;
  const Compiled compiled = compile(lesson, lesson.answer());
  if (!compiled.good) {
    fmt::print("  {} {}\n{}\n", colored("31", "✘"), colored("31", "it does not compile"), compiled.said);
    return not_yet_code;
  }
  const std::string results = compiled.program + ".results";
  fs::remove(results);
  const Run graded = run(fmt::format("{} --file {} --results {}{}", compiled.program,
                                     lesson.answer().string(), results, attn::in_color() ? " --color" : ""),
                         false);
  if (graded.code == interrupted_code) {
    interrupted = 1;
    return interrupted_code;
  }
  if (!fs::exists(results)) attn::fail("the grader ended early (exit code {})", graded.code);
  std::istringstream lines(attn::read_file(results));
  for (std::string name, verdict; std::getline(lines, name, '\t') && std::getline(lines, verdict);)
    progress.of(lesson, name).verdict = verdict;
  progress.save();
  const bool passed = graded.code == 0;
  if (!passed && !compiled.said.empty()) fmt::print("  The compiler remarks:\n{}\n", compiled.said);
  advise(lessons, lesson, progress);
  return passed ? passed_code : not_yet_code;
}

int check_next(const std::vector<Lesson>& lessons) {
  const Progress progress;
  const Lesson* lesson = next_lesson(lessons, progress);
  if (lesson) return check(lessons, *lesson);
  fmt::print("Every exercise is done. make check-NN grades one again.\n");
  return passed_code;
}

int start_all(const std::vector<Lesson>& lessons) {
  int made = 0;
  for (const Lesson& lesson : lessons) made += start(lesson);
  const Progress progress;
  const Lesson* next = next_lesson(lessons, progress);
  fmt::print("{} exercises copied to my/, {} were there already and are untouched.\n", made,
             static_cast<int>(lessons.size()) - made);
  if (next)
    fmt::print(
        "Open {} and replace the first todo(); then make check, or make watch to grade on every save.\n",
        next->answer().string());
  return passed_code;
}

int hint(const Lesson& lesson, const std::string& name) {
  Progress progress;
  const AskedFunction* function = next_function(lesson, progress);
  if (!name.empty()) {
    function = nullptr;
    for (const AskedFunction& asked : lesson.functions)
      if (asked.name == name) function = &asked;
    if (!function) attn::fail("lesson {} has no function \"{}\"; see build/coach list", lesson.number, name);
  }
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

// Waits until something in my/ is saved, or until Ctrl-C. Editors write in place or rename a new file over
// the old.
class Watcher {
 public:
  explicit Watcher(bool poll_only) {
    if (poll_only) return;
    queue_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (queue_ >= 0 && inotify_add_watch(queue_, "my", IN_CLOSE_WRITE | IN_MOVED_TO) >= 0) return;
    if (queue_ >= 0) close(queue_);
    queue_ = -1;
  }
  ~Watcher() {
    if (queue_ >= 0) close(queue_);
  }
  bool asks_the_system() const { return queue_ >= 0; }

  // A change that inotify misses (a folder shared by network) is found by the times all the same.
  const Lesson* wait(const std::vector<Lesson>& lessons) {
    while (!interrupted) {
      pollfd ready{queue_, POLLIN, 0};
      if (poll(&ready, queue_ >= 0 ? 1 : 0, queue_ >= 0 ? 2000 : 500) > 0) {
        char events[4096];
        while (read(queue_, events, sizeof events) > 0) continue;
      }
      if (const Lesson* changed = look(lessons)) return changed;
    }
    return nullptr;
  }

  const Lesson* look(const std::vector<Lesson>& lessons) {
    const Lesson* changed = nullptr;
    for (const Lesson& lesson : lessons) {
      std::error_code error;
      const auto time = fs::last_write_time(lesson.answer(), error);
      if (error || times_[lesson.name] == time) continue;
      times_[lesson.name] = time;
      changed = &lesson;
    }
    return changed;
  }

 private:
  int queue_ = -1;
  std::map<std::string, fs::file_time_type> times_;
};

int watch(const std::vector<Lesson>& lessons, const Lesson* lesson, bool poll_only) {
  struct sigaction stop = {};
  stop.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &stop, nullptr);
  for (const Lesson& each : lessons) start(each);
  Watcher watcher(poll_only);
  watcher.look(lessons);
  if (!lesson) lesson = next_lesson(lessons, Progress());
  if (!lesson) lesson = &lessons.back();
  while (lesson && !interrupted) {
    if (attn::in_color()) fmt::print("\033[2J\033[H");
    check(lessons, *lesson);
    if (interrupted) break;
    fmt::print("{}\n", colored("2", fmt::format("Watching my/{}. Save to grade again; Ctrl-C ends.",
                                                watcher.asks_the_system() ? "" : " (twice a second)")));
    std::fflush(stdout);
    lesson = watcher.wait(lessons);
  }
  fmt::print("\n");
  return passed_code;
}

int command(const std::vector<std::string>& arguments) {
  bool poll_only = false;
  attn::Options options("build/coach COMMAND [NN] [options]",
                        "The exercises of the course. The same through make: make check-06, make hint-06, …");
  options.add("--poll", &poll_only, {.help = "watch: look twice a second instead of asking the system"});
  options.add_text(commands);
  const std::vector<std::string> words = options.parse(arguments, 3);
  if (words.empty()) attn::fail("which command? build/coach --help lists them");
  const std::string verb = words[0];
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
  if (verb == "check") return needs(0, 1), count ? check(lessons, named()) : check_next(lessons);
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
  return attn::run_program("coach", [&] { return coach::command({argv + 1, argv + argc}); });
}
