#include "lessons/coach/crash.hpp"

#include <fmt/core.h>
#include <signal.h>    // SIGKILL
#include <sys/wait.h>  // WIFSIGNALED

#include <algorithm>  // min
#include <sstream>    // istringstream

#include "lessons/coach/answering.hpp"

namespace coach {
namespace {

// "my/06_self_attention.hpp:23": the first line of `file` that a report names.
std::string place_in(const std::string& file, const std::string& report) {
  const std::string name = base_name(file) + ":";
  const std::size_t at = report.find("/" + name);
  if (at == std::string::npos) return "";
  const std::size_t digits = at + 1 + name.size();
  return file + ":" + report.substr(digits, report.find_first_not_of("0123456789", digits) - digits);
}

// What stands between two signs, the first one of each; "" if they are not there.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t found = text.find(before), begin = found + before.size();
  if (found == std::string::npos) return "";
  return text.substr(begin, std::min(text.find(after, begin), text.size()) - begin);
}

// The function that the innermost frame in `file` belongs to: of "#2 0x4711 in exercise::f(int) …" it is f.
std::string function_in(const std::string& file, const std::string& report) {
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("/" + base_name(file) + ":") == std::string::npos) continue;
    const std::string name = between(line, " in ", "(");
    return name.substr(name.rfind(':') + 1);
  }
  return "";
}

struct Cause {
  const char* sign;     // in the report
  const char* message;  // {} is "reading" or "writing"
};
constexpr Cause causes[] = {
    {"heap-buffer-overflow", "{} past the end of an array"},
    {"stack-buffer-overflow", "{} outside of an array"},
    {"global-buffer-overflow", "{} outside of an array"},
    {"container-overflow", "{} outside of an array"},
    {"negative-size-param", "a negative number of elements"},
    {"heap-use-after-free", "{} memory that no longer exists"},
    {"stack-use-after-scope", "{} memory that no longer exists"},
    {"stack-use-after-return", "{} memory that no longer exists"},
    {"double-free", "the same memory is given back twice"},
    {"zero page", "a null pointer was followed (an empty Tensor has no elements)"},
    {"FPE", "an integer was divided by 0"},
    {"ABRT", "std::abort was called"},
    {"SEGV", "{} memory that is not ours (segmentation fault)"},
    {"BUS", "{} memory that is not ours (bus error)"},
};

// What the undefined-behaviour sanitizer says, without compiler's words.
std::string undefined_behaviour(std::string said) {
  const auto has = [&](const char* words) { return said.find(words) != std::string::npos; };
  if (has("signed integer overflow"))
    return said + ". An int holds up to 2147483647: count with Index, which has 64 bits";
  if (has("division by zero")) return "an integer was divided by 0";
  if (has("null pointer")) return "a null pointer was followed (an empty Tensor has no elements)";
  if (has("reached the end of a value-returning function")) return "it ends without returning a value";
  return said;
}

}  // namespace

Outcome crash(const FinishedRun& ended, const std::string& report, const Limits& limits,
              const std::string& file) {
  // The standard library and a sanitizer that has not been told where to report speak last, on stderr.
  constexpr std::size_t tail = 1 << 14;
  const std::size_t skipped = ended.printed.size() - std::min(ended.printed.size(), tail);
  const std::string all = report + ended.printed.substr(skipped);
  Outcome outcome{.kind = Outcome::Kind::crashed, .place = place_in(file, all)};
  const auto has = [&](const char* words) { return all.find(words) != std::string::npos; };
  const int signal = WIFSIGNALED(ended.status) ? WTERMSIG(ended.status) : 0;

  if (has("hard rss limit exhausted") || has("allocation-size-too-big") || has("out-of-memory") ||
      has("calloc-overflow")) {
    outcome.kind = Outcome::Kind::ran_away;
    outcome.message =
        "It asked for more memory than an answer can need: does a loop never end, or a size go wrong?";
    return outcome;
  }
  if (has("AddressSanitizer: stack-overflow")) {
    outcome.kind = Outcome::Kind::ran_away;
    const std::string function = function_in(file, all);
    outcome.message =
        fmt::format("The stack is full: {} calls itself without end, or has a huge local array.",
                    function.empty() ? "a function" : function);
    return outcome;
  }
  if (const std::size_t at = all.find(": runtime error: "); at != std::string::npos) {
    outcome.message = undefined_behaviour(between(all, ": runtime error: ", "\n"));
    const std::size_t start = all.rfind('\n', at) + 1;
    const std::string here = place_in(file, "/" + all.substr(start));
    if (!here.empty()) outcome.place = here;
    return outcome;
  }
  if (has("Assertion '__n < this->size()'")) {
    outcome.message = "an index at or past the end of a std::vector or std::string";
    return outcome;
  }
  if (has("Assertion '")) {
    outcome.message =
        fmt::format("the standard library insists on {}", between(all, "Assertion '", "' failed"));
    return outcome;
  }
  if (has("terminate called")) {
    outcome.message =
        "std::terminate was called: an exception that nobody can catch, as from a noexcept function";
    return outcome;
  }
  if (has("ERROR: AddressSanitizer"))
    for (const Cause& cause : causes)
      if (has(cause.sign)) {
        outcome.message = fmt::format(fmt::runtime(cause.message), has("WRITE") ? "writing" : "reading");
        if (has("bytes to the left of") || has("bytes before"))
          outcome.message = "an index before the beginning of an array";
        return outcome;
      }
  if (ended.late || signal == SIGKILL || signal == SIGXCPU || signal == SIGALRM) {
    outcome.kind = Outcome::Kind::ran_away;
    outcome.message =
        ended.late
            ? fmt::format("Stopped after {} s: does it wait for something?", limits.wall_seconds)
            : fmt::format("Stopped after {} s of work: a loop that never ends?", limits.processor_seconds);
  } else if (signal == SIGXFSZ) {
    outcome.kind = Outcome::Kind::ran_away;
    outcome.message = "It wrote a file without end.";
  } else if (signal) {
    outcome.message = fmt::format("the process was ended by signal {}", signal);
  } else {
    outcome.kind = Outcome::Kind::ended;
    outcome.message =
        fmt::format("Your function ended the whole program (exit code {}) instead of returning.",
                    WEXITSTATUS(ended.status));
  }
  return outcome;
}

std::string own_output(const std::string& printed) {
  std::string out;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    for (const char* mark : {"AddressSanitizer", ": runtime error: ", ": Assertion '", "====="})
      if (const std::size_t at = line.find(mark); at != std::string::npos) {
        // A report, once begun, goes on to the end; the beginning of its line may be the function's own.
        const bool own = at > 0 && line[0] != '=' && line[0] != '/';
        return out + (own && std::string(mark)[0] != ':' ? line.substr(0, at) + "\n" : "");
      }
    if (line.starts_with("terminate called") || line.starts_with("  what():")) continue;
    out += line + "\n";
  }
  return out;
}

}  // namespace coach
