#include "lessons/support/options.hpp"

#include <fmt/core.h>  // format

#include <algorithm>    // max
#include <charconv>     // from_chars
#include <chrono>       // seconds
#include <cmath>        // INFINITY, isnan
#include <cstdio>       // fflush, fputs
#include <cstdlib>      // exit
#include <iterator>     // ssize
#include <new>          // bad_alloc
#include <thread>       // sleep_for
#include <type_traits>  // is_floating_point_v, is_integral_v, is_same_v

#include "core/text.hpp"  // first_invalid_byte, single_line
#include "lessons/support/output.hpp"
#include "optim/launched.hpp"

namespace attn {

namespace {

template <class Number>
Number number_from(const std::string& text, const std::string& name, const OptionInfo& info) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool too_long = error == std::errc::result_out_of_range;
  if ((error != std::errc() && !too_long) || end != text.data() + text.size() || std::isnan(double(value)))
    throw UsageError(fmt::format("{}: '{}' is not a {}", name, text,
                                 std::is_integral_v<Number> ? "whole number" : "number"));
  check_bounds(name, too_long ? (text[0] == '-' ? -INFINITY : INFINITY) : double(value), info, text);
  return value;
}

template <class Target>
Target value_from(const std::string& text, const std::string& name, const OptionInfo& info) {
  if constexpr (std::is_same_v<Target, bool>)
    return true;
  else if constexpr (std::is_integral_v<Target>)
    return Target(number_from<Index>(text, name, info));
  else if constexpr (std::is_floating_point_v<Target>)
    return number_from<Target>(text, name, info);
  else if (std::is_same_v<Target, std::string> && first_invalid_byte(text) != std::string::npos)
    throw UsageError(fmt::format("{}: the value is not UTF-8 text", name));
  else
    return text;
}

std::string text_of(bool) { return ""; }
std::string text_of(const std::filesystem::path& path) { return path.string(); }
template <class Value>
std::string text_of(const Value& value) {
  return fmt::format("{}", value);
}

}  // namespace

void Options::add(const std::string& name, Target target, const OptionInfo& info) {
  const std::string default_text = std::visit([](const auto* now) { return text_of(*now); }, target);
  options_.push_back({name, target, info, default_text});
}

std::string Options::help() const {
  const auto head = [](const Option& o) {
    return o.info.value.empty() ? o.name : o.name + " " + o.info.value;
  };
  std::size_t width = 6;
  for (const Option& option : options_) width = std::max(width, head(option).size());
  std::string text = fmt::format("Usage: {}\n{}\n\n", usage_, about_);
  for (const Option& option : options_)
    text += fmt::format("  {:{}}  {}{}\n", head(option), width, option.info.help,
                        option.default_text.empty() ? "" : " (" + option.default_text + ")");
  return text + fmt::format("  {:{}}  {}\n", "--help", width, "this page") + text_;
}

const Options::Option& Options::find(const std::string& name) const {
  for (const Option& option : options_)
    if (option.name == name) return option;
  throw UsageError(fmt::format("there is no option '{}'; --help lists them", name));
}

std::vector<std::string> Options::parse(const std::vector<std::string>& arguments, Index most_words) {
  std::vector<std::string> words;
  for (Index i = 0; i < std::ssize(arguments); ++i) {
    std::string word = arguments[i], value;
    if (word == "--help" || word == "-h") {
      write_out(help());
      std::exit(0);
    }
    if (word.size() < 2 || word[0] != '-') {
      if (std::ssize(words) == most_words)
        throw UsageError(fmt::format("unexpected '{}'; --help lists what there is", word));
      words.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const bool has_value = equals != std::string::npos;
    if (has_value) value = word.substr(equals + 1), word.resize(equals);
    const Option& option = find(word);
    const bool is_flag = option.info.value.empty();
    if (is_flag && has_value) throw UsageError(fmt::format("{} takes no value", word));
    if (!is_flag && !has_value && i + 1 < std::ssize(arguments)) value = arguments[++i];
    if (!is_flag && value.empty())
      throw UsageError(fmt::format("{} needs a value: {} {}", word, word, option.info.value));
    std::visit([&]<class T>(T* target) { *target = value_from<T>(value, word, option.info); }, option.target);
    given_.push_back(word);
  }
  return words;
}

int run_program(const std::string& name, const std::function<int()>& body) {
  guard_standard_streams();
  std::string problem;
  try {
    const int code = body();
    flush_out();
    return code;
  } catch (const std::bad_alloc&) {
    problem = "not enough memory";
  } catch (const std::exception& error) {
    problem = single_line(error.what());
  }
  std::fflush(stdout);
  // Under mpirun most problems are everybody's: rank 0 speaks first, and ends the others.
  const Index rank = launched_rank();
  if (rank > 0) std::this_thread::sleep_for(std::chrono::seconds(5));
  std::fputs(fmt::format("{}: {}{}\n", name, rank > 0 ? fmt::format("rank {}: ", rank) : "", problem).c_str(),
             stderr);
  return 2;
}

}  // namespace attn
