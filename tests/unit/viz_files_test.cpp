// Pictures as files: what is written can be read back, whole or not at all, and the gallery finds it.
#include <doctest/doctest.h>

#include <algorithm>   // min
#include <cmath>       // abs, NAN
#include <filesystem>  // path
#include <fstream>     // ifstream, ofstream
#include <functional>  // function
#include <iterator>    // distance, istreambuf_iterator
#include <string>      // string

#include "core/error.hpp"
#include "core/viz/viz.hpp"
#include "temporary_folder.hpp"

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

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
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
  for (int y = static_cast<int>(rect.y); y < rect.bottom(); ++y)
    for (int x = static_cast<int>(rect.x); x < rect.right(); ++x)
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
    heatmap(folder.path / "marked.png", matrix, options);
    const Image image = decode(folder.path / "marked.png");
    const Color hot = map_color(Colors::Sequential, 1), cold = map_color(Colors::Sequential, 0);
    const auto is_ink = [](Color color) { return lightness(color) < 0.5; };
    const Rect page{0, 0, static_cast<double>(image.width()), static_cast<double>(image.height())};
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
      for (int x = static_cast<int>(left); x < image.width(); ++x)
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
      message_of([&] { heatmap(folder.path / "a_file" / "picture.png", Matrix{{1}}); });
  CHECK(message.find("cannot write") == 0);
  CHECK(message.find("a_file/picture.png") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("a write that fails leaves nothing half done behind") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path / "taken.png" / "inside");  // a folder that no file can be renamed over
  CHECK_THROWS_AS(heatmap(folder.path / "taken.png", Matrix{{1}}), Error);
  CHECK_THROWS_AS(write_png(folder.path / "empty.png", Image()), Error);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
  CHECK(fs::is_directory(folder.path / "taken.png" / "inside"));
}

TEST_CASE("a picture replaces the one before as a whole, and its folder is made") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "new" / "folder" / "picture.png";
  heatmap(path, Matrix(9, 9), {.title = "large"});
  heatmap(path, Matrix(2, 2), {.title = "small"});
  CHECK(decode(path).width() == heatmap_layout(Matrix(2, 2), {.title = "small"}).width);
  CHECK(std::distance(fs::directory_iterator(path.parent_path()), {}) == 1);
}

TEST_CASE("recording a picture adds a line, or replaces that of the same file") {
  const TemporaryFolder folder;
  record_picture(folder.path, "a.png", "A", "first");
  record_picture(folder.path, "b.png", "B", "tab\there\nand line");
  record_picture(folder.path, "a.png", "A again", "second");
  const std::vector<PictureRecord> records = recorded_pictures(folder.path);
  REQUIRE(records.size() == 2);
  CHECK(records[0].title == "A again");
  CHECK(records[0].caption == "second");
  CHECK(records[1].caption == "tab here and line");
  CHECK(text_of(folder.path / "pictures.tsv") == "a.png\tA again\tsecond\nb.png\tB\ttab here and line\n");
}

TEST_CASE("the gallery shows every lesson's pictures in order, with nothing from elsewhere") {
  const TemporaryFolder folder;
  for (const char* lesson : {"10_blocks", "02_autograd"}) {
    heatmap(folder.path / lesson / "a picture.png", Matrix{{1}}, {.title = "x"});
    record_picture(folder.path / lesson, "a picture.png", "A <title> & more",
                   std::string("été of ") + lesson);
    record_picture(folder.path / lesson, "missing.png", "Not there", "its file was removed");
  }
  std::ofstream(folder.path / "10_blocks" / "output.txt") << "text";
  write_gallery(folder.path);
  const std::string page = text_of(folder.path / "index.html");
  const auto has = [&](const char* text) { return page.find(text) != std::string::npos; };
  CHECK(page.find("id=\"02_autograd\"") < page.find("id=\"10_blocks\""));
  CHECK(has("src=\"02_autograd/a%20picture.png\""));
  CHECK(has("A &lt;title&gt; &amp; more"));
  CHECK(has("été of 10_blocks"));
  CHECK(has("href=\"10_blocks/output.txt\""));
  CHECK_FALSE(has("href=\"02_autograd/output.txt\""));
  CHECK_FALSE(has("missing.png"));
  CHECK_FALSE(has("http"));
  CHECK_FALSE(has("<script"));
  CHECK(has("width=device-width"));
  CHECK(has("prefers-color-scheme: dark"));
  const HeatmapLayout layout = heatmap_layout(Matrix{{1}}, {.title = "x"});
  CHECK(has(fmt::format("width=\"{}\" height=\"{}\"", layout.width, layout.height).c_str()));
}

TEST_CASE("a gallery without pictures says so") {
  const TemporaryFolder folder;
  write_gallery(folder.path / "out");
  CHECK(text_of(folder.path / "out" / "index.html").find("No pictures yet") != std::string::npos);
}
