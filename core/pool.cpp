#include "core/pool.hpp"

#include <sys/mman.h>  // madvise

#include <bit>      // bit_width
#include <cstdlib>  // free, posix_memalign
#include <new>      // placement new

#include "core/error.hpp"

namespace attn {
namespace {

constexpr std::size_t alignment = 64;
constexpr int class_count = 4 * 64;

// Blocks from here on ask for pages of 2 MiB: a walk over the weights of a large model then needs 512 times
// fewer address translations and page faults, and is a third quicker (AMD EPYC, 500 MB).
constexpr std::size_t huge_page = std::size_t{1} << 21;

// Under AddressSanitizer every block comes from the system in exactly the size asked for and goes straight
// back: a recycled or rounded block would hide a write past its end, and one after its release.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // as g++ says it
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
constexpr bool recycles = false;
#else
constexpr bool recycles = true;
#endif

struct FreeBlock {
  FreeBlock* next;
};

// Four classes per power of two: 64, 80, 96, 112, 128, 160, … Returns the class and rounds `bytes` up to it.
int size_class(std::size_t& bytes) {
  if (bytes < alignment) bytes = alignment;
  const int exponent = int(std::bit_width(bytes - 1)) - 1;  // 2^exponent <= bytes - 1
  const std::size_t quarter = std::size_t{1} << (exponent - 2);
  const std::size_t steps = (bytes - 1) / quarter + 1;  // 5 to 8 quarters
  bytes = steps * quarter;
  return 4 * exponent + int(steps) - 5;
}

struct Pool {
  FreeBlock* free_lists[class_count] = {};
  PoolStatistics statistics;

  void trim() {
    for (FreeBlock*& list : free_lists)
      while (list) {
        FreeBlock* next = list->next;
        std::free(list);
        list = next;
      }
  }
};

// Trivially destructible, so that tensors with static storage may still be released while the program ends.
constinit thread_local Pool pool;
constinit thread_local bool closed = false;

// Returns what a thread kept when it ends; what comes back after that goes straight to the system.
struct Closer {
  ~Closer() {
    pool.trim();
    closed = true;
  }
};

// Apart from pool_allocate, which runs several times per op and need not know what an error takes.
[[gnu::noinline]] void* system_allocate(std::size_t bytes, std::size_t asked) {
  static thread_local Closer closer;
  void* block = nullptr;
  const bool large = bytes >= huge_page;
  if (posix_memalign(&block, large ? huge_page : alignment, bytes) != 0)
    fail("out of memory: the system refuses {} bytes ({:.1f} GiB)", asked, double(asked) / (1 << 30));
#ifdef MADV_HUGEPAGE
  if (large) ::madvise(block, bytes, MADV_HUGEPAGE);
#endif
  ++pool.statistics.system_allocations;
  return block;
}

}  // namespace

void* pool_allocate(std::size_t bytes) {
  const std::size_t asked = bytes;
  FreeBlock*& list = pool.free_lists[size_class(bytes)];
  void* block = list;
  if (list)
    list = list->next;
  else
    block = system_allocate(recycles ? bytes : asked, asked);
  pool.statistics.bytes_in_use += std::int64_t(bytes);
  if (pool.statistics.bytes_in_use > pool.statistics.peak_bytes)
    pool.statistics.peak_bytes = pool.statistics.bytes_in_use;
  return block;
}

void pool_release(void* block, std::size_t bytes) noexcept {
  FreeBlock*& list = pool.free_lists[size_class(bytes)];
  pool.statistics.bytes_in_use -= std::int64_t(bytes);
  if (closed || !recycles) return std::free(block);
  list = new (block) FreeBlock{list};
}

PoolStatistics pool_statistics() { return pool.statistics; }
void trim_pool() { pool.trim(); }
void reset_pool_peak() { pool.statistics.peak_bytes = pool.statistics.bytes_in_use; }
bool pool_recycles() { return recycles; }

}  // namespace attn
