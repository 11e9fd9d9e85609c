#include "lessons/mine/boundary.hpp"

#include <cxxabi.h>        // __cxa_current_exception_type, __cxa_demangle
#include <dlfcn.h>         // dladdr, dlsym
#include <execinfo.h>      // backtrace
#include <fmt/core.h>      // format
#include <pthread.h>       // pthread_kill, pthread_self
#include <signal.h>        // sigaction
#include <sys/resource.h>  // setrlimit
#include <sys/time.h>      // setitimer
#include <sys/wait.h>      // waitpid
#include <unistd.h>        // fork, pipe, write

#include <algorithm>  // copy
#include <atomic>     // atomic
#include <cstdio>     // snprintf
#include <cstdlib>    // abort, atexit
#include <cstring>    // strrchr
#include <fstream>    // ifstream

namespace {

constexpr int deepest = 64;
void* thrown_from[deepest];
int thrown_depth = 0;

}  // namespace

// As in lessons/coach/answering.cpp, Note [Catching the throw]: when an exception is caught, its stack
// is gone.
using Throw = void(void* exception, void* type, void (*destroy)(void*));
extern "C" __attribute__((visibility("default"))) Throw note_throw __asm__("__cxa_throw");
extern "C" void note_throw(void* exception, void* type, void (*destroy)(void*)) {
  static const auto original = reinterpret_cast<Throw*>(dlsym(RTLD_NEXT, "__cxa_throw"));
  thrown_depth = backtrace(thrown_from, deepest);
  original(exception, type, destroy);
  std::abort();
}

// What the checks of the standard library call (--checked). Its own prints a line and aborts; ours leaves it
// to on_crash to say one sentence.
namespace std {
[[noreturn]] void __glibcxx_assert_fail(const char*, int, const char*, const char*) noexcept { abort(); }
}  // namespace std

