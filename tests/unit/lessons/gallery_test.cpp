// The gallery: every picture that was recorded and is there, on a page that needs nothing from elsewhere.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <fstream>  // ofstream

#include "core/text.hpp"  // read_file
#include "core/viz/arrange.hpp"
#include "core/viz/heatmap.hpp"
#include "lessons/support/gallery.hpp"
#include "lessons/support/html.hpp"  // png_size
#include "lessons/support/picture.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;

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
  CHECK(read_file(folder.path / "pictures.tsv") == "a.png\tA again\tsecond\nb.png\tB\ttab here and line\n");
}

TEST_CASE("the gallery shows every lesson's pictures in order, with nothing from elsewhere") {
  const TemporaryFolder folder;
  for (const char* lesson : {"10_blocks", "02_autograd"}) {
    viz::write_png(folder.path / lesson / "a picture.png", viz::heatmap(viz::Matrix{{1}}, {.title = "x"}));
    record_picture(folder.path / lesson, "a picture.png", "A <title> & more",
                   std::string("été of ") + lesson);
    record_picture(folder.path / lesson, "missing.png", "Not there", "its file was removed");
  }
  std::ofstream(folder.path / "10_blocks" / "output.txt") << "text";
  std::filesystem::create_directories(folder.path / "book/lessons");
  std::ofstream(folder.path / "book/lessons/10_blocks.html") << "page";
  write_gallery(folder.path);
  const std::string page = read_file(folder.path / "index.html");
  const auto has = [&](const char* text) { return page.find(text) != std::string::npos; };
  CHECK(page.find("id=\"02_autograd\"") < page.find("id=\"10_blocks\""));
  CHECK(has("src=\"02_autograd/a%20picture.png\""));
  CHECK(has("A &lt;title&gt; &amp; more"));
  CHECK(has("été of 10_blocks"));
  CHECK(has("href=\"10_blocks/output.txt\""));
  CHECK_FALSE(has("href=\"02_autograd/output.txt\""));
  CHECK(has("href=\"book/lessons/10_blocks.html\""));
  CHECK_FALSE(has("href=\"book/lessons/02_autograd.html\""));
  CHECK_FALSE(has("missing.png"));
  CHECK_FALSE(has("http"));
  CHECK_FALSE(has("<script src"));
  CHECK(has("width=device-width"));
  CHECK(has("prefers-color-scheme: dark"));
  const viz::HeatmapLayout layout = viz::heatmap_layout(viz::Matrix{{1}}, {.title = "x"});
  CHECK(has(fmt::format("width=\"{}\" height=\"{}\"", layout.width, layout.height).c_str()));
}

TEST_CASE("a record that names no possible file is left out") {
  const TemporaryFolder folder;
  record_picture(folder.path / "01_tensors", fmt::format("{:x>5000}.png", ""), "Too long", "for any disk");
  viz::write_png(folder.path / "01_tensors/a.png", viz::heatmap(viz::Matrix{{1}}));
  record_picture(folder.path / "01_tensors", "a.png", "A", "is there");
  write_gallery(folder.path);
  const std::string page = read_file(folder.path / "index.html");
  CHECK(page.find("Too long") == std::string::npos);
  CHECK(page.find("is there") != std::string::npos);
}

TEST_CASE("a gallery without pictures says so") {
  const TemporaryFolder folder;
  write_gallery(folder.path / "out");
  CHECK(read_file(folder.path / "out" / "index.html").find("No pictures yet") != std::string::npos);
}

TEST_CASE(
    "on dark paper white is dark, ink is light, hues stay and the cells of a heatmap keep their colours") {
  viz::Image image = viz::heatmap(viz::Matrix{{1, 0}}, {.title = "x"});
  const viz::HeatmapLayout layout = viz::heatmap_layout(viz::Matrix{{1, 0}}, {.title = "x"});
  image.blend(0, 0, {200, 30, 30});
  image.blend(1, 0, viz::paint::ink);
  const viz::Image dark = on_dark_paper(image);
  const viz::Point cell = layout.cell(0, 0).center();
  CHECK(dark.at(int(cell.x), int(cell.y)) == image.at(int(cell.x), int(cell.y)));
  CHECK(viz::lightness(dark.at(5, 5)) < 0.3);
  CHECK(viz::lightness(dark.at(1, 0)) > 0.8);
  CHECK(dark.at(0, 0).r > 100 + dark.at(0, 0).g);
}

TEST_CASE("a picture is written twice, with the numbers of its matrices where they are in the whole") {
  const TemporaryFolder folder;
  const viz::Matrix weights{{0.25f, 0.75f}};
  const viz::Image one = viz::heatmap(weights, {.title = "w", .row_labels = {"it"}, .scores = {{-1, 2}}});
  const viz::Image both = viz::row({viz::heatmap(viz::Matrix{{5}}), one});
  write_picture(folder / "both.png", both);
  REQUIRE(both.drawn.size() == 2);
  const viz::HeatmapLayout layout = viz::heatmap_layout(weights, {.title = "w", .row_labels = {"it"}});
  CHECK(both.drawn[1].cells.x == both.width() - one.width() + layout.left);
  const std::string numbers = read_file(folder / "both.json");
  for (const char* part : {"\"scores\":[-1,2]", "\"values\":[0.25,0.75]", "\"row_labels\":[\"it\"]"})
    CHECK(numbers.find(part) != std::string::npos);
  CHECK(png_size(folder / "both-dark.png").width == unsigned(both.width()));
  // Without matrices there is no file of numbers, and an old one goes.
  write_picture(folder / "both.png", viz::Image(3, 3));
  CHECK_FALSE(std::filesystem::exists(folder / "both.json"));
  // The cells of a grid that would make a page slow to open are left out.
  write_picture(folder / "large.png", viz::heatmap(viz::Matrix(200, 200)));
  CHECK_FALSE(std::filesystem::exists(folder / "large.json"));
}
