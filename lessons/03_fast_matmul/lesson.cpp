/// Into matrix products. A *FLOP* is one addition or multiplication of floating-point numbers, and a
/// transformer spends nearly all of them where rows meet columns. Lesson 01 wrote that as three loops. They
/// are right, and they leave almost all of the processor idle: the same product, with the same numbers, can
/// be computed tens of times faster on the same core. For a model that is the difference between training for
/// a minute and for an hour.
///
/// Why are three simple loops so slow? Because a core computes much faster than numbers can be brought to it.
/// This lesson climbs a ladder from those loops to the library's product. Each rung removes one reason for
/// waiting and measures how fast it then runs on your machine. If you only want to know how models learn, go
/// on to lesson 04, and come back before lessons 14 and 18, where memory decides again.
#include <algorithm>  // copy_n, max, min

#include "core/autograd.hpp"  // NoGrad
#include "core/gemm.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"
#include "lessons/03_fast_matmul/ladder.hpp"
#include "lessons/03_fast_matmul/pictures.hpp"
#include "lessons/support/lesson.hpp"

using namespace attn;

namespace {

std::string grouped(double value) { return viz::format_fixed(value, 0); }

/// ## Where do the FLOPs go?
///
/// A product (m,k) x (k,n) has m n elements, each a sum of k products: 2 m k n FLOP, a multiplication and an
/// addition for each step. One layer of the transformer that this course builds, for n = 128 words of C = 512
/// numbers each, with H = 8 heads and F = 2048 hidden units (lessons 06 to 10 explain the parts):
void where_flops_go(Lesson& lesson) {
  const double n = 128, C = 512, H = 8, F = 2048;
  struct Part {
    std::string name, count;
    double flop;
    bool product;
  };
  const std::vector<Part> parts = {{"queries, keys, values, output", "4 · 2 n C²", 8 * n * C * C, true},
                                   {"feed-forward", "2 · 2 n C F", 4 * n * C * F, true},
                                   {"scores and weighted sums", "2 · 2 n² C", 4 * n * n * C, true},
                                   {"softmax", "about 5 n² H", 5 * n * n * H, false},
                                   {"two norms", "about 2 · 8 n C", 16 * n * C, false},
                                   {"biases, residuals, ReLU", "n (7 C + 2 F)", n * (7 * C + 2 * F), false}};
  double total = 0, products = 0;
  for (const Part& part : parts) total += part.flop, products += part.product ? part.flop : 0;
  std::vector<std::vector<std::string>> rows;
  for (const Part& part : parts)
    rows.push_back({part.name, part.count, fmt::format("{:.1f}", part.flop / 1e6),
                    fmt::format("{:.2f}%", 100 * part.flop / total)});
  lesson.table({"part", "FLOP", "millions", "share"}, rows);
  lesson.claim(products / total > 0.99,
               "matrix products are {:.1f}% of all FLOP: to be fast is to multiply fast",
               100 * products / total);
}

// All products here are C (m,n) += A (m,k) B (k,n), row-major. p runs over k.
void ijk(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index p = 0; p < k; ++p) c[i * n + j] += a[i * k + p] * b[p * n + j];
}

/// ## ijk: the formula as it stands
///
/// Row i, column j, and the sum over k. Speed is counted in GFLOP/s, billions of FLOP per second:
void first_rung(Lesson& lesson, Ladder& ladder) {
  const Rung& rung = ladder.climb("ijk", ijk, kernel_set(0));
  lesson.say("A product of two {} x {} matrices is {:.2f} billion FLOP; ijk does {:.1f} GFLOP/s.", ladder.n(),
             ladder.n(), 2e-9 * double(ladder.n() * ladder.n() * ladder.n()), rung.one_core);
  /// What could it be? The *peak* of a core is what it does when it has nothing to load and nothing to
  /// wait for: multiply-adds on numbers that are in registers already. A core has *vector registers*,
  /// which hold several floats that one instruction adds or multiplies all at once. The wider they are,
  /// the higher the peak:
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < kernel_set_count(); ++i)
    rows.push_back(
        {fmt::format("{}", kernel_set(i).width), fmt::format("{:.0f}", peak_gflops(kernel_set(i)))});
  lesson.table({"floats in a vector", "peak of one core, GFLOP/s"}, rows);
}

