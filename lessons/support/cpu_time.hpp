// How long a piece of work takes this thread: lessons 06 and 18 compare by it.
#pragma once

#include <algorithm>  // min
#include <ctime>      // clock_gettime
#include <limits>     // infinity

namespace attn {

// Seconds of CPU time, which do not count what others do on the machine; the best of five.
template <class Work>
double seconds_of(const Work& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  };
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round) {
    const double start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

}  // namespace attn
