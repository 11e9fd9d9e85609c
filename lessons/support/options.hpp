// Options: what follows a program's name on the command line, and how a program ends when that is wrong.
//
//   int main(int argc, char** argv) {
//     return run_program("13_translator", [&] {
//       Index heads = 4;
//       Options options("13_translator [train|translate|…] [options]", "It translates.");
//       options.add("--heads", &heads, {.value = "H", .help = "attention heads", .at_least = 1});
//       const std::vector<std::string> words = options.parse({argv + 1, argv + argc});  // not options
//       …
//
// `--name value` and `--name=value` both work. An unknown option, a missing or a bad value throws UsageError,
// one line that says what is wrong; `--help` prints every option with its default and ends the program.
#pragma once

#include <cstdint>     // uint64_t
#include <filesystem>  // path
#include <functional>  // function
#include <stdexcept>   // runtime_error
#include <string>      // string
#include <variant>     // variant
#include <vector>      // vector

#include "core/index.hpp"

namespace attn {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct OptionInfo {
  std::string value = {};  // what stands for the value in the help: "N"; a flag has none
  std::string help = {};
  double at_least = 0, at_most = 1e15;  // of a number; what is outside is refused, and the bound is said
};

class Options {
 public:
  // What an option writes to; its value before is the default. A bool is a flag.
  using Target =
      std::variant<bool*, int*, Index*, std::uint64_t*, double*, std::string*, std::filesystem::path*>;

  Options(std::string usage, std::string about) : usage_(std::move(usage)), about_(std::move(about)) {}
  void add(const std::string& name, Target target, const OptionInfo& info);
  void add_text(const std::string& text) { text_ += "\n" + text + "\n"; }  // at the end of the help

  // Returns the words that are not options, and refuses more of them than `most_words`.
  std::vector<std::string> parse(const std::vector<std::string>& arguments, Index most_words = 0);
  const std::vector<std::string>& given() const {
    return given_;
  }  // after parse: the names that were written

 private:
  struct Option {
    std::string name;
    Target target;
    OptionInfo info;
    std::string default_text;
  };
  std::string help() const;
  const Option& find(const std::string& name) const;

  std::string usage_, about_, text_;
  std::vector<Option> options_;
  std::vector<std::string> given_;
};

// Throws UsageError if the number is out of bounds.
void check_bounds(const std::string& name, double value, const OptionInfo& info,
                  const std::string& written = "");  // as it was written; otherwise as we write numbers

// Runs a program. An exception becomes one line on standard error, after the program's name, and exit code 2.
// So does output that cannot be written.
int run_program(const std::string& name, const std::function<int()>& body);

}  // namespace attn
