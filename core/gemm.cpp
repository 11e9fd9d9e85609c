#include "core/gemm.hpp"

#include <unistd.h>  // sysconf

#include <algorithm>  // clamp, copy, max, min
#include <atomic>     // atomic
#include <cstdlib>    // aligned_alloc, free
#include <memory>     // unique_ptr
#include <new>        // bad_alloc
#include <vector>     // vector

#include "core/error.hpp"
#include "core/kernels/gemm_kernels.hpp"
#include "core/openmp.hpp"    // omp_get_num_threads, omp_get_thread_num
#include "core/parallel.hpp"  // thread_count, in_parallel, parallel_for

namespace attn {
namespace {

// Below this many multiply-adds (some 20 microseconds) a second thread costs more than it saves.
constexpr Index shared_work = 1'000'000;
// The same where B is read once and that takes the time: this many elements, from memory.
constexpr Index shared_reads = 100'000;
// The largest pieces into which a product is cut: rows of C in a block, columns of B packed at a time.
constexpr Index max_block_m = 48, max_block_n = 1024;
// How much of k is a slice that is read where it lies, while the next one is on its way.
constexpr Index slice_k = 128;
// What should stay in the cache. Where this decides on the order of a sum it is not the size that the machine
// tells (near_elements), so that a browser has the same bits.
constexpr Index few_elements = 1 << 16;
constexpr Index line = 64 / Index(sizeof(real));  // elements in a cache line

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

// How many elements count as near: an eighth of the second-level cache, so that they stay there.
Index near_elements() {
  static const Index elements = [] {
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
    const long bytes = 0;  // not every C library tells
#endif
    return (bytes > 0 ? bytes : 1 << 18) / 8 / Index(sizeof(real));
  }();
  return elements;
}

Index pieces(Index n, Index most) { return (n + most - 1) / most; }
// The size of a piece when n is cut into the fewest of at most `most`, all alike, in multiples of `step`.
Index even_piece(Index n, Index most, Index step) { return pieces(pieces(n, pieces(n, most)), step) * step; }

// C = dropout(activation(alpha A B + bias)), where A is (m, k), B is (k, n) and C (m, n) is not transposed.
struct Product {
  const ConstMatrix &A, &B;
  const Matrix& C;
  const GemmOptions& options;
  Index m() const { return C.rows; }
  Index n() const { return C.cols; }
  Index k() const { return A.cols; }
};

// Whether C is more than alpha A B, added or not.
bool has_epilogue(const GemmOptions& options) {
  return options.activation != Activation::none || options.before_activation || options.dropout.threshold > 0;
}

// What remains to be done on a part of C whose sums are complete, while it is in cache.
void finish(const Product& p, Range rows, Range columns) {
  const GemmOptions& options = p.options;
  if (!has_epilogue(options)) return;
  const auto apply = [&](Index n, real* y) {
    const Index first = y - p.C.data;
    if (options.before_activation) std::copy(y, y + n, options.before_activation + first);
    if (options.dropout.threshold > 0) {
      const bool rectify = options.activation == Activation::relu;
      (rectify ? kernels().relu_dropout : kernels().dropout)(n, options.dropout.from(first), y, y);
    } else if (options.activation != Activation::none) {
      kernels().activate(options.activation, n, y, y);
    }
  };
  const Index n = columns.end - columns.begin;
  if (n == p.C.stride) return apply((rows.end - rows.begin) * n, p.C.at(rows.begin, 0));
  for (Index i = rows.begin; i < rows.end; ++i) apply(n, p.C.at(i, columns.begin));
}

void no_product(const Product& p) {
  if (p.options.accumulate) return;
  for (Index i = 0; i < p.m(); ++i)
    for (Index j = 0; j < p.n(); ++j) *p.C.at(i, j) = p.options.bias ? p.options.bias[j] : 0;
  finish(p, {0, p.m()}, {0, p.n()});
}

// A product whose time is that of reading B once: each thread takes some columns of C.
void few_rows(const Product& p, bool shared) {
  const auto multiply = p.B.transposed ? kernels().gemm->rows_dot : kernels().gemm->row_add;
  const auto columns = [&](Index begin, Index end) {
    GemmOptions options = p.options;
    if (options.bias) options.bias += begin;
    multiply(p.A, p.B.part({0, p.k()}, {begin, end}), p.C.part({0, p.m()}, {begin, end}), options);
    finish(p, {0, p.m()}, {begin, end});
  };
  // As large a part for each thread as there is: See Note [Far streams].
  shared ? parallel_for(p.n(), pieces(p.n(), thread_count()), columns) : columns(0, p.n());
}

// A product of one block: nothing is copied but a transposed B, if it is not packed already.
void small(const Product& p, const real* packed_b = nullptr) {
  const bool wide = p.B.transposed || !packed_b;
  if (p.B.transposed && !packed_b) packed_b = pack(p.B, buffer_b.at_least(packed_size(p.k(), p.n()))).packed;
  Ahead nothing{};
  kernels().gemm->multiply({p.A}, {p.B, packed_b, wide}, p.C, p.options, nothing);
  finish(p, {0, p.m()}, {0, p.n()});
}

// Whether few tiles read each element of B, from rows not too far apart: then it is read where it lies.
bool reads_seldom(const Product& p) { return p.m() <= 8 * kernels().gemm->tile_n && p.B.stride <= 1024; }

// Note [Many tokens]
// The gradient of a layer's weights is a small C summed over many rows of A and B, one for each token. Two
// threads that share C would each read all of both, and half of that comes from the other's cache. So k is
// halved instead, and each thread reads the rows that it made; the second half has a sum of its own, which is
// added last. One thread does the same, so the bits are the same.
//
// In each half the sums go over slices of k. Where all is too much for the cache, the slices are thin, and
// the next one is asked for while this one is multiplied (Note [Reading ahead] in core/kernels/gemm.cpp).
bool has_many_tokens(const Product& p) {
  const Index read = p.m() + p.n(), written = p.m() * p.n();  // for each step of k, and once
  return p.A.transposed && !p.B.transposed && reads_seldom(p) && p.k() >= 2 * slice_k &&
         4 * written <= p.k() * read && 2 * slice_k * read + written <= 4 * few_elements && !p.options.bias &&
         !has_epilogue(p.options);
}

// C (+)= the sum over these k, for some rows of C.
void sum_tokens(const Product& p, const Range& tokens, const Range& rows, const Matrix& C, bool accumulate) {
  const bool near = p.k() * (p.m() + p.n()) <= few_elements;
  const Index length = tokens.end - tokens.begin;
  const Index slice = even_piece(length, near ? kernels().gemm->block_k : slice_k, 8);
  const Range columns = {0, p.n()};
  for (Index begin = tokens.begin, end; begin < tokens.end; begin = end) {
    end = std::min(begin + slice, tokens.end);
    Ahead next{};
    if (!near && end < tokens.end)
      next = {{{p.A.at(rows.begin, end), p.A.stride, line, pieces(rows.end - rows.begin, line)},
               {p.B.at(end, 0), p.B.stride, line, pieces(p.n(), line)}}};
    kernels().gemm->multiply({p.A.part(rows, {begin, end})}, {p.B.part({begin, end}, columns)},
                             C.part(rows, columns), {.accumulate = accumulate, .alpha = p.options.alpha},
                             next);
    accumulate = true;
  }
}

void many_tokens(const Product& p, int threads) {
  const Index middle = pieces(p.k(), 16) * 8, m = p.m(), n = p.n();
  const Matrix second{buffer_b.at_least(m * n), m, n};
  const Index groups = std::max(1, threads / 2);  // of rows of C: more threads share the two halves
  const auto sum = [&](Index unit) {
    const Index group = unit % groups;
    const Range rows = {m * group / groups, m * (group + 1) / groups};
    if (unit < groups)
      sum_tokens(p, {0, middle}, rows, p.C, p.options.accumulate);
    else
      sum_tokens(p, {middle, p.k()}, rows, second, false);
  };
  const auto add = [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) kernels().add(n, p.C.at(i, 0), second.at(i, 0), p.C.at(i, 0));
  };
  if (threads == 1) return sum(0), sum(1), add(0, m);
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num(), count = omp_get_num_threads();
    for (Index unit = thread; unit < 2 * groups; unit += count) sum(unit);
#pragma omp barrier
    add(m * thread / count, m * (thread + 1) / count);
  }
}

