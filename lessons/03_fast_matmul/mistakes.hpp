// The wrong answers to exercise 03 that the grader knows by name.
#pragma once

#include "lessons/03_fast_matmul/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
void multiply_ikj(const Tensor& a, WatchedMatrix& b, Tensor& c);
void multiply_tiled(Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c);
Tensor pack_panels(const Tensor& b, Index width);
std::vector<std::pair<Index, Index>> share_rows(Index rows, Index threads);
double attainable(Index m, Index k, Index n, double peak, double bandwidth);

inline auto fields(WatchedMatrix& watched) {
  return std::tuple{coach::field("matrix", watched.matrix), coach::field("jumps", watched.jumps)};
}
inline auto fields(View& view) {
  return std::tuple{coach::field("values", view.values), coach::field("stride", view.stride)};
}
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::View;
using exercise::WatchedMatrix;
using Shares = std::vector<std::pair<Index, Index>>;

inline const coach::Mistakes<decltype(exercise::multiply_ikj)> multiply_ikj = {
    {.name = "the order i, j, k",
     .why = "The numbers are right, but the inner loop runs down a column of b: every read lands a whole row "
            "further, "
            "in another cache line.",
     .where = "ikj: walk as memory lies",
     .answer =
         [](const Tensor& a, WatchedMatrix& b, Tensor& c) {
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < c.size(1); ++j)
               for (Index k = 0; k < a.size(1); ++k) c(i, j) += a(i, k) * b(k, j);
         }},
    {.name = "k outermost",
     .why = "The numbers are right and rows of b are walked along, but each of them is started again for "
            "every row of "
            "c, and all of c is visited once for every k. Here i goes outermost.",
     .where = "ikj: walk as memory lies",
     .answer =
         [](const Tensor& a, WatchedMatrix& b, Tensor& c) {
           for (Index k = 0; k < a.size(1); ++k)
             for (Index i = 0; i < a.size(0); ++i)
               for (Index j = 0; j < c.size(1); ++j) c(i, j) += a(i, k) * b(k, j);
         }},
    {.name = "assigned instead of accumulated",
     .why = "Each k overwrites the one before it: only the last product is left of the whole sum.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](const Tensor& a, WatchedMatrix& b, Tensor& c) {
           for (Index i = 0; i < a.size(0); ++i)
             for (Index k = 0; k < a.size(1); ++k)
               for (Index j = 0; j < c.size(1); ++j) c(i, j) = a(i, k) * b(k, j);
         }},
    {.name = "what was in c is lost",
     .why = "The product is right, but it was to be added to what c held: that is what lets a product be "
            "made of parts.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](const Tensor& a, WatchedMatrix& b, Tensor& c) {
           for (Index i = 0; i < a.size(0); ++i) {
             for (Index j = 0; j < c.size(1); ++j) c(i, j) = 0;
             for (Index k = 0; k < a.size(1); ++k)
               for (Index j = 0; j < c.size(1); ++j) c(i, j) += a(i, k) * b(k, j);
           }
         }},
    {.name = "b read transposed",
     .why = "This takes b(j, k): rows of b belong to k, and its columns to the columns of c. It runs for "
            "square sizes "
            "only.",
     .where = "The ladder",
     .answer =
         [](const Tensor& a, WatchedMatrix& b, Tensor& c) {
           for (Index i = 0; i < a.size(0); ++i)
             for (Index k = 0; k < a.size(1); ++k)
               for (Index j = 0; j < c.size(1); ++j) c(i, j) += a(i, k) * b(j, k);
         }},
    {.name = "a read transposed",
     .why = "This takes a(k, i): row i of c is made from row i of a. It runs for square sizes only.",
     .where = "The ladder",
     .answer =
         [](const Tensor& a, WatchedMatrix& b, Tensor& c) {
           for (Index i = 0; i < a.size(0); ++i)
             for (Index k = 0; k < a.size(1); ++k)
               for (Index j = 0; j < c.size(1); ++j) c(i, j) += a(k, i) * b(k, j);
         }},
};

// The right loops with each step given: where tiles end, and what is read and written.
template <class End, class Step>
void by_tiles(Index m, Index k, Index n, Index tile, const End& end, const Step& step) {
  for (Index i0 = 0; i0 < m; i0 += tile)
    for (Index p0 = 0; p0 < k; p0 += tile)
      for (Index j0 = 0; j0 < n; j0 += tile)
        for (Index i = i0; i < end(i0, m); ++i)
          for (Index p = p0; p < end(p0, k); ++p)
            for (Index j = j0; j < end(j0, n); ++j) step(i, p, j);
}