namespace attn::mine {
namespace {

std::atomic<const PartInUse*> current = nullptr;
std::atomic<int> ticks = 0;  // tenths of a second that the current call has taken
int most_ticks = 0;
pthread_t caller;          // the thread that calls the parts
double inner_seconds = 0;  // of parts that the current one called

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// Writes "my/07_masking.hpp:42" for the innermost frame of the stack that lies in `file`; "" if none does. It
// asks addr2line, and needs no heap: a signal handler may call it.
void find_place(const char* file, void* const* stack, int depth, char* place, std::size_t size) {
  place[0] = '\0';
  char object[1024] = "", addresses[deepest][24];
  const char* arguments[deepest + 5] = {"addr2line", "-i", "-e", object};
  int count = 4;
  for (int i = 0; i < depth; ++i) {
    Dl_info info;
    if (!dladdr(stack[i], &info) || !info.dli_fname || !std::strstr(info.dli_fname, ".so")) continue;
    if (!std::strstr(info.dli_fname, "build/mine/")) continue;
    if (!object[0]) std::snprintf(object, sizeof object, "%s", info.dli_fname);
    if (std::strcmp(object, info.dli_fname) != 0) continue;
    std::snprintf(addresses[i], sizeof addresses[i], "0x%tx",
                  static_cast<char*>(stack[i]) - 1 - static_cast<char*>(info.dli_fbase));
    arguments[count++] = addresses[i];
  }
  int ends[2];
  if (count == 4 || pipe(ends) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    execvp("addr2line", const_cast<char* const*>(arguments));
    _exit(127);
  }
  close(ends[1]);
  char answer[16384];
  std::size_t length = 0;
  for (ssize_t got;
       length + 1 < sizeof answer && (got = read(ends[0], answer + length, sizeof answer - 1 - length)) > 0;)
    length += std::size_t(got);
  answer[length] = '\0';
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  char* rest = nullptr;
  for (char* line = strtok_r(answer, "\n", &rest); line; line = strtok_r(nullptr, "\n", &rest)) {
    char* colon = std::strrchr(line, ':');
    if (!colon) continue;
    *colon = '\0';
    if (std::strcmp(base_name(line), base_name(file)) == 0 && std::atoi(colon + 1) > 0) {
      std::snprintf(place, size, "%s:%d", file, std::atoi(colon + 1));
      return;
    }
  }
}

// "my/07_masking.hpp:31": where the function begins, or the mistake.
std::string definition(const PartInUse& part) {
  std::ifstream file(part.file);
  int number = 1;
  for (std::string line; std::getline(file, line); ++number)
    if (part.whose == Whose::mistake ? line.starts_with("@@ " + part.mistake + " @@")
                                     : line[0] != '/' && line.find(" " + part.asked.name + "(") != line.npos)
      return fmt::format("{}:{}", part.file, number);
  return "";
}

// The sentence, for a heap that can no longer be trusted: the part's strings are only read.
[[noreturn]] void end_with(const PartInUse& part, const char* what, void* const* stack, int depth) {
  char place[512], text[2048];
  find_place(part.file.c_str(), stack, depth, place, sizeof place);
  const char* whose = part.whose == Whose::mine      ? "your "
                      : part.whose == Whose::mistake ? "the mistaken "
                                                     : "our ";
  const int length =
      std::snprintf(text, sizeof text, "%s: %s%s %s%s%s: make check-%.2s\n", part.asked.part.c_str(), whose,
                    part.asked.name.c_str(), what, place[0] ? " at " : "", place, part.asked.lesson.c_str());
  if (write(2, text, std::size_t(length)) < 0) _exit(3);
  _exit(2);
}

void on_crash(int signal) {
  void* stack[deepest];
  const int depth = backtrace(stack, deepest);
  if (const PartInUse* part = current)
    end_with(*part,
             signal == SIGFPE    ? "divided an integer by 0"
             : signal == SIGABRT ? "broke an assertion or called abort"
                                 : "used memory that is not its own, or called itself without end",
             stack, depth);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// The system may hand the tick to any thread, such as one of the products' that waits; by the time it comes
// to look, the call that it would blame may be over. Only the caller's own thread stands still meanwhile.
void on_tick(int signal) {
  if (!pthread_equal(pthread_self(), caller)) {
    pthread_kill(caller, signal);
    return;
  }
  const PartInUse* part = current;
  if (!part || ++ticks <= most_ticks) return;
  void* stack[deepest];
  const int depth = backtrace(stack, deepest);
  end_with(*part, "does not come to an end", stack, depth);
}

void on_exit_inside() {
  if (const PartInUse* part = current) {
    void* stack[deepest];
    const int depth = backtrace(stack, deepest);
    end_with(*part, "ended the whole program", stack, depth);
  }
}

}  // namespace

std::string PartInUse::title() const {
  const char* owner = whose == Whose::mine ? "your" : whose == Whose::ours ? "our" : "the mistaken";
  return fmt::format("{}: {} {}", asked.part, owner, asked.name);
}

std::string PartInUse::advice() const { return "make check-" + asked.number(); }

void refuse(const PartInUse& part, const std::string& what, const std::string& place) {
  const std::string where = place.empty() ? definition(part) : place;
  throw Fault(
      fmt::format("{} {}{}: {}", part.title(), what, where.empty() ? "" : " at " + where, part.advice()));
}

void refuse_exception(const PartInUse& part) {
  void* stack[deepest];
  const int depth = thrown_depth;
  std::copy(thrown_from, thrown_from + depth, stack);
  const std::type_info* type = abi::__cxa_current_exception_type();
  std::string message;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    message = "asked for more memory than there is";
  } catch (const std::exception& error) {
    message = fmt::format("threw \"{}\"", error.what());
  } catch (...) {
    const bool stub = type && std::strstr(type->name(), "NotStarted");
    message = stub ? "is not started yet" : "threw an exception";
  }
  char place[512];
  find_place(part.file.c_str(), stack, depth, place, sizeof place);
  refuse(part, message, place);
}

void watch_parts(double seconds) {
  most_ticks = int(10 * seconds);
  caller = pthread_self();
  static char other_stack[1 << 16];
  const stack_t stack{.ss_sp = other_stack, .ss_flags = 0, .ss_size = sizeof other_stack};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGVTALRM, &action, nullptr);
  const timeval tenth{.tv_sec = 0, .tv_usec = 100'000};
  const itimerval every_tenth{tenth, tenth};
  setitimer(ITIMER_VIRTUAL, &every_tenth, nullptr);
  rlimit memory{};
  getrlimit(RLIMIT_AS, &memory);
  memory.rlim_cur = std::min<rlim_t>(memory.rlim_max, rlim_t(6) << 30);
  setrlimit(RLIMIT_AS, &memory);
  std::atexit(on_exit_inside);
}

Running::Running(const PartInUse& part)
    : part_(part), before_(current), inner_before_(inner_seconds), ticks_before_(ticks) {
  inner_seconds = 0;
  ticks = 0;
  current = &part;
}

Running::~Running() {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  ++part_.calls;
  part_.seconds += elapsed - inner_seconds;
  inner_seconds = inner_before_ + elapsed;
  // What a part spends in others is its own time, too. (In this order: a tick between the two would blame the
  // part that ends for the time of all before it.)
  current = before_;
  ticks = before_ ? ticks + ticks_before_ : 0;
}

}  // namespace attn::mine
