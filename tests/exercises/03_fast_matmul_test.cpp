// Grades exercise 03. The right answers are plain loops, to be read beside the lesson.
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

Tensor pack_panels(const Tensor& b, Index width) {
  Index panels = 0;
  while (panels * width < b.size(1)) ++panels;
  Tensor out = empty({panels, b.size(0), width});
  for (Index p = 0; p < panels; ++p)
    for (Index k = 0; k < b.size(0); ++k)
      for (Index j = 0; j < width; ++j) {
        const Index column = p * width + j;
        out(p, k, j) = column < b.size(1) ? b(k, column) : 0;
      }
  return out;
}

// Deals the rows out one by one to know how many each thread has.
std::vector<std::pair<Index, Index>> share_rows(Index rows, Index threads) {
  std::vector<Index> count(threads, 0);
  for (Index row = 0; row < rows; ++row) ++count[row % threads];
  std::vector<std::pair<Index, Index>> shares;
  for (Index t = 0; t < threads; ++t) {
    const Index begin = t == 0 ? 0 : shares.back().second;
    shares.emplace_back(begin, begin + count[t]);
  }
  return shares;
}

double attainable(Index m, Index k, Index n, double peak, double bandwidth) {
  const double flop = 2.0 * m * k * n, bytes = 4.0 * m * k + 4.0 * k * n + 4.0 * m * n;
  const double by_memory = bandwidth * flop / bytes;
  return by_memory < peak ? by_memory : peak;
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
             return {{tidy({1, 2}, rng), 2}, {tidy({2, 3}, rng), 2},   {tidy({3, 3}, rng), 3},
                     {tidy({3, 4}, rng), 2}, {normal({5, 7}, rng), 3}, {normal({2, 3}, rng), 8}};
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
           .mistakes = mistakes::attainable,
           .notice = "With one row (m = 1) it can never be more than half a FLOP a byte: that is why writing "
                     "one word at a "
                     "time is slow."}}};
}
