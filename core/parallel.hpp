// parallel_for: a loop shared among threads, when it is long enough to be worth it.
//
//   parallel_for(rows, 64, [&](Index begin, Index end) { ... });   // chunks of 64 rows
//
// The range is cut into chunks of `grain`, whatever the number of threads, and each chunk writes outputs of
// its own: so the result has the same bits on 1, 2 or 4 threads. Nothing is ever summed across threads.
// A range of one chunk, or a loop inside another parallel loop, runs on the calling thread and costs nothing.
#pragma once

#include "core/shape.hpp"  // Index

namespace attn {

constexpr int most_threads = 256;
int thread_count();
void set_thread_count(int threads);  // 1 to most_threads; the default: OMP_NUM_THREADS or the number of cores
bool in_parallel();

constexpr Index elementwise_grain = 16384;  // below this, an elementwise loop is not worth a second thread
inline Index row_grain(Index columns) { return 1 + elementwise_grain / (columns + 1); }  // the same, in rows

template <class Body>
void parallel_for(Index n, Index grain, const Body& body) {
  const Index chunks = (n + grain - 1) / grain;
  if (chunks <= 1 || thread_count() == 1 || in_parallel()) {
    if (n > 0) body(Index{0}, n);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(thread_count())
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    const Index begin = chunk * grain;
    body(begin, begin + grain < n ? begin + grain : n);
  }
}

}  // namespace attn
