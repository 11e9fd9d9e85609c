// build/check_pages: opens every page of the book, the notebooks and the gallery; see check_pages.hpp.
#include <fmt/core.h>  // format, print

#include <csignal>   // SIGINT
#include <cstdio>    // fflush
#include <iterator>  // ssize

#include "core/text.hpp"  // on_terminal
#include "lessons/support/options.hpp"
#include "notebooks_cpp/check/check_pages.hpp"
#include "notebooks_cpp/check/chromium.hpp"

namespace attn::press {
namespace {

namespace fs = std::filesystem;

constexpr int passed_code = 0, failed_code = 1, usage_code = 2, interrupted_code = 128 + SIGINT;

// Throws if there are no pages, or if a part is missing and `need_all`.
void look_for_parts(const fs::path& out, bool need_all) {
  std::string missing;
  bool found = false;
  for (const char* part : {"lessons", "notebooks", "book", "live"}) {
    const bool there = fs::exists(out / (part == std::string_view("lessons") ? "index.html" : part));
    found = found || there;
    if (!there) missing += fmt::format(" {}", part);
  }
  if (!found || (need_all && !missing.empty()))
    throw UsageError(fmt::format("{}: pages are missing; run `make{}` first", out.string(), missing));
  if (!missing.empty()) fmt::print("Not made yet, and so not checked: `make{}` makes the rest.\n", missing);
}

// Screenshots of earlier runs would be taken for those of this one.
void remove_pictures(const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".png") fs::remove(entry.path());
}

int check(const fs::path& out, bool need_all) {
  look_for_parts(out, need_all);
  const fs::path root = fs::canonical(out);
  const auto shown = [&](const fs::path& file) { return (out / file.lexically_relative(root)).string(); };
  const std::vector<fs::path> files = find_pages(root);
  remove_pictures(root / "pages");
  stop_on_signals();
  std::vector<VisitedPage> pages = visit_pages(files, root, [&](Index done) {
    if (!on_terminal(stderr)) return;
    fmt::print(stderr, "\r{} of {} pages{}", done, files.size(), done == std::ssize(files) ? "\n" : "");
    std::fflush(stderr);
  });
  const std::map<std::string, fs::path> outward = check_links(pages, root);

  if (!outward.empty()) fmt::print("Links to the web, not followed:\n");
  for (const auto& [url, page] : outward) fmt::print("  {}  ({})\n", url, shown(page));
  int passed = 0, failed = 0;
  for (const VisitedPage& page : pages)
    for (const auto& [name, faults] : page.faults) {
      ++(faults.empty() ? passed : failed);
      for (const std::string& fault : faults) fmt::print("{}: {}\n", shown(page.file), fault);
    }
  fmt::print("{} pages were opened; screenshots are in {}\n", pages.size(), (out / "pages").string());
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? passed_code : failed_code;
}

int main(int argc, char** argv) {
  return attn::run_program("check_pages", [&] {
    bool need_all = false;
    Options options(
        "build/check_pages [DIR] [options]",
        "Opens every page of the book, the notebooks and the gallery in DIR (out) in a headless browser.");
    options.add("--all", &need_all, {.help = "a part that has not been made is an error"});
    const std::vector<std::string> words = options.parse({argv + 1, argv + argc}, 1);
    try {
      return check(words.empty() ? "out" : words[0], need_all);
    } catch (const Interrupted&) {
      return interrupted_code;
    }
  });
}

}  // namespace
}  // namespace attn::press

int main(int argc, char** argv) { return attn::press::main(argc, argv); }
