// Timing for the benchmarks: contestants run in turn, many rounds in one process, and the best time of each
// counts. On a shared machine a neighbour can only make a run slower, so the best of many is what the code
// can do; and taking turns lets a slow spell hit all contestants alike. A sample during which another program
// took a core from us is measured again, up to twice, and counted: a bench on a busy machine says so. (Long
// ones are not: in half a second every program loses its core once.)
#pragma once

#include <fmt/core.h>      // print
#include <omp.h>           // omp_get_max_threads, omp_get_num_threads, omp_get_thread_num
#include <sys/resource.h>  // getrusage
#include <time.h>          // clock_gettime

#include <algorithm>   // max, min, nth_element
#include <atomic>      // atomic
#include <chrono>      // steady_clock
#include <cstdlib>     // atof
#include <fstream>     // ifstream
#include <functional>  // function
#include <string>      // string
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

// The most memory that this process has had.
inline double resident_peak_mib() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

// How often a core was taken from one of our threads that wanted to go on.
inline long preemptions() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// How long a word takes from one core to another: two threads hand it to and fro. Two threads are as quick as
// this lets them be, and on a shared machine it changes when the system moves them.
inline double handover_seconds() {
  constexpr int turns = 400;
  double best = 1;
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::atomic<int> turn = 0;
    const double start = seconds();
#pragma omp parallel num_threads(2)
    for (int mine = omp_get_thread_num(); mine < turns; mine += omp_get_num_threads()) {
      while (turn.load(std::memory_order_acquire) != mine) {
      }
      turn.store(mine + 1, std::memory_order_release);
    }
    best = std::min(best, (seconds() - start) / turns);
  }
  return best;
}

// Over all measurements of this program.
struct Noise {
  long samples = 0, disturbed = 0;
  double nearest = 1, farthest = 0;  // seconds from core to core
  double spread = 0;                 // the sum of median / best - 1 of all series of samples
  long series = 0;

  void add(std::vector<double> times, double best) {
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    spread += times[times.size() / 2] / best - 1;
    ++series;
  }
  void watch_cores() {
    const double time = handover_seconds();
    nearest = std::min(nearest, time);
    farthest = std::max(farthest, time);
  }
  void print(int threads) const {
    if (samples == 0) return;
    fmt::print(
        "noise {}t: {} of {} samples were disturbed and measured again, medians lie {:.1f}% above the best\n",
        threads, disturbed, samples, 100 * spread / double(series));
    if (farthest > 0)
      fmt::print("noise {}t: a word took {:.0f} to {:.0f} ns from one core to the other\n", threads,
                 1e9 * nearest, 1e9 * farthest);
  }
};
inline Noise noise;

// The best time of one call of each function, over `rounds` turns in which each runs
// for about `slice` seconds.
inline std::vector<double> best_times(const std::vector<std::function<void()>>& functions, int rounds,
                                      double slice, double (*clock)() = seconds) {
  constexpr int most_repeats = 2;
  constexpr double longest = 0.5;  // of a sample that is worth repeating, in seconds
  std::vector<double> best;
  std::vector<std::vector<double>> samples(functions.size());
  if (omp_get_max_threads() > 1) noise.watch_cores();
  for (const auto& f : functions) {
    f();  // warm: buffers grown, threads started
    const double start = clock();
    f();
    best.push_back(clock() - start);
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const long repeats = 1 + long(slice / (best[i] + 1e-9));
      bool disturbed = true;
      for (int attempt = 0; disturbed && attempt <= most_repeats; ++attempt) {
        const long before = preemptions();
        const double start = clock();
        for (long r = 0; r < repeats; ++r) functions[i]();
        const double time = (clock() - start) / double(repeats);
        disturbed = preemptions() != before && time * double(repeats) < longest;
        ++noise.samples;
        noise.disturbed += disturbed;
        samples[i].push_back(time);
        best[i] = std::min(best[i], time);
      }
    }
  }
  for (std::size_t i = 0; i < functions.size() && rounds > 0; ++i) noise.add(samples[i], best[i]);
  return best;
}

// Which cases to run: those whose names hold one of the words, or all. `--list` names them instead.
struct Choice {
  std::vector<std::string> words = {};
  bool list = false;

  bool wants(const std::string& name) const {
    if (list) fmt::print("{}\n", name);
    bool wanted = words.empty();
    for (const std::string& word : words) wanted |= name.find(word) != std::string::npos;
    return wanted && !list;
  }
};

}  // namespace attn::bench
