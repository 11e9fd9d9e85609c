// The product of packed or plain operands, tile by tile.
#include <utility>  // integer_sequence

#include "core/kernels/gemm_parts.hpp"

namespace attn::ATTN_TARGET {
namespace {

// Note [Reading ahead]
// What a product reads next often lies in rows far apart, which no CPU foresees. So in each step a tile also
// asks for an element of what comes after its block, or of the next slice of k; with it the whole cache line
// moves into the second-level cache, while there is time.

// What a tile works on: alpha, add and bias are those of GemmOptions.
struct Tile {
  Index k;
  const real *a, *b;
  Index a_row, a_step;  // in A, from one row to the next and from one p to the next
  Index b_step;
  const real* ahead;  // to be read soon, in steps of ahead_step
  Index ahead_step;
  real* c;
  Index ldc;
  Index last;  // columns in the last vector
  real alpha;
  bool add;
  const real* bias;
};

// R rows by V vectors of C, kept in registers over all of k; with `part` the last vector is not whole.
template <int R, int V, bool part>
void multiply_tile(const Tile& t) {
  vec sum[R][V] = {};
  const real *a = t.a, *b = t.b, *ahead = t.ahead;
  real* const c = t.c;
  const Index k = t.k, a_row = t.a_row, a_step = t.a_step, b_step = t.b_step, ahead_step = t.ahead_step,
              ldc = t.ldc;
  const Part edge(t.last);
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 5
    for (int v = 0; v < V * vector_bytes; v += 64) __builtin_prefetch(c + i * ldc + v / sizeof(real), 1);
  }
#pragma GCC unroll 4
  for (Index p = 0; p < k; ++p) {
    if (V == tile_v) {  // See Note [Reading ahead]. In a narrow tile loads are what the time goes into.
      __builtin_prefetch(ahead, 0, 2);
      ahead += ahead_step;
    }
    vec row[V];
#pragma GCC unroll 5
    for (int v = 0; v < V; ++v) {
      row[v] = part && v == V - 1 ? edge.load(b + v * lanes) : load(b + v * lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const vec x = splat(a[i * a_row]);
#pragma GCC unroll 5
      for (int v = 0; v < V; ++v) sum[i][v] = fma(x, row[v], sum[i][v]);
    }
    a += a_step;
    b += b_step;
  }

  // Calls body on each accumulator, so that the branches below are taken once and not for every one of them.
  const auto each = [&](const auto& body) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
#pragma GCC unroll 5
      for (int v = 0; v < V; ++v) {
        const bool at_edge = part && v == V - 1;
        at_edge ? body(sum[i][v], i, v, edge) : body(sum[i][v], i, v, Whole{});
      }
    }
  };
  if (const real alpha = t.alpha; alpha != 1) each([&](vec& y, int, int, auto) { y *= alpha; });
  if (t.add) each([&](vec& y, int i, int v, auto some) { y += some.load(c + i * ldc + v * lanes); });
  if (const real* bias = t.bias)
    each([&](vec& y, int, int v, auto some) { y += some.load(bias + v * lanes); });
  each([&](const vec& y, int i, int v, auto some) { some.store(c + i * ldc + v * lanes, y); });
}

// All tiles. A narrow one may have more rows, so that enough sums are under way at a time.
constexpr int tallest = 14;
constexpr int most_rows(int vectors) { return int(min(tile_m * tile_v / vectors, tallest)); }
using TileFunction = void (*)(const Tile&);
struct TileTable {
  TileFunction whole[tile_m];              // tile_n columns; by rows - 1
  TileFunction part[tile_v + 1][tallest];  // by vectors - 1, of which the last may be a part, and rows - 1
};
template <int V, int... R>
constexpr void fill_part(TileTable& table, std::integer_sequence<int, R...>) {
  ((table.part[V - 1][R] = multiply_tile<R + 1, V, true>), ...);
}
template <int... V, int... R>
constexpr TileTable make_table(std::integer_sequence<int, V...>, std::integer_sequence<int, R...>) {
  TileTable table = {};
  ((table.whole[R] = multiply_tile<R + 1, tile_v, false>), ...);
  (fill_part<V + 1>(table, std::make_integer_sequence<int, most_rows(V + 1)>()), ...);
  return table;
}
constexpr TileTable tile_table =
    make_table(std::make_integer_sequence<int, tile_v + 1>(), std::make_integer_sequence<int, tile_m>());

// The next piece for a tile to ask for; if there is none, the first element that it reads anyway.
ATTN_INLINE void ask_ahead(Ahead& ahead, Tile& t) {
  t.ahead = t.a;
  t.ahead_step = 0;
  Ahead::Part& part = ahead.parts[ahead.parts[0].pieces == 0];
  if (part.pieces == 0) return;
  t.ahead = part.data;
  t.ahead_step = part.step;
  part.data += part.stride;
  --part.pieces;
}

void multiply(const GemmOperand& a, const GemmOperand& b, const Matrix& c, const GemmOptions& options,
              Ahead& ahead) {
  const real* a_data = a.packed ? a.packed : a.matrix.data;
  const Index k = a.matrix.cols;
  Tile t;
  t.k = k;
  t.a_row = a.matrix.transposed ? 1 : a.matrix.stride;
  t.a_step = a.matrix.transposed ? a.matrix.stride : 1;
  t.ldc = c.stride;
  t.alpha = options.alpha;
  t.add = options.accumulate;
  for (Index j = 0, columns; j < c.cols; j += columns) {
    columns = next_panel(c.cols - j, b.wide);
    const Index vectors = (columns + lanes - 1) / lanes;
    t.last = columns - (vectors - 1) * lanes;
    const TileFunction* functions = columns == tile_n ? tile_table.whole : tile_table.part[vectors - 1];
    const Index most = a.packed ? tile_m : most_rows(int(vectors));
    t.b = b.packed ? b.packed + j * k : b.matrix.data + j;
    t.b_step = b.packed ? panel_stride(columns) : b.matrix.stride;
    t.bias = options.bias ? options.bias + j : nullptr;
    for (Index i = 0, rows; i < c.rows; i += rows) {
      rows = next_tile(c.rows - i, most);
      t.a = a_data + i * (a.packed ? k : t.a_row);
      if (a.packed) t.a_step = rows;
      ask_ahead(ahead, t);
      t.c = c.data + i * c.stride + j;
      functions[rows - 1](t);
    }
  }
}

constexpr GemmKernels table = {
    .tile_m = tile_m,
    .tile_n = tile_n,
    .block_k = lanes == 16 ? 512 : 256,
    .multiply = multiply,
    .pack_a = pack_a,
    .pack_b = pack_b,
    .rows_dot = rows_dot,
    .dot_depth = lanes == 16 ? 16 : 4,
    .row_add = row_add,
    .int8_dot = int8_dot,
};

}  // namespace

const GemmKernels* gemm_kernels() { return &table; }
int vector_width() { return lanes; }

}  // namespace attn::ATTN_TARGET
