#include "core/gemm.hpp"

#include <omp.h>      // omp_get_thread_num

#include <algorithm>  // min, max
#include <atomic>     // atomic
#include <cstdlib>    // aligned_alloc, free
#include <memory>     // unique_ptr
#include <new>        // bad_alloc

#include "core/kernels/gemm_kernels.hpp"
#include "core/parallel.hpp"  // thread_count, in_parallel

namespace attn {
namespace {

// Memory for packed panels: one piece per thread and operand, kept for the next product.
class Buffer {
 public:
  real* at_least(Index size) {
    if (size > size_) {
      const std::size_t bytes = (std::size_t(size) * sizeof(real) + 63) / 64 * 64;
      data_.reset(static_cast<real*>(std::aligned_alloc(64, bytes)));
      if (!data_) throw std::bad_alloc();
      size_ = size;
    }
    return data_.get();
  }

 private:
  struct Free {
    void operator()(real* p) const { std::free(p); }
  };
  std::unique_ptr<real, Free> data_;
  Index size_ = 0;
};
thread_local Buffer buffer_a, buffer_b;

Index round_up(Index n, Index step) { return (n + step - 1) / step * step; }
// n cut into the fewest pieces of at most `most`, all about the same: the size of one, a multiple of `step`.
Index even_piece(Index n, Index most, Index step) {
  const Index pieces = (n + most - 1) / most;
  return round_up((n + pieces - 1) / pieces, step);
}

const real* at(const real* matrix, bool transpose, Index ld, Index row, Index column) {
  return matrix + (transpose ? column * ld + row : row * ld + column);
}

// What remains for a part of C whose sums are complete: the activation, while the part is in cache.
void finish(const Gemm& g, Index row, Index column, Index m, Index n, real* c) {
  if (g.accumulate || (g.activation == Activation::none && !g.before_activation)) return;
  for (Index i = row; i < row + m; ++i) {
    real* y = c + i * g.ldc + column;
    if (g.before_activation) std::copy(y, y + n, g.before_activation + i * g.ldc + column);
    if (g.activation != Activation::none) kernels().activate(g.activation, n, y, y);
  }
}

// Blocks for the caches: B is packed in pieces of block_k x block_n, of which the tiles keep block_k x tile_n
// in the first-level cache, and A in pieces of block_m x block_k for the second level.
struct Plan {
  bool pack_a, pack_b;
  Index block_m, block_n, block_k;
};

Index env(const char* n, Index d) { return getenv(n) ? atoi(getenv(n)) : d; }
const Index max_block_k = env("BK",256), max_block_m = env("BM",96), max_block_n = env("BN",2048), packa=env("A",-1), packb=env("B",-1);

Plan plan(const Gemm& g, const GemmKernels& kernel) {
  Plan p;
  const bool small = g.k * g.n <= 64 * 128;
  p.pack_b = g.transpose_b || !small;
  p.pack_a = g.m * g.k > 64 * 128 && g.n > 4 * kernel.tile_n;
  if(packa>=0)p.pack_a=packa;
  if(packb>=0&&!g.transpose_b)p.pack_b=packb;
  p.block_k = even_piece(g.k, max_block_k, 8);
  p.block_m = even_piece(g.m, max_block_m, kernel.tile_m);
  p.block_n = even_piece(g.n, max_block_n, kernel.tile_n);
  return p;
}

// The threads at work on one product: all run the same loops, meet at barriers, and take blocks as they come free.
struct Team {
  int size = 1;
  std::atomic<Index> next[2] = {0, 0};  // the next free block, of even and of odd rounds
};

void barrier(const Team& team) {
  if (team.size > 1) {
#pragma omp barrier
  }
}

void blocks(const Gemm& g, const Plan& p, const real* a, const real* b, real* c, Team& team, int thread,
            real* packed_b) {
  const GemmKernels& kernel = *kernels().gemm;
  const Index slack = GemmKernels::pack_slack;
  real* packed_a = p.pack_a ? buffer_a.at_least((p.block_m + 1) * (p.block_k + slack)) : nullptr;
  int round = 0;
  const Index finish_columns = 256 / kernel.tile_n * kernel.tile_n;
  for (Index jc = 0; jc < g.n; jc += p.block_n) {
    const Index n = std::min(p.block_n, g.n - jc);
    for (Index pc = 0; pc < g.k; pc += p.block_k, ++round) {
      const Index k = std::min(p.block_k, g.k - pc);
      const bool last = pc + k == g.k;
      if (p.pack_b) {
        const Index share = round_up((n + team.size - 1) / team.size, kernel.tile_n);
        const Index begin = std::min(n, thread * share), end = std::min(n, begin + share);
        if (begin < end)
          kernel.pack_b(g.transpose_b, k, end - begin, at(b, g.transpose_b, g.ldb, pc, jc + begin), g.ldb,
                        packed_b + begin * k);
        barrier(team);
      }
      GemmBlock block = {.m = 0, .n = 0, .k = k, .ldc = g.ldc, .alpha = g.alpha,
                         .add = g.accumulate || pc > 0, .bias = nullptr};
      const Index row_blocks = (g.m + p.block_m - 1) / p.block_m;
      for (;;) {
        const Index task = team.next[round & 1].fetch_add(1, std::memory_order_relaxed);
        if (task >= row_blocks) break;
        const Index ic = task * p.block_m;
        block.m = std::min(p.block_m, g.m - ic);
        const real* from = at(a, g.transpose_a, g.lda, ic, pc);
        const GemmA block_a = p.pack_a ? kernel.pack_a(g.transpose_a, block.m, k, from, g.lda, packed_a)
                                       : GemmA{from, g.lda, g.transpose_a, false};
        for (Index j = 0; j < n; j += finish_columns) {
          block.n = std::min(finish_columns, n - j);
          block.bias = last && g.bias ? g.bias + jc + j : nullptr;
          const GemmB block_b = p.pack_b ? GemmB{packed_b + j * k, kernel.tile_n, k * kernel.tile_n}
                                         : GemmB{at(b, false, g.ldb, pc, jc + j), g.ldb, kernel.tile_n};
          kernel.multiply(block, block_a, block_b, c + ic * g.ldc + jc + j);
          if (last) finish(g, ic, jc + j, block.m, block.n, c);
        }
      }
      if (thread == 0) team.next[(round + 1) & 1] = 0;
      barrier(team);
    }
  }
}

void run(const Gemm& g, const real* a, const real* b, real* c, int threads) {
  if (g.m == 0 || g.n == 0) return;
  const GemmKernels& kernel = *kernels().gemm;
  if (g.k == 0) {
    if (g.accumulate) return;
    for (Index i = 0; i < g.m; ++i) {
      for (Index j = 0; j < g.n; ++j) c[i * g.ldc + j] = g.bias ? g.bias[j] : 0;
    }
    finish(g, 0, 0, g.m, g.n, c);
    return;
  }
  if (g.m <= 2 && !g.transpose_a) {
    GemmBlock block = {.m = g.m, .n = g.n, .k = g.k, .ldc = g.ldc, .alpha = g.alpha, .add = g.accumulate, .bias = g.bias};
    (g.transpose_b ? kernel.rows_dot : kernel.rows_add)(block, a, g.lda, b, g.ldb, c);
    finish(g, 0, 0, g.m, g.n, c);
    return;
  }
  const Plan p = plan(g, kernel);
  real* packed_b = p.pack_b ? buffer_b.at_least(p.block_k * p.block_n) : nullptr;
  Team team;
  if (threads == 1) {
    blocks(g, p, a, b, c, team, 0, packed_b);
    return;
  }
  team.size = threads;
#pragma omp parallel num_threads(threads)
  blocks(g, p, a, b, c, team, omp_get_thread_num(), packed_b);
}

}  // namespace

void gemm_serial(const Gemm& g, const real* a, const real* b, real* c) { run(g, a, b, c, 1); }

void gemm(const Gemm& g, const real* a, const real* b, real* c) {
  const bool shared = g.m * g.n * g.k > 100 * 100 * 100 && thread_count() > 1 && !in_parallel();
  run(g, a, b, c, shared ? thread_count() : 1);
}

void gemm_batched(const Gemm& g, Index count, const real* a, const Index* a_offset, const real* b,
                  const Index* b_offset, real* c, const Index* c_offset) {
  const Index work = g.m * g.n * g.k + 1;
  parallel_for(count, std::max(Index{1}, (1 << 17) / work), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) gemm_serial(g, a + a_offset[i], b + b_offset[i], c + c_offset[i]);
  });
}

void gemm_reference(const Gemm& g, const real* a, const real* b, real* c) {
  for (Index i = 0; i < g.m; ++i) {
    for (Index j = 0; j < g.n; ++j) {
      real sum = 0;
      for (Index p = 0; p < g.k; ++p) sum += *at(a, g.transpose_a, g.lda, i, p) * *at(b, g.transpose_b, g.ldb, p, j);
      real& y = c[i * g.ldc + j];
      y = (g.accumulate ? y : 0) + g.alpha * sum + (g.bias ? g.bias[j] : 0);
    }
  }
  finish(g, 0, 0, g.m, g.n, c);
}

}  // namespace attn
