// The watch over the parts of a milestone counts the time of one call. A part is called many times here, for
// a moment each, while ticks of the watch rain on this thread and on another, some of them just as a call
// ends: none may count for a call that came later. Then a part that does not end must be stopped, by either
// thread's ticks. The last line is `N passed, N failed`.
#include <signal.h>    // SIGVTALRM
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // fork

#include <atomic>  // atomic
#include <cstdio>  // printf
#include <thread>  // thread

#include "lessons/mine/boundary.hpp"

using namespace attn;
using namespace attn::mine;

namespace {

const PartInUse product{.asked = {}, .whose = Whose::mine}, outer{.asked = {}, .whose = Whose::mine};

// The exit code of `body` in a process of its own, with half a second for each call.
int exit_code(void body(pthread_t caller)) {
  const pid_t child = fork();
  if (child == 0) {
    watch_parts(0.5);
    body(pthread_self());
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void many_short_calls(pthread_t caller) {
  std::atomic<long> calls = 0;
  std::atomic<bool> done = false;
  std::thread rain([&] {
    for (int tick = 0; tick < 2'000; ++tick) {
      pthread_kill(tick % 2 ? caller : pthread_self(), SIGVTALRM);
      for (const long before = calls; calls < before + 2;)
        std::this_thread::yield();  // one tick for each call
    }
    done = true;
  });
  while (!done) {
    { const Running one(product); }
    const Running around(outer);
    { const Running inside(product); }
    ++calls;
  }
  rain.join();
}

void endless_call(pthread_t) {
  std::thread([] {
    for (;;) pthread_kill(pthread_self(), SIGVTALRM);
  }).detach();
  const Running one(product);
  for (;;) std::this_thread::yield();
}

}  // namespace

int main() {
  std::fflush(stdout);
  const int short_calls = exit_code(many_short_calls), endless = exit_code(endless_call);
  if (short_calls != 0)
    std::printf("FAILED: many short calls ended with code %d instead of 0\n", short_calls);
  if (endless != 2) std::printf("FAILED: an endless call ended with code %d instead of 2\n", endless);
  const int failed = (short_calls != 0) + (endless != 2);
  std::printf("%d passed, %d failed\n", 2 - failed, failed);
  return failed ? 1 : 0;
}