// How a large product is cut. The five loops, from outside: columns of B (block_n); slices of k (block_k),
// for which all threads together pack B; blocks of C; and in `multiply`, the columns and the rows of tiles.
struct Plan {
  bool pack_a, pack_b;
  Index block_m, block_n, block_k, chunk_n;
};
Plan make_plan(const Product& p, int threads) {
  const GemmKernels& kernel = *kernels().gemm;
  Plan plan;
  // A copy must pay for itself: by being read often, and from nearer or in a better order than the original.
  plan.pack_a = p.A.transposed && p.n() >= 8 * kernel.tile_n && p.k() * p.A.stride > 100'000;
  plan.pack_b = p.B.transposed || (!reads_seldom(p) && p.k() * p.n() > near_elements());
  plan.block_m = even_piece(p.m(), max_block_m, kernel.tile_m);
  plan.block_n = even_piece(p.n(), max_block_n, kernel.tile_n);
  plan.block_k = even_piece(p.k(), kernel.block_k, 8);
  // A block of C is all columns of some rows, or fewer, so that there are enough blocks to keep all threads
  // busy to the end. But each block packs its A again.
  const Index rows = pieces(p.m(), plan.block_m), wanted = threads == 1 ? 1 : (plan.pack_a ? 2 : 8) * threads;
  plan.chunk_n = even_piece(plan.block_n, pieces(plan.block_n, pieces(wanted, rows)), kernel.tile_n);
  return plan;
}

