// How lesson 03 measures: the time of a piece of work, the peak of a core, the bandwidth of each level of
// memory, and the ladder of products that are held against them.
#pragma once

#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

#include "core/kernels.hpp"
#include "core/tensor.hpp"

namespace attn {

// Seconds, the best of several runs that take `budget` seconds together; `prepare` goes before each and does
// not count. While one thread does the work, only the time counts that it has really run: other programs on
// the machine do not matter then.
double seconds_of(
    bool all_cores, double budget, const std::function<void()>& work,
    const std::function<void()>& prepare = [] {});

// The ceiling of one core in GFLOP/s, with vectors of this set's width: independent multiply-adds in
// registers, nothing to load and nothing to wait for.
double peak_gflops(const Kernels& kernels);

// A place where numbers can lie, and a number of bytes that fits there.
struct MemoryLevel {
  std::string name;
  Index bytes;
  double bandwidth = 0;  // GB/s
};
// The caches where the system tells their sizes (Linux), nearest first; then memory, unless a cache is as
// large as the most bytes to use.
std::vector<MemoryLevel> memory_levels(Index most);
double read_bandwidth(Index bytes, double budget);  // of one core, GB/s

// An operation under the roof: FLOP per byte, and GFLOP/s.
struct Operation {
  std::string name;
  double intensity, speed;
};

using Multiply = void (*)(Index m, Index k, Index n, const real* a, const real* b, real* c);

struct Rung {
  std::string name;
  double one_core, all_cores;  // GFLOP/s; all_cores is 0 where it was not measured
  double peak;                 // of one core, at the width of this rung's vectors
  std::string width;           // "4 floats"
};

// Products of n x n matrices, each measured and compared with the first.
class Ladder {
 public:
  Ladder(Index n, std::uint64_t seed, double budget);

  // Adds a rung. With `threads`, it is measured on all cores, too.
  const Rung& climb(const std::string& name, Multiply multiply, const Kernels& width, bool threads = false);

  const std::vector<Rung>& rungs() const { return rungs_; }
  double largest_difference() const { return difference_; }          // from the first rung, n x n
  double largest_odd_difference() const { return odd_difference_; }  // the same for (37,53) x (53,41)
  Index n() const { return a_.size(0); }

 private:
  Tensor a_, b_, odd_a_, odd_b_, expected_, odd_expected_;
  std::vector<Rung> rungs_;
  double budget_, difference_ = 0, odd_difference_ = 0;
};

Tensor product(Multiply multiply, const Tensor& a, const Tensor& b);
double gflops_of(Multiply multiply, Index n, bool all_cores,
                 double budget);  // of a product of n x n matrices

}  // namespace attn
