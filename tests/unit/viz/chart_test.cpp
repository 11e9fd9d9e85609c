// Axes, charts, arrangements, graphs, trees and token rows.
#include <doctest/doctest.h>

#include <algorithm>  // max, min
#include <cmath>      // NAN, log10
#include <limits>     // numeric_limits
#include <string>     // string

#include "core/error.hpp"
#include "core/viz/layered.hpp"
#include "tests/unit/viz/border.hpp"

using namespace attn;
using namespace attn::viz;

namespace {

// The smallest box around all pixels of a colour, below the title and the legend.
struct Found {
  int left = 1 << 20, right = -1, top = 1 << 20, bottom = -1, count = 0;
};

Found find(const Image& image, Color color, int from_y = 0, int from_x = 0, int to_x = 1 << 20) {
  Found found;
  for (int y = from_y; y < image.height(); ++y)
    for (int x = from_x; x < std::min(image.width(), to_x); ++x)
      if (image.at(x, y) == color) {
        found.left = std::min(found.left, x), found.right = std::max(found.right, x);
        found.top = std::min(found.top, y), found.bottom = std::max(found.bottom, y);
        ++found.count;
      }
  return found;
}

}  // namespace

TEST_CASE("ticks are at round numbers within the axis, neither few nor many") {
  for (const double low : {-1234.5, -1.0, 0.0, 0.013, 7.0, 99999.0})
    for (const double length : {3e-7, 0.02, 1.0, 17.0, 333.0, 8.1e9}) {
      const Axis axis = make_axis(low, low + length, Scale::linear, 6, false);
      CAPTURE(low);
      CAPTURE(length);
      REQUIRE(axis.ticks.size() >= 2);
      CHECK(axis.ticks.size() <= 13);
      CHECK(axis.labels.size() == axis.ticks.size());
      const double step = axis.ticks[1] - axis.ticks[0];
      const double leading = step / std::pow(10, std::floor(std::log10(step) + 1e-6));
      CHECK(std::min({std::abs(leading - 1), std::abs(leading - 2), std::abs(leading - 5)}) < 1e-3);
      for (const double tick : axis.ticks) {
        CHECK(axis.fraction(tick) >= -1e-6);
        CHECK(axis.fraction(tick) <= 1 + 1e-6);
      }
    }
  CHECK(make_axis(0, 1, Scale::linear, 5, true).labels ==
        std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(make_axis(3, 3, Scale::linear, 5, false).ticks.size() >=
        2);  // one value is no reason to divide by zero
}

TEST_CASE("logarithmic axes have powers, or round numbers where there are too few") {
  CHECK(make_axis(0.5, 2000, Scale::log10, 6, false).labels ==
        std::vector<std::string>{"1", "10", "100", "1,000"});
  CHECK(make_axis(128, 1024, Scale::log2, 8, false).ticks == std::vector<double>{128, 256, 512, 1024});
  CHECK(make_axis(1, 50, Scale::log10, 6, false).ticks == std::vector<double>{1, 2, 5, 10, 20, 50});
  CHECK(make_axis(1e-9, 1e9, Scale::log10, 6, false).ticks.size() <= 7);
  CHECK(make_axis(1e-9, 1, Scale::log10, 20, false).labels.front() == "10⁻⁹");
  CHECK(make_axis(1, 100, Scale::log10, 5, false).fraction(10) == doctest::Approx(0.5));
  CHECK_FALSE(make_axis(1, 100, Scale::log10, 5, false).can_show(0));
}

TEST_CASE("numbers are written as people write them") {
  CHECK(format_number(0) == "0");
  CHECK(format_number(0.25) == "0.25");
  CHECK(format_number(-12345) == "−12,345");
  CHECK(format_number(999999) == "1M");
  CHECK(format_number(63082496) == "63.1M");
  CHECK(format_number(2e-5) == "2×10⁻⁵");
  CHECK(format_number(-INFINITY) == "−∞");
  CHECK(format_number(NAN) == "NaN");
  CHECK(format_fixed(-0.001, 2) == "0.00");
  CHECK(format_fixed(-1234567.5, 1) == "−1,234,567.5");
}

TEST_CASE("larger values are higher up, later ones further right") {
  const Image image = line_chart({{.y = {2, 2, 2}}, {.y = {8, 8, 8}}}, {.y_low = 0, .y_high = 10});
  const Found low = find(image, palette(0)), high = find(image, palette(1));
  CHECK(high.bottom < low.top);
  const Image rising = line_chart({{.y = {0, 1, 2, 3}}});
  const Found curve = find(rising, palette(0));
  CHECK(find(rising, palette(0), 0, 0, curve.left + 20).top >
        find(rising, palette(0), 0, curve.right - 20).bottom);
  CHECK(has_white_border(rising));
}

TEST_CASE("on a logarithmic axis equal factors are equal distances") {
  const Image image = line_chart({{.y = {1, 10, 100}, .line = false}},
                                 {.y_scale = Scale::log10, .y_low = 0.5, .y_high = 200});
  std::vector<int> heights;
  const Found all = find(image, palette(0));
  for (const int from : {all.left - 3, (all.left + all.right) / 2 - 9, all.right - 9}) {
    const Found point = find(image, palette(0), 0, from, from + 18);
    heights.push_back(point.top + point.bottom);
  }
  CHECK(std::abs((heights[0] - heights[1]) - (heights[1] - heights[2])) <= 2);
  CHECK(heights[0] > heights[1] + 40);
  CHECK_THROWS_AS(line_chart({{.y = {1, 2}}}, {.y_scale = Scale::log10, .y_low = 0}), Error);
}

TEST_CASE("NaN and infinity break a line and leave a cross at the edge they lie beyond") {
  Numbers values(101, 1.0);
  for (std::size_t i = 40; i < 60; ++i) values[i] = i == 50 ? INFINITY : NAN;
  const Image image = line_chart({{.y = values}}, {.y_low = 0, .y_high = 4});
  const Found curve = find(image, palette(0), image.height() / 2);
  const double pixel = (curve.right - curve.left) / 100.0;
  const int from = curve.left + int(41 * pixel), to = curve.left + int(58 * pixel);
  CHECK(find(image, palette(0), image.height() / 2, from, to).count == 0);
  const Found cross = find(image, palette(0), 0, from - 12, to);
  CHECK(cross.count > 4);
  CHECK(cross.bottom < image.height() / 4);
  const Image zero = line_chart({{.y = {1, 1, 0}}}, {.y_scale = Scale::log10, .y_low = 0.1, .y_high = 10});
  CHECK(find(zero, palette(0), 0, zero.width() - 40).top > zero.height() * 2 / 3);
}

TEST_CASE("what lies beyond the given ends of an axis is clipped to the plot") {
  const Image image =
      line_chart({{.y = {-100, 100, -100}}}, {.title = "t", .x_title = "x", .y_low = 0, .y_high = 1});
  CHECK(has_white_border(image));
  CHECK(find(image, palette(0)).top > 40);
  CHECK(find(image, palette(0)).bottom < image.height() - 40);
}

TEST_CASE("charts without data, with one value, and with ends that make no sense") {
  for (const std::vector<Series>& series :
       {std::vector<Series>{}, std::vector<Series>{{.name = "empty"}}, std::vector<Series>{{.y = {NAN, NAN}}},
        std::vector<Series>{{.y = {5}}}, std::vector<Series>{{.y = {0, 0, 0}}}})
    CHECK(has_white_border(line_chart(series, {.title = "x"})));
  CHECK(find(line_chart({{.y = {5}}}), palette(0)).count > 10);
  CHECK_THROWS_AS(line_chart({{.name = "a", .y = {1, 2}, .x = {1}}}), Error);
  CHECK_THROWS_AS(line_chart({{.y = {1, 2}}}, {.y_low = 3, .y_high = 3}), Error);
}

TEST_CASE("the legend, guides, smoothing and labels all stay on the page") {
  std::vector<Series> many;
  for (int i = 0; i < 12; ++i)
    many.push_back({.name = "a rather long name of series " + std::to_string(i),
                    .y = {1.0 * i, 2.0 * i},
                    .points = true,
                    .dashed = i % 2 == 0,
                    .fill = i == 3,
                    .smooth = 0.9,
                    .labels = {"first point", "last point"}});
  CHECK(has_white_border(line_chart(many, {.title = "many",
                                           .x_guides = {{0.99, "a guide at the edge"}},
                                           .y_guides = {{30, "a target above all curves"}}})));
}

TEST_CASE("a histogram counts every finite value once") {
  const Series series = histogram("h", {0.0, 0.1, 0.5, 0.99, 1.0, NAN}, 2);
  REQUIRE(series.y.size() == 2);
  CHECK(series.y[0] == doctest::Approx(0.4));
  CHECK(series.y[1] == doctest::Approx(0.6));
  CHECK(series.x == Numbers{0.25, 0.75});
  CHECK(histogram("none", {}, 3).y == Numbers{0, 0, 0});
  CHECK(histogram("outside", {-1.0, 0.5, 2.0}, 1, 0, 1).y[0] == doctest::Approx(1.0 / 3));
}

TEST_CASE("bars are as long as their values, from zero") {
  for (const bool vertical : {false, true}) {
    const Image image = bar_chart({"one", "three"}, {1, 3}, {.vertical = vertical, .colors = {0, 1}});
    const Found one = find(image, palette(0)), three = find(image, palette(1));
    const double short_bar = vertical ? one.bottom - one.top + 1 : one.right - one.left + 1;
    const double long_bar = vertical ? three.bottom - three.top + 1 : three.right - three.left + 1;
    CHECK(long_bar / short_bar == doctest::Approx(3).epsilon(0.02));
    CHECK((vertical ? one.right < three.left : one.bottom < three.top));
    CHECK(has_white_border(image));
  }
}

TEST_CASE("bars below zero, NaN, groups, long names and no bars at all") {
  const std::vector<std::string> names{"a name that is much too long for the place below a bar", "b", "나는"};
  for (const bool vertical : {false, true}) {
    CHECK(has_white_border(bar_chart(names, {-2, NAN, 1e9}, {.title = "t", .vertical = vertical})));
    const std::vector<BarSeries> groups{{"first", {1, 2, 3}}, {"second", {3, 2, 1}}};
    CHECK(has_white_border(
        grouped_bar_chart(names, groups, {.title = "t", .value_title = "v", .vertical = vertical})));
    CHECK(has_white_border(bar_chart({}, Numbers{}, {.title = "none", .vertical = vertical})));
  }
  CHECK_THROWS_WITH_AS(bar_chart({"a"}, {1, 2}), "bar_chart: 2 values for 1 labels", Error);
  CHECK_THROWS_AS(bar_chart({"a", "b"}, {1, 2}, {.colors = {0}}), Error);
}

// All ink between the edge of the picture and the axis, where the longest bar below zero ends,
// is name and number.
TEST_CASE("between a bar below zero and its name there is room for its number") {
  const std::vector<std::string> names{"■■■"};
  for (const double value : {-2.0, -std::numeric_limits<double>::infinity()}) {
    const double both = text_width(names[0], 14) + text_width(format_number(value), 13);
    const Image level = bar_chart(names, Numbers{value});
    CHECK(find(level, paint::faint).left - find(level, paint::ink).left > both + 6);
    const Image upright = bar_chart(names, Numbers{value}, {.vertical = true});
    CHECK(find(upright, paint::ink).bottom - find(upright, paint::faint).bottom > 13 + 10);
  }
}

TEST_CASE("a scatter's background has its first row at the top, under the points") {
  const Grid grid{.x_low = -2, .x_high = 2, .y_low = -1, .y_high = 1, .rows = 20, .cols = 30};
  CHECK(grid.y(0) > 0.9);
  CHECK(grid.x(0) < -1.9);
  Matrix decision(grid.rows, grid.cols);
  for (Index r = 0; r < grid.rows; ++r)
    for (Index c = 0; c < grid.cols; ++c) decision(r, c) = grid.y(r) > 0 && grid.x(c) > 0 ? 1.0f : 0.0f;
  const Image image = scatter({.x = {1.5, -1.5}, .y = {0.8, -0.8}, .classes = {1, 0}},
                              {.grid = grid, .background = decision});
  const Found upper = find(image, palette(1)), lower = find(image, palette(0));
  CHECK(upper.left > image.width() / 2);
  CHECK(upper.bottom < image.height() / 2);
  CHECK(lower.right < image.width() / 2);
  CHECK(lower.top > image.height() / 2);
  const Color beside_upper = image.at(upper.right + 9, upper.top),
              beside_lower = image.at(lower.left - 9, lower.top);
  CHECK(beside_upper.r > beside_upper.b);  // orange, as class 1
  CHECK(beside_lower.b > beside_lower.r);  // blue, as class 0
  CHECK(has_white_border(scatter({}, {.title = "none"})));
  CHECK_THROWS_AS(scatter({.x = {1}, .y = {}}), Error);
  CHECK_THROWS_AS(scatter({}, {.grid = grid, .background = Matrix(2, 2)}), Error);
}

TEST_CASE("a row lines pictures up at their subject and keeps every pixel of them") {
  Image tall(30, 50, palette(0)), flat(40, 10, palette(1));
  tall.middle = 20;
  flat.middle = 5;
  const Image both = row({tall, flat});
  CHECK(both.width() == 70);
  CHECK(both.height() == 50);
  CHECK(find(both, palette(0)).count == 30 * 50);
  const Found placed = find(both, palette(1));
  CHECK(placed.count == 40 * 10);
  CHECK(placed.left == 30);
  CHECK(placed.top == 15);
  const Image signs = row({tall, flat}, {.title = "a title", .between = {"+"}});
  CHECK(signs.width() > 80);
  CHECK(find(signs, palette(1)).top - find(signs, palette(0)).top == 15);
  const Image stacked = column({tall, flat});
  CHECK(stacked.height() == 60);
  CHECK(find(stacked, palette(1)).top == 50);
  CHECK_THROWS_AS(row({tall, flat}, {.between = {"+", "="}}), Error);
  CHECK(row({}).width() > 0);
}

TEST_CASE("a layered layout goes forward, keeps boxes apart and lanes separate") {
  // A reproducible jumble: each node has links to a few later ones.
  std::vector<LayeredItem> boxes;
  std::vector<GraphEdge> edges;
  unsigned state = 7;
  const auto next = [&](unsigned limit) {
    return int((state = state * 1664525u + 1013904223u) >> 16) % int(limit);
  };
  for (int i = 0; i < 33; ++i) {
    boxes.push_back({.size = 20.0 + next(60), .lane = i % 3});
    for (int k = 0; k < 2 && i > 0; ++k) edges.push_back({next(unsigned(i)), i});
  }
  const Layered layout = lay_out(boxes, edges, 12, 30);
  for (const GraphEdge& edge : edges) CHECK(layout.items[edge.from].layer < layout.items[edge.to].layer);
  for (const std::vector<int>& path : layout.paths)
    for (std::size_t i = 1; i < path.size(); ++i)
      CHECK(layout.items[path[i]].layer == layout.items[path[i - 1]].layer + 1);
  for (std::size_t i = 0; i < layout.items.size(); ++i) {
    const LayeredItem& a = layout.items[i];
    CHECK(a.across - a.size / 2 >= -1e-6);
    CHECK(a.across + a.size / 2 <= layout.breadth + 1e-6);
    for (std::size_t k = i + 1; k < layout.items.size(); ++k) {
      const LayeredItem& b = layout.items[k];
      const double room = std::abs(a.across - b.across) - (a.size + b.size) / 2;
      if (a.layer == b.layer && a.lane == b.lane) CHECK(room >= 12 - 1e-6);
      if (a.lane < b.lane) CHECK(a.across + a.size / 2 < b.across - b.size / 2);
    }
  }
}

TEST_CASE("a graph that cannot be drawn says why") {
  CHECK_THROWS_WITH_AS(graph({{.label = "a"}, {.label = "b"}}, {{0, 1}, {1, 0}}),
                       "graph: the edges form a cycle, so nothing can come first", Error);
  CHECK_THROWS_AS(graph({{.label = "a"}}, {{0, 0}}), Error);
  CHECK_THROWS_AS(graph({{.label = "a"}}, {{0, 3}}), Error);
  CHECK_THROWS_AS(graph({{.label = "a"}}, {}, {.frames = {{"f", {5}}}}), Error);
}

TEST_CASE("graphs are drawn in both directions with nothing cut off") {
  const std::vector<GraphNode> nodes{{.label = "a", .value = "2.00", .gradient = "−3.00", .color = 0},
                                     {.label = "b", .value = "1.00"},
                                     {.label = "a·b", .value = "나는"},
                                     {.label = "an output with a long name", .color = 1, .lane = 1}};
  const std::vector<GraphEdge> edges{{0, 2}, {1, 2}, {2, 3}, {0, 3, true}};
  for (const bool upward : {false, true}) {
    const Image image = graph(nodes, edges, {.title = "t", .upward = upward, .frames = {{"frame", {0, 2}}}});
    CHECK(has_white_border(image));
    const Found first = find(image, palette(0)), last = find(image, palette(1));
    CHECK((upward ? last.bottom < first.top : first.right < last.left));
  }
  CHECK(has_white_border(graph({}, {})));
}

TEST_CASE("a tree grows to the right, siblings from top to bottom") {
  const std::vector<TreeNode> nodes{{.label = "<s>", .branch = Branch::best},
                                    {.label = "le", .detail = "−0.4", .parent = 0},
                                    {.label = "la", .detail = "−0.9", .parent = 0, .branch = Branch::best},
                                    {.label = "été", .parent = 2, .branch = Branch::pruned}};
  const Image image = tree(nodes, {.title = "beam", .steps = {"start", "one", "two", "three"}});
  CHECK(has_white_border(image));
  const int below_legend = 100;
  const Found kept = find(image, palette(0), below_legend), best = find(image, palette(2), below_legend);
  CHECK(kept.top < best.bottom - 20);
  CHECK(best.left + 40 < kept.left);
  CHECK_THROWS_AS(tree({{.label = "a", .parent = 0}}), Error);
  CHECK_THROWS_AS(tree({{.label = "a", .parent = 1}, {.label = "b"}}), Error);
  std::vector<TreeNode> chain(200);
  for (int i = 0; i < 200; ++i) chain[i] = {.label = "x", .parent = i - 1};
  CHECK(tree(chain).height() < 200);
  CHECK(has_white_border(tree({})));
}

TEST_CASE("rows of tokens go on in the next line and stay within the width") {
  const std::vector<std::string> words(60, "token");
  const std::vector<TokenRow> rows{
      {.name = "words", .detail = "60 tokens", .tokens = plain_tokens(words, 1)},
      {.name = "a very long name of a row of tokens", .tokens = {"\n", " ", {"été", 2, "0.93"}}},
      {.name = "text", .tokens = plain_tokens(words), .boxed = false},
      {.tokens = {std::string(500, 'w')}}};
  const Image image = token_rows(rows, {.title = "tokens", .legend = {{"masked", 1}}, .width = 600});
  CHECK(image.width() <= 600);
  CHECK(has_white_border(image));
  const Image one = token_rows({rows[0]}, {.width = 600}), wide = token_rows({rows[0]}, {.width = 1200});
  CHECK(one.height() > wide.height());
  CHECK(has_white_border(token_rows({})));
}