// The threads at work on one product all run this loop and meet at barriers. Each has blocks of C of its own,
// whose rows are likely to be in its cache: other ops give it the same ones. Who is done helps the others.
struct Team {
  real* packed_b;
  // Of each thread's blocks the first that nobody has taken, in even and in odd rounds; in a cache line of
  // its own, so that threads that take theirs do not wait for each other.
  struct alignas(64) Next {
    std::atomic<Index> in[2] = {};
  };
  std::vector<Next> next;
};
void large(const Product& p, const Plan& plan, Team& team, int thread, int threads) {
  const auto barrier = [&] {
    if (threads == 1) return;
#pragma omp barrier
  };
  const GemmKernels& kernel = *kernels().gemm;
  real* packed_a = plan.pack_a ? buffer_a.at_least(plan.block_m * plan.block_k) : nullptr;
  // A small B is packed by each thread for itself: that is quicker than to wait for another's part of it.
  const bool shares_b = plan.block_k * plan.block_n > 16384;
  real* packed_b = !plan.pack_b ? nullptr
                   : shares_b   ? team.packed_b
                                : buffer_b.at_least(plan.block_k * plan.block_n);
  int round = 0;
  for (Index jc = 0; jc < p.n(); jc += plan.block_n) {
    const Index n = std::min(plan.block_n, p.n() - jc);
    for (Index pc = 0; pc < p.k(); pc += plan.block_k, ++round) {
      const Range slice = {pc, std::min(pc + plan.block_k, p.k())};
      const Index k = slice.end - slice.begin;
      const bool last = slice.end == p.k();
      if (plan.pack_b) {
        const Index share = shares_b ? pieces(pieces(n, kernel.tile_n), threads) * kernel.tile_n : n;
        const Index begin = shares_b ? std::min(n, thread * share) : 0, end = std::min(n, begin + share);
        kernel.pack_b(p.B.part(slice, {jc + begin, jc + end}), false, packed_b + begin * k);
        if (shares_b) barrier();
      }
      const Index chunks = pieces(n, plan.chunk_n), count = pieces(p.m(), plan.block_m) * chunks;
      const auto multiply = [&](Index task) {
        const Index i = task / chunks * plan.block_m, j = jc + task % chunks * plan.chunk_n;
        const Range rows = {i, std::min(i + plan.block_m, p.m())};
        const Range columns = {j, std::min(j + plan.chunk_n, jc + n)};
        const ConstMatrix A = p.A.part(rows, slice), B = p.B.part(slice, columns);
        Ahead next_rows{};
        const Index follow = std::min(plan.block_m, p.m() - rows.end);
        if (p.A.transposed)
          next_rows.parts[0] = {A.at(A.rows, 0), p.A.stride, line, plan.pack_a ? 0 : pieces(follow, line)};
        else if (p.A.stride >= 512)
          next_rows.parts[0] = {A.at(A.rows, 0), 1, p.A.stride, follow};
        if (plan.pack_a) kernel.pack_a(A, packed_a);
        kernel.multiply({A, packed_a}, {B, packed_b ? packed_b + (j - jc) * k : nullptr},
                        p.C.part(rows, columns),
                        {.accumulate = p.options.accumulate || pc > 0,
                         .alpha = p.options.alpha,
                         .bias = last && p.options.bias ? p.options.bias + j : nullptr},
                        next_rows);
        if (last) finish(p, rows, columns);
      };
      for (int turn = 0; turn < threads; ++turn) {
        const int owner = (thread + turn) % threads;
        const Index begin = count * owner / threads, end = count * (owner + 1) / threads;
        std::atomic<Index>& next = team.next[std::size_t(owner)].in[round % 2];
        Index taken;
        while ((taken = next.fetch_add(1, std::memory_order_relaxed)) < end - begin) multiply(begin + taken);
      }
      if (last && jc + n == p.n()) return;  // the end of the parallel region is a barrier too
      barrier();
      team.next[std::size_t(thread)].in[round % 2] = 0;  // used again after another barrier
    }
  }
}