inline const coach::Mistakes<decltype(exercise::multiply_tiled)> multiply_tiled = {
    {.name = "edge tiles dropped",
     .why = "Only whole tiles are computed. When a size is not a multiple of the tile, the last rows and "
            "columns of c "
            "and the end of each sum are missing.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
           by_tiles(
               m - m % tile, k - k % tile, n - n % tile, tile,
               [&](Index begin, Index) { return begin + tile; },
               [&](Index i, Index p, Index j) {
                 c.values[i * c.stride + j] += a.values[i * a.stride + p] * b.values[p * b.stride + j];
               });
         }},
    {.name = "the end of k dropped",
     .why = "The edges of c are there, but the sums stop at the last whole tile of k: k has an edge, too.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
           by_tiles(
               m, k - k % tile, n, tile,
               [&](Index begin, Index size) { return std::min(begin + tile, size); },
               [&](Index i, Index p, Index j) {
                 c.values[i * c.stride + j] += a.values[i * a.stride + p] * b.values[p * b.stride + j];
               });
         }},
    {.name = "edges of c dropped",
     .why = "The sums are whole, but the last rows and columns of c, those that fill no tile, are never "
            "computed.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
           by_tiles(
               m - m % tile, k, n - n % tile, tile,
               [&](Index begin, Index size) { return std::min(begin + tile, size); },
               [&](Index i, Index p, Index j) {
                 c.values[i * c.stride + j] += a.values[i * a.stride + p] * b.values[p * b.stride + j];
               });
         }},
    {.name = "assigned instead of accumulated over k",
     .why = "Each tile of k computes its part of the sum and writes it over the part of the tile before: "
            "only the last "
            "one is left.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
           for (Index p0 = 0; p0 < k; p0 += tile)
             for (Index i = 0; i < m; ++i)
               for (Index j = 0; j < n; ++j) {
                 real sum = 0;
                 for (Index p = p0; p < std::min(p0 + tile, k); ++p)
                   sum += a.values[i * a.stride + p] * b.values[p * b.stride + j];
                 c.values[i * c.stride + j] = sum;
               }
         }},
    {.name = "what was in c is lost",
     .why = "The product is right, but it was to be added to what c held before.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index, View& c) {
           for (Index i = 0; i < m; ++i)
             for (Index j = 0; j < n; ++j) {
               real sum = 0;
               for (Index p = 0; p < k; ++p) sum += a.values[i * a.stride + p] * b.values[p * b.stride + j];
               c.values[i * c.stride + j] = sum;
             }
         }},
    {.name = "strides of a and b swapped",
     .why = "Each matrix has a stride of its own: from row to row of a it is a.stride, of b b.stride. "
            "Swapped, the "
            "numbers come from elsewhere, unless the two happen to be the same.",
     .where = "The ladder",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
           by_tiles(
               m, k, n, tile, [&](Index begin, Index size) { return std::min(begin + tile, size); },
               [&](Index i, Index p, Index j) {
                 c.values[i * c.stride + j] += a.values[i * b.stride + p] * b.values[p * a.stride + j];
               });
         }},
    {.name = "width taken for the stride",
     .why =
         "A view may lie in a wider matrix: its next row is `stride` further, not as far as it has columns.",
     .where = "The ladder",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
           by_tiles(
               m, k, n, tile, [&](Index begin, Index size) { return std::min(begin + tile, size); },
               [&](Index i, Index p, Index j) {
                 c.values[i * n + j] += a.values[i * k + p] * b.values[p * n + j];
               });
         }},
    {.name = "tiles that run over the edge",
     .why = "Every tile is taken as whole. At the edges it reads and writes what lies beyond the matrix and "
            "belongs to "
            "somebody else.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
           by_tiles(
               m, k, n, tile, [&](Index begin, Index) { return begin + tile; },
               [&](Index i, Index p, Index j) {
                 c.values[i * c.stride + j] += a.values[i * a.stride + p] * b.values[p * b.stride + j];
               });
         }},
    {.name = "tiles that overlap",
     .why = "The tiles move on by one less than they are wide, or end one too late: some steps of k are "
            "added twice.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](Index m, Index k, Index n, const View& a, const View& b, Index tile, View& c) {
           by_tiles(
               m, k, n, tile, [&](Index begin, Index size) { return std::min(begin + tile + 1, size); },
               [&](Index i, Index p, Index j) {
                 c.values[i * c.stride + j] += a.values[i * a.stride + p] * b.values[p * b.stride + j];
               });
         }},
};

