#include "core/parallel.hpp"

#include <omp.h>  // omp_get_max_threads, omp_in_parallel

#include "core/error.hpp"

namespace attn {
namespace {

int threads = omp_get_max_threads();

}  // namespace

int thread_count() { return threads; }

void set_thread_count(int count) {
  if (count < 1) fail("threads: {} is not a number of threads; give 1 or more", count);
  threads = count;
}

bool in_parallel() { return omp_in_parallel() != 0; }

}  // namespace attn
