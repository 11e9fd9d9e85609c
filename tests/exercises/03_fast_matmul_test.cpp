// Grades exercise 03. Where the library has a function, it is the right answer.
#include "mistakes/03_fast_matmul.hpp"  // made from mistakes.diff

namespace exercise {
inline auto fields(WatchedMatrix& watched) {
  return std::tuple{coach::field("matrix", watched.matrix), coach::field("jumps", watched.jumps)};
}
inline auto fields(View& view) {
  return std::tuple{coach::field("values", view.values), coach::field("stride", view.stride)};
}
}  // namespace exercise

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::View;
using exercise::WatchedMatrix;

namespace oracle {

void multiply_ikj(const Tensor& a, WatchedMatrix& b, Tensor& c) {
  for (Index i = 0; i < a.size(0); ++i)
    for (Index k = 0; k < a.size(1); ++k)
      for (Index j = 0; j < c.size(1); ++j) c(i, j) += a(i, k) * b(k, j);
}

// Without tiles: they change the order of the work and nothing else.
void multiply_tiled(Index m, Index k, Index n, const View& a, const View& b, Index, View& c) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index p = 0; p < k; ++p)
        c.values[i * c.stride + j] += a.values[i * a.stride + p] * b.values[p * b.stride + j];
}

// (K, P, width) by reshape, then the panels first.
Tensor pack_panels(const Tensor& b, Index width) {
  const Index panels = (b.size(1) + width - 1) / width, missing = panels * width - b.size(1);
  const Tensor padded = concat({b, zeros({b.size(0), missing})}, 1);
  return permute(reshape(padded, {b.size(0), panels, width}), {1, 0, 2});
}

// Of what is left, a fair share, rounded up.
std::vector<std::pair<Index, Index>> share_rows(Index rows, Index threads) {
  std::vector<std::pair<Index, Index>> shares;
  for (Index begin = 0, left = threads; left > 0; --left) {
    shares.emplace_back(begin, begin + (rows - begin + left - 1) / left);
    begin = shares.back().second;
  }
  return shares;
}

double attainable(Index m, Index k, Index n, double peak, double bandwidth) {
  const double M = double(m), K = double(k), N = double(n);
  return std::min(peak, bandwidth / (2 / N + 2 / M + 2 / K));  // bytes for each FLOP
}

// Any shares will do that follow one another over all rows and differ by at most one.
bool is_fair(const std::vector<std::pair<Index, Index>>& shares, Index rows, Index threads) {
  if (static_cast<Index>(shares.size()) != threads) return false;
  Index next = 0;
  for (const auto& [begin, end] : shares) {
    const Index count = end - begin;
    if (begin != next || count < rows / threads || count > (rows + threads - 1) / threads) return false;
    next = end;
  }
  return next == rows;
}

// How often the use of a matrix moves on to another tile of it.
Index tile_changes(const View& view, Index tile) {
  Index changes = 0;
  std::pair<Index, Index> last{-1, -1};
  for (const Index place : view.values.used()) {
    const std::pair<Index, Index> here{place / view.stride / tile, place % view.stride / tile};
    changes += here != last;
    last = here;
  }
  return changes;
}

// Tile by tile, each of the three matrices moves on once for each triple of tiles, at most.
std::string uses_tiles(const coach::Witness<coach::Case<decltype(exercise::multiply_tiled)>>& seen) {
  const auto& [m, k, n, a, b, tile, c] = seen.after;
  const auto tiles = [tile = tile](Index size) { return (size + tile - 1) / tile; };
  const Index most = tiles(m) * tiles(k) * tiles(n);
  const char* names[] = {"a", "b", "c"};
  const View* views[] = {&a, &b, &c};
  for (int i = 0; i < 3; ++i)
    if (const Index changes = tile_changes(*views[i], tile); changes > most)
      return fmt::format(
          "It does not work tile by tile: {} moves on to another tile {} times, where {} "
          "products of tiles need at most {}.",
          names[i], changes, most, most);
  return "";
}

}  // namespace oracle

// A matrix of these sizes in memory with room enough that even a wrong stride stays inside.
View view(Index rows, Index stride, Rng& rng) {
  return {coach::tidy({(rows + 2) * (stride + 4)}, rng).values(), stride};
}

