// Colours, text and heatmaps, by the pixels they leave.
#include <doctest/doctest.h>
#include <unistd.h>  // dup, dup2

#include <algorithm>  // count, max, min
#include <cmath>      // NAN, INFINITY
#include <cstdio>     // tmpfile
#include <string>     // string

#include "core/error.hpp"
#include "tests/unit/viz/border.hpp"

using namespace attn;
using namespace attn::viz;

namespace {

int ink(const Image& image, const Rect& rect) {
  int count = 0;
  for (int y = std::max(0, int(rect.y)); y < std::min<double>(rect.bottom(), image.height()); ++y)
    for (int x = std::max(0, int(rect.x)); x < std::min<double>(rect.right(), image.width()); ++x)
      count += lightness(image.at(x, y)) < 0.6;
  return count;
}

Color at_center(const Image& image, const Rect& cell) {
  return image.at(int(cell.center().x), int(cell.center().y));
}

}  // namespace

TEST_CASE("the sequential map climbs from dark to light in even steps") {
  constexpr int count = 16;
  const double mean =
      (lightness(map_color(Colors::sequential, 1)) - lightness(map_color(Colors::sequential, 0))) / count;
  for (int i = 0; i < count; ++i) {
    const double step = lightness(map_color(Colors::sequential, (i + 1.0) / count)) -
                        lightness(map_color(Colors::sequential, double(i) / count));
    CHECK(step > 0.6 * mean);
    CHECK(step < 1.5 * mean);
  }
}

TEST_CASE("the diverging map has zero in the middle and mirrors its lightness") {
  const ColorScale scale = fit_scale({}, Colors::diverging, -1, 3);
  CHECK(scale.low == -3);
  CHECK(scale.high == 3);
  CHECK(lightness(scale(0)) > 0.95);
  for (const float value : {0.5f, 1.5f, 3.0f}) {
    CHECK(scale(value).r > scale(value).b);
    CHECK(scale(-value).b > scale(-value).r);
    CHECK(lightness(scale(value)) == doctest::Approx(lightness(scale(-value))).epsilon(0.12));
  }
}

TEST_CASE("NaN and infinity have colours of their own and do not stretch the scale") {
  const Matrix matrix{{0, 1, NAN}, {INFINITY, -INFINITY, 0.5f}};
  const HeatmapLayout layout = heatmap_layout(matrix);
  const Image image = heatmap(matrix);
  const auto color = [&](Index row, Index column) { return at_center(image, layout.cell(row, column)); };
  CHECK(color(0, 0) == map_color(Colors::sequential, 0));
  CHECK(color(0, 1) == map_color(Colors::sequential, 1));
  CHECK(color(1, 2) == map_color(Colors::sequential, 0.5));
  CHECK(color(0, 2) == paint::not_a_number);
  CHECK(color(1, 0) == paint::plus_infinity);
  CHECK(color(1, 1) == paint::minus_infinity);
  const Image nothing_finite = heatmap(Matrix{{NAN, -INFINITY}});
  CHECK(nothing_finite.width() > 0);
}

TEST_CASE("values beyond a given scale get its end colours") {
  const Matrix matrix{{-5, 0, 1, 7}};
  const HeatmapOptions options{.low = 0, .high = 1};
  const Image image = heatmap(matrix, options);
  const HeatmapLayout layout = heatmap_layout(matrix, options);
  CHECK(at_center(image, layout.cell(0, 0)) == at_center(image, layout.cell(0, 1)));
  CHECK(at_center(image, layout.cell(0, 3)) == at_center(image, layout.cell(0, 2)));
}

TEST_CASE("heatmaps of every size have cells one can see and nothing cut off") {
  struct Size {
    Index rows, cols;
  };
  for (const Size size :
       {Size{1, 1}, {0, 0}, {0, 5}, {3, 3}, {1, 300}, {300, 1}, {17, 33}, {7, 600}, {3, 5000}}) {
    CAPTURE(size.rows);
    CAPTURE(size.cols);
    const Matrix matrix(size.rows, size.cols, 0.5f);
    const HeatmapOptions options{.title = "A title that is longer than a small picture is wide",
                                 .x_title = "keys of the sentence",
                                 .y_title = "queries of the sentence"};
    const HeatmapLayout layout = heatmap_layout(matrix, options);
    const Image image = heatmap(matrix, options);
    CHECK(image.width() == layout.width);
    CHECK(image.height() == layout.height);
    CHECK(image.width() < 2400);
    CHECK(has_white_border(image));
    CHECK(layout.cells().right() <= layout.width);
    CHECK(layout.cells().bottom() <= layout.height);
    if (size.rows <= 3 && size.cols <= 3) CHECK(layout.cell_width >= 36);
  }
}

