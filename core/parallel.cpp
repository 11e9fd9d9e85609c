#include "core/parallel.hpp"

#include <algorithm>  // clamp, max
#include <cstdlib>    // atoi, getenv

#include "core/error.hpp"
#include "core/openmp.hpp"  // omp_get_max_threads, omp_in_parallel

namespace attn {
namespace {

// OMP_NUM_THREADS may ask for more than the system can start. Without it, the processes that mpirun starts on
// one machine share its cores.
int default_threads() {
  const char* processes = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const bool shared = processes && !std::getenv("OMP_NUM_THREADS");
  const int sharers = shared ? std::max(1, std::atoi(processes)) : 1;
  return std::clamp(omp_get_max_threads() / sharers, 1, most_threads);
}

int threads = default_threads();

}  // namespace

int thread_count() { return threads; }

void set_thread_count(int count) {
  if (count < 1 || count > most_threads)
    fail("threads: {} is not a number of threads; give 1 to {}", count, most_threads);
  threads = count;
}

bool in_parallel() { return omp_in_parallel() != 0; }

}  // namespace attn
