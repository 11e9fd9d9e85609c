#include "lessons/coach/run_answers.hpp"

#include <dlfcn.h>     // dlsym
#include <execinfo.h>  // backtrace
#include <fmt/format.h>
#include <poll.h>                             // poll
#include <sanitizer/common_interface_defs.h>  // __sanitizer_symbolize_pc
#include <signal.h>                           // signal, kill
#include <sys/resource.h>                     // setrlimit
#include <sys/wait.h>                         // waitpid
#include <unistd.h>                           // fork, execv, pipe

#include <algorithm>  // min
#include <chrono>     // steady_clock
#include <cstring>    // memcpy
#include <regex>      // regex_search

#include "core/error.hpp"

namespace {

// Where the last exception was thrown from. See Note [Catching the throw].
void* thrown_from[48];
int thrown_depth = 0;

}  // namespace

// Note [Catching the throw]: an exception tells what went wrong but not where in the learner's file, and when
// it is caught the stack is gone. So we stand in for the runtime's throw, write the stack down and pass the
// call on.
using Throw = void(void* exception, void* type, void (*destroy)(void*));
extern "C" Throw note_throw __asm__("__cxa_throw");
extern "C" void note_throw(void* exception, void* type, void (*destroy)(void*)) {
  static const auto original = reinterpret_cast<Throw*>(dlsym(RTLD_NEXT, "__cxa_throw"));
  thrown_depth = backtrace(thrown_from, 48);
  original(exception, type, destroy);
  std::abort();
}

