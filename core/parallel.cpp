#include "core/parallel.hpp"

#include <omp.h>  // omp_get_max_threads, omp_in_parallel

#include <algorithm>  // clamp

#include "core/error.hpp"

namespace attn {
namespace {

// OMP_NUM_THREADS may ask for more than the system can start.
int threads = std::clamp(omp_get_max_threads(), 1, most_threads);

}  // namespace

int thread_count() { return threads; }

void set_thread_count(int count) {
  if (count < 1 || count > most_threads)
    fail("threads: {} is not a number of threads; give 1 to {}", count, most_threads);
  threads = count;
}

bool in_parallel() { return omp_in_parallel() != 0; }

}  // namespace attn
