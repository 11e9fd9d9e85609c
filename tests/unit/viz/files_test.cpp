// Pictures as files: what is written can be read back, whole or not at all.
#include <doctest/doctest.h>

#include <algorithm>   // min
#include <cmath>       // abs, NAN
#include <filesystem>  // path
#include <fstream>     // ofstream
#include <functional>  // function
#include <iterator>    // distance
#include <string>      // string

#include "core/error.hpp"
#include "core/viz/viz.hpp"
#include "tests/unit/temporary_folder.hpp"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

using namespace attn;
using namespace attn::viz;
namespace fs = std::filesystem;

namespace {

Image decode(const fs::path& path) {
  int width = 0, height = 0, channels = 0;
  unsigned char* pixels = stbi_load(path.c_str(), &width, &height, &channels, 3);
  REQUIRE(pixels);
  Image image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const unsigned char* p = pixels + 3 * (y * width + x);
      image.blend(x, y, {p[0], p[1], p[2]});
    }
  stbi_image_free(pixels);
  return image;
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The middle of all pixels of `rect` for which `is` holds.
template <class Predicate>
Point centroid(const Image& image, const Rect& rect, const Predicate& is) {
  double x_sum = 0, y_sum = 0, count = 0;
  for (int y = int(rect.y); y < rect.bottom(); ++y)
    for (int x = int(rect.x); x < rect.right(); ++x)
      if (is(image.at(x, y))) x_sum += x + 0.5, y_sum += y + 0.5, ++count;
  REQUIRE(count > 0);
  return {x_sum / count, y_sum / count};
}

}  // namespace

TEST_CASE("a picture is read back from its PNG pixel by pixel") {
  const TemporaryFolder folder;
  const Image drawn =
      row({heatmap(Matrix{{1, 2, 3}, {4, NAN, 6}}, {.title = "été 나는", .numbers = true}),
           line_chart({{.name = "a", .y = {3, 1, 2}}}, {.title = "curve", .width = 333, .height = 217})});
  write_png(folder.path / "picture.png", drawn);
  const Image read = decode(folder.path / "picture.png");
  REQUIRE(read.width() == drawn.width());
  REQUIRE(read.height() == drawn.height());
  bool same = true;
  for (int y = 0; y < read.height(); ++y)
    for (int x = 0; x < read.width(); ++x) same = same && read.at(x, y) == drawn.at(x, y);
  CHECK(same);
}

// Finds the marked cell by its colour and the only two labels by their ink, and only then compares.
TEST_CASE("the marked cell is where its labels say: rows are queries, columns are keys") {
  const TemporaryFolder folder;
  const Index marked_row = 4, marked_column = 1;
  Matrix matrix(7, 5);
  matrix(marked_row, marked_column) = 1;
  for (const char* label : {"■", "■■■■■■■■■■"}) {  // level, and slanted because it is long
    HeatmapOptions options{.row_labels = std::vector<std::string>(7),
                           .column_labels = std::vector<std::string>(5),
                           .color_bar = false};
    options.row_labels[marked_row] = label;
    options.column_labels[marked_column] = label;
    write_png(folder.path / "marked.png", heatmap(matrix, options));
    const Image image = decode(folder.path / "marked.png");
    const Color hot = map_color(Colors::sequential, 1), cold = map_color(Colors::sequential, 0);
    const auto is_ink = [](Color color) { return lightness(color) < 0.5; };
    const Rect page{0, 0, double(image.width()), double(image.height())};
    const Point cell = centroid(image, page, [&](Color color) { return color == hot; });
    double left = page.width, top = page.height;  // of all cells
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x)
        if (image.at(x, y) == cold) left = std::min<double>(left, x), top = std::min<double>(top, y);
    const Point row_label = centroid(image, {0, top, left, page.height - top}, is_ink);
    CHECK(std::abs(row_label.y - cell.y) < 4);
    // A slanted label leans away from its column: its lowest ink is what stands on it.
    double lowest = 0;
    for (int y = 0; y < top; ++y)
      for (int x = int(left); x < image.width(); ++x)
        if (is_ink(image.at(x, y))) lowest = y;
    const Point column_label = centroid(image, {left, lowest - 5, page.width - left, 6}, is_ink);
    CHECK(std::abs(column_label.x - cell.x) < 12);
    CHECK(heatmap_layout(matrix, options).cell(marked_row, marked_column).center().x ==
          doctest::Approx(cell.x).epsilon(0.01));
  }
}

TEST_CASE("a folder that cannot be written to is a clear error") {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "a_file") << "not a folder";
  const std::string message =
      message_of([&] { write_png(folder.path / "a_file" / "picture.png", heatmap(Matrix{{1}})); });
  CHECK(message ==
        "write_file: cannot make the folder " + (folder / "a_file").string() + ": Not a directory");
}

TEST_CASE("a write that fails leaves nothing half done behind") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path / "taken.png" / "inside");  // a folder that no file can be renamed over
  CHECK_THROWS_AS(write_png(folder.path / "taken.png", heatmap(Matrix{{1}})), Error);
  CHECK_THROWS_AS(write_png(folder.path / "empty.png", Image()), Error);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
  CHECK(fs::is_directory(folder.path / "taken.png" / "inside"));
}

TEST_CASE("a picture replaces the one before as a whole, and its folder is made") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "new" / "folder" / "picture.png";
  write_png(path, heatmap(Matrix(9, 9), {.title = "large"}));
  write_png(path, heatmap(Matrix(2, 2), {.title = "small"}));
  CHECK(decode(path).width() == heatmap_layout(Matrix(2, 2), {.title = "small"}).width);
  CHECK(std::distance(fs::directory_iterator(path.parent_path()), {}) == 1);
}
