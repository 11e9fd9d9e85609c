#include "lessons/03_fast_matmul/ladder.hpp"

#include <fmt/core.h>  // format
#include <time.h>      // clock_gettime

#include <algorithm>  // clamp, max, min
#include <cstdlib>    // strtol
#include <fstream>    // ifstream
#include <map>        // map

#include "core/ops.hpp"
#include "core/parallel.hpp"

namespace attn {

namespace {

double now(bool all_cores) {
  timespec time;
  clock_gettime(all_cores && thread_count() > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// Kept for the length of a measurement, so that the work runs on this thread alone.
struct OneThread {
  int before = thread_count();
  OneThread() { set_thread_count(1); }
  ~OneThread() { set_thread_count(before); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

}  // namespace

double seconds_of(bool all_cores, double budget, const std::function<void()>& work,
                  const std::function<void()>& prepare) {
  double best = 1e9, total = 0;
  for (int round = 0; round < 20 && total < budget; ++round) {
    prepare();
    const double start = now(all_cores);
    work();
    const double seconds = now(all_cores) - start;
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

double peak_gflops(const Kernels& kernels) {
  static std::map<int, double> measured;  // by width: once, so that table, ladder and roof show the same peak
  double& peak = measured[kernels.width];
  if (peak == 0) {
    double flop = 0;
    const double seconds = seconds_of(false, 0.1, [&] { flop = kernels.burn(100000); });
    peak = flop / seconds / 1e9;
  }
  return peak;
}

std::vector<MemoryLevel> memory_levels(Index most) {
  std::vector<MemoryLevel> levels;
  Index last = 0;
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";  // Linux
  for (int i = 0; i < 8; ++i) {
    const auto read = [&](const char* what) {
      std::string text;
      std::ifstream(folder + std::to_string(i) + what) >> text;
      return text;
    };
    const Index size = Index(std::strtol(read("/size").c_str(), nullptr, 10)) << 10;  // "512K"
    if (size <= last || read("/type") == "Instruction") continue;
    levels.push_back({fmt::format("L{}", read("/level")), size / 2});
    last = size;
  }
  const Index large = std::clamp<Index>(4 * last, 128 << 20, most);
  if (large > last) levels.push_back({"memory", large});
  return levels;
}

double read_bandwidth(Index bytes, double budget) {
  const OneThread one_thread;
  const Index half = bytes / Index(sizeof(real)) / 2, times = std::max<Index>(1, (1 << 21) / half);
  const Tensor x = full({2 * half}, real(1));
  const double seconds = seconds_of(false, budget, [&] {
    for (Index i = 0; i < times; ++i) kernels().dot(half, x.data(), x.data() + half);
  });
  return double(times * half * 2) * sizeof(real) / seconds / 1e9;
}

Tensor product(Multiply multiply, const Tensor& a, const Tensor& b) {
  Tensor c = zeros({a.size(0), b.size(1)});
  multiply(a.size(0), a.size(1), b.size(1), a.data(), b.data(), c.data());
  return c;
}

double gflops_of(Multiply multiply, Index n, bool all_cores, double budget) {
  const Tensor a = full({n, n}, real(0.5)), b = full({n, n}, real(0.5)), c = zeros({n, n});
  const double seconds =
      seconds_of(all_cores, budget, [&] { multiply(n, n, n, a.data(), b.data(), c.data()); });
  return 2.0 * double(n * n * n) / seconds / 1e9;
}

Ladder::Ladder(Index n, std::uint64_t seed, double budget) : budget_(budget) {
  Rng rng(seed);
  a_ = normal({n, n}, rng), b_ = normal({n, n}, rng);
  odd_a_ = normal({37, 53}, rng), odd_b_ = normal({53, 41}, rng);
}

const Rung& Ladder::climb(const std::string& name, Multiply multiply, const Kernels& width, bool threads) {
  const Tensor odd = product(multiply, odd_a_, odd_b_);
  if (!odd_expected_) odd_expected_ = odd;
  odd_difference_ = std::max(odd_difference_, max_difference(odd, odd_expected_));

  Tensor c;
  const auto measure = [&](bool all_cores) {
    const double seconds = seconds_of(
        all_cores, budget_, [&] { multiply(n(), n(), n(), a_.data(), b_.data(), c.data()); },
        [&] {
          c = zeros({n(), n()});
        });
    if (!expected_) expected_ = c;
    difference_ = std::max(difference_, max_difference(c, expected_));
    return 2.0 * double(n() * n() * n()) / seconds / 1e9;
  };
  Rung rung{name, 0, 0, peak_gflops(width), fmt::format("{} floats", width.width)};
  if (threads && thread_count() > 1) rung.all_cores = measure(true);
  const OneThread one_thread;
  rung.one_core = measure(false);
  rungs_.push_back(rung);
  return rungs_.back();
}

}  // namespace attn
