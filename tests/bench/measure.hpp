// Timing for the benchmarks: contestants run in turn, many rounds in one process, and the best time of each
// counts. On a shared machine a neighbour can only make a run slower, so the best of many is what the code
// can do; and taking turns lets a slow spell hit all contestants alike.
#pragma once

#include <time.h>  // clock_gettime

#include <chrono>      // steady_clock
#include <functional>  // function
#include <vector>      // vector

namespace attn::bench {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The time that the calling thread has run, not counting while another program had its core: the fair clock
// for work on one thread.
inline double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// The best time of one call of each function, over `rounds` turns in which each runs
// for about `slice` seconds.
inline std::vector<double> best_times(const std::vector<std::function<void()>>& functions, int rounds,
                                      double slice, double (*clock)() = seconds) {
  std::vector<double> best;
  std::vector<long> repeats;
  for (const auto& f : functions) {
    f();  // warm: buffers grown, threads started
    const double start = clock();
    f();
    best.push_back(clock() - start);
    repeats.push_back(1 + long(slice / (best.back() + 1e-9)));
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const double start = clock();
      for (long r = 0; r < repeats[i]; ++r) functions[i]();
      const double time = (clock() - start) / double(repeats[i]);
      if (time < best[i]) best[i] = time;
      repeats[i] = 1 + long(slice / (best[i] + 1e-9));
    }
  }
  return best;
}

}  // namespace attn::bench