TEST_CASE("a matrix of 2,000 x 2,000 keeps a pixel for every cell; a larger one is averaged") {
  Matrix matrix(2000, 2000);
  matrix(1999, 0) = 1;
  const HeatmapLayout layout = heatmap_layout(matrix);
  CHECK(layout.cell_width == 1);
  CHECK(at_center(heatmap(matrix), layout.cell(1999, 0)) == map_color(Colors::sequential, 1));

  Matrix wide(2, 4096);
  wide(0, 0) = wide(0, 1) = wide(1, 0) = wide(1, 1) = 1;
  wide(0, 5) = NAN;
  CHECK(heatmap_layout(wide).shrink == 2);
  const Matrix small = block_means(wide, 2, 2);
  CHECK(small.rows == 1);
  CHECK(small(0, 0) == 1);
  CHECK(small(0, 1) == 0);
  CHECK(std::isnan(small(0, 2)));
  CHECK(block_means(Matrix(3, 5, 2), 2, 2)(1, 2) == 2);  // blocks at the edge hold fewer cells
}

TEST_CASE("very long labels are shortened and nothing leaves the page") {
  const std::vector<std::string> labels(20, "Donaudampfschifffahrtsgesellschaftskapitän and more");
  const HeatmapOptions options{.title = std::string(300, 'w'), .row_labels = labels, .column_labels = labels};
  const Image image = heatmap(Matrix(20, 20, 1), options);
  CHECK(has_white_border(image));
  CHECK(image.width() < 1000);
  const std::vector<std::string> many(150, "token");
  CHECK(has_white_border(heatmap(Matrix(150, 150, 1), {.row_labels = many, .column_labels = many})));
}

TEST_CASE("accents and Hangul leave ink where their label is") {
  const std::vector<std::string> labels{"été", "나는", "l'œuvre", "간다", "a"};
  const HeatmapOptions options{.row_labels = labels, .column_labels = labels, .color_bar = false};
  const Matrix matrix(5, 5, 1);
  const Image image = heatmap(matrix, options);
  const HeatmapLayout layout = heatmap_layout(matrix, options);
  for (Index i = 0; i < 5; ++i) {
    const Rect cell = layout.cell(i, 0), top = layout.cell(0, i);
    CHECK(ink(image, {0, cell.y, double(layout.left - 2), cell.height}) > 5);
    CHECK(ink(image, {top.x, 0, top.width, top.y - 1}) > 5);
  }
}

TEST_CASE("labels without text leave no ink") {
  const HeatmapOptions options{.row_labels = {"", ""}, .column_labels = {"", ""}, .color_bar = false};
  const Image image = heatmap(Matrix(2, 2, 1), options);
  const HeatmapLayout layout = heatmap_layout(Matrix(2, 2, 1), options);
  CHECK(ink(image, {0, 0, double(layout.left), double(image.height())}) == 0);
}

TEST_CASE("numbers are written into cells, and faded cells are paler") {
  const Matrix matrix{{1, 1}, {1, 1}};
  const Image plain = heatmap(matrix, {.low = 0, .high = 1, .color_bar = false});
  const HeatmapOptions options{
      .low = 0, .high = 1, .color_bar = false, .numbers = true, .faded = Matrix{{0, 1}, {0, 0}}};
  const Image numbered = heatmap(matrix, options);
  const HeatmapLayout layout = heatmap_layout(matrix, options);
  const auto corner = [&](const Rect& cell) { return numbered.at(int(cell.x) + 2, int(cell.y) + 2); };
  CHECK(ink(plain, heatmap_layout(matrix, {.color_bar = false}).cell(0, 0)) == 0);
  CHECK(ink(numbered, layout.cell(0, 0)) > 10);
  CHECK(lightness(corner(layout.cell(0, 1))) > lightness(corner(layout.cell(0, 0))));
}

TEST_CASE("labels that do not match the matrix are an error that counts both") {
  CHECK_THROWS_WITH_AS(heatmap(Matrix(3, 2), {.row_labels = {"a", "b"}}), "heatmap: 2 row labels for 3 rows",
                       Error);
  CHECK_THROWS_AS(heatmap(Matrix(3, 2), {.column_labels = {"a"}}), Error);
  CHECK_THROWS_AS(heatmap(Matrix(3, 2), {.faded = Matrix(2, 3)}), Error);
  CHECK_THROWS_AS((Matrix{{1, 2}, {3}}), Error);
}