inline const coach::Mistakes<decltype(exercise::pack_panels)> pack_panels = {
    {.name = "last panel dropped",
     .why = "N / width rounds down: the columns that fill no whole panel are left out.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](const Tensor& b, Index width) {
           Tensor out = zeros({b.size(1) / width, b.size(0), width});
           for (Index k = 0; k < b.size(0); ++k)
             for (Index j = 0; j < out.size(0) * width; ++j) out(j / width, k, j % width) = b(k, j);
           return out;
         }},
    {.name = "padding not zeroed",
     .why = "empty() gives memory as it comes, here NaN on purpose. Where b has ended, zeros were asked for.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](const Tensor& b, Index width) {
           Tensor out = full({(b.size(1) + width - 1) / width, b.size(0), width},
                             std::numeric_limits<real>::quiet_NaN());
           for (Index k = 0; k < b.size(0); ++k)
             for (Index j = 0; j < b.size(1); ++j) out(j / width, k, j % width) = b(k, j);
           return out;
         }},
    {.name = "last column repeated",
     .why = "Where b has ended the panel goes on with its last column. What is multiplied there must count "
            "as nothing.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](const Tensor& b, Index width) {
           Tensor out = empty({(b.size(1) + width - 1) / width, b.size(0), width});
           for (Index p = 0; p < out.size(0); ++p)
             for (Index k = 0; k < b.size(0); ++k)
               for (Index j = 0; j < width; ++j) out(p, k, j) = b(k, std::min(p * width + j, b.size(1) - 1));
           return out;
         }},
    {.name = "copied in the old order",
     .why = "The numbers follow one another as they did in b: row 0 to its end, then row 1. A panel holds a "
            "few columns "
            "of all rows.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](const Tensor& b, Index width) {
           Tensor out = zeros({(b.size(1) + width - 1) / width, b.size(0), width});
           for (Index i = 0; i < b.numel(); ++i) out.data()[i] = b.data()[i];
           return out;
         }},
    {.name = "columns dealt out in turn",
     .why = "Neighbouring columns went to different panels. A tile works on columns that lie side by side.",
     .where = "Tiles: near caches and registers",
     .answer =
         [](const Tensor& b, Index width) {
           const Index panels = (b.size(1) + width - 1) / width;
           Tensor out = zeros({panels, b.size(0), width});
           for (Index k = 0; k < b.size(0); ++k)
             for (Index j = 0; j < b.size(1); ++j) out(j % panels, k, j / panels) = b(k, j);
           return out;
         }},
    {.name = "panels column by column",
     .why = "Inside of a panel the rows follow one another, each with its `width` columns side by side: a "
            "tile loads them "
            "as one vector. Here it is the transpose, (P,width,K).",
     .where = "Tiles: near caches and registers",
     .answer =
         [](const Tensor& b, Index width) {
           Tensor out = zeros({(b.size(1) + width - 1) / width, width, b.size(0)});
           for (Index k = 0; k < b.size(0); ++k)
             for (Index j = 0; j < b.size(1); ++j) out(j / width, j % width, k) = b(k, j);
           return out;
         }},
};

// Shares of the given sizes, one after the other.
template <class Size>
Shares shares_of(Index threads, const Size& size) {
  Shares shares;
  Index begin = 0;
  for (Index t = 0; t < threads; ++t) {
    shares.emplace_back(begin, begin + size(t, begin));
    begin = shares.back().second;
  }
  return shares;
}
inline Index fair(Index rows, Index threads, Index t) {
  return rows / threads + (t < rows % threads ? 1 : 0);
}