// How often the inner loop reads B from another cache line than just before, in n³ reads.
Index line_changes(bool row_by_row, Index n) {
  Index changes = 0, last = -1;
  for (Index i = 0; i < n; ++i)
    for (Index outer = 0; outer < n; ++outer)
      for (Index inner = 0; inner < n; ++inner) {
        const Index place = row_by_row ? outer * n + inner : inner * n + outer, line = place / 16;
        changes += line != last;
        last = line;
      }
  return changes;
}

// The same loops on a part of larger matrices, whose rows are lda, ldb and ldc numbers apart.
void ikj_part(Index m, Index k, Index n, const real* a, Index lda, const real* b, Index ldb, real* c,
              Index ldc) {
  for (Index i = 0; i < m; ++i)
    for (Index p = 0; p < k; ++p)
      for (Index j = 0; j < n; ++j) c[i * ldc + j] += a[i * lda + p] * b[p * ldb + j];
}

void ikj(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  ikj_part(m, k, n, a, k, b, n, c, n);
}

/// ## ikj: walk as memory lies
///
/// Memory does not hand out single numbers. What a core asks for comes in a *cache line* of 64 bytes, 16
/// floats, and is kept for a while in a *cache*, a small and fast memory beside the core. ijk walks down
/// a column of B and uses one float of each line. The three loops may be nested in any order (lesson
/// 01), so swap the inner two: ikj walks along a row of B and a row of C, and uses all 16. Counted for
/// 64 x 64 matrices:
void why_order_matters(Lesson& lesson, Ladder& ladder) {
  const Index n = 64, by_column = line_changes(false, n), by_row = line_changes(true, n);
  lesson.claim(by_column == 16 * by_row, "of {} reads of B, ijk needs another line for {}, ikj for {}",
               grouped(double(n * n * n)), grouped(double(by_column)), grouped(double(by_row)));
  lesson.picture("cache_lines.png", cache_lines_picture(), "Down a column, along a row",
                 "Both walks read 16 floats. The column fetches 16 lines for that, the row one.");
  const Rung& rung = ladder.climb("ikj", ikj, kernel_set(0));
  lesson.say("ikj does {:.1f} GFLOP/s. Two loops were swapped, nothing else.", rung.one_core);
  /// Part of that comes from the compiler: neighbours in a row fill a vector register, so now it uses those.
}

void tiled(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  const Index tile_k = 64, tile_n = 1024;
  for (Index p = 0; p < k; p += tile_k)
    for (Index j = 0; j < n; j += tile_n)
      ikj_part(m, std::min(tile_k, k - p), std::min(tile_n, n - j), a + p, k, b + p * n + j, n, c + j, n);
}

// A vector register, and the same numbers in memory, where they need not be aligned. Arithmetic on such types
// (GCC, clang) is one instruction for all lanes.
template <int bytes>
struct Vector {
  static constexpr int lanes = bytes / int(sizeof(real));
  typedef real type __attribute__((vector_size(bytes)));
  typedef real in_memory __attribute__((vector_size(bytes), aligned(sizeof(real)), may_alias));
};

