#include "core/gemm.hpp"

#include <omp.h>     // omp_get_num_threads, omp_get_thread_num
#include <unistd.h>  // sysconf

#include <algorithm>  // clamp, copy, max, min
#include <atomic>     // atomic
#include <cstdlib>    // aligned_alloc, free
#include <memory>     // unique_ptr
#include <new>        // bad_alloc

#include "core/kernels/gemm_kernels.hpp"
#include "core/parallel.hpp"  // thread_count, in_parallel, parallel_for

namespace attn {
namespace {

// Below this many multiply-adds (some 20 microseconds) a second thread costs more than it brings.
constexpr Index shared_work = 1'000'000;
// The largest pieces into which a product is cut: rows of C in a block, columns of B packed at a time.
constexpr Index max_block_m = 48, max_block_n = 1024;

// Memory for packed panels: one piece per thread and operand, kept for the next product.
class Buffer {
 public:
  real* at_least(Index size) {
    if (size > size_) {
      const std::size_t bytes = (std::size_t(size) * sizeof(real) + 63) / 64 * 64;
      memory_.reset(static_cast<real*>(std::aligned_alloc(64, bytes)));
      if (!memory_) throw std::bad_alloc();
      size_ = size;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(real* p) const { std::free(p); }
  };
  std::unique_ptr<real, Free> memory_;
  Index size_ = 0;
};
thread_local Buffer buffer_a, buffer_b;

// How many elements are near: an eighth of the second-level cache, so that they stay there beside all else.
Index near_elements() {
  static const Index elements = [] {
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return (bytes > 0 ? bytes : 1 << 18) / 8 / Index(sizeof(real));
  }();
  return elements;
}

Index pieces(Index n, Index most) { return (n + most - 1) / most; }
// The size of a piece when n is cut into the fewest of at most `most`, all alike, in multiples of `step`.
Index even_piece(Index n, Index most, Index step) { return pieces(pieces(n, pieces(n, most)), step) * step; }

const real* at(const real* matrix, bool transpose, Index ld, Index row, Index column) {
  return matrix + (transpose ? column * ld + row : row * ld + column);
}

GemmBlock whole(const Gemm& g) { return {g.m, g.n, g.k, g.ldc, g.alpha, g.accumulate, g.bias}; }

// What remains to be done on a part of C whose sums are complete: the activation, while the part is in cache.
void finish(const Gemm& g, Index row, Index column, Index m, Index n, real* c) {
  if (g.activation == Activation::none && !g.before_activation) return;
  for (Index i = row; i < row + m; ++i) {
    real* y = c + i * g.ldc + column;
    if (g.before_activation) std::copy(y, y + n, g.before_activation + i * g.ldc + column);
    if (g.activation != Activation::none) kernels().activate(g.activation, n, y, y);
  }
}

void no_product(const Gemm& g, real* c) {
  if (g.accumulate) return;
  for (Index i = 0; i < g.m; ++i) {
    for (Index j = 0; j < g.n; ++j) c[i * g.ldc + j] = g.bias ? g.bias[j] : 0;
  }
  finish(g, 0, 0, g.m, g.n, c);
}

// A product whose time is that of reading B once: each thread takes some columns of C.
void few_rows(const Gemm& g, const real* a, const real* b, real* c, bool shared) {
  const GemmKernels& kernel = *kernels().gemm;
  const auto columns = [&](Index begin, Index end) {
    GemmBlock block = whole(g);
    block.n = end - begin;
    if (g.bias) block.bias += begin;
    const real* from = at(b, g.transpose_b, g.ldb, 0, begin);
    g.transpose_b ? kernel.rows_dot(block, a, g.lda, from, g.ldb, c + begin)
                  : kernel.row_add(block, a, from, g.ldb, c + begin);
    finish(g, 0, begin, g.m, end - begin, c);
  };
  shared ? parallel_for(g.n, std::max(Index{256}, shared_work / 8 / g.k), columns) : columns(0, g.n);
}

// A product of one block: nothing is copied but a transposed B.
void small(const Gemm& g, const real* a, const real* b, real* c) {
  const GemmKernels& kernel = *kernels().gemm;
  GemmB operand_b = {b, g.ldb, g.transpose_b, true};
  if (g.transpose_b) {
    real* packed = buffer_b.at_least(g.k * (g.n + kernel.tile_n));
    kernel.pack_b(true, true, g.k, g.n, b, g.ldb, packed);
    operand_b.data = packed;
  }
  kernel.multiply(whole(g), {a, g.lda, g.transpose_a, false}, operand_b, c);
  finish(g, 0, 0, g.m, g.n, c);
}

// How a large product is cut. The five loops, from outside: columns of B (block_n); slices of k (block_k),
// for which all threads together pack B; blocks of C; and inside `multiply`, the columns and the rows of
// tiles.
struct Plan {
  bool pack_a, pack_b;
  Index block_m, block_n, block_k, chunk_n;
};
Plan make_plan(const Gemm& g, int threads) {
  const GemmKernels& kernel = *kernels().gemm;
  Plan plan;
  // A copy must pay for itself: by being read often, and from nearer or in a better order than the original.
  plan.pack_a = g.transpose_a && g.n >= 8 * kernel.tile_n && g.k * g.lda > 100'000;
  const bool read_seldom = g.m <= 128 && g.ldb <= 1024;
  plan.pack_b =
      g.transpose_b || (g.transpose_a ? g.k * g.n > 8192 : !read_seldom && g.k * g.n > near_elements());
  plan.block_m = even_piece(g.m, max_block_m, kernel.tile_m);
  plan.block_n = even_piece(g.n, max_block_n, kernel.tile_n);
  plan.block_k = even_piece(g.k, kernel.block_k, 8);
  // A block of C is all columns of some rows; or fewer, so that there are blocks enough to keep all threads
  // busy to the end. But each block packs its A again.
  const Index rows = pieces(g.m, plan.block_m), wanted = threads == 1 ? 1 : (plan.pack_a ? 2 : 8) * threads;
  plan.chunk_n = even_piece(plan.block_n, pieces(plan.block_n, pieces(wanted, rows)), kernel.tile_n);
  return plan;
}

// The threads at work on one product all run this loop: they meet at barriers and take blocks of C as they
// come.
struct Team {
  std::atomic<Index> next[2] = {0, 0};  // the first block that nobody has taken, in even and in odd rounds
  real* packed_b;
};
void large(const Gemm& g, const Plan& plan, const real* a, const real* b, real* c, Team& team, int thread,
           int threads) {
  const auto barrier = [&] {
    if (threads == 1) return;
#pragma omp barrier
  };
  const GemmKernels& kernel = *kernels().gemm;
  real* packed_a = plan.pack_a ? buffer_a.at_least(plan.block_m * plan.block_k) : nullptr;
  int round = 0;
  for (Index jc = 0; jc < g.n; jc += plan.block_n) {
    const Index n = std::min(plan.block_n, g.n - jc);
    for (Index pc = 0; pc < g.k; pc += plan.block_k, ++round) {
      const Index k = std::min(plan.block_k, g.k - pc);
      const bool last = pc + k == g.k;
      if (plan.pack_b) {
        const Index share = pieces(pieces(n, kernel.tile_n), threads) * kernel.tile_n;
        const Index begin = std::min(n, thread * share), end = std::min(n, begin + share);
        kernel.pack_b(g.transpose_b, false, k, end - begin, at(b, g.transpose_b, g.ldb, pc, jc + begin),
                      g.ldb, team.packed_b + begin * k);
        barrier();
      }
      const Index chunks = pieces(n, plan.chunk_n), count = pieces(g.m, plan.block_m) * chunks;
      Index task;
      while ((task = team.next[round % 2].fetch_add(1, std::memory_order_relaxed)) < count) {
        const Index i = task / chunks * plan.block_m, j = jc + task % chunks * plan.chunk_n;
        const GemmBlock block = {.m = std::min(plan.block_m, g.m - i),
                                 .n = std::min(plan.chunk_n, jc + n - j),
                                 .k = k,
                                 .ldc = g.ldc,
                                 .alpha = g.alpha,
                                 .add = g.accumulate || pc > 0,
                                 .bias = last && g.bias ? g.bias + j : nullptr};
        GemmA operand_a = {at(a, g.transpose_a, g.lda, i, pc), g.lda, g.transpose_a, plan.pack_a};
        if (plan.pack_a) {
          kernel.pack_a(block.m, k, operand_a.data, g.lda, packed_a);
          operand_a.data = packed_a;
        }
        const real* from_b = plan.pack_b ? team.packed_b + (j - jc) * k : at(b, false, g.ldb, pc, j);
        const GemmB operand_b = {from_b, g.ldb, plan.pack_b, false};
        kernel.multiply(block, operand_a, operand_b, c + i * g.ldc + j);
        if (last) finish(g, i, j, block.m, block.n, c);
      }
      if (last && jc + n == g.n) return;  // the end of the parallel region is a barrier too
      barrier();
      if (thread == 0) team.next[round % 2] = 0;  // used again after another barrier
    }
  }
}

void run(const Gemm& g, const real* a, const real* b, real* c, bool may_share) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) return no_product(g, c);
  const GemmKernels& kernel = *kernels().gemm;
  // Which way is taken, and so the order of every sum, depends on the shape alone and never on the threads.
  const Index work = g.m * g.n * g.k;
  const bool shared = may_share && work > shared_work && thread_count() > 1 && !in_parallel();
  const Index few = g.transpose_b ? std::clamp<Index>(g.k / kernel.dot_depth, 1, 64) : 1;
  if (g.m <= few && !g.transpose_a) return few_rows(g, a, b, c, shared);
  if (work <= shared_work && g.k <= kernel.block_k) return small(g, a, b, c);

