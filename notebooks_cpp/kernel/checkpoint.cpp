#include "notebooks_cpp/kernel/checkpoint.hpp"

#include <cxxabi.h>        // __cxa_demangle
#include <fmt/core.h>      // format, print
#include <sys/prctl.h>     // prctl
#include <sys/resource.h>  // setrlimit
#include <sys/wait.h>      // waitpid
#include <unistd.h>        // fork, getpid, _exit

#include <cerrno>     // errno
#include <csignal>    // signal
#include <cstdio>     // fflush, setvbuf
#include <cstdlib>    // free, getenv
#include <cstring>    // strerror, strsignal
#include <exception>  // current_exception, set_terminate
#include <iostream>   // cout, cerr
#include <sstream>    // istringstream
#include <string>     // string
#include <vector>     // vector

#include "notebooks_cpp/notebook.hpp"

namespace attn::kernel {
namespace {

void say(const std::string& words) {
  std::cout.flush();
  for (std::FILE* stream : {stdout, stderr}) {
    fmt::print(stream, "\x1e{}\n", words);
    std::fflush(stream);
  }
}

std::string type_name(const std::type_info& type) {
  char* readable = abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr);
  const std::string name = readable ? readable : type.name();
  std::free(readable);
  return name;
}

// clang-repl catches no exceptions: what a cell does not catch ends up here.
[[noreturn]] void report_uncaught() {
  if (const std::exception_ptr uncaught = std::current_exception()) {
    say("threw " + type_name(*abi::__cxa_current_exception_type()));
    try {
      std::rethrow_exception(uncaught);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
    } catch (...) {
      fmt::print(stderr, "not a std::exception\n");
    }
  } else {
    say("threw std::terminate");
  }
  std::fflush(stderr);
  _exit(1);
}

std::string reason_of(int status) {
  if (WIFSIGNALED(status)) return strsignal(WTERMSIG(status));
  return fmt::format("the cell ended the program, with exit code {}", WEXITSTATUS(status));
}

// No process stays when the kernel, or the process that waits for it, is gone.
void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace

void start() {
  end_with_parent();
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  std::set_terminate(report_uncaught);
  // A crash is reported in one line: no stack trace of LLVM's, no core file.
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(number, SIG_DFL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);

  const char* options = std::getenv("ATTN_NOTEBOOK_ARGS");
  std::istringstream stream(options ? options : "");
  std::vector<std::string> words = {"live"};
  for (std::string word; stream >> word;) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  if (notebook::run(int(argv.size()), argv.data(), "live", [] {}) != 0) _exit(2);
  say("started");
}

void checkpoint() {
  const pid_t copy = fork();
  if (copy == 0) {
    end_with_parent();
    return say(fmt::format("ready {}", getpid()));
  }
  if (copy < 0) return say(fmt::format("back cannot start a process for the cell: {}", std::strerror(errno)));
  int status = 0;
  while (waitpid(copy, &status, 0) < 0 && errno == EINTR) continue;
  say("back " + reason_of(status));
}

bool running() {
  say("running");
  return true;
}
void passed() { say("passed"); }

}  // namespace attn::kernel
