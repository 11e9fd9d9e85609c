// Where in a result the wrong numbers lie: a pattern of places that covers them all, in every wrong answer.
#include "lessons/coach/facts.hpp"

#include <fmt/core.h>

#include <cmath>     // abs, isfinite
#include <optional>  // optional

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
  bool remainder = false;  // it covers everything but a small part, which is right
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
    {"The first row is right", 2, [](const Place& p) { return p.i > 0; }, true},
    {"The last row is right", 2, [](const Place& p) { return p.i < p.rows - 1; }, true},
    {"The first column is right", 2, [](const Place& p) { return p.j > 0; }, true},
    {"The last column is right", 2, [](const Place& p) { return p.j < p.columns - 1; }, true},
    {"The first entry of axis 0 is right", 3, [](const Place& p) { return p.b > 0; }, true},
    {"The first element is right", 1, [](const Place& p) { return p.b > 0 || p.i > 0 || p.j > 0; }, true},
    {"Only elements at odd places of a row are wrong", 1, [](const Place& p) { return p.j % 2 == 1; }},
    {"Only elements at even places of a row are wrong", 1, [](const Place& p) { return p.j % 2 == 0; }},
    {"The diagonal is right", 2, [](const Place& p) { return p.i != p.j; }, true},
    {"Below the diagonal all is right", 2, [](const Place& p) { return p.j >= p.i; }, true},
    {"Above the diagonal all is right", 2, [](const Place& p) { return p.j <= p.i; }, true},
};

bool same_shapes(const std::vector<WrongPart>& wrong) {
  for (const WrongPart& w : wrong)
    if (!w.theirs->has_numbers() || !w.ours->has_numbers() || w.theirs->shape != w.ours->shape ||
        w.ours->shape.size() != wrong[0].ours->shape.size())
      return false;
  return true;
}

// How many numbers lie where the rule says, and how many of those are wrong.
struct Covered {
  Index all = 0, wrong = 0;
};
// Nothing if a wrong number lies elsewhere, or if there is no elsewhere.
std::optional<Covered> covered_by(const Rule& rule, const std::vector<WrongPart>& wrong, double tolerance) {
  Covered count;
  bool telling = false;
  for (const WrongPart& w : wrong) {
    const std::vector<Index>& shape = w.ours->shape;
    const std::size_t rank = shape.size();
    if (rank < rule.rank) return std::nullopt;
    const Index columns = shape[rank - 1], rows = rank > 1 ? shape[rank - 2] : 1;
    const Index numbers = std::ssize(w.ours->numbers), first = rank > 2 ? numbers / shape[0] : numbers;
    for (Index e = 0; e < numbers; ++e) {
      const bool covered = rule.covers({e / first, e / columns % rows, e % columns, rows, columns});
      const bool differs = numbers_differ(*w.theirs, *w.ours, e, tolerance);
      if (!covered && differs) return std::nullopt;
      telling |= !covered;
      count.all += covered;
      count.wrong += differs;
    }
  }
  return telling ? std::optional(count) : std::nullopt;
}

}  // namespace

std::string position_fact(const std::vector<WrongPart>& wrong, double tolerance) {
  if (!same_shapes(wrong)) return "";
  for (const Rule& rule : rules) {
    const std::optional<Covered> covered = covered_by(rule, wrong, tolerance);
    if (!covered) continue;
    if (!rule.remainder) return std::string(rule.text) + ".";
    if (covered->wrong == covered->all) return std::string(rule.text) + ", everything else is wrong.";
    if (2 * covered->wrong > covered->all) return std::string(rule.text) + ", most of the rest is wrong.";
  }
  // Nothing about the place: perhaps all of them are off by the same.
  std::optional<double> gap;
  Index count = 0;
  for (const WrongPart& w : wrong)
    for (Index e = 0; e < std::ssize(w.ours->numbers); ++e) {
      if (!numbers_differ(*w.theirs, *w.ours, e, tolerance)) continue;
      const double here = w.theirs->numbers[e] - w.ours->numbers[e];
      if (!std::isfinite(here) || (gap && std::abs(here - *gap) > 1e-9 * std::abs(*gap))) return "";
      gap = here;
      ++count;
    }
  if (count < 3) return "";
  return fmt::format("Wherever yours is wrong, it is ours {} {:.5g}.", *gap < 0 ? "−" : "+", std::abs(*gap));
}

std::string direction_fact(const std::vector<WrongPart>& wrong, double tolerance) {
  if (!same_shapes(wrong)) return "";
  bool larger = true, smaller = true, negative = true;
  for (const WrongPart& w : wrong)
    for (Index e = 0; e < std::ssize(w.ours->numbers); ++e) {
      if (!numbers_differ(*w.theirs, *w.ours, e, tolerance)) continue;
      const double theirs = w.theirs->numbers[e], ours = w.ours->numbers[e];
      larger = larger && theirs > ours;
      smaller = smaller && theirs < ours;
      negative = negative && theirs < 0 && ours >= 0;
    }
  if (negative) return "Wherever yours is wrong, it is negative, and ours is not: does an integer overflow?";
  if (larger) return "Wherever yours is wrong, it is too large.";
  if (smaller) return "Wherever yours is wrong, it is too small.";
  return "";
}

}  // namespace coach