inline const coach::Mistakes<decltype(exercise::share_rows)> share_rows = {
    {.name = "the rest dropped",
     .why = "rows / threads rounds down: when it does not divide, the last rows are computed by nobody.",
     .where = "Two threads must not share a tile of C",
     .answer =
         [](Index rows, Index threads) {
           return shares_of(threads, [=](Index, Index) { return rows / threads; });
         }},
    {.name = "the rest for the last thread",
     .why = "Every row is there, but the last thread has up to threads − 1 rows more, and all others wait "
            "for it.",
     .where = "Two threads must not share a tile of C",
     .answer =
         [](Index rows, Index threads) {
           return shares_of(threads, [=](Index t, Index begin) {
             return t + 1 < threads ? rows / threads : rows - begin;
           });
         }},
    {.name = "rounded up",
     .why = "With rows / threads rounded up the first threads take too much, and the last ones may get "
            "nothing at all.",
     .where = "Two threads must not share a tile of C",
     .answer =
         [](Index rows, Index threads) {
           return shares_of(threads, [=](Index, Index begin) {
             return std::min((rows + threads - 1) / threads, rows - begin);
           });
         }},
    {.name = "the end counted in",
     .why = "A share is (begin, end) with end not included, so that it begins where the one before ended. "
            "Here end is its "
            "last row.",
     .where = "Two threads must not share a tile of C",
     .answer =
         [](Index rows, Index threads) {
           Shares shares = shares_of(threads, [=](Index t, Index) { return fair(rows, threads, t); });
           for (auto& share : shares) --share.second;
           return shares;
         }},
    {.name = "begin and count",
     .why = "The second number is how many rows a thread has. It was to be where they end.",
     .where = "Two threads must not share a tile of C",
     .answer =
         [](Index rows, Index threads) {
           Shares shares = shares_of(threads, [=](Index t, Index) { return fair(rows, threads, t); });
           for (auto& share : shares) share.second -= share.first;
           return shares;
         }},
    {.name = "idle threads left out",
     .why = "With more threads than rows some have nothing to do. They get an empty share: one was asked for "
            "each thread.",
     .where = "Two threads must not share a tile of C",
     .answer =
         [](Index rows, Index threads) {
           Shares shares = shares_of(threads, [=](Index t, Index) { return fair(rows, threads, t); });
           while (!shares.empty() && shares.back().first == shares.back().second) shares.pop_back();
           return shares;
         }},
};

inline double product_flop(Index m, Index k, Index n) { return 2.0 * m * k * n; }
inline double product_bytes(Index m, Index k, Index n) { return 4.0 * (m * k + k * n + m * n); }

inline const coach::Mistakes<decltype(exercise::attainable)> attainable = {
    {.name = "a multiply-add counted once",
     .why = "m·k·n is the number of multiply-adds. Each is two operations, a multiplication and an addition.",
     .where = "The roofline",
     .answer =
         [](Index m, Index k, Index n, double peak, double bandwidth) {
           return std::min(peak, bandwidth * product_flop(m, k, n) / 2 / product_bytes(m, k, n));
         }},
    {.name = "numbers taken for bytes",
     .why = "The bandwidth counts bytes, and a float has four of them.",
     .where = "The roofline",
     .answer =
         [](Index m, Index k, Index n, double peak, double bandwidth) {
           return std::min(peak, bandwidth * product_flop(m, k, n) / product_bytes(m, k, n) * 4);
         }},
    {.name = "the larger of the two limits",
     .why = "Arithmetic and memory both have to keep up, so the slower one decides: the minimum.",
     .where = "The roofline",
     .answer =
         [](Index m, Index k, Index n, double peak, double bandwidth) {
           return std::max(peak, bandwidth * product_flop(m, k, n) / product_bytes(m, k, n));
         }},
    {.name = "no roof",
     .why = "Memory would allow this much, but the core cannot compute more than its peak.",
     .where = "The roofline",
     .answer = [](Index m, Index k, Index n, double,
                  double bandwidth) { return bandwidth * product_flop(m, k, n) / product_bytes(m, k, n); }},
    {.name = "the result not counted",
     .why = "a and b are read, but c has to be written, too: it crosses memory as they do.",
     .where = "The roofline",
     .answer =
         [](Index m, Index k, Index n, double peak, double bandwidth) {
           return std::min(peak, bandwidth * product_flop(m, k, n) / (4.0 * (m * k + k * n)));
         }},
    {.name = "integer division",
     .why = "FLOP divided by bytes, both as integers, is rounded down: half a FLOP a byte becomes 0. Divide "
            "as double.",
     .where = "The roofline",
     .answer =
         [](Index m, Index k, Index n, double peak, double bandwidth) {
           return std::min(peak,
                           bandwidth * static_cast<double>(2 * m * k * n / (4 * (m * k + k * n + m * n))));
         }},
    {.name = "bytes per FLOP",
     .why = "The intensity is upside down: the more FLOP are done with a byte, the faster it can go.",
     .where = "The roofline",
     .answer =
         [](Index m, Index k, Index n, double peak, double bandwidth) {
           return std::min(peak, bandwidth * product_bytes(m, k, n) / product_flop(m, k, n));
         }},
};

}  // namespace mistakes
