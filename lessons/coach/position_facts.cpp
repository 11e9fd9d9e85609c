// Where in a result the wrong numbers lie: a pattern of places that covers them all, in every wrong answer.
#include <fmt/format.h>

#include <cmath>     // abs, isfinite
#include <optional>  // optional

#include "lessons/coach/facts.hpp"

namespace coach {
namespace {

// i and j are the last two axes (of a list, j alone), b is the first of a larger tensor.
struct Place {
  Index b, i, j, rows, columns;
};
struct Rule {
  const char* text;
  std::size_t rank;  // at least
  bool (*covers)(const Place&);
};
constexpr Rule rules[] = {
    {"Only the first element is wrong", 1, [](const Place& p) { return p.i == 0 && p.j == 0 && p.b == 0; }},
    {"Only the last element is wrong", 1,
     [](const Place& p) { return p.j == p.columns - 1 && p.i == p.rows - 1; }},
    {"Only the first row is wrong", 2, [](const Place& p) { return p.i == 0; }},
    {"Only the last row is wrong", 2, [](const Place& p) { return p.i == p.rows - 1; }},
    {"Only the first column is wrong", 2, [](const Place& p) { return p.j == 0; }},
    {"Only the last column is wrong", 2, [](const Place& p) { return p.j == p.columns - 1; }},
    {"Only the diagonal is wrong", 2, [](const Place& p) { return p.i == p.j; }},
    {"Only elements above the diagonal are wrong", 2, [](const Place& p) { return p.j > p.i; }},
    {"Only elements below the diagonal are wrong", 2, [](const Place& p) { return p.j < p.i; }},
    {"The first row is right, the others are not", 2, [](const Place& p) { return p.i > 0; }},
    {"The last row is right, the others are not", 2, [](const Place& p) { return p.i < p.rows - 1; }},
    {"The first column is right, the others are not", 2, [](const Place& p) { return p.j > 0; }},
    {"The last column is right, the others are not", 2, [](const Place& p) { return p.j < p.columns - 1; }},
    {"The first entry of axis 0 is right, the others are not", 3, [](const Place& p) { return p.b > 0; }},
    {"The first element is right, the others are not", 1,
     [](const Place& p) { return p.b > 0 || p.i > 0 || p.j > 0; }},
    {"Only elements at odd places of a row are wrong", 1, [](const Place& p) { return p.j % 2 == 1; }},
    {"Only elements at even places of a row are wrong", 1, [](const Place& p) { return p.j % 2 == 0; }},
    {"The diagonal is right, everything else is not", 2, [](const Place& p) { return p.i != p.j; }},
    {"Below the diagonal all is right; on it and above, not", 2, [](const Place& p) { return p.j >= p.i; }},
    {"Above the diagonal all is right; on it and below, not", 2, [](const Place& p) { return p.j <= p.i; }},
};

bool same_shapes(const std::vector<WrongPart>& wrong) {
  for (const WrongPart& w : wrong)
    if (!w.theirs->has_numbers() || !w.ours->has_numbers() || w.theirs->shape != w.ours->shape ||
        w.ours->shape.size() != wrong[0].ours->shape.size())
      return false;
  return true;
}

// Whether all wrong numbers lie where the rule says, and some right ones do not.
bool fits(const Rule& rule, const std::vector<WrongPart>& wrong, double tolerance) {
  bool telling = false;
  for (const WrongPart& w : wrong) {
    const std::vector<Index>& shape = w.ours->shape;
    const std::size_t rank = shape.size();
    if (rank < rule.rank) return false;
    const Index columns = shape[rank - 1], rows = rank > 1 ? shape[rank - 2] : 1;
    const Index count = std::ssize(w.ours->numbers), first = rank > 2 ? count / shape[0] : count;
    for (Index e = 0; e < count; ++e) {
      const bool covered = rule.covers({e / first, e / columns % rows, e % columns, rows, columns});
      telling |= !covered;
      if (!covered && numbers_differ(*w.theirs, *w.ours, e, tolerance)) return false;
    }
  }
  return telling;
}

}  // namespace

std::string position_fact(const std::vector<WrongPart>& wrong, double tolerance) {
  if (!same_shapes(wrong)) return "";
  for (const Rule& rule : rules)
    if (fits(rule, wrong, tolerance)) return std::string(rule.text) + ".";
  // Nothing about the place; perhaps about the direction.
  bool larger = true, smaller = true, negative = true, by_same = true;
  std::optional<double> gap;
  for (const WrongPart& w : wrong)
    for (Index e = 0; e < std::ssize(w.ours->numbers); ++e) {
      if (!numbers_differ(*w.theirs, *w.ours, e, tolerance)) continue;
      const double theirs = w.theirs->numbers[e], ours = w.ours->numbers[e];
      larger = larger && theirs > ours;
      smaller = smaller && theirs < ours;
      negative = negative && theirs < 0 && ours >= 0;
      by_same = by_same && (!gap || std::abs(theirs - ours - *gap) <= 1e-9 * std::abs(*gap));
      gap = theirs - ours;
    }
  if (by_same && gap && std::isfinite(*gap))
    return fmt::format("Wherever yours is wrong, it is ours {} {:.5g}.", *gap < 0 ? "−" : "+",
                       std::abs(*gap));
  if (negative) return "Wherever yours is wrong, it is negative, and ours is not: does an integer overflow?";
  if (larger) return "Wherever yours is wrong, it is too large.";
  if (smaller) return "Wherever yours is wrong, it is too small.";
  return "";
}

}  // namespace coach