void check(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, const GemmOptions& options) {
  if (A.cols != B.rows || A.rows != C.rows || B.cols != C.cols)
    fail("gemm: ({},{}) x ({},{}) -> ({},{}) do not fit", A.rows, A.cols, B.rows, B.cols, C.rows, C.cols);
  if (C.transposed && options.bias) fail("gemm: a transposed result takes no bias");
}

// Which way is taken, and so the order of every sum, depends on the shape alone and never on the threads.
void run(const Product& p, bool may_share) {
  if (p.m() == 0 || p.n() == 0) return;
  if (p.k() == 0) return no_product(p);
  const GemmKernels& kernel = *kernels().gemm;
  const Index work = p.m() * p.n() * p.k();
  const bool can_share = may_share && thread_count() > 1 && !in_parallel();
  const bool shared = can_share && work > shared_work;
  const Index few = p.B.transposed ? std::clamp<Index>(p.k() / kernel.dot_depth, 1, 64) : 1;
  if (p.m() <= few && !p.A.transposed)
    return few_rows(p, shared || (can_share && p.n() * p.k() > shared_reads));
  if (work <= shared_work && p.k() <= kernel.block_k) return small(p);

  const int threads = shared ? thread_count() : 1;
  if (has_many_tokens(p)) return many_tokens(p, threads);
  const Plan plan = make_plan(p, threads);
  Team team{plan.pack_b ? buffer_b.at_least(plan.block_k * plan.block_n) : nullptr,
            std::vector<Team::Next>(std::size_t(threads))};
  if (!shared) return large(p, plan, team, 0, 1);
#pragma omp parallel num_threads(threads)
  large(p, plan, team, omp_get_thread_num(), omp_get_num_threads());
}

}  // namespace

void gemm(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, const GemmOptions& options) {
  check(A, B, C, options);
  if (C.transposed) return gemm(B.T(), A.T(), C.T(), options);  // Cᵀ = Bᵀ Aᵀ
  run({A, B, C, options}, true);
}

Index packed_size(Index rows, Index cols) { return rows * (cols + kernels().gemm->tile_n); }

PackedMatrix pack(const ConstMatrix& B, real* memory) {
  kernels().gemm->pack_b(B, B.transposed, memory);
  return {B, memory};
}

void gemm(const ConstMatrix& A, const PackedMatrix& B, const Matrix& C, const GemmOptions& options) {
  if (!B.packed || A.rows == 0 || A.cols == 0) return gemm(A, B.matrix, C, options);
  check(A, B.matrix, C, options);
  small({A, B.matrix, C, options}, B.packed);
}

void gemm(const ConstMatrices& A, const ConstMatrices& B, const Matrices& C, const GemmOptions& options) {
  check(A.first, B.first, C.first, options);
  if (C.first.transposed) return gemm(B.T(), A.T(), C.T(), options);
  const Index count = C.batch.numel(), work = C.first.rows * C.first.cols * A.first.cols + 1;
  // Too few products for all threads, or several into one matrix: the threads share one after another.
  const bool in_turn = C.stretched() || (count < thread_count() && work > shared_work);
  const Index grain = std::max<Index>(1, in_turn ? count : shared_work / 8 / work);
  parallel_for(count, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) run({A[i], B[i], C[i], options}, in_turn);
  });
}

}  // namespace attn