  const Plan plan = make_plan(g, shared ? thread_count() : 1);
  Team team;
  team.packed_b = plan.pack_b ? buffer_b.at_least(plan.block_k * plan.block_n) : nullptr;
  if (!shared) return large(g, plan, a, b, c, team, 0, 1);
#pragma omp parallel num_threads(thread_count())
  large(g, plan, a, b, c, team, omp_get_thread_num(), omp_get_num_threads());
}

}  // namespace

void gemm(const Gemm& g, const real* a, const real* b, real* c) { run(g, a, b, c, true); }

void gemm_serial(const Gemm& g, const real* a, const real* b, real* c) { run(g, a, b, c, false); }

void gemm_batched(const Gemm& g, Index count, const real* a, const Index* a_offset, const real* b,
                  const Index* b_offset, real* c, const Index* c_offset) {
  const Index work = g.m * g.n * g.k + 1;
  // Too few products for all threads: each in turn is shared. Otherwise each is done by one thread.
  const bool in_turn = count < thread_count() && work > shared_work;
  const Index grain = in_turn ? count : std::max(Index{1}, shared_work / 8 / work);
  parallel_for(count, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) run(g, a + a_offset[i], b + b_offset[i], c + c_offset[i], in_turn);
  });
}

void gemm_reference(const Gemm& g, const real* a, const real* b, real* c) {
  for (Index i = 0; i < g.m; ++i) {
    for (Index j = 0; j < g.n; ++j) {
      real sum = 0;
      for (Index p = 0; p < g.k; ++p) {
        sum += *at(a, g.transpose_a, g.lda, i, p) * *at(b, g.transpose_b, g.ldb, p, j);
      }
      real& y = c[i * g.ldc + j];
      y = (g.accumulate ? y : 0) + g.alpha * sum + (g.bias ? g.bias[j] : 0);
    }
  }
  finish(g, 0, 0, g.m, g.n, c);
}

}  // namespace attn
