/// Into matrix products. Lesson 01 wrote one as three nested loops, and those loops use about one percent of
/// what a core can do. This lesson climbs a ladder: every rung computes the same numbers, and each takes away
/// one reason for waiting.
///
/// | rung | what it does |
/// |---|---|
/// | ijk | three loops, as in the formula |
/// | ikj | the inner loop walks along rows, as memory lies |
/// | tiled | a piece of B stays in a near cache while it is used |
/// | register tile | a piece of C stays in registers: fewer loads for each multiplication |
/// | AVX | eight numbers in one instruction |
/// | OpenMP | every core has rows of its own |
/// | the library | all of it, and copies that put the pieces where they are read |
///
/// The product is C (m,n) += A (m,k) B (k,n), all row-major. A FLOP is one multiplication or one addition,
/// so a product takes 2 m k n of them.
#include <time.h>  // clock_gettime

#include <algorithm>  // max, min

#include "core/autograd.hpp"  // NoGrad
#include "core/gemm.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"
#include "lessons/support/lesson.hpp"

using namespace attn;

namespace {

// Row i of A with column j of B. Down a column, each number lies n places after the one before: in another
// piece of memory ("cache line", 16 floats), of which nothing else is used.
void ijk(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index p = 0; p < k; ++p) c[i * n + j] += a[i * k + p] * b[p * n + j];
}

