// What make check-pages decides without a browser: where links lead, which pages there are, what to picture.
#include <doctest/doctest.h>

#include <fstream>  // ofstream
#include <string>   // string

#include "notebooks_cpp/check/check_pages.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;
using namespace attn::press;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text = "x") {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

Link link(const fs::path& from, const std::string& written) {
  const std::string folder = file_url(from.parent_path()) + "/";
  const std::string url = written[0] == '#' ? file_url(from) + written : folder + written;
  return {.written = written, .url = url, .loads = false};
}

using Faults = std::set<std::string>;

}  // namespace

TEST_CASE("a file's URL leads back to the file, whatever its name") {
  for (const char* name : {"/a/b.html", "/with space/ü%#?.html", "/100%25.html"}) {
    const auto target = file_target(file_url(name));
    REQUIRE(target.has_value());
    CHECK(target->file == name);
    CHECK(target->anchor == "");
  }
  CHECK(file_url("/a b/c#d.html") == "file:///a%20b/c%23d.html");
}

TEST_CASE("a URL's anchor and question are no part of its file") {
  const auto target = file_target("file:///book/x.html?q=1#softmax%20rows");
  REQUIRE(target.has_value());
  CHECK(target->file == "/book/x.html");
  CHECK(target->anchor == "softmax rows");
  CHECK_FALSE(file_target("https://example.org/x.html").has_value());
  CHECK(file_target("file:///x.html#50%")->anchor == "50%");  // a percent sign alone means itself
}

TEST_CASE("only what is in files or in the page itself is not from elsewhere") {
  for (const char* here : {"file:///x.png", "data:image/png;base64,AAAA", "blob:null/7", "about:blank"})
    CHECK_FALSE(is_elsewhere(here));
  for (const char* there :
       {"http://example.org/x.js", "https://example.org", "ws://localhost:1", "ftp://a/b", ""})
    CHECK(is_elsewhere(there));
}

TEST_CASE("the pages of the gallery, the notebooks and the book are found, and no others") {
  TemporaryFolder out;
  for (const char* name :
       {"index.html", "book/index.html", "book/source/core/tensor.html", "notebooks/01_a.html"})
    write(out / name);
  for (const char* name : {"book/style.css", "notebooks/01_a.ipynb", "06_self_attention/other.html"})
    write(out / name);
  CHECK(find_pages(out.path) == std::vector<fs::path>{out / "book/index.html",
                                                      out / "book/source/core/tensor.html",
                                                      out / "index.html", out / "notebooks/01_a.html"});
  fs::remove_all(out / "notebooks");
  CHECK(find_pages(out.path).size() == 3);
}

TEST_CASE("every page of a small folder gets a picture; of a large one the lessons, the index and a few") {
  std::vector<fs::path> pages;
  for (int i = 0; i < 7; ++i) pages.push_back(fmt::format("/out/notebooks/n{}.html", i));
  CHECK(choose_pictures(pages).size() == 7);
  for (int i = 0; i < 18; ++i) pages.push_back(fmt::format("/out/book/{:02}_lesson.html", i));
  for (int i = 0; i < 100; ++i) pages.push_back(fmt::format("/out/book/f{:03}.html", i));
  pages.push_back("/out/book/index.html");
  const std::set<fs::path> chosen = choose_pictures(pages);
  for (int i = 0; i < 18; ++i) CHECK(chosen.count(fmt::format("/out/book/{:02}_lesson.html", i)) == 1);
  CHECK(chosen.count("/out/book/index.html") == 1);
  CHECK(chosen.size() > 7 + 19);
  CHECK(chosen.size() <= 7 + 19 + 10);
}

TEST_CASE("a link is good if its file is there and the file has its anchor") {
  TemporaryFolder out;
  write(out / "book/a.html");
  write(out / "book/deep/b.html");
  write(out / "06/heat map.png");
  write(out / "06/output.txt");
  std::vector<VisitedPage> pages(2);
  pages[0].file = out / "book/a.html";
  pages[0].anchors = {"here"};
  pages[1].file = out / "book/deep/b.html";
  pages[1].anchors = {"there"};
  for (const char* good : {"deep/b.html", "deep/b.html#there", "#here", "#", "#top", "deep/b.html?x=1#there"})
    pages[0].links.push_back(link(pages[0].file, good));
  // What the browser makes of ../../06/output.txt.
  pages[1].links.push_back(
      {.written = "../../06/output.txt", .url = file_url(out / "06/output.txt"), .loads = false});
  pages[1].links.push_back(
      {.written = "../../06/heat%20map.png", .url = file_url(out / "06/heat map.png"), .loads = true});
  pages[1].links.push_back({.written = "https://example.org", .url = "https://example.org/", .loads = false});

  const auto outward = check_links(pages, out.path);
  for (const VisitedPage& page : pages) {
    CHECK(page.faults.at("links") == Faults{});
    CHECK(page.faults.at("loads") == Faults{});
  }
  CHECK(outward == std::map<std::string, fs::path>{{"https://example.org/", pages[1].file}});
}

TEST_CASE("each kind of bad link is told apart") {
  TemporaryFolder out;
  write(out / "book/a.html");
  write(out / "06/output.txt");
  const auto fault_of = [&](const Link& bad) {
    std::vector<VisitedPage> pages(1);
    pages[0].file = out / "book/a.html";
    pages[0].links = {bad};
    check_links(pages, out.path);
    const Faults& faults = pages[0].faults.at(bad.loads ? "loads" : "links");
    REQUIRE(faults.size() == 1);
    CHECK(pages[0].faults.at(bad.loads ? "links" : "loads") == Faults{});
    return *faults.begin();
  };
  const fs::path page = out / "book/a.html";
  CHECK(fault_of(link(page, "gone.html")) == "the link gone.html is not there");
  CHECK(fault_of(link(page, "#gone")) == "the link #gone names an anchor that its page does not have");
  CHECK(fault_of({"../06/output.txt#L3", file_url(out / "06/output.txt") + "#L3", false}) ==
        "the link ../06/output.txt#L3 has an anchor, but is not one of our pages");
  CHECK(fault_of({"../06/", file_url(out / "06") + "/", false}) ==
        "the link ../06/ is a folder; name a page in it");
  CHECK(fault_of({file_url(page), file_url(page), false}).find("is a path of this machine") !=
        std::string::npos);
  CHECK(fault_of({"/book/a.html", "file:///book/a.html", false}).find("is a path of this machine") !=
        std::string::npos);
  CHECK(fault_of({"../../x", file_url(out.path.parent_path() / "x"), false}) ==
        fmt::format("the link ../../x leads out of {}", out.path.filename().string()));
  CHECK(fault_of({"javascript:void(0)", "javascript:void(0)", false}) ==
        "the link javascript:void(0) cannot be followed");
  CHECK(fault_of({"p/gone.png", file_url(out / "book/p/gone.png"), true}) ==
        "loads p/gone.png, which is not there");
  CHECK(fault_of({"//example.org/x.js", "http://example.org/x.js", true}) ==
        "loads http://example.org/x.js from elsewhere");
  CHECK(fault_of({"https://example.org/x.css", "https://example.org/x.css", true}) ==
        "loads https://example.org/x.css from elsewhere");
}
