#include "lessons/support/options.hpp"

#include <fmt/format.h>  // format, print

#include <algorithm>  // find, max
#include <charconv>   // from_chars
#include <cmath>      // isfinite
#include <cstdlib>    // exit

namespace attn {
namespace {

template <class Number>
Number number(const std::string& name, const std::string& text, Number at_least,
              Number at_most = std::numeric_limits<Number>::max()) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    throw UsageError(fmt::format("{}: {} is more than a number can hold here", name, text));
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(static_cast<double>(value)))
    throw UsageError(fmt::format("{}: '{}' is not a {}", name, text,
                                 std::is_integral_v<Number> ? "whole number" : "number"));
  if (value < at_least)
    throw UsageError(fmt::format("{}: {} is too small; it must be at least {}", name, text, at_least));
  if (value > at_most)
    throw UsageError(fmt::format("{}: {} is too large; it must be at most {}", name, text, at_most));
  return value;
}

}  // namespace

Options::Options(std::string usage, std::string about) : usage_(std::move(usage)), about_(std::move(about)) {}

void Options::add(const std::string& name, const std::string& value_name, const std::string& help,
                  std::string& target) {
  options_.push_back({name, value_name, help, target, [=, &target](const std::string& value) {
                        if (value.empty())
                          throw UsageError(fmt::format("{} needs a value: {} {}", name, name, value_name));
                        target = value;
                      }});
}

void Options::add(const std::string& name, const std::string& value_name, const std::string& help,
                  Index& target, Index at_least, Index at_most) {
  options_.push_back(
      {name, value_name, help, fmt::format("{}", target),
       [=, &target](const std::string& value) { target = number(name, value, at_least, at_most); }});
}

void Options::add(const std::string& name, const std::string& value_name, const std::string& help,
                  double& target, double at_least) {
  options_.push_back({name, value_name, help, fmt::format("{}", target),
                      [=, &target](const std::string& value) { target = number(name, value, at_least); }});
}

void Options::add_flag(const std::string& name, const std::string& help, bool& target) {
  options_.push_back({name, "", help, "", [&target](const std::string&) { target = true; }});
}

void Options::add_text(const std::string& text) { text_ += "\n" + text + "\n"; }

std::string Options::help() const {
  std::string text = fmt::format("Usage: {}\n{}\n\n", usage_, about_);
  std::size_t width = 6;
  for (const Option& option : options_)
    width = std::max(width, option.name.size() + 1 + option.value_name.size());
  for (const Option& option : options_)
    text += fmt::format("  {:{}}  {}{}\n",
                        option.name + (option.value_name.empty() ? "" : " " + option.value_name), width,
                        option.help, option.default_text.empty() ? "" : " (" + option.default_text + ")");
  text += fmt::format("  {:{}}  {}\n", "--help", width, "this page");
  return text + text_;
}

std::vector<std::string> Options::parse(int argc, char** argv) const {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i], value;
    if (word == "--help" || word == "-h") {
      fmt::print("{}", help());
      std::exit(0);
    }
    if (word.size() < 2 || word.compare(0, 2, "--") != 0) {
      if (word.size() > 1 && word[0] == '-')
        throw UsageError(fmt::format("there is no option '{}'; --help lists them", word));
      words.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const bool has_value = equals != std::string::npos;
    if (has_value) value = word.substr(equals + 1), word.resize(equals);
    const auto option =
        std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == word; });
    if (option == options_.end())
      throw UsageError(fmt::format("there is no option '{}'; --help lists them", word));
    if (option->value_name.empty()) {
      if (has_value) throw UsageError(fmt::format("{} takes no value", word));
    } else if (!has_value) {
      if (i + 1 == argc)
        throw UsageError(fmt::format("{} needs a value: {} {}", word, word, option->value_name));
      value = argv[++i];
    }
    option->set(value);
    given_.push_back(word);
  }
  return words;
}

bool Options::given(const std::string& name) const {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

}  // namespace attn
