// press: makes programs and pages of notebooks, and the book. See the text of --help.
#include <fmt/core.h>  // print

#include <chrono>  // steady_clock
#include <string>  // string
#include <vector>  // vector

#include "core/atomic_file.hpp"
#include "core/error.hpp"
#include "lessons/support/options.hpp"  // run_program
#include "notebooks_cpp/press/book.hpp"
#include "notebooks_cpp/press/html.hpp"  // read_file
#include "notebooks_cpp/press/notebook.hpp"
#include "notebooks_cpp/press/percent.hpp"

using namespace attn;
using namespace attn::press;
namespace fs = std::filesystem;

namespace {

constexpr const char* help = R"(Usage: press COMMAND ...
Makes programs and pages of notebooks, which are C++ files in the percent format, and the book.

  tangle IN.cpp OUT.cpp                   the program that says which cell it is in
  notebook IN.cpp PROGRAM OUT [ARGS]      run PROGRAM with ARGS, write OUT/NAME.ipynb and OUT/NAME.html
  book [OUT]                              the book of what the lessons left in OUT (out), as OUT/book
  ipynb IN.cpp OUT.ipynb                  for Jupyter, as it was written: nothing has run yet
  percent IN.ipynb OUT.cpp                back from Jupyter: what was changed there becomes the source again

Exit code 1: a cell failed. 2: something else is wrong; one line says what.
)";

int run(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "--help" : words[0];
  const auto write = [&](const std::string& text) { write_file_atomically(words[2], {text}); };
  if (command == "--help" || command == "-h") {
    fmt::print("{}", help);
    return words.empty() ? 2 : 0;
  }
  if (command == "tangle" && words.size() == 3) {
    write(tangle(read_file(words[1]), words[1]));
  } else if (command == "ipynb" && words.size() == 3) {
    write(to_ipynb({fs::path(words[1]).stem().string(), parse_percent(read_file(words[1]), words[1]), {}}));
  } else if (command == "percent" && words.size() == 3) {
    write(to_percent(cells_of_ipynb(read_file(words[1]))));
  } else if (command == "book" && words.size() <= 2) {
    const fs::path out = words.size() == 2 ? words[1] : "out";
    write_book({.root = ".", .out = out, .book = out / "book"});
  } else if (command == "notebook" && words.size() >= 4) {
    const auto start = std::chrono::steady_clock::now();
    make_notebook(words[1], words[2], words[3], {words.begin() + 4, words.end()});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const std::string page = (fs::path(words[3]) / fs::path(words[1]).stem()).string();
    fmt::print("{0}.html {0}.ipynb  {1:.1f} s\n", page, seconds.count());
  } else {
    fail("'{}' is not a command, or has too few or too many words after it; see --help", command);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return attn::run_program("press", [&] {
    try {
      return run({argv + 1, argv + argc});
    } catch (const CellError& error) {
      fmt::print(stderr, "{}", error.what());
      return 1;
    }
  });
}
