// The pool: where every buffer comes from and goes back to.
//
// Blocks are kept in free lists by size class (four classes for each power of two, so at most a quarter is
// wasted). A training step asks for the same sizes each time: from the second step on, malloc is not called.
// Each thread has its own lists, so there are no locks; a block may be returned by a thread that did not take
// it. All blocks are aligned to 64 bytes, a cache line and an AVX-512 vector.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // int64_t

#include "core/index.hpp"

namespace attn {

void* pool_allocate(std::size_t bytes);
void pool_release(void* block, std::size_t bytes) noexcept;  // with the size that was asked for

struct PoolStatistics {
  std::int64_t system_allocations = 0;  // calls that reached the system
  std::int64_t bytes_in_use = 0;        // handed out and not returned
  std::int64_t peak_bytes = 0;          // the most in use since the last reset
};
PoolStatistics pool_statistics();  // of the calling thread
void reset_pool_peak();
void trim_pool();      // what the calling thread keeps for later goes back to the system
bool pool_recycles();  // false under AddressSanitizer, where each block is a malloc of its own

// A buffer for the length of a scope.
template <class T>
class Scratch {
 public:
  explicit Scratch(Index count)
      : bytes_(std::size_t(count) * sizeof(T)), data_(static_cast<T*>(pool_allocate(bytes_))) {}
  ~Scratch() { pool_release(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() { return data_; }
  T& operator[](Index i) { return data_[i]; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace attn