// The two inner loops swapped: a row of C gets a row of B, times one number. Both are walked along, and the
// compiler can take four neighbours at once.
void ikj(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  for (Index i = 0; i < m; ++i)
    for (Index p = 0; p < k; ++p)
      for (Index j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
}

// For each row of C, ikj reads all of B, which is larger than a near cache. So take a tile of B, use it for
// all rows while it is near, then the next. At the edges tiles are smaller: hence the min.
void tiled(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  const Index tile_k = 64, tile_n = 512;
  for (Index p0 = 0; p0 < k; p0 += tile_k)
    for (Index j0 = 0; j0 < n; j0 += tile_n) {
      const Index p1 = std::min(p0 + tile_k, k), j1 = std::min(j0 + tile_n, n);
      for (Index i = 0; i < m; ++i)
        for (Index p = p0; p < p1; ++p)
          for (Index j = j0; j < j1; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}

// So far each multiplication loads and stores its element of C. A register tile, `rows` x two vectors of C,
// stays in registers during the whole loop over k: a step loads rows + two vectors and does rows · two
// multiply-adds on vectors. Vector types (GCC, clang) are numbers that are added and multiplied together,
// with one instruction.
template <int bytes>
struct Vector {
  static constexpr int lanes = bytes / int(sizeof(real));
  typedef real type __attribute__((vector_size(bytes)));
  typedef real in_memory __attribute__((vector_size(bytes), aligned(sizeof(real)), may_alias));
};

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

// Walks over C in such tiles; what is left over at the edges goes to the plain loops.
template <int bytes, int rows>
[[gnu::always_inline]] inline void multiply_by_tiles(Index m, Index k, Index n, const real* a, const real* b,
                                                     real* c) {
  constexpr Index columns = 2 * Vector<bytes>::lanes, tile_k = 256;
  const Index whole_m = m - m % rows, whole_n = n - n % columns;
  for (Index p0 = 0; p0 < k; p0 += tile_k) {
    const Index depth = std::min(tile_k, k - p0);
    for (Index j = 0; j < whole_n; j += columns)
      for (Index i = 0; i < whole_m; i += rows)
        multiply_tile<bytes, rows>(depth, a + i * k + p0, k, b + p0 * n + j, n, c + i * n + j, n);
    for (Index i = 0; i < m; ++i)
      for (Index p = p0; p < p0 + depth; ++p)
        for (Index j = i < whole_m ? whole_n : 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}

// 4 x 8 floats of C in eight registers of 16 bytes: what any 64-bit PC has.
void register_tile(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  multiply_by_tiles<16, 4>(m, k, n, a, b, c);
}

// The same with registers twice as wide, which also multiply and add in one instruction (FMA): 6 x 16 floats
// in twelve of the sixteen registers. The attribute lets the compiler use them in this function alone, so
// that the program starts on any machine; who calls it must have asked the CPU.
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void avx(Index m, Index k, Index n, const real* a, const real* b,
                                             real* c) {
  multiply_by_tiles<32, 6>(m, k, n, a, b, c);
}
bool has_avx() {
  const bool wanted = std::string(kernels().name) != "baseline";  // ATTN_KERNELS=baseline goes without
  return wanted && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
void avx(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  register_tile(m, k, n, a, b, c);
}
bool has_avx() { return false; }
#endif

// Each thread has rows of C of its own, all of k for them, and shares nothing but what is only read.
void openmp(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  const Index band = 48;
#pragma omp parallel for schedule(static) num_threads(thread_count())
  for (Index i = 0; i < m; i += band)
    (has_avx() ? avx : register_tile)(std::min(band, m - i), k, n, a + i * k, b, c + i * n);
}

void library(Index m, Index k, Index n, const real* a, const real* b, real* c) {
  gemm(ConstMatrix{a, m, k}, ConstMatrix{b, k, n}, Matrix{c, m, n}, {.accumulate = true});
}

struct Rung {
  std::string name;
  void (*multiply)(Index m, Index k, Index n, const real* a, const real* b, real* c);
  bool all_cores = false;
};
std::vector<Rung> ladder() {
  std::vector<Rung> rungs = {{"ijk", ijk}, {"ikj", ikj}, {"tiled", tiled}, {"register tile", register_tile}};
  if (has_avx()) rungs.push_back({"AVX", avx});
  rungs.push_back({"OpenMP", openmp, true});
  rungs.push_back({"the library", library, true});
  return rungs;
}

Tensor product(const Rung& rung, const Tensor& a, const Tensor& b) {
  Tensor c = zeros({a.size(0), b.size(1)});
  rung.multiply(a.size(0), a.size(1), b.size(1), a.data(), b.data(), c.data());
  return c;
}

// Seconds since some moment. While one thread does the work, only the time that it has really run: other
// programs on the machine do not count then.
double now(bool all_cores) {
  timespec time;
  clock_gettime(all_cores && thread_count() > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// The best of several runs.
template <class Work>
double seconds_of(bool all_cores, const Work& work) {
  double best = 1e9, total = 0;
  for (int round = 0; round < 20 && total < 0.4; ++round) {
    const double start = now(all_cores);
    work();
    const double seconds = now(all_cores) - start;
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

// The ceiling of one core: independent multiply-adds in registers, nothing to load and nothing to wait for.
double peak_gflops() {
  double flop = 0;
  const double seconds = seconds_of(false, [&] { flop = kernels().burn(100000); });
  return flop / seconds / 1e9;
}

/// ## Where do the FLOPs go?
void where_flops_go(Lesson& lesson) {
  const double n = 128, C = 512, H = 8, F = 2048;
  /// One layer of the transformer that this course builds, for a sentence of 128 words (C = 512 numbers a
  /// word, 8 heads, 2048 hidden units). A product (m,k) x (k,n) takes 2 m k n FLOP, one addition and one
  /// multiplication for each of the inner steps:
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

/// ## ikj: walk as memory lies
///
/// The three loops may stand in any order. But memory comes in lines of 64 bytes, 16 floats. ijk walks down
/// a column of B and uses one float of each line; ikj walks along a row and uses all 16. Counted for 64 x
/// 64 matrices:
void why_order_matters(Lesson& lesson) {
  const Index n = 64, by_column = line_changes(false, n), by_row = line_changes(true, n);
  lesson.claim(by_column == 16 * by_row, "of {} reads of B, ijk needs another line for {}, ikj for {}",
               n * n * n, by_column, by_row);
  /// ## Tiles: near caches and registers
  ///
  /// The nearest cache holds some 10,000 numbers, the next some hundred thousand, and each is several times
  /// slower than the one before. A tile of B that fits is used for all rows of C before it is dropped. The
  /// registers are nearest of all: a tile of C that stays there is neither loaded nor stored while k goes by.
  /// What a step of k costs:
  lesson.table({"", "loads and stores", "multiply-adds", "per load or store"},
               {{"ikj, one element", "3 (B, C, and C back)", "1", "0.33"},
                {"register tile 4 x 8", "12 (4 of A, 8 of B)", "32", "2.67"},
                {"AVX tile 6 x 16", "22 (6 of A, 16 of B)", "96", "4.36"}});
  /// Sizes are rarely multiples of a tile. What is left over at the right and at the bottom must be computed,
  /// too, and the sum over k continues from tile to tile: it is added to C and not assigned.
}

/// ## Two threads must not share a tile of C
///
/// Two threads could also share the sum over k: one adds up the first half, the other the second. To add to
/// C is to load, add and store, and if both load before either stores, one half is lost. Played by hand,
/// for 1·2 + 3·4 in one thread and 5·6 + 7·8 in the other, both adding to one element that starts at 0:
void two_threads(Lesson& lesson) {
  double c = 0;
  double first = c, second = c;  // both load
  first += 1 * 2 + 3 * 4;        // both add
  second += 5 * 6 + 7 * 8;
  lesson.print("  thread 1 loads 0, adds {:.0f}     thread 2 loads 0, adds {:.0f}", first, second);
  c = first;  // both store: the last one wins
  c = second;
  lesson.print("  thread 1 stores {:.0f}            thread 2 stores {:.0f}", first, c);
  lesson.claim(c == 86 && first + second == 100,
               "C is {:.0f}, not {:.0f}, on some days; on others it is right", c, first + second);
  /// So threads share out C: each computes rows of its own, over all of k. Then the number of threads changes
  /// no bit:
  Rng rng(lesson.seed);
  const Tensor a = normal({100, 75}, rng), b = normal({75, 90}, rng);
  const int threads = thread_count();
  set_thread_count(1);
  const Tensor alone = product({"", openmp}, a, b);
  set_thread_count(3);
  const Tensor together = product({"", openmp}, a, b);
  set_thread_count(threads);
  lesson.claim(equal(alone, together), "our OpenMP rung on 1 and on 3 threads: the same bits");
}

/// ## The ladder
void climb(Lesson& lesson, double peak) {
  Rng rng(lesson.seed);
  const Tensor odd_a = normal({37, 53}, rng), odd_b = normal({53, 41}, rng);
  const std::vector<Rung> rungs = ladder();
  double worst = 0;
  for (const Rung& rung : rungs)
    worst = std::max(worst, max_difference(product(rung, odd_a, odd_b), product(rungs[0], odd_a, odd_b)));
  lesson.claim(worst < 1e-4,
               "all {} rungs agree on an odd size, (37,53) x (53,41): largest difference {:.0e}",
               rungs.size(), worst);
  if (!has_avx()) lesson.say("There is no AVX2 with FMA here, so that rung is left out.");

  const Index n = lesson.fast ? 320 : 960;
  const Tensor a = normal({n, n}, rng), b = normal({n, n}, rng), scratch = zeros({n, n});
  const double flop = 2.0 * n * n * n;
  const int threads = thread_count();
  lesson.say(
      "Now {} x {} matrices, {:.2f} billion FLOP. A core of this machine can do {:.0f} GFLOP/s when it has "
      "nothing to wait for (measured with the {} kernels); the last two rungs use {} and are held against "
      "all of them:",
      n, n, flop / 1e9, peak, kernels().name, threads == 1 ? "1 thread" : fmt::format("{} threads", threads));
  std::vector<std::string> names;
  std::vector<double> speeds;
  std::vector<std::vector<std::string>> rows;
  Tensor expected;
  worst = 0;
  for (const Rung& rung : rungs) {
    const Tensor c = product(rung, a, b);
    if (!expected) expected = c;
    worst = std::max(worst, max_difference(c, expected));
    const double seconds =
        seconds_of(rung.all_cores, [&] { rung.multiply(n, n, n, a.data(), b.data(), scratch.data()); });
    const double speed = flop / seconds / 1e9;
    const double ceiling = peak * (rung.all_cores ? threads : 1);
    names.push_back(rung.name);
    speeds.push_back(speed);
    rows.push_back({rung.name, fmt::format("{:.1f}", speed), fmt::format("{:.1f}%", 100 * speed / ceiling),
                    fmt::format("{:.1f}", speed / speeds[0])});
  }
  lesson.table({"rung", "GFLOP/s", "of the peak", "times ijk"}, rows);
  lesson.claim(worst < 1e-5 * n, "all rungs give the same {} numbers: largest difference {:.0e}", n * n,
               worst);
  set_thread_count(1);
  const double serial = seconds_of(false, [&] { library(n, n, n, a.data(), b.data(), scratch.data()); });
  set_thread_count(threads);
  lesson.claim(flop / serial / 1e9 > 3 * speeds[0],
               "on one core, too, the library is more than 3 times as fast as ijk");
  lesson.picture(
      "ladder.png",
      viz::bar_chart(names, speeds,
                     {.title = fmt::format("One product, {} x {}", n, n), .value_title = "GFLOP/s"}),
      "The ladder",
      "The same numbers from every rung. The first step, another order of loops, costs nothing.");
}

/// ## The roofline
///
/// Why does it need tiles at all? A core computes faster than memory delivers. What counts is how many FLOP
/// are done with each byte that is fetched, the intensity:
///
/// $$ GFLOP/s  ≤  min(peak,  bandwidth · FLOP per byte) $$
void roofline(Lesson& lesson, double peak) {
  const NoGrad no_grad;
  const Index n = lesson.fast ? 1024 : 2048, length = n * n;
  Rng rng(lesson.seed);
  const Tensor x = ones({length}), y = ones({length}), w = normal({n, n}, rng);
  const double ceiling = peak * thread_count(), number = sizeof(real);

  const Index chunk = 1 << 16;
  std::vector<real> sums(length / chunk);
  const double read_seconds = seconds_of(true, [&] {
    parallel_for(length, chunk, [&](Index begin, Index end) {
      for (Index i = begin; i < end; i += chunk) sums[i / chunk] = kernels().sum(chunk, x.data() + i);
    });
  });
  const double bandwidth = number * length / read_seconds / 1e9;
  double total = 0;
  for (const real sum : sums) total += sum;
  lesson.claim(total == 1.0 * length, "to measure the bandwidth, {:.0f} MB are read and added up: {:.0f}",
               number * length / 1e6, total);

  struct Place {
    std::string name;
    double intensity, speed;
  };
  std::vector<Place> places;
  const auto measure = [&](const std::string& name, double flop, double bytes, const auto& work) {
    places.push_back({name, flop / bytes, flop / seconds_of(true, work) / 1e9});
  };
  const double weights = 1.0 * n * n;
  measure("x + y", 1.0 * length, 3 * number * length, [&] { x + y; });
  for (const Index words : {1, 4, 16, 64, 256}) {
    const Tensor batch = normal({words, n}, rng);
    const double moved = number * (weights + 2 * words * n);
    measure(words == 1 ? "1 word" : fmt::format("{} words", words), 2 * weights * words, moved,
            [&] { matmul(batch, w, Transpose::second); });
  }
  lesson.say(
      "x + y does one FLOP for 12 bytes. One word through a weight of {} x {} has to fetch the whole "
      "matrix for 2 FLOP a number; 256 words together fetch it once, and do 256 times the work with it. "
      "The bandwidth here is {:.0f} GB/s:",
      n, n, bandwidth);
  std::vector<std::vector<std::string>> rows;
  viz::Series roof{.name = "the roof"}, points{.name = "measured", .line = false, .points = true};
  roof.x = {1.0 / 16, ceiling / bandwidth, 512};
  for (const double intensity : roof.x) roof.y.push_back(std::min(ceiling, bandwidth * intensity));
  for (const Place& place : places) {
    rows.push_back({place.name, fmt::format("{:.2f}", place.intensity), fmt::format("{:.1f}", place.speed),
                    fmt::format("{:.1f}", std::min(ceiling, bandwidth * place.intensity))});
    points.x.push_back(place.intensity);
    points.y.push_back(place.speed);
    points.labels.push_back(place.name);
  }
  lesson.table({"operation", "FLOP per byte", "GFLOP/s", "the roof, GFLOP/s"}, rows);
  lesson.claim(places.back().intensity > 100 * places[1].intensity,
               "256 words together do {:.0f} times as much with each byte as one word alone",
               places.back().intensity / places[1].intensity);
  lesson.picture("roofline.png",
                 viz::line_chart({roof, points}, {.title = "What bounds it: memory or arithmetic?",
                                                  .x_title = "FLOP per byte fetched",
                                                  .y_title = "GFLOP/s",
                                                  .x_scale = viz::Scale::log2,
                                                  .y_scale = viz::Scale::log10}),
                 "The roofline",
                 "On the slope memory decides, under the flat roof arithmetic. One word at a time, which "
                 "is how a model writes, is far to the left: lesson 14 comes back to it.");
  /// A product of two n x n matrices has n/6 FLOP per byte, if each is fetched once. That is the promise of a
  /// large product, and tiles are what keeps it.
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "03_fast_matmul", .question = "Where do 99% of the FLOPs go?"},
      [](Lesson& lesson) {
        const double peak = peak_gflops();
        where_flops_go(lesson);
        why_order_matters(lesson);
        two_threads(lesson);
        climb(lesson, peak);
        roofline(lesson, peak);
        lesson.try_next(
            {{"In climb, change 960 to 1024.",
              "ijk and AVX get slower: columns of a power of two fall onto the same few places of the "
              "cache. The library copies its tiles and does not mind."},
             {"In tiled, write c[...] = instead of c[...] +=.",
              "Only the last step of k is left of each sum, and the first claim of the ladder fails."},
             {"In multiply_by_tiles, leave out the loops for what is left over at the edges.",
              "960 is a multiple of every tile and stays right; the odd size shows the mistake."}});
      });
}