coach::Exercise coach::exercise() {
  return {
      "03_fast_matmul",
      {Question<decltype(exercise::multiply_ikj)>{
           .name = "multiply_ikj",
           .answer = exercise::multiply_ikj,
           .oracle = oracle::multiply_ikj,
           .arguments = {"a", "b", "c"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::multiply_ikj)> {
             return {{tidy({1, 2}, rng), {tidy({2, 1}, rng)}, tidy({1, 1}, rng)},
                     {tidy({2, 2}, rng), {tidy({2, 2}, rng)}, tidy({2, 2}, rng)},
                     {tidy({2, 3}, rng), {tidy({3, 2}, rng)}, tidy({2, 2}, rng)},
                     {normal({5, 7}, rng), {normal({7, 3}, rng)}, normal({5, 3}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::multiply_ikj)> {
             const Index M = draw.size(), K = draw.size(), N = draw.size();
             return {draw.tidy({M, K}), {draw.tidy({K, N})}, draw.tidy({M, N})};
           },
           .mistakes = mistakes::multiply_ikj,
           .notice = "b jumped only M − 1 times. The order i, j, k makes it jump at nearly every read, for "
                     "the same "
                     "numbers."},
       Question<decltype(exercise::multiply_tiled)>{
           .name = "multiply_tiled",
           .answer = exercise::multiply_tiled,
           .oracle = oracle::multiply_tiled,
           .arguments = {"m", "k", "n", "a", "b", "tile", "c"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::multiply_tiled)> {
             return {{1, 2, 1, view(1, 2, rng), view(2, 1, rng), 1, view(1, 1, rng)},
                     {2, 2, 2, view(2, 2, rng), view(2, 2, rng), 2, view(2, 2, rng)},
                     {3, 2, 2, view(3, 2, rng), view(2, 2, rng), 2, view(3, 2, rng)},
                     {2, 3, 2, view(3, 3, rng), view(3, 3, rng), 2, view(2, 2, rng)},
                     {5, 7, 3, view(7, 9, rng), view(7, 7, rng), 3, view(5, 5, rng)},
                     {5, 4, 7, view(7, 6, rng), view(5, 8, rng), 8, view(5, 9, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::multiply_tiled)> {
             const Index m = draw.size(), k = draw.size(), n = draw.size();
             const auto of = [&](Index rows, Index columns) {
               return view(rows, columns + draw.between(0, 2), draw.rng);
             };
             return {m, k, n, of(m, k), of(k, n), draw.size(), of(m, n)};
           },
           .promise = oracle::uses_tiles,
           .mistakes = mistakes::multiply_tiled,
           .notice = "Nothing but the order of the work has changed, so a tile may have any size; the best "
                     "one is what a "
                     "cache can hold."},
       Question<decltype(exercise::pack_panels)>{
           .name = "pack_panels",
           .answer = exercise::pack_panels,
           .oracle = oracle::pack_panels,
           .arguments = {"b", "width"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::pack_panels)> {
             return {{places({1, 2}) + 1, 2}, {places({2, 3}) + 1, 2},  {places({3, 3}) + 1, 3},
                     {places({3, 4}) + 1, 2}, {normal({5, 7}, rng), 3}, {normal({2, 3}, rng), 8}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::pack_panels)> {
             return {places({draw.size(), draw.size()}) + 1, draw.size()};
           },
           .mistakes = mistakes::pack_panels,
           .notice =
               "The copy costs K·N, the product M·K·N: it is paid back as soon as b is used for a few rows."},
       Question<decltype(exercise::share_rows)>{
           .name = "share_rows",
           .answer = exercise::share_rows,
           .oracle = oracle::share_rows,
           .arguments = {"rows", "threads"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::share_rows)> {
             return {{4, 2}, {5, 2}, {7, 3}, {11, 4}, {3, 5}, {9, 4}, {20 + rng.below(20), 7}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::share_rows)> {
             return draw.scale > 4
                        ? Case<decltype(exercise::share_rows)>{draw.count(1000000000, 0), draw.count(300)}
                        : Case<decltype(exercise::share_rows)>{draw.between(0, 3 * draw.scale), draw.size()};
           },
           .accepts = oracle::is_fair,
           .mistakes = mistakes::share_rows,
           .notice = "Every row belongs to one thread, and so no element of c is ever written by two."},
       Question<decltype(exercise::attainable)>{
           .name = "attainable",
           .answer = exercise::attainable,
           .oracle = oracle::attainable,
           .arguments = {"m", "k", "n", "peak", "bandwidth"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::attainable)> {
             return {{6, 6, 6, 100, 10},
                     {1, 8, 4, 100, 10},
                     {512, 512, 512, 100, 10},
                     {3, 50, 20 + rng.below(20), 60, 20},
                     {64, 64, 64, 90 + rng.uniform(), 12}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::attainable)> {
             return {draw.count(100000), draw.count(100000), draw.count(100000),
                     double(draw.between(10, 2000)), double(draw.between(5, 200))};
           },
           .mistakes = mistakes::attainable,
           .notice = "With one row (m = 1) it can never be more than half a FLOP a byte: that is why writing "
                     "one word at a "
                     "time is slow."}}};
}
