// The gallery: every picture that was recorded and is there, on a page that needs nothing from elsewhere.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>  // ofstream

#include "core/text.hpp"  // read_file
#include "core/viz/heatmap.hpp"
#include "lessons/support/gallery.hpp"
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
  write_gallery(folder.path);
  const std::string page = read_file(folder.path / "index.html");
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
  const viz::HeatmapLayout layout = viz::heatmap_layout(viz::Matrix{{1}}, {.title = "x"});
  CHECK(has(fmt::format("width=\"{}\" height=\"{}\"", layout.width, layout.height).c_str()));
}

TEST_CASE("a record that names no possible file is left out") {
  const TemporaryFolder folder;
  record_picture(folder.path / "01_tensors", std::string(5000, 'x') + ".png", "Too long", "for any disk");
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
