// Lists whose length is wrong, and numbers in another shape.
#include "lessons/coach/facts.hpp"

#include <fmt/core.h>

#include <algorithm>  // includes, sort
#include <cstdlib>    // abs

namespace coach {

std::string length_fact(const std::vector<WrongPart>& wrong, double tolerance) {
  bool reshaped = true, shorter_end = true, shorter_start = true, longer_end = true, longer_start = true,
       all_shorter = true, all_longer = true, empty = true, contained = true, contains = true;
  Index more = 0;
  bool constant = true, first = true;
  for (const WrongPart& w : wrong) {
    const std::vector<double>&a = w.theirs->numbers, &b = w.ours->numbers;
    const auto equal = [&](std::ptrdiff_t from_a, std::ptrdiff_t from_b, std::size_t count) {
      Part x = *w.theirs, y = *w.ours;
      x.shape = y.shape = {Index(count)};
      x.numbers.assign(a.begin() + from_a, a.begin() + from_a + std::ptrdiff_t(count));
      y.numbers.assign(b.begin() + from_b, b.begin() + from_b + std::ptrdiff_t(count));
      return !compare({x}, {y}, tolerance);
    };
    const Index d = std::ssize(a) - std::ssize(b);
    empty = empty && a.empty();
    contained = contained && w.ours->exact;
    contains = contains && w.ours->exact;
    if (w.ours->exact) {
      std::vector<double> x = a, y = b;
      std::sort(x.begin(), x.end());
      std::sort(y.begin(), y.end());
      contained = contained && std::includes(y.begin(), y.end(), x.begin(), x.end());
      contains = contains && std::includes(x.begin(), x.end(), y.begin(), y.end());
    }
    all_shorter = all_shorter && d < 0;
    all_longer = all_longer && d > 0;
    constant = constant && (first || more == d);
    more = d;
    first = false;
    reshaped = reshaped && w.theirs->shape != w.ours->shape && d == 0 && equal(0, 0, a.size());
    shorter_end = shorter_end && d < 0 && equal(0, 0, a.size());
    shorter_start = shorter_start && d < 0 && equal(0, -d, a.size());
    longer_end = longer_end && d > 0 && equal(0, 0, b.size());
    longer_start = longer_start && d > 0 && equal(d, 0, b.size());
  }
  const Index count = std::abs(more);
  const std::string missing = !constant    ? "elements"
                              : count == 1 ? "element"
                                           : fmt::format("{} elements", count);
  const std::string extra = !constant    ? "more elements"
                            : count == 1 ? "one more element"
                                         : fmt::format("{} more elements", count);
  if (empty) return "Yours is empty.";
  if (reshaped) return "The numbers are right and in the right order, but not in the right shape.";
  if (shorter_end) return fmt::format("Yours is ours without the last {}.", missing);
  if (shorter_start) return fmt::format("Yours is ours without the first {}.", missing);
  if (longer_end) return fmt::format("Yours is ours with {} at the end.", extra);
  if (longer_start) return fmt::format("Yours is ours with {} at the beginning.", extra);
  if (all_shorter && contained) return "Yours lacks some elements of ours, and has no others.";
  if (all_longer && contains) return "Yours has all elements of ours, and more.";
  if (all_shorter) return "Yours is too short.";
  if (all_longer) return "Yours is too long.";
  return "";
}

}  // namespace coach
