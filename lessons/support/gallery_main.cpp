// Remakes DIR/index.html from the pictures that lessons left there.
#include <fmt/core.h>  // print

#include <filesystem>  // is_directory

#include "lessons/support/gallery.hpp"
#include "lessons/support/options.hpp"

using namespace attn;

int main(int argc, char** argv) {
  return run_program("gallery", [&] {
    std::string out = "out";
    Options options("gallery [options]", "Remakes DIR/index.html from the pictures that lessons left there.");
    options.add("--out", &out, {.value = "DIR", .help = "where the pictures are"});
    options.parse({argv + 1, argv + argc});
    if (!std::filesystem::is_directory(out))
      throw UsageError(fmt::format("there is no folder {}; `make lessons` makes pictures", out));
    write_gallery(out);
    fmt::print("All pictures: {}/index.html\n", out);
    return 0;
  });
}