namespace coach {
namespace {

constexpr int answer_pipe = 3;
constexpr int processor_seconds = 1, wall_seconds = 20;
constexpr std::size_t most_printed = 1 << 20;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "my/06_self_attention.hpp:23" for the innermost frame of `stack` that lies in `file`.
std::string place_in(const std::string& file, void* const* stack, int depth) {
  for (int i = 0; i < depth; ++i) {
    char text[1024] = "";
    __sanitizer_symbolize_pc(static_cast<char*>(stack[i]) - 1, "%s:%l", text, sizeof text);
    const std::string frame = text;
    const std::size_t colon = frame.rfind(':');
    if (colon != std::string::npos && base_name(frame.substr(0, colon)) == base_name(file))
      return file + frame.substr(colon);
  }
  return "";
}

// The same from a report that a sanitizer printed.
std::string place_in(const std::string& file, const std::string& report) {
  const std::string name = base_name(file) + ":";
  const std::size_t at = report.find("/" + name);
  if (at == std::string::npos) return "";
  const std::size_t digits = at + 1 + name.size();
  return file + ":" + report.substr(digits, report.find_first_not_of("0123456789", digits) - digits);
}

void on_time_out(int) {
  alarm(1);  // in case the trace waits for a lock that the interrupted code holds
  __sanitizer_print_stack_trace();
  raise(SIGKILL);
}

void put(std::string& out, std::uint64_t number) { out.append(reinterpret_cast<const char*>(&number), 8); }
std::uint64_t get(const char*& in) {
  std::uint64_t number;
  std::memcpy(&number, in, 8);
  in += 8;
  return number;
}

// What the function itself wrote: all up to the first line that comes from a sanitizer or the standard
// library.
std::string own_output(const std::string& printed) {
  std::size_t start = 0;
  while (start < printed.size()) {
    const std::size_t end = std::min(printed.find('\n', start), printed.size() - 1) + 1;
    const std::string line = printed.substr(start, end - start);
    for (const char* mark : {"AddressSanitizer", ": runtime error: ", ": Assertion '", "=====", "    #0 0x"})
      if (line.find(mark) != std::string::npos) return printed.substr(0, start);
    start = end;
  }
  return printed;
}

// In the words of somebody who sits beside the learner.
Outcome crash(const std::string& report, int status, const std::string& file) {
  Outcome outcome{.kind = Outcome::Kind::Crashed, .place = place_in(file, report)};
  const auto has = [&](const char* words) { return report.find(words) != std::string::npos; };
  const bool writes = has("WRITE of size");
  const auto access = [&](const std::string& where) {
    return fmt::format("{} {}", writes ? "writing" : "reading", where);
  };
  std::smatch match;
  if (has("hard rss limit exhausted") || has("allocation-size-too-big") || has("out-of-memory")) {
    outcome.kind = Outcome::Kind::RanAway;
    outcome.message =
        "It asked for more memory than an answer can need: does a loop never end, or a size go wrong?";
  } else if (has("heap-buffer-overflow")) {
    const bool before = has("bytes to the left of") || has("bytes before");
    outcome.message = "heap-buffer-overflow: " +
                      access(before ? "before the beginning of an array" : "past the end of an array");
  } else if (has("stack-buffer-overflow") || has("global-buffer-overflow") || has("container-overflow")) {
    outcome.message = "buffer-overflow: " + access("outside of an array");
  } else if (has("heap-use-after-free") || has("stack-use-after-scope") || has("stack-use-after-return")) {
    outcome.message = "use-after-free: " + access("memory that no longer exists");
  } else if (has("stack-overflow")) {
    outcome.message = "stack-overflow: a function that calls itself without end";
  } else if (has("Assertion '__n < this->size()'")) {
    outcome.message = "out of range: an index at or past the end of a std::vector or std::string";
  } else if (std::regex_search(report, match, std::regex("Assertion '([^\n]*)' failed"))) {
    outcome.message = fmt::format("the standard library insists on {}", match[1].str());
  } else if (std::regex_search(report, match, std::regex("runtime error: ([^\n]*)"))) {
    outcome.message = match[1].str();
    const std::size_t start = report.rfind('\n', static_cast<std::size_t>(match.position())) + 1;
    const std::string here = place_in(file, "/" + report.substr(start));
    if (!here.empty()) outcome.place = here;
  } else if (has("SEGV") || has("BUS")) {
    outcome.message = has("zero page") ? "a null pointer was followed (an empty Tensor has no elements)"
                                       : access("memory that is not ours (segmentation fault)");
  } else if (WIFSIGNALED(status)) {
    outcome.message = fmt::format("the process was ended by signal {}", WTERMSIG(status));
  } else {
    outcome.message = fmt::format("the process ended early, with exit code {}", WEXITSTATUS(status));
  }
  return outcome;
}

}  // namespace

namespace detail {

Outcome outcome_of(const std::function<void(Outcome&)>& call) {
  Outcome outcome;
  thrown_depth = 0;
  try {
    call(outcome);
    return outcome;
  } catch (const exercise::NotStarted&) {
    outcome = {.kind = Outcome::Kind::NotStarted};
  } catch (const std::exception& error) {
    outcome = {.kind = Outcome::Kind::Threw, .message = error.what()};
  } catch (...) {
    outcome = {.kind = Outcome::Kind::Threw, .message = "an exception that is no std::exception"};
  }
  return outcome;
}

bool same_bits(const Value& a, const Value& b) {
  std::string left, right;
  serialize(left, a);
  serialize(right, b);
  return left == right;
}

}  // namespace detail

void write_answers(const Graded& function, int candidate, std::uint64_t seed, const std::string& file) {
  signal(SIGXCPU, on_time_out);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed before a crash is not lost
  for (const Input& input : function.inputs(seed)) {
    Outcome outcome =
        candidate == learner ? input.learner() : input.mistakes.at(static_cast<std::size_t>(candidate))();
    if (outcome.kind == Outcome::Kind::Threw) outcome.place = place_in(file, thrown_from, thrown_depth);
    std::string body, frame;
    put(body, static_cast<std::uint64_t>(outcome.kind));
    put(body, static_cast<std::uint64_t>(outcome.changed + 1));
    put(body, outcome.message.size());
    put(body, outcome.place.size());
    body += outcome.message + outcome.place;
    serialize(body, outcome.value);
    put(frame, body.size());
    frame += body;
    for (std::size_t sent = 0; sent < frame.size();) {
      const ssize_t count = write(answer_pipe, frame.data() + sent, frame.size() - sent);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
}

namespace {

std::vector<Outcome> parse(const std::string& sent) {
  std::vector<Outcome> outcomes;
  for (const char* in = sent.data(), *end = in + sent.size(); end - in >= 8;) {
    const std::uint64_t size = get(in);
    if (static_cast<std::uint64_t>(end - in) < size) break;
    const char* next = in + size;
    Outcome outcome;
    outcome.kind = static_cast<Outcome::Kind>(get(in));
    outcome.changed = static_cast<int>(get(in)) - 1;
    const std::uint64_t message = get(in), place = get(in);
    outcome.message.assign(in, message);
    outcome.place.assign(in + message, place);
    in += message + place;
    outcome.value = deserialize(in, next);
    outcomes.push_back(std::move(outcome));
    in = next;
  }
  return outcomes;
}

}  // namespace

Answers run_answers(const Graded& function, int candidate, std::uint64_t seed, const std::string& file) {
  int answers[2], prints[2];
  if (pipe(answers) != 0 || pipe(prints) != 0) fail("coach: no pipe could be made");
  const std::string number = std::to_string(candidate), seed_text = std::to_string(seed);
  const pid_t child = fork();
  if (child < 0) fail("coach: no process could be started");
  if (child == 0) {
    const rlimit limit{processor_seconds, processor_seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
    dup2(prints[1], 1);
    dup2(prints[1], 2);
    for (const int end : {prints[0], prints[1], answers[0]})
      if (end != answer_pipe) close(end);
    if (answers[1] != answer_pipe) {
      dup2(answers[1], answer_pipe);
      close(answers[1]);
    }
    const char* const arguments[] = {"grader",          "--answer", function.name.c_str(), number.c_str(),
                                     seed_text.c_str(), "--file",   file.c_str(),          nullptr};
    execv("/proc/self/exe", const_cast<char* const*>(arguments));
    _exit(127);
  }
  close(answers[1]);
  close(prints[1]);

  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(wall_seconds);
  std::string sent, printed;
  bool late = false;
  pollfd ends[] = {{answers[0], POLLIN, 0}, {prints[0], POLLIN, 0}};
  for (int open = 2; open > 0;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 && !std::exchange(late, true)) kill(child, SIGKILL);
    if (poll(ends, 2, late ? 1000 : static_cast<int>(left)) == 0 && late) break;
    for (pollfd& end : ends) {
      if (end.fd < 0 || !end.revents) continue;
      char block[4096];
      const ssize_t count = read(end.fd, block, sizeof block);
      std::string& text = end.fd == answers[0] ? sent : printed;
      if (count > 0 && (&text == &sent || text.size() < most_printed))
        text.append(block, static_cast<std::size_t>(count));
      if (count <= 0) {
        close(std::exchange(end.fd, -1));
        --open;
      }
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (const pollfd& end : ends)
    if (end.fd >= 0) close(end.fd);

  Answers result{parse(sent), own_output(printed)};
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const bool killed = signal == SIGKILL || signal == SIGXCPU || signal == SIGALRM;
  if (killed && printed.find("ERROR: AddressSanitizer") == std::string::npos)
    result.outcomes.push_back({.kind = Outcome::Kind::RanAway,
                               .message = fmt::format("Stopped after {} s: a loop that never ends?",
                                                      late ? wall_seconds : processor_seconds),
                               .place = place_in(file, printed)});
  else if (status != 0)
    result.outcomes.push_back(crash(printed, status, file));
  if (result.outcomes.empty())
    result.outcomes.push_back({.kind = Outcome::Kind::Crashed, .message = "it gave no answer at all"});
  return result;
}

}  // namespace coach
