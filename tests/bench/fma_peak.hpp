// The ceiling of one core: how many floating-point operations a second it does when there is nothing but
// independent multiply-adds in registers. Measured with the kernel set in use, so AVX2 is held against AVX2.
#pragma once

#include "core/kernels.hpp"
#include "tests/bench/measure.hpp"

namespace attn::bench {

inline double fma_peak_gflops() {
  double best = 0;
  for (int round = 0; round < 50; ++round) {
    const double start = thread_seconds();
    const double flop = kernels().burn(20000);
    const double rate = flop / (thread_seconds() - start) / 1e9;
    if (rate > best) best = rate;
  }
  return best;
}

}  // namespace attn::bench