// `rows` x two vectors of C stay in registers while p runs.
template <int bytes, int rows>
[[gnu::always_inline]] inline void multiply_tile(Index k, const real* a, Index lda, const real* b, Index ldb,
                                                 real* c, Index ldc) {
  using Memory = typename Vector<bytes>::in_memory;
  constexpr int lanes = Vector<bytes>::lanes;
  typename Vector<bytes>::type sum[rows][2] = {};
  for (Index p = 0; p < k; ++p) {
    const typename Vector<bytes>::type left = *reinterpret_cast<const Memory*>(b + p * ldb),
                                       right = *reinterpret_cast<const Memory*>(b + p * ldb + lanes);
    for (int i = 0; i < rows; ++i) {
      sum[i][0] += a[i * lda + p] * left;
      sum[i][1] += a[i * lda + p] * right;
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<Memory*>(c + i * ldc + half * lanes) += sum[i][half];
}

// Walks over C in such tiles, 256 steps of k and 96 rows at a time, so that this part of A stays near. With
// `pack`, each strip of B is copied first. What is left over at the edges goes to the plain loops.
template <int bytes, int rows>
[[gnu::always_inline]] inline void multiply_by_tiles(Index m, Index k, Index n, const real* a, const real* b,
                                                     real* c, bool pack) {
  constexpr Index columns = 2 * Vector<bytes>::lanes, tile_k = 256, tile_m = 96;
  const Index whole_m = m - m % rows, whole_n = n - n % columns;
  std::vector<real> strips(pack ? tile_k * whole_n : 0);
  for (Index p0 = 0; p0 < k; p0 += tile_k) {
    const Index depth = std::min(tile_k, k - p0);
    for (Index j = 0; pack && j < whole_n; j += columns)
      for (Index p = 0; p < depth; ++p)
        std::copy_n(b + (p0 + p) * n + j, columns, strips.data() + j * depth + p * columns);
    for (Index i0 = 0; i0 < whole_m; i0 += tile_m)
      for (Index j = 0; j < whole_n; j += columns)
        for (Index i = i0; i < std::min(i0 + tile_m, whole_m); i += rows)
          multiply_tile<bytes, rows>(depth, a + i * k + p0, k,
                                     pack ? strips.data() + j * depth : b + p0 * n + j, pack ? columns : n,
                                     c + i * n + j, n);
    ikj_part(whole_m, depth, n - whole_n, a + p0, k, b + p0 * n + whole_n, n, c + whole_n, n);
    ikj_part(m - whole_m, depth, n, a + whole_m * k + p0, k, b + p0 * n, n, c + whole_m * n, n);
  }
}

// 4 x 8 floats of C in eight registers of 16 bytes, which any 64-bit PC has.
void register_tile(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  multiply_by_tiles<16, 4>(m, k, n, a, b, c, false);
}
void register_tile_packed(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  multiply_by_tiles<16, 4>(m, k, n, a, b, c, true);
}

/// ## Tiles: near caches and registers
///
/// Caches come in levels: L1 is next to the core and holds some 10,000 floats, L2 a few hundred thousand,
/// L3 several million, and each is several times slower than the one before. For every row of C, ikj reads
/// all of B, which is too large for the near ones. So cut B into *tiles* and use a tile for all rows of C
/// while it is near, then take the next:
void tiles(Lesson& lesson, Ladder& ladder) {
  lesson.say("The tiled product does {:.1f} GFLOP/s.", ladder.climb("tiled", tiled, kernel_set(0)).one_core);
  /// On many machines that alone gains little, because ikj also waits for something else: each
  /// multiplication loads an element of C, adds to it and stores it again. The registers are nearer than any
  /// cache. Hold a small tile of C in them while k goes by, and it is loaded and stored only once. What one
  /// step of k costs:
  lesson.table({"", "floats moved", "multiply-adds", "per float"},
               {{"ikj, one element", "3 (B, C, and C back)", "1", "0.33"},
                {"register tile 4 x 8", "12 (4 of A, 8 of B)", "32", "2.67"},
                {"register tile 6 x 16", "22 (6 of A, 16 of B)", "96", "4.36"}});
  lesson.say("A register tile of 4 x 8 does {:.1f} GFLOP/s.",
             ladder.climb("register tile", register_tile, kernel_set(0)).one_core);
  /// Sizes are rarely multiples of a tile. What is left over at the right and at the bottom must be computed,
  /// too. And the sum over k continues from tile to tile: it is added to C and not assigned.
}

// The attribute lets the compiler use these instructions in this function alone, so that the program starts
// on any machine; who calls it must have asked the CPU.
#if defined(__x86_64__)
#define WITH_AVX __attribute__((target("avx2,fma")))
const bool cpu_has_avx = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
#define WITH_AVX
const bool cpu_has_avx = false;
#endif

WITH_AVX void avx(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  multiply_by_tiles<32, 6>(m, k, n, a, b, c, false);
}
WITH_AVX void avx_packed(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  multiply_by_tiles<32, 6>(m, k, n, a, b, c, true);
}

bool use_avx() { return cpu_has_avx && std::string(kernels().name) != "baseline"; }
const Kernels& our_width() { return kernel_set(use_avx() ? 1 : 0); }

void unpacked(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  (use_avx() ? avx : register_tile)(m, k, n, a, b, c);
}
void packed(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  (use_avx() ? avx_packed : register_tile_packed)(m, k, n, a, b, c);
}

/// ## AVX and FMA: wider vectors
///
/// Every 64-bit PC has vector registers of 4 floats (SSE), sixteen of them. *AVX* (Advanced Vector
/// Extensions, 2011) made them 8 floats wide, *AVX-512* 16. And *FMA* (fused multiply-add, which came with
/// AVX2 in 2013) is one instruction for a · b + c, where there had been two. The table of peaks above shows
/// what that is worth. With AVX the register tile can be 6 x 16: twelve of the sixteen registers hold C.
void wider_vectors(Lesson& lesson, Ladder& ladder) {
  if (use_avx()) {
    lesson.say("The same code, compiled for AVX2 and FMA, does {:.1f} GFLOP/s.",
               ladder.climb("AVX", avx, our_width()).one_core);
  } else if (cpu_has_avx) {
    lesson.say(
        "ATTN_KERNELS=baseline asks to do without them. So the AVX rung is left out, and the rungs from here "
        "on have the vectors of the register tile.");
  } else {
    lesson.say(
        "This processor has no AVX2 with FMA. So that rung is left out, and the rungs from here on have the "
        "vectors of the register tile.");
  }
}

// A strip of 256 rows, a line each, `stride` bytes apart: how many lines compete for the fullest of 64 sets,
// and in how many pages of 4,096 bytes are they?
struct Crowding {
  Index lines, pages;
};
Crowding crowding(Index stride) {
  std::vector<Index> in_set(64);
  Index pages = 0, last_page = -1;
  for (Index row = 0; row < 256; ++row) {
    const Index address = row * stride;
    ++in_set[address / 64 % 64];
    pages += address / 4096 != last_page;
    last_page = address / 4096;
  }
  return {*std::max_element(in_set.begin(), in_set.end()), pages};
}

/// ## Packing
///
/// A tile of 6 x 16 needs a strip of B: 16 columns, 256 rows deep. In a wide matrix the rows of this strip
/// lie far apart. Now, a cache cannot keep a line just anywhere. A typical L1 (32 KB) has 64 *sets* with room
/// for 8 lines each, and the address decides on the set. If B has 1,024 columns, its rows are 4,096 bytes
/// apart, and the whole strip falls into one set. It also touches 256 *pages* (memory is mapped in pages of 4
/// KB, and a core remembers where a few dozen of them are). So copy the strip first, once, to where its rows
/// follow one another. That is **packing** (Goto and van de Geijn, 2008), and every fast library does it:
void packing(Lesson& lesson, Ladder& ladder, double budget) {
  const Crowding wide = crowding(4 * 1024), less_wide = crowding(4 * 960), tight = crowding(4 * 16);
  const auto row_of = [](const std::string& name, const Crowding& crowd) {
    return std::vector<std::string>{name, fmt::format("{}", crowd.lines), fmt::format("{}", crowd.pages)};
  };
  lesson.table(
      {"256 rows of 16 floats in", "lines in the fullest set (room for 8)", "pages"},
      {row_of("1,024 columns", wide), row_of("960 columns", less_wide), row_of("a packed strip", tight)});
  lesson.claim(wide.lines == 256 && tight.lines == 4 && tight.pages == 4,
               "packed, the strip fills every set with 4 lines and stays in L1 for all tiles that need it");
  lesson.picture(
      "packing.png", packing_picture(), "Packing a strip of B",
      "Below, the loop over k reads straight on. The copy is made once and used for every row of C.");
  std::vector<std::vector<std::string>> rows;
  const int threads = thread_count();
  set_thread_count(1);
  for (const Index n : lesson.fast ? std::vector<Index>{320, 512} : std::vector<Index>{960, 1024})
    rows.push_back({fmt::format("{}", n), fmt::format("{:.1f}", gflops_of(unpacked, n, false, budget)),
                    fmt::format("{:.1f}", gflops_of(packed, n, false, budget))});
  set_thread_count(threads);
  lesson.table({"n x n", "as it lies, GFLOP/s", "packed, GFLOP/s"}, rows);
  ladder.climb("packed", packed, our_width());
}

void openmp(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  const Index band = 96;
#pragma omp parallel for schedule(static) num_threads(thread_count())
  for (Index i = 0; i < m; i += band) packed(std::min(band, m - i), k, n, a + i * k, b, c + i * n);
}

/// ## Two threads must not share a tile of C
///
/// All this ran on one core. *OpenMP* is a standard that compilers for C, C++ and Fortran understand: one
/// line, `#pragma omp parallel for`, and the rounds of the loop below it are shared among threads, one for
/// each core. But which loop? Two threads could share the sum over k, one taking the first half and the other
/// the second. To add to C is to load, add and store, and if both load before either stores, one half is
/// lost. Played by hand, for 1·2 + 3·4 in one thread and 5·6 + 7·8 in the other, both adding to one element
/// that starts at 0:
void two_threads(Lesson& lesson, Ladder& ladder) {
  double c = 0;
  double first = c, second = c;  // both load
  first += 1 * 2 + 3 * 4;        // both add
  second += 5 * 6 + 7 * 8;
  lesson.print("  thread 1 loads 0, adds {:.0f}     thread 2 loads 0, adds {:.0f}", first, second);
  c = first;  // both store: the last one wins
  c = second;
  lesson.print("  thread 1 stores {:.0f}            thread 2 stores {:.0f}", first, c);
  lesson.claim(c == 86 && first + second == 100, "C is {:.0f} and not {:.0f}; on another day it may be right",
               c, first + second);
  /// So threads share out the rows of C: each computes rows of its own, over all of k. Nothing is written
  /// twice, and the number of threads changes no bit:
  Rng rng(lesson.seed);
  const Tensor a = normal({200, 75}, rng), b = normal({75, 90}, rng);
  const int threads = thread_count();
  set_thread_count(1);
  const Tensor alone = product(openmp, a, b);
  set_thread_count(3);
  const Tensor together = product(openmp, a, b);
  set_thread_count(threads);
  lesson.claim(equal(alone, together), "our OpenMP rung on 1 and on 3 threads: the same bits");
  ladder.climb("OpenMP", openmp, our_width(), true);
}

void library(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  gemm(ConstMatrix{a, m, k}, ConstMatrix{b, k, n}, Matrix{c, m, n}, {.accumulate = true});
}

/// ## The ladder
///
/// The library (`core/gemm.cpp`) does all of this, with a tile tuned for each width of vectors, and its
/// threads share their packed strips. Here are all rungs together. Each is compared with the peak of cores
/// whose vectors are as wide as its own. One core is timed in CPU time, several in wall-clock time, so other
/// programs on the machine count against them:
void whole_ladder(Lesson& lesson, Ladder& ladder) {
  ladder.climb("the library", library, kernels(), true);
  const int threads = thread_count();
  std::vector<std::vector<std::string>> rows;
  const double ijk_speed = ladder.rungs()[0].one_core;
  for (const Rung& rung : ladder.rungs())
    for (const bool all : {false, true}) {
      const double speed = all ? rung.all_cores : rung.one_core;
      if (speed > 0)
        rows.push_back({rung.name, rung.width, fmt::format("{}", all ? threads : 1),
                        fmt::format("{:.1f}", speed),
                        fmt::format("{:.0f}%", 100 * speed / rung.peak / (all ? threads : 1)),
                        fmt::format("{:.1f}", speed / ijk_speed)});
    }
  lesson.table({"rung", "vectors", "cores", "GFLOP/s", "of the peak", "times ijk"}, rows);
  lesson.claim(ladder.largest_difference() < 1e-5 * double(ladder.n()),
               "all rungs give the same {} numbers: largest difference {:.0e}",
               grouped(double(ladder.n() * ladder.n())), ladder.largest_difference());
  lesson.claim(ladder.largest_odd_difference() < 1e-4, "and for an odd size, (37,53) x (53,41), too: {:.0e}",
               ladder.largest_odd_difference());
  lesson.claim(ladder.rungs().back().one_core > 3 * ijk_speed,
               "on one core the library is more than 3 times as fast as ijk");
  if (kernels().width > our_width().width)
    lesson.say("The library's vectors are {} floats wide here, ours {}: compare their shares of the peak.",
               kernels().width, our_width().width);
  lesson.picture(
      "ladder.png",
      ladder_picture(ladder.rungs(), threads,
                     fmt::format("One product, {} x {}, rung by rung", ladder.n(), ladder.n())),
      "The ladder",
      "The same numbers from every rung. The upright marks are the peak of a core with vectors of that "
      "rung's width. The axis is logarithmic: the same distance is the same factor.");
}

/// ## The roofline
///
/// When is it memory that holds a program back, and when arithmetic? Count how many FLOP are done with each
/// byte that is fetched, the *intensity*. Then the speed has two ceilings, and together they look like a roof
/// (Williams, Waterman and Patterson, 2009):
///
/// $$ GFLOP/s  ≤  min(peak,  bandwidth · FLOP per byte) $$
///
/// Bandwidth depends on where the numbers lie. One core of this machine reads:
void roofline(Lesson& lesson, double budget) {
  const NoGrad no_grad;
  const int threads = thread_count();
  set_thread_count(1);
  const double peak = peak_gflops(kernels());
  std::vector<MemoryLevel> levels = memory_levels(Index(lesson.fast ? 128 : 512) << 20);
  std::vector<std::vector<std::string>> rows;
  for (MemoryLevel& level : levels) {
    level.bandwidth = read_bandwidth(level.bytes, budget);
    rows.push_back({level.name, grouped(double(level.bytes >> 10)), fmt::format("{:.0f}", level.bandwidth)});
  }
  lesson.table({"from", "KB", "GB/s"}, rows);

  /// Now what a model does, on numbers that lie as far away as the last line of this table. x + y does one
  /// FLOP for 12 bytes. One word through a large weight matrix has to fetch all of it, for 2 FLOP per number.
  /// Many words together fetch it once, and each byte does more work. (The roof is measured, too. On a busy
  /// machine a point may lie above it.)
  const MemoryLevel& memory = levels.back();
  const Index C = 2048, N = memory.bytes / Index(sizeof(real)) / C, length = N * C / 2;
  std::vector<Operation> operations;
  const auto measure = [&](const std::string& name, double flop, double floats, const auto& work) {
    operations.push_back(
        {name, flop / (sizeof(real) * floats), flop / seconds_of(false, budget, work) / 1e9});
  };
  const Tensor w = full({N, C}, real(0.01)), sum = zeros({length});
  measure("x + y", double(length), 3 * double(length),
          [&] { kernels().add(length, w.data(), w.data() + length, sum.data()); });
  for (const Index words : {1, 4, 16, 64, 256}) {
    const Tensor batch = full({words, C}, real(1));
    measure(words == 1 ? "1 word" : fmt::format("{} words", words), 2.0 * double(N * C * words),
            double(N * C + words * (C + N)), [&] { matmul(batch, w, Transpose::second); });
  }
  set_thread_count(threads);
  rows.clear();
  for (const Operation& operation : operations)
    rows.push_back({operation.name, fmt::format("{:.2f}", operation.intensity),
                    fmt::format("{:.1f}", operation.speed),
                    fmt::format("{:.1f}", std::min(peak, memory.bandwidth * operation.intensity))});
  lesson.table({"operation", "FLOP per byte", "GFLOP/s", "the roof, GFLOP/s"}, rows);
  const double gain = operations.back().intensity / operations[1].intensity;
  lesson.claim(gain > 100, "256 words together do {:.0f} times as much with each byte as one word alone",
               gain);
  lesson.picture(
      "roofline.png", roofline_picture(levels, peak, operations), "The roofline",
      "On the slope memory decides, under the flat roof arithmetic. One word at a time, which is how a "
      "model writes, is far to the left: lesson 14 comes back to it. Dashed: the roofs of the nearer "
      "caches, which hold for a tile that stays there.");
  /// A product of two n x n matrices does 2 n³ FLOP on 3 n² numbers: n/6 FLOP per byte, if each number is
  /// fetched once. That is the promise of a large product, and tiles are what keeps it.
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "03_fast_matmul", .question = "Where do 99% of the FLOPs go?"},
      [](Lesson& lesson) {
        const double budget = lesson.fast ? 0.05 : 0.3;
        where_flops_go(lesson);
        Ladder ladder(lesson.fast ? 320 : 960, lesson.seed, budget);
        first_rung(lesson, ladder);
        why_order_matters(lesson, ladder);
        tiles(lesson, ladder);
        wider_vectors(lesson, ladder);
        packing(lesson, ladder, budget);
        two_threads(lesson, ladder);
        whole_ladder(lesson, ladder);
        roofline(lesson, budget);
        /// ## Check yourself
        ///
        /// - **What is all this for?** Nearly all of a transformer's arithmetic is matrix products. The same
        ///   product is tens of times faster if its numbers are near when they are needed.
        /// - **What goes in, what comes out?** A (m,k) and B (k,n), row-major, are added up into C (m,n) with
        ///   2 m k n FLOP. Every rung computes the same numbers, up to rounding.
        /// - **What goes wrong without it?** A walk down a column uses one float of each cache line; without
        ///   tiles everything comes from far away; rows that lie a power of two apart crowd into a few places
        ///   of the cache; and two threads that add to the same element lose a part of the sum.
        ///
        /// ## Read on
        ///
        /// - Goto and van de Geijn, 2008: *Anatomy of high-performance matrix multiplication*. Tiles and
        ///   packing, as all fast libraries have them since.
        /// - Williams, Waterman and Patterson, 2009: *Roofline: an insightful visual performance model for
        ///   multicore architectures*.
        /// - Ulrich Drepper, 2007: *What every programmer should know about memory*.
        /// - Simon Boehm, 2022: *Fast multidimensional matrix multiplication on CPU from scratch*. Another
        ///   ladder, with other rungs.
        /// - The notebook `06_speed_of_light`: how near a whole training step comes to the roof.
        lesson.try_next(
            {{"Change 960 in main to 1024.",
              "ijk gets several times slower: down a column of 1,024 floats every line falls into the same "
              "set."},
             {"In ikj_part, write c[...] = instead of c[...] +=.",
              "Only the last step of k is left of each sum, and the first two claims of the ladder fail."},
             {"In multiply_by_tiles, leave out the two calls of ikj_part for the edges.",
              "960 is a multiple of every tile and stays right; the odd size shows the mistake."}});
      });
}
