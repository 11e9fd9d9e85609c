#include "lessons/coach/compile.hpp"

#include <fmt/core.h>
#include <signal.h>    // kill
#include <sys/wait.h>  // WEXITSTATUS
#include <unistd.h>    // getpid

#include <cerrno>   // ESRCH
#include <cstdio>   // popen
#include <cstdlib>  // system

#include "core/error.hpp"
#include "lessons/coach/advice.hpp"
#include "lessons/coach/sandbox.hpp"

namespace coach {

namespace fs = std::filesystem;

namespace {

const std::string graded = "build/graded";

constexpr Limits compiler_limits = {.processor_seconds = 30,
                                    .wall_seconds = 90,
                                    .memory_mb = 4096,
                                    .file_mb = 256,
                                    .may_start_processes = true};

std::string excerpt(const std::string& output) {
  constexpr std::size_t most = 1000;
  return output.size() <= most ? output : output.substr(0, most) + " …\n";
}

// Why a compiler that did not finish was stopped; "" if it finished.
std::string stopped(const FinishedRun& ended) {
  const int code = WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : 128 + WTERMSIG(ended.status);
  const auto said = [&](const char* words) { return ended.printed.find(words) != std::string::npos; };
  if (ended.late || code == 128 + SIGXCPU || code == 128 + SIGKILL || said("CPU time limit") ||
      said("Killed"))
    return "    The compiler does not get done with it: does something in your file never end?\n";
  if (code == 128 + SIGXFSZ || said("File size limit") || said("file too large"))
    return "    What the compiler makes of it is far too large: is an array in your file huge?\n";
  if (said("out of memory") || said("virtual memory exhausted") || said("Cannot allocate memory"))
    return "    The compiler runs out of memory: is something in your file huge, or does it never end?\n";
  return "";
}

}  // namespace

Workshop::Workshop(const Lesson& lesson) {
  const fs::path all = graded + "/my";
  fs::create_directories(all);
  // What a check left that was killed: its folder ends with the number of a process that is gone.
  for (const auto& entry : fs::directory_iterator(all)) {
    const pid_t owner = std::atoi(entry.path().extension().string().substr(0, 16).c_str() + 1);
    std::error_code ignored;
    if (owner <= 0 || (kill(owner, 0) != 0 && errno == ESRCH)) fs::remove_all(entry.path(), ignored);
  }
  folder_ = all / fmt::format("{}.{}", lesson.name, getpid());
  fs::create_directories(folder_);
}

Workshop::~Workshop() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

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

std::string grader_of(const Lesson& lesson) { return graded + "/exercise/" + lesson.name; }

Compiled compile(const Lesson& lesson, const std::string& answer, const Workshop& workshop) {
  const std::string test = graded + "/tests/exercises/" + lesson.name + "_test.o";
  if (!fs::exists(test) || !fs::exists(graded + "/libgrading.so") || !fs::exists(grader_of(lesson))) {
    std::printf("Building the grader of lesson %s. The first time takes minutes, because of the library.\n",
                lesson.number.c_str());
    const Run built = run("make -s " + grader_of(lesson), true);
    if (built.code != 0) attn::fail("the grader could not be built:\n{}", built.output);
  }
  const std::string program = workshop.path("answer"), object = program + ".o";
  const auto shell = [](const std::string& command) {
    return run_limited({"/bin/sh", "-c", command}, compiler_limits);
  };
  const FinishedRun compiled = shell(fmt::format(COACH_COMPILE " -DEXERCISE='\"{}\"' -o {}", answer, object));
  if (compiled.interrupted) return {.interrupted = true, .program = "", .said = ""};
  if (!compiled.good()) {
    std::string said = stopped(compiled);
    if (said.empty()) said = first_message(compiled.printed, answer, "error");
    return {.program = "", .said = said.empty() ? excerpt(compiled.printed) : said};
  }
  const FinishedRun linked =
      shell(fmt::format(COACH_LINK " {} {} " COACH_LIBS " -o {}", object, test, program));
  if (linked.interrupted) return {.interrupted = true, .program = "", .said = ""};
  if (!linked.good()) {
    std::string said = missing_function(lesson, answer, linked.printed);
    if (said.empty()) said = stopped(linked);
    return {.program = "", .said = said.empty() ? excerpt(linked.printed) : said};
  }
  return {.good = true, .program = program, .said = first_message(compiled.printed, answer, "warning")};
}

}  // namespace coach
