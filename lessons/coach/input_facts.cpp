// Which inputs are answered wrongly: a condition on the arguments that splits right from wrong exactly.
#include "lessons/coach/facts.hpp"

#include <fmt/core.h>

#include <algorithm>  // adjacent_find
#include <cmath>      // abs
#include <optional>   // optional

namespace coach {
namespace {

// A condition as C++ would write it, and whether it holds for one input; nothing if it makes no sense there.
struct Condition {
  std::string text;
  std::optional<bool> holds;
};

void add_number_conditions(std::vector<Condition>& out, const Quantity& q) {
  out.push_back({q.name + " == 0", q.value == 0});
  out.push_back({q.name + " == 1", q.value == 1});
  out.push_back({q.name + " < 0", q.value < 0});
  out.push_back({q.name + " <= 1", q.value <= 1});
  if (q.whole) out.push_back({q.name + " % 2 == 0", std::fmod(q.value, 2) == 0});
}

void add_pair_conditions(std::vector<Condition>& out, const Quantity& a, const Quantity& b) {
  out.push_back({fmt::format("{} == {}", a.name, b.name), a.value == b.value});
  out.push_back({fmt::format("{} < {}", a.name, b.name), a.value < b.value});
  out.push_back({fmt::format("{} <= {}", a.name, b.name), a.value <= b.value});
  if (!a.whole || !b.whole) return;
  const auto divides = [](double x, double y) { return y != 0 && std::fmod(x, y) == 0; };
  out.push_back({fmt::format("{} % {} == 0", a.name, b.name), divides(a.value, b.value)});
  out.push_back({fmt::format("{} % {} == 0", b.name, a.name), divides(b.value, a.value)});
}

// What the numbers of an argument are like.
void add_content_conditions(std::vector<Condition>& out, const Part& part) {
  const std::vector<double>& x = part.numbers;
  const bool array = part.kind == Part::Kind::tensor || part.kind == Part::Kind::list;
  const auto any = [&](auto test) { return std::any_of(x.begin(), x.end(), test); };
  if (part.kind == Part::Kind::truth) out.push_back({part.name, x[0] != 0});
  if (part.kind == Part::Kind::text) {
    out.push_back({part.name + ".empty()", part.text.empty()});
    out.push_back({part.name + " has a byte above 127",
                   std::any_of(part.text.begin(), part.text.end(),
                               [](char c) { return static_cast<unsigned char>(c) > 127; })});
    out.push_back({part.name + " has a 0 byte", part.text.find('\0') != std::string::npos});
  }
  if (!array) return;
  std::vector<double> sorted = x;
  std::sort(sorted.begin(), sorted.end());
  const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  out.push_back({part.name + " has a 0", any([](double n) { return n == 0; })});
  out.push_back({part.name + " has a negative number", any([](double n) { return n < 0; })});
  out.push_back({part.name + " has a positive number", any([](double n) { return n > 0; })});
  out.push_back({part.name + " has numbers beyond ±500", any([](double n) { return std::abs(n) > 500; })});
  if (part.exact) {
    out.push_back({part.name + " has a number above 255", any([](double n) { return n > 255; })});
    out.push_back({"a number occurs twice in " + part.name, twice});
  }
  // A row of nothing but negative numbers has a maximum below 0.
  const Index columns = part.shape.empty() ? 1 : part.shape.back();
  bool negative_row = false;
  for (Index row = 0; columns > 0 && row < std::ssize(x) / columns; ++row)
    negative_row |= std::all_of(x.begin() + row * columns, x.begin() + (row + 1) * columns,
                                [](double n) { return n < 0; });
  out.push_back({"a row of " + part.name + " is all negative", negative_row});
}

std::vector<Condition> conditions(const Value& arguments) {
  std::vector<Condition> out;
  for (const Part& part : arguments)
    if (part.kind == Part::Kind::truth) add_content_conditions(out, part);
  const std::vector<Quantity> sizes = quantities(arguments);
  for (const Quantity& q : sizes) add_number_conditions(out, q);
  for (std::size_t a = 0; a < sizes.size(); ++a)
    for (std::size_t b = a + 1; b < sizes.size(); ++b) add_pair_conditions(out, sizes[a], sizes[b]);
  for (const Part& part : arguments)
    if (part.kind != Part::Kind::truth) add_content_conditions(out, part);

  // A flag often decides whether anything else matters.
  const std::size_t alone = out.size();
  for (std::size_t flag = 0; flag < alone; ++flag)
    for (const Part& part : arguments) {
      if (part.kind != Part::Kind::truth || part.name != out[flag].text) continue;
      for (std::size_t other = 0; other < alone; ++other) {
        if (other == flag || !out[flag].holds || !out[other].holds) continue;
        out.push_back({out[flag].text + " && " + out[other].text, *out[flag].holds && *out[other].holds});
        out.push_back(
            {out[flag].text + " && !(" + out[other].text + ")", *out[flag].holds && !*out[other].holds});
      }
    }
  return out;
}

}  // namespace

std::vector<Quantity> quantities(const Value& arguments) {
  constexpr std::size_t most = 14;
  std::vector<Quantity> out;
  for (const Part& part : arguments) {
    if (out.size() >= most || part.name.find('[') != std::string::npos) continue;
    switch (part.kind) {
      case Part::Kind::number:
        out.push_back({part.name, part.numbers[0], part.exact});
        break;
      case Part::Kind::tensor:
        for (std::size_t axis = 0; axis < part.shape.size(); ++axis)
          out.push_back({fmt::format("{}.size({})", part.name, axis), double(part.shape[axis])});
        break;
      case Part::Kind::list:
      case Part::Kind::pairs:
      case Part::Kind::parts:
        out.push_back({part.name + ".size()", double(part.shape[0])});
        break;
      case Part::Kind::text:
        out.push_back({part.name + ".size()", double(part.text.size())});
        break;
      case Part::Kind::shape:
        out.push_back({part.name + ".rank()", double(part.shape[0])});
        break;
      default:
        break;
    }
  }
  return out;
}

std::string input_fact(const std::vector<Judged>& inputs) {
  Index right = 0, wrong = 0;
  for (const Judged& input : inputs) ++(input.right ? right : wrong);
  if (right < 2 || wrong < 2) return "";

  // Conditions are found by their text: an argument's shape may differ from input to input.
  const std::vector<Condition> candidates = conditions(*inputs[0].arguments);
  std::vector<bool> only_wrong(candidates.size(), true), only_right(candidates.size(), true),
      all_wrong(candidates.size(), true);
  std::vector<Index> also_right(candidates.size(), 0);
  for (const Judged& input : inputs) {
    const std::vector<Condition> here = conditions(*input.arguments);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const auto same = [&](const Condition& other) { return other.text == candidates[c].text; };
      const auto found = c < here.size() && same(here[c]) ? here.begin() + std::ptrdiff_t(c)
                                                          : std::find_if(here.begin(), here.end(), same);
      const bool known = found != here.end() && found->holds;
      only_wrong[c] = only_wrong[c] && known && *found->holds != input.right;
      only_right[c] = only_right[c] && known && *found->holds == input.right;
      all_wrong[c] = all_wrong[c] && (input.right || (known && *found->holds));
      also_right[c] += input.right && known && *found->holds;
    }
  }
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (only_right[c]) return fmt::format("It is right only where {}.", candidates[c].text);
    if (only_wrong[c]) return fmt::format("It is wrong exactly where {}.", candidates[c].text);
  }
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (all_wrong[c] && 3 * also_right[c] <= right)
      return fmt::format("It is wrong only where {}, though not always there.", candidates[c].text);
  return "";
}

}  // namespace coach
