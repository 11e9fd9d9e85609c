// Options: what is written behind a program's name.
//
//   double dropout = 0.1;
//   Options options("13_translator [train|translate|…] [options]", "It translates.");
//   options.add("--dropout", "P", "share of activations that are dropped", dropout);
//   std::vector<std::string> words = options.parse(argc, argv);       // what is not an option
//
// `--name value` and `--name=value` both work. An unknown option, a missing or a bad value throws UsageError,
// one line that says what is wrong; `--help` prints every option with its default and ends the program.
#pragma once

#include <functional>  // function
#include <limits>      // numeric_limits
#include <stdexcept>   // runtime_error
#include <string>      // string
#include <vector>      // vector

#include "core/shape.hpp"  // Index

namespace attn {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Options {
 public:
  Options(std::string usage, std::string about);

  void add(const std::string& name, const std::string& value_name, const std::string& help,
           std::string& target);
  void add(const std::string& name, const std::string& value_name, const std::string& help, Index& target,
           Index at_least = 0, Index at_most = std::numeric_limits<Index>::max());
  void add(const std::string& name, const std::string& value_name, const std::string& help, double& target,
           double at_least = 0);
  void add_flag(const std::string& name, const std::string& help, bool& target);
  void add_text(const std::string& text);  // a paragraph at the end of the help

  std::vector<std::string> parse(int argc, char** argv) const;
  std::string help() const;
  bool given(const std::string& name) const;  // after parse: was it written?

 private:
  struct Option {
    std::string name, value_name, help, default_text;  // no value_name: a flag
    std::function<void(const std::string& value)> set;
  };
  std::string usage_, about_, text_;
  std::vector<Option> options_;
  mutable std::vector<std::string> given_;
};

}  // namespace attn
