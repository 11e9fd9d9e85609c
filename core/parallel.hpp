// parallel_for: a loop shared among threads, when it is long enough to be worth it.
//
//   parallel_for(rows, 64, [&](Index begin, Index end) { ... });   // shared if there are more than 64 rows
//
// Each `grain` or part of one is cut into four, all alike, so that 2 or 4 threads have as much to do each.
// The chunks are the same whatever the number of threads, and each writes outputs of its own: so the result
// has the same bits on 1, 2 or 4 threads. Nothing is ever summed across threads. A range of one grain, or a
// loop inside another parallel loop, runs on the calling thread and costs nothing.
#pragma once

#include "core/index.hpp"

namespace attn {

constexpr int most_threads = 256;
int thread_count();
void set_thread_count(int threads);  // 1 to most_threads; the default: OMP_NUM_THREADS or the number of cores
bool in_parallel();

constexpr Index elementwise_grain = 16384;  // below this, an elementwise loop is not worth a second thread
inline Index row_grain(Index columns) { return 1 + elementwise_grain / (columns + 1); }  // the same, in rows

template <class Body>
void parallel_for(Index n, Index grain, const Body& body) {
  if (n <= grain || thread_count() == 1 || in_parallel()) {
    if (n > 0) body(Index{0}, n);
    return;
  }
  const Index pieces = 4 * ((n + grain - 1) / grain), step = grain >= 16 ? 16 : 1;  // whole vectors
  const Index size = ((n + pieces - 1) / pieces + step - 1) / step * step;
#pragma omp parallel for schedule(static) num_threads(thread_count())
  for (Index begin = 0; begin < n; begin += size) body(begin, begin + size < n ? begin + size : n);
}

}  // namespace attn
