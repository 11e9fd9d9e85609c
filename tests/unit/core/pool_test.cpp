#include "core/pool.hpp"

#include <doctest/doctest.h>

#include <atomic>   // atomic
#include <cstdint>  // uintptr_t
#include <cstdlib>  // free, malloc
#include <cstring>  // memset
#include <new>      // bad_alloc
#include <thread>   // thread
#include <vector>   // vector

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"

namespace {

std::atomic<long> news{0};  // calls of operator new, on any thread

[[maybe_unused]] void* counted_malloc(std::size_t bytes) {
  ++news;
  if (void* block = std::malloc(bytes ? bytes : 1)) return block;
  throw std::bad_alloc();
}

}  // namespace

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER  // brings an operator new of its own, which cannot be replaced
#endif
#endif
#ifndef THREAD_SANITIZER
// Every `new` of this program goes through here, so that a test can say "none was called".
void* operator new(std::size_t bytes) { return counted_malloc(bytes); }
void* operator new[](std::size_t bytes) { return counted_malloc(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return ++news, std::malloc(bytes ? bytes : 1);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
#endif

namespace attn {
namespace {

TEST_CASE("blocks are aligned to 64 bytes and as large as asked") {
  for (const std::size_t bytes :
       {0, 1, 63, 64, 65, 80, 81, 100, 127, 128, 129, 1000, 4097, 100000, 1234567}) {
    CAPTURE(bytes);
    void* block = pool_allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    std::memset(block, 0xAB, bytes);  // AddressSanitizer would object
    pool_release(block, bytes);
  }
}

TEST_CASE("a block is never used twice, and a returned one is handed out again") {
  void* a = pool_allocate(1000);
  void* b = pool_allocate(1000);
  CHECK(a != b);
  pool_release(a, 1000);
  const auto before = pool_statistics().system_allocations;
  void* again = pool_allocate(900);  // of the same class: 897 to 1024 bytes
  if (pool_recycles()) {
    CHECK(again == a);
    CHECK(pool_statistics().system_allocations == before);
  }
  pool_release(again, 900);
  pool_release(b, 1000);
}

TEST_CASE("at most a quarter of a block is wasted") {
  for (std::size_t bytes = 64; bytes < 100000; bytes += 37) {
    const auto before = pool_statistics().bytes_in_use;
    void* block = pool_allocate(bytes);
    const auto taken = std::size_t(pool_statistics().bytes_in_use - before);
    CHECK(taken >= bytes);
    CHECK(taken <= bytes + bytes / 4);
    pool_release(block, bytes);
    CHECK(pool_statistics().bytes_in_use == before);
  }
}

TEST_CASE("the peak is remembered until it is reset") {
  reset_pool_peak();
  const auto before = pool_statistics().bytes_in_use;
  CHECK(pool_statistics().peak_bytes == before);
  { Scratch<char> scratch(1 << 20); }
  CHECK(pool_statistics().bytes_in_use == before);
  CHECK(pool_statistics().peak_bytes == before + (1 << 20));
  reset_pool_peak();
  CHECK(pool_statistics().peak_bytes == before);
}

TEST_CASE("a block that cannot be had is not counted") {
  if (!pool_recycles()) return;  // AddressSanitizer ends the program instead
  const auto before = pool_statistics().bytes_in_use;
  CHECK_THROWS_AS(empty({Index{1} << 45, Index{1} << 12}), Error);
  CHECK(pool_statistics().bytes_in_use == before);
}

TEST_CASE("each thread has a pool of its own, and may return what another took") {
  void* block = pool_allocate(300);
  const auto before = pool_statistics();
  std::thread([&] {
    CHECK(pool_statistics().bytes_in_use == 0);
    pool_release(block, 300);
    const Tensor x = ones({100});
    CHECK(pool_statistics().bytes_in_use > 0);
  }).join();
  CHECK(pool_statistics().bytes_in_use == before.bytes_in_use);
}

// A small classifier that uses most kinds of ops, and plain gradient descent.
struct Classifier {
  Rng rng{1};
  Tensor table = normal({11, 16}, rng, 0, 1).requires_grad();
  Tensor gain = ones({16}).requires_grad(), bias = zeros({16}).requires_grad();
  Tensor hidden = normal({32, 16}, rng, 0, real(0.3)).requires_grad(),
         hidden_bias = zeros({32}).requires_grad();
  Tensor out = normal({5, 32}, rng, 0, real(0.3)).requires_grad();

  real step() {
    const IntTensor ids({8}), targets({8});
    for (Index i = 0; i < 8; ++i) ids[i] = int(i % 11), targets[i] = int(i * i % 5);
    const Tensor x = layer_norm(embedding(table, ids), gain, bias);                            // (8, 16)
    const Tensor mixed = matmul(softmax(matmul(x, x, Transpose::second) * 0.25), x) + x;       // (8, 16)
    const Tensor h = dropout(linear(mixed, hidden, hidden_bias, Activation::gelu), 0.1, rng);  // (8, 32)
    const Tensor logits = matmul(h, out, Transpose::second);                                   // (8, 5)
    const Tensor loss =
        cross_entropy(logits, targets) + mean(out * out) * 0.01 + sum(slice(gain, 0, 0, 2)) * 0.001;
    backward(loss);
    const NoGrad no_grad;
    for (Tensor* p : {&table, &gain, &bias, &hidden, &hidden_bias, &out}) {
      const real* g = p->grad().data();
      for (Index i = 0; i < p->numel(); ++i) p->data()[i] -= real(0.05) * g[i];
      p->zero_grad();
    }
    return loss.item();
  }
};

TEST_CASE("from the second training step on, no allocation reaches the system") {
  Classifier classifier;
  const real first = classifier.step();
  const long news_before = news;
  const auto before = pool_statistics().system_allocations;
  real last = 0;
  for (int i = 0; i < 30; ++i) last = classifier.step();
  const long news_after = news;
  if (pool_recycles()) CHECK(pool_statistics().system_allocations == before);
  if (!watches_values) CHECK(news_after == news_before);  // fingerprints lie on the heap
  CHECK(last < first);                                    // and it does learn
}

TEST_CASE("when a training loop is over, everything it took is back") {
  const auto before = pool_statistics().bytes_in_use;
  {
    Classifier classifier;
    for (int i = 0; i < 3; ++i) classifier.step();
    CHECK(pool_statistics().bytes_in_use > before);
  }
  CHECK(pool_statistics().bytes_in_use == before);
}

}  // namespace
}  // namespace attn
