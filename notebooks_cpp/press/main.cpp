// press: makes programs and pages of notebooks, and the book. See the text of --help.
#include <fmt/format.h>  // print

#include <chrono>  // steady_clock
#include <string>  // string
#include <vector>  // vector

#include "core/atomic_file.hpp"
#include "core/error.hpp"
#include "notebooks_cpp/press/book.hpp"
#include "notebooks_cpp/press/html.hpp"  // read_file
#include "notebooks_cpp/press/notebook.hpp"
#include "notebooks_cpp/press/percent.hpp"

using namespace attn;
using namespace attn::press;

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

void make(const std::string& source, const std::string& program, const std::string& out,
          const std::vector<std::string>& arguments) {
  const auto start = std::chrono::steady_clock::now();
  make_notebook(source, program, out, arguments);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::filesystem::path page = std::filesystem::path(out) / std::filesystem::path(source).stem();
  fmt::print("{0}.html {0}.ipynb  {1:.1f} s\n", page.string(), seconds.count());
}

int run(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "--help" : words[0];
  if (command == "--help" || command == "-h") {
    fmt::print("{}", help);
    return words.empty() ? 2 : 0;
  }
  if (command == "tangle" && words.size() == 3) {
    write_file_atomically(words[2], {tangle(read_file(words[1]), words[1])});
    return 0;
  }
  if (command == "ipynb" && words.size() == 3) {
    const std::string name = std::filesystem::path(words[1]).stem().string();
    write_file_atomically(words[2], {to_ipynb({name, parse_percent(read_file(words[1]), words[1]), {}})});
    return 0;
  }
  if (command == "percent" && words.size() == 3) {
    write_file_atomically(words[2], {to_percent(cells_of_ipynb(read_file(words[1])))});
    return 0;
  }
  if (command == "book" && words.size() <= 2) {
    const std::filesystem::path out = words.size() == 2 ? words[1] : "out";
    write_book({.root = ".", .out = out, .book = out / "book"});
    return 0;
  }
  if (command == "notebook" && words.size() >= 4) {
    make(words[1], words[2], words[3], {words.begin() + 4, words.end()});
    return 0;
  }
  fail("'{}' is not a command, or not with so many words; --help tells what there is", command);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const CellError& error) {
    fmt::print(stderr, "{}", error.what());
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "press: {}\n", error.what());
    return 2;
  }
}
