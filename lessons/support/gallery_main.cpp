// Makes DIR/index.html again from the pictures that lessons left there.
#include <fmt/format.h>  // print

#include <filesystem>  // is_directory

#include "lessons/support/gallery.hpp"
#include "lessons/support/options.hpp"

using namespace attn;

int main(int argc, char** argv) {
  try {
    std::string out = "out";
    Options options("gallery [options]",
                    "Makes DIR/index.html again from the pictures that lessons left there.");
    options.add("--out", "DIR", "where the pictures are", out);
    if (!options.parse(argc, argv).empty()) throw UsageError("it takes options only; --help tells which");
    if (!std::filesystem::is_directory(out))
      throw UsageError(fmt::format("there is no folder {}; `make lessons` makes pictures", out));
    write_gallery(out);
    fmt::print("All pictures: {}/index.html\n", out);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "gallery: {}\n", error.what());
    return 2;
  }
}
