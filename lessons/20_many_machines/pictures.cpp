#include "lessons/20_many_machines/pictures.hpp"

#include <algorithm>  // min
#include <cmath>      // hypot
#include <string>     // to_string
#include <utility>    // pair

#include "core/viz/arrange.hpp"
#include "core/viz/text.hpp"
#include "lessons/support/diagram.hpp"  // draw_arrow
#include "optim/shards.hpp"             // shards_of

namespace attn {

using namespace viz;

namespace {

Color pale(Index number) { return mix(palette(number), paint::white, 0.72); }

// A node of the tree over `range`: its place, and the rank that has all of it, or -1.
struct Joint {
  Point place;
  Index owner;
};

Joint draw_tree(Image& image, Range range, Index ranks, double bottom, double cell, double rise) {
  if (range.end - range.begin == 1) {
    Index owner = 0;
    while (shards_of(8, owner, ranks).end <= range.begin) ++owner;
    const Rect box{20 + cell * double(range.begin), bottom, cell - 6, 26};
    draw_round_rect(image, box, 4, pale(owner), {palette(owner), 1.5});
    draw_text(image, box.center(), std::to_string(range.begin), {.size = 13, .align = Align::center});
    return {{box.center().x, box.y}, owner};
  }
  const Index middle = range.begin + (range.end - range.begin + 1) / 2;
  const Joint left = draw_tree(image, {range.begin, middle}, ranks, bottom, cell, rise),
              right = draw_tree(image, {middle, range.end}, ranks, bottom, cell, rise);
  const Joint node{{(left.place.x + right.place.x) / 2, std::min(left.place.y, right.place.y) - rise},
                   left.owner == right.owner ? left.owner : -1};
  for (const Joint& child : {left, right}) {
    const Point way{node.place.x - child.place.x, node.place.y - child.place.y};
    const double above = child.place.y < bottom ? 11 / std::hypot(way.x, way.y) : 0;  // the circle's edge
    line(image, node.place, {child.place.x + above * way.x, child.place.y + above * way.y},
         {child.owner < 0 ? paint::muted : palette(child.owner), 2, node.owner < 0});
  }
  fill_circle(image, node.place, 11, node.owner < 0 ? paint::muted : palette(node.owner));
  draw_text(image, node.place, "+",
            {.size = 15, .color = paint::white, .bold = true, .align = Align::center});
  return node;
}

Image tree_of(Index ranks) {
  constexpr double cell = 42;
  Image image(int(8 * cell) + 34, 268);
  draw_text(image, {20, 24}, ranks == 1 ? "1 rank" : std::to_string(ranks) + " ranks",
            {.size = 15, .bold = true});
  draw_tree(image, {0, 8}, ranks, 192, cell, 46);
  for (Index rank = 0; rank < ranks; ++rank) {
    const Range mine = shards_of(8, rank, ranks);
    const double from = 20 + cell * double(mine.begin), to = 14 + cell * double(mine.end);
    draw_text(image, {(from + to) / 2, 238}, "rank " + std::to_string(rank),
              {.size = 12, .color = paint::muted, .align = Align::center});
  }
  return image;
}

}  // namespace

Image draw_trees(const std::vector<Index>& ranks) {
  std::vector<Image> lines;
  for (std::size_t i = 0; i + 1 < ranks.size(); i += 2)
    lines.push_back(row({tree_of(ranks[i]), tree_of(ranks[i + 1])}));
  return column(lines, {.title = "One tree over 8 shards, whoever computes it"});
}

namespace {

using Counts = std::vector<std::vector<int>>;  // [rank][chunk]: so many ranks are in it

Image ring_panel(const std::string& title, const Counts& held, Index step) {
  const Index N = Index(held.size());
  constexpr double cell = 36, left = 62, top = 74;
  Image image(int(left + cell * double(N) + 44), int(top + cell * double(N) + 36));
  draw_text(image, {left, 22}, title, {.size = 14, .bold = true});
  for (Index c = 0; c < N; ++c)
    draw_text(image, {left + cell * (double(c) + 0.5), top - 14}, std::string(1, char('A' + c)),
              {.size = 13, .color = paint::muted, .align = Align::center});
  for (Index r = 0; r < N; ++r) {
    draw_text(image, {left - 8, top + cell * (double(r) + 0.5)}, "rank " + std::to_string(r),
              {.size = 13, .color = paint::muted, .align = Align::right});
    for (Index c = 0; c < N; ++c) {
      const Rect box{left + cell * double(c) + 2, top + cell * double(r) + 2, cell - 4, cell - 4};
      const int count = held[r][c];
      fill_round_rect(image, box, 4,
                      count == N ? palette(2) : mix(palette(0), paint::white, 1 - 0.22 * double(count)));
      draw_text(image, box.center(), std::to_string(count),
                {.size = 14,
                 .color = count >= 3 ? paint::white : paint::ink,
                 .bold = count == N,
                 .align = Align::center});
    }
  }
  if (step < 0) return image;
  for (Index r = 0; r < N; ++r) {  // what is sent next, to the row below; the last row sends to the first
    const Index sent = step < N - 1 ? (r - step + N) % N : (r + 1 - (step - (N - 1)) + N) % N;
    const double x = left + cell * (double(sent) + 0.5), y = top + cell * double(r + 1);
    const Rect box{left + cell * double(sent) + 2, top + cell * double(r) + 2, cell - 4, cell - 4};
    for (const auto& [from, to] : {std::pair<Point, Point>{{box.x, box.y}, {box.right(), box.y}},
                                   {{box.right(), box.y}, {box.right(), box.bottom()}},
                                   {{box.right(), box.bottom()}, {box.x, box.bottom()}},
                                   {{box.x, box.bottom()}, {box.x, box.y}}})
      line(image, from, to, {palette(1), 2.5});
    draw_arrow(image, {{x, y - 5}, {x, y + (r + 1 == N ? 16.0 : 9.0)}}, {palette(1), 2.5});
  }
  return image;
}

}  // namespace

Image draw_ring() {
  constexpr Index N = 4;
  Counts held(N, std::vector<int>(N, 1));
  std::vector<Image> adding, copying;
  for (Index step = 0; step <= 2 * (N - 1); ++step) {
    const bool last = step == 2 * (N - 1);
    (step < N - 1 ? adding : copying)
        .push_back(ring_panel(step == 0 ? "before" : "after step " + std::to_string(step - 1), held,
                              last ? -1 : step));
    if (last) break;
    const Counts before = held;
    for (Index r = 0; r < N; ++r) {
      const Index sent = step < N - 1 ? (r - step + N) % N : (r + 1 - (step - (N - 1)) + N) % N;
      int& received = held[(r + 1) % N][sent];
      received = before[r][sent] + (step < N - 1 ? received : 0);
    }
  }
  return column({row(adding), row(copying)}, {.title = "A ring of 4 ranks: first the sums, then the copies"});
}

}  // namespace attn