TEST_CASE("a grid shows all maps on one scale, and opens each by its name on the same scale") {
  HeatmapGrid grid{.names = {"layer 1 head 1", "layer 1 head 2"},
                   .maps = {Matrix(4, 4, 1), Matrix(4, 4, 0.5f)},
                   .columns = 2,
                   .options = {.title = "Heads", .low = 0}};
  grid.maps[1](2, 1) = 0;
  const Image image = heatmap_grid(grid);
  CHECK(has_white_border(image));
  const auto count = [](const Image& where, double position) {
    int found = 0;
    for (int y = 0; y < where.height(); ++y)
      for (int x = 0; x < where.width(); ++x)
        found += where.at(x, y) == map_color(Colors::sequential, position);
    return found;
  };
  CHECK(count(image, 1) > 1000);    // all of the first map
  CHECK(count(image, 0.5) > 1000);  // most of the second: half of the shared scale, not the top of its own
  const Image opened = open_heatmap(grid, "layer 1 head 2");
  HeatmapOptions options = grid.options;
  options.title += ": layer 1 head 2";
  options.high = 1;
  const HeatmapLayout layout = heatmap_layout(grid.maps[1], options);
  CHECK(at_center(opened, layout.cell(0, 0)) == map_color(Colors::sequential, 0.5));
  CHECK(at_center(opened, layout.cell(2, 1)) == map_color(Colors::sequential, 0));
  CHECK_THROWS_WITH_AS(open_heatmap(grid, "layer 9"),
                       "open_heatmap: the grid has no 'layer 9'; it has: layer 1 head 1, layer 1 head 2",
                       Error);
  CHECK_THROWS_AS(heatmap_grid(HeatmapGrid{.names = {"a"}}), Error);
  CHECK(has_white_border(heatmap_grid(HeatmapGrid{})));
}

TEST_CASE("text covers the width it was measured at, level, slanted and upright") {
  const std::string text = "Hamburgefonstiv";
  const double width = text_width(text, 20);
  for (const double angle : {0.0, 45.0, 90.0}) {
    Image image(400, 400);
    draw_text(image, {200, 200}, text, {.size = 20, .align = Align::center, .angle = angle});
    int left = 400, right = 0, top = 400, bottom = 0;
    for (int y = 0; y < 400; ++y)
      for (int x = 0; x < 400; ++x)
        if (ink(image, {double(x), double(y), 1, 1})) {
          left = std::min(left, x), right = std::max(right, x + 1);
          top = std::min(top, y), bottom = std::max(bottom, y + 1);
        }
    const double c = std::abs(std::cos(angle * 3.14159265 / 180)),
                 s = std::abs(std::sin(angle * 3.14159265 / 180));
    CHECK(std::abs((left + right) / 2.0 - 200) < 5);
    CHECK(std::abs((top + bottom) / 2.0 - 200) < 5);
    CHECK(std::abs((right - left) - (c * width + s * 16)) < 8);
    CHECK(std::abs((bottom - top) - (s * width + c * 16)) < 8);
  }
}

TEST_CASE("text is shortened and wrapped to fit") {
  CHECK(shorten("short", 200) == "short");
  const std::string cut = shorten("a label that goes on and on", 80);
  CHECK(text_width(cut) <= 80);
  CHECK(cut.substr(cut.size() - 3) == "…");
  const std::vector<std::string> lines = wrap("some words and anextremelylongwordwithoutanyblank in it", 100);
  CHECK(lines.size() > 3);
  for (const std::string& line : lines) CHECK(text_width(line) <= 100);
  CHECK(wrap("", 100).empty());
  CHECK(visible(" cat") == "␣cat");
  CHECK(visible("a b\n") == "a b⏎");
}

TEST_CASE("drawing outside of the page is clipped") {
  Image image(20, 20);
  draw_text(image, {-30, -5}, "far away", {.size = 40});
  line(image, {-100, -100}, {200, 200}, {paint::ink, 3});
  fill_circle(image, {20, 0}, 9, paint::ink);
  fill_rect(image, {-5, 15, 100, 100}, paint::ink);
  CHECK(image.at(10, 10) == paint::ink);
  CHECK(image.at(19, 19) == paint::ink);
  CHECK_THROWS_AS(image.at(20, 0), Error);
  Image clipped(20, 20);
  clipped.clip = {5, 5, 10, 10};
  draw_text(clipped, {0, 10}, "■■■", {.size = 30});
  CHECK(ink(clipped, {0, 0, 20, 20}) == ink(clipped, clipped.clip));
  CHECK(ink(clipped, clipped.clip) > 20);
  fill_rect(clipped, {0, 0, 20, 20}, paint::ink);
  CHECK(clipped.at(4, 10) == paint::white);
  CHECK(clipped.at(5, 14) == paint::ink);
  CHECK(clipped.at(15, 10) == paint::white);
}

TEST_CASE("without fonts letters are boxes, with one message and no failure") {
  std::FILE* capture = std::tmpfile();
  REQUIRE(capture);
  std::fflush(stderr);
  const int saved = dup(STDERR_FILENO);
  dup2(fileno(capture), STDERR_FILENO);
  set_font_folders({"/no/such/folder"});
  Image image(200, 40);
  draw_text(image, {10, 20}, "été 나는");
  const double width = text_width("ab");
  const Image map = heatmap(Matrix(3, 3), {.title = "no fonts"});
  set_font_folders({});
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::rewind(capture);
  char text[4096] = {};
  const std::size_t size = std::fread(text, 1, sizeof text - 1, capture);
  std::fclose(capture);
  const std::string message(text, size);
  CHECK(ink(image, {0, 0, 200, 40}) > 40);
  CHECK(width > 0);
  CHECK(has_white_border(map));
  CHECK(message.find("no DejaVu font found") != std::string::npos);
  CHECK(std::count(message.begin(), message.end(), '\n') == 1);
}
