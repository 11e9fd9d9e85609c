// The command line: what is written reaches its target, and what makes no sense gets one line.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <fcntl.h>     // open
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // close, fork, _exit

#include <cstdio>      // fflush
#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

#include "lessons/support/standard_options.hpp"

using namespace attn;

namespace {

using Words = std::vector<std::string>;

struct Example {
  Index steps = 10;
  double rate = 0.5;
  std::string name = "adam";
  std::filesystem::path out = "out";
  bool fast = false;
  Options options{"example [options]", "An example."};

  Example() {
    options.add("--steps", &steps, {.value = "N", .help = "how many", .at_least = 1, .at_most = 256});
    options.add("--rate", &rate, {.value = "R", .help = "how fast"});
    options.add("--name", &name, {.value = "NAME", .help = "which"});
    options.add("--out", &out, {.value = "DIR", .help = "where"});
    options.add("--fast", &fast, {.help = "small sizes"});
  }
};

std::string complaint_about(const Words& words) {
  try {
    Example().options.parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("options are written to their targets, with a blank or an equals sign") {
  Example example;
  CHECK(example.options.parse({"one", "--steps", "7", "--rate=-0", "--name=a=b", "two", "--fast"}, 2) ==
        Words{"one", "two"});
  CHECK(example.steps == 7);
  CHECK(example.rate == 0);
  CHECK(example.name == "a=b");
  CHECK(example.fast);
  CHECK(example.out == "out");
  CHECK(example.options.given() == Words{"--steps", "--rate", "--name", "--fast"});
}

TEST_CASE("a bad option is refused with what would be right") {
  CHECK(complaint_about({"--stesp", "7"}) == "there is no option '--stesp'; --help lists them");
  CHECK(complaint_about({"-x"}) == "there is no option '-x'; --help lists them");
  CHECK(complaint_about({"--steps"}) == "--steps needs a value: --steps N");
  CHECK(complaint_about({"--out="}) == "--out needs a value: --out DIR");
  CHECK(complaint_about({"--fast=1"}) == "--fast takes no value");
  CHECK(complaint_about({"more"}) == "unexpected 'more'; --help lists what there is");
  CHECK(complaint_about({"--steps", "7.5"}) == "--steps: '7.5' is not a whole number");
  CHECK(complaint_about({"--steps", "7x"}) == "--steps: '7x' is not a whole number");
  CHECK(complaint_about({"--rate", "fast"}) == "--rate: 'fast' is not a number");
  CHECK(complaint_about({"--rate", "nan"}) == "--rate: 'nan' is not a number");
}

TEST_CASE("a number out of bounds is refused, and the bound is said") {
  CHECK(complaint_about({"--steps", "1"}) == "");
  CHECK(complaint_about({"--steps", "256"}) == "");
  CHECK(complaint_about({"--steps", "0"}) == "--steps: 0 is too small: it must be at least 1");
  CHECK(complaint_about({"--steps", "257"}) == "--steps: 257 is too large: it must be at most 256");
  const std::string digits(30, '9');
  CHECK(complaint_about({"--steps", digits}) ==
        "--steps: " + digits + " is too large: it must be at most 256");
  CHECK(complaint_about({"--steps", "-" + digits}) ==
        "--steps: -" + digits + " is too small: it must be at least 1");
  CHECK(complaint_about({"--rate", "-1"}) == "--rate: -1 is too small: it must be at least 0");
  CHECK(complaint_about({"--rate", "inf"}) ==
        "--rate: inf is too large: it must be at most 1000000000000000");
}

TEST_CASE("text that is not UTF-8 is refused before it reaches a file") {
  CHECK(complaint_about({"--name", "caf\xe9"}) == "--name: the value is not UTF-8 text");
  CHECK(complaint_about({"--name", "café"}) == "");
}

TEST_CASE("an error ends a program with exit code 2") {
  CHECK(run_program("example", [] { return 7; }) == 7);
  CHECK(run_program("example", []() -> int { throw UsageError("expected by the test"); }) == 2);
  CHECK(run_program("example", []() -> int { throw std::bad_alloc(); }) == 2);
}

TEST_CASE("output that cannot be written is an error") {
  // In a child, whose standard output is a disk that is always full; or is not there at all.
  const auto code_of = [](const char* device, const std::function<int()>& body) {
    std::fflush(stdout);  // or the child would have it, too
    const pid_t child = fork();
    if (child == 0) {
      ::close(STDOUT_FILENO);
      if (device) ::open(device, O_WRONLY);
      _exit(run_program("expected by the test", body));
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const auto prints = [] {
    fmt::print("a line\n");
    return 0;
  };
  const auto asks_for_help = [] {
    Example().options.parse({"--help"});
    return 0;
  };
  CHECK(code_of("/dev/null", prints) == 0);
  CHECK(code_of("/dev/full", prints) == 2);
  CHECK(code_of(nullptr, prints) == 2);
  CHECK(code_of("/dev/full", asks_for_help) == 2);
  CHECK(code_of("/dev/full", [] { return 0; }) == 0);
  CHECK(code_of(nullptr, [] { return ::open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 1; }) == 0);
}

TEST_CASE("the standard options are read together with a program's own") {
  StandardOptions standard;
  double rate = 1;
  Options options("example", "");
  options.add("--rate", &rate, {.value = "R", .help = "how fast"});
  const int threads = thread_count();
  standard.parse(options, {"--seed", "3", "--rate", "2", "--threads", "1", "--out", "/tmp/x", "--fast"});
  CHECK(standard.seed == 3);
  CHECK(standard.out == "/tmp/x");
  CHECK(standard.fast);
  CHECK(rate == 2);
  CHECK(thread_count() == 1);
  set_thread_count(threads);
}
