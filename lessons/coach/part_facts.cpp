// How wrong numbers are related to the right ones: by a factor, an order, a sum, an argument. A relation
// counts only if it holds for every wrong part.
#include "lessons/coach/facts.hpp"

#include <fmt/core.h>

#include <algorithm>  // sort, is_permutation
#include <cmath>      // abs, exp, log
#include <numeric>    // accumulate

#include "lessons/coach/show.hpp"

namespace coach {
namespace {

using Parts = std::vector<WrongPart>;

bool same(const Part& theirs, const Part& expected, double tolerance) {
  return theirs.shape == expected.shape && !compare({theirs}, {expected}, tolerance);
}

// Whether every part is what `make` makes of ours (nothing where it cannot).
template <class Make>
bool every(const Parts& wrong, double tolerance, const Make& make) {
  for (const WrongPart& w : wrong) {
    const std::optional<Part> expected = make(w);
    if (!expected || !same(*w.theirs, *expected, tolerance)) return false;
  }
  return true;
}

template <class Function>
Part mapped(Part part, const Function& function) {
  for (double& number : part.numbers) number = function(number);
  return part;
}

const Part* argument(const WrongPart& w, const std::string& name) {
  for (const Part& part : *w.arguments)
    if (part.name == name && part.has_numbers() && part.numbers.size() == w.ours->numbers.size())
      return &part;
  return nullptr;
}

// Ours with each number combined with that of an argument of the same size.
template <class Function>
auto with_argument(const std::string& name, const Function& function) {
  return [=](const WrongPart& w) -> std::optional<Part> {
    const Part* other = argument(w, name);
    if (!other) return std::nullopt;
    Part out = *w.ours;
    for (std::size_t i = 0; i < out.numbers.size(); ++i)
      out.numbers[i] = function(out.numbers[i], other->numbers[i]);
    return out;
  };
}

// Ours walked along one axis: `walk` gets the numbers of each line.
template <class Walk>
Part along(Part part, std::size_t axis, const Walk& walk) {
  const Index size = part.shape[axis];
  Index stride = 1;
  for (std::size_t a = axis + 1; a < part.shape.size(); ++a) stride *= part.shape[a];
  for (Index start = 0; size > 0 && start < std::ssize(part.numbers); ++start) {
    if (start / stride % size != 0) continue;
    std::vector<double> line;
    for (Index i = 0; i < size; ++i) line.push_back(part.numbers[start + i * stride]);
    walk(line);
    for (Index i = 0; i < size; ++i) part.numbers[start + i * stride] = line[i];
  }
  return part;
}

Part exchanged(const Part& part, std::size_t a, std::size_t b) {
  Part out = part;
  std::swap(out.shape[a], out.shape[b]);
  for (Index i = 0; i < std::ssize(out.numbers); ++i) {
    std::vector<Index> index(out.shape.size());
    Index rest = i, from = 0;
    for (std::size_t axis = index.size(); axis-- > 0;) {
      index[axis] = rest % out.shape[axis];
      rest /= out.shape[axis];
    }
    std::swap(index[a], index[b]);
    for (std::size_t axis = 0; axis < index.size(); ++axis) from = from * part.shape[axis] + index[axis];
    out.numbers[i] = part.numbers[from];
  }
  return out;
}

std::string axis_name(std::size_t axis, std::size_t rank) {
  if (rank == 1) return "list";
  if (rank == 2) return axis == 0 ? "column" : "row";
  return fmt::format("line of axis {}", axis);
}

// A number made from another one, and the sentence that says so.
struct Form {
  const char* text;
  double (*value)(double);
};

// One factor or one summand for all, or for each input one that its sizes give.
std::string scale_fact(const Parts& wrong, double tolerance) {
  const auto pivot = [](const Part& part) {
    Index at = 0;
    for (Index i = 0; i < std::ssize(part.numbers); ++i)
      if (std::abs(part.numbers[i]) > std::abs(part.numbers[at])) at = i;
    return at;
  };
  const Index at = pivot(*wrong[0].ours);
  const double factor = wrong[0].theirs->numbers[at] / wrong[0].ours->numbers[at];
  const double offset = wrong[0].theirs->numbers[at] - wrong[0].ours->numbers[at];
  const auto times = [&](double f) {
    return every(wrong, tolerance, [&](const WrongPart& w) -> std::optional<Part> {
      return mapped(*w.ours, [&](double n) { return n * f; });
    });
  };
  if (std::isfinite(factor) && times(factor))
    return factor == -1 ? "Yours has the other sign, everywhere."
                        : fmt::format("Every number of yours is {:.5g} times ours.", factor);
  if (std::isfinite(offset) && every(wrong, tolerance, [&](const WrongPart& w) -> std::optional<Part> {
        return mapped(*w.ours, [&](double n) { return n + offset; });
      }))
    return fmt::format("Every number of yours is ours {} {:.5g}.", offset < 0 ? "−" : "+", std::abs(offset));

  constexpr Form forms[] = {{"ours times {}", [](double q) { return q; }},
                            {"ours divided by {}", [](double q) { return 1 / q; }},
                            {"ours times √{}", [](double q) { return std::sqrt(q); }},
                            {"ours divided by √{}", [](double q) { return 1 / std::sqrt(q); }},
                            {"ours times the square of {}", [](double q) { return q * q; }},
                            {"ours divided by the square of {}", [](double q) { return 1 / (q * q); }}};
  const std::vector<Quantity> names = quantities(*wrong[0].arguments);
  const auto value_of = [](const WrongPart& w, const std::string& name) {
    for (const Quantity& q : quantities(*w.arguments))
      if (q.name == name) return q.value;
    return std::nan("");
  };
  for (const Quantity& q : names)
    for (const Form& form : forms)
      if (every(wrong, tolerance, [&](const WrongPart& w) -> std::optional<Part> {
            const double f = form.value(value_of(w, q.name));
            if (!std::isfinite(f)) return std::nullopt;
            return mapped(*w.ours, [&](double n) { return n * f; });
          }))
        return fmt::format("Every number of yours is {}.", fmt::format(fmt::runtime(form.text), q.name));
  for (const Quantity& p : names)
    for (const Quantity& q : names)
      if (p.name != q.name && every(wrong, tolerance, [&](const WrongPart& w) -> std::optional<Part> {
            const double f = value_of(w, p.name) / value_of(w, q.name);
            if (!std::isfinite(f)) return std::nullopt;
            return mapped(*w.ours, [&](double n) { return n * f; });
          }))
        return fmt::format("Every number of yours is ours times {} / {}.", p.name, q.name);
  return "";
}

// One number turned into another.
constexpr Form functions[] = {
    {"Yours is e to the power of ours", [](double n) { return std::exp(n); }},
    {"Yours is the logarithm of ours", [](double n) { return std::log(n); }},
    {"Yours is the root of ours", [](double n) { return std::sqrt(n); }},
    {"Yours is the square of ours", [](double n) { return n * n; }},
    {"Yours is 1 divided by ours", [](double n) { return 1 / n; }},
    {"Yours is 1 minus ours", [](double n) { return 1 - n; }},
    {"Yours is ours without its sign", [](double n) { return std::abs(n); }},
    {"Yours is ours with 0 for everything negative", [](double n) { return std::max(n, 0.0); }},
    {"Yours is ours with 0 for everything positive", [](double n) { return std::min(n, 0.0); }},
    {"Yours is ours rounded to whole numbers", [](double n) { return std::round(n); }},
    {"Yours is ours rounded down", [](double n) { return std::floor(n); }},
    {"Yours is ours cut to a byte", [](double n) { return double(std::int64_t(n) & 255); }},
};
constexpr Form overflows[] = {
    {"Yours is ours cut to 32 bits: an int is too small for it",
     [](double n) { return double(std::int32_t(std::int64_t(n))); }},
    {"Yours is ours cut to 32 bits: an unsigned int is too small for it",
     [](double n) { return double(std::uint32_t(std::int64_t(n))); }},
};
template <std::size_t size>
std::string form_fact(const Form (&forms)[size], const Parts& wrong, double tolerance) {
  for (const Form& form : forms)
    if (every(wrong, tolerance, [&](const WrongPart& w) -> std::optional<Part> {
          return mapped(*w.ours, [&](double n) { return std::abs(n) < 9e15 ? form.value(n) : n; });
        }))
      return std::string(form.text) + ".";
  return "";
}
std::string function_fact(const Parts& wrong, double tolerance) {
  return form_fact(functions, wrong, tolerance);
}
// Beyond 32 bits one number is evidence enough.
std::string overflow_fact(const Parts& wrong, double tolerance) {
  for (const WrongPart& w : wrong)
    if (!w.ours->exact) return "";
  return form_fact(overflows, wrong, tolerance);
}

// The same numbers elsewhere.
std::string order_fact(const Parts& wrong, double tolerance) {
  const std::size_t rank = wrong[0].ours->shape.size();
  for (const WrongPart& w : wrong)
    if (w.ours->shape.size() != rank || rank == 0) return "";
  for (std::size_t a = 0; a < rank; ++a)
    for (std::size_t b = a + 1; b < rank; ++b) {
      if (every(wrong, tolerance,
                [&](const WrongPart& w) -> std::optional<Part> { return exchanged(*w.ours, a, b); }))
        return rank == 2 ? "Yours is the transpose of ours."
                         : fmt::format("Yours is ours with axes {} and {} exchanged.", a, b);
      if (every(wrong, tolerance, [&](const WrongPart& w) -> std::optional<Part> {
            Part turned = exchanged(*w.ours, a, b);
            turned.shape = w.ours->shape;
            return turned;
          }))
        return fmt::format("Yours has its numbers in the order of axes {} and {} exchanged.", a, b);
    }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::string name = axis_name(axis, rank);
    const auto walked = [&](const auto& walk) {
      return every(wrong, tolerance,
                   [&](const WrongPart& w) -> std::optional<Part> { return along(*w.ours, axis, walk); });
    };
    using Line = std::vector<double>;
    if (walked([](Line& line) { std::reverse(line.begin(), line.end()); }))
      return fmt::format("Each {} of yours is ours in reverse order.", name);
    if (walked([](Line& line) { std::partial_sum(line.begin(), line.end(), line.begin()); }))
      return fmt::format("Each {} of yours is the running sum of ours.", name);
    if (walked([](Line& line) { std::adjacent_difference(line.begin(), line.end(), line.begin()); }))
      return fmt::format("Each {} of yours has the differences of ours.", name);
    if (walked([](Line& line) { std::sort(line.begin(), line.end()); }))
      return fmt::format("Each {} of yours is ours, sorted.", name);
    if (walked([](Line& line) { line.assign(line.size(), line.front()); }))
      return fmt::format("Each {} of yours repeats the first number of ours.", name);
    if (walked([](Line& line) { line.assign(line.size(), line.back()); }))
      return fmt::format("Each {} of yours repeats the last number of ours.", name);
    for (const int step : {1, -1}) {
      bool any = false;
      // All but the end that the shift leaves open.
      const bool shifted = every(wrong, tolerance, [&](const WrongPart& w) -> std::optional<Part> {
        if (w.theirs->shape != w.ours->shape) return std::nullopt;
        any |= w.ours->shape[axis] > 2;
        const Part moved = along(*w.ours, axis, [&](Line& line) {
          std::rotate(line.begin(), step > 0 ? line.end() - 1 : line.begin() + 1, line.end());
        });
        Part inside = moved;
        const Part index = along(*w.ours, axis, [](Line& line) { std::iota(line.begin(), line.end(), 0); });
        for (std::size_t i = 0; i < inside.numbers.size(); ++i)
          if (index.numbers[i] == (step > 0 ? 0 : double(w.ours->shape[axis] - 1)))
            inside.numbers[i] = w.theirs->numbers[i];
        return inside;
      });
      if (shifted && any)
        return fmt::format("Each {} of yours is ours, shifted by one place to the {}.", name,
                           step > 0 ? "end" : "beginning");
    }
  }
  const auto sorted = [](const Part& part) {
    Part out = part;
    std::sort(out.numbers.begin(), out.numbers.end());
    return out;
  };
  bool large = false, permuted = true;
  for (const WrongPart& w : wrong) {
    large |= w.ours->numbers.size() > 3;
    permuted =
        permuted && w.theirs->numbers.size() == w.ours->numbers.size() &&
        !compare({{.numbers = sorted(*w.theirs).numbers}}, {{.numbers = sorted(*w.ours).numbers}}, tolerance);
  }
  return permuted && large ? "Yours has the same numbers as ours, in another order." : "";
}

// Something of an argument in it.
std::string argument_fact(const Parts& wrong, double tolerance) {
  for (const Part& part : *wrong[0].arguments) {
    const auto is = [&](const auto& function) {
      return every(wrong, tolerance, with_argument(part.name, function));
    };
    if (!part.has_numbers() || part.numbers.empty()) continue;
    if (is([](double, double x) { return x; })) return fmt::format("Yours is {}, as it came in.", part.name);
    if (is([](double n, double x) { return n + x; })) return fmt::format("Yours is ours plus {}.", part.name);
    if (is([](double n, double x) { return n - x; }))
      return fmt::format("Yours is ours minus {}.", part.name);
    if (is([](double n, double x) { return x - n; }))
      return fmt::format("Yours is {} minus ours.", part.name);
    if (is([](double n, double x) { return n * x; }))
      return fmt::format("Yours is ours times {}.", part.name);
  }
  return "";
}

// Each line is ours but for a factor or a summand of its own; or the sums of the lines are wrong.
std::string line_fact(const Parts& wrong, double tolerance) {
  const std::size_t rank = wrong[0].ours->shape.size();
  bool large = false;
  for (const WrongPart& w : wrong) {
    if (rank < 1 || w.theirs->shape != w.ours->shape || w.ours->shape.size() != rank) return "";
    large |= w.ours->shape[rank - 1] > 2;
  }
  if (!large) return "";
  // A line of one or two numbers proves nothing: any two fit.
  const auto lined = [&](std::size_t axis, bool factor) {
    Index evidence = 0;
    const bool fits = every(wrong, tolerance, [&](const WrongPart& w) -> std::optional<Part> {
      Part out = *w.ours;
      std::vector<std::vector<double>> theirs;
      along(*w.theirs, axis, [&](std::vector<double>& line) { theirs.push_back(line); });
      std::size_t number = 0;
      return along(out, axis, [&](std::vector<double>& line) {
        const std::vector<double>& other = theirs[number++];
        std::size_t pivot = 0;
        for (std::size_t i = 0; i < line.size(); ++i)
          if (std::abs(line[i]) > std::abs(line[pivot])) pivot = i;
        const double f = other[pivot] / line[pivot], s = other[pivot] - line[pivot];
        evidence += line.size() - std::size_t(std::count(line.begin(), line.end(), 0)) > 2;
        for (double& n : line) n = factor ? n * f : n + s;
      });
    });
    return fits && evidence > 1;
  };
  const std::string row = axis_name(rank - 1, rank);
  if (lined(rank - 1, true)) return fmt::format("Each {} of yours is ours times a number of its own.", row);
  if (lined(rank - 1, false)) return fmt::format("Each {} of yours is ours plus a number of its own.", row);
  if (rank == 2 && lined(0, true)) return "Each column of yours is ours times a number of its own.";
  const auto sums_to_one = [&](bool mine, std::size_t axis) {
    for (const WrongPart& w : wrong) {
      bool one = true;
      along(mine ? *w.theirs : *w.ours, axis, [&](std::vector<double>& line) {
        one = one && std::abs(std::accumulate(line.begin(), line.end(), 0.0) - 1) < 1e-6;
      });
      if (!one) return false;
    }
    return true;
  };
  if (sums_to_one(false, rank - 1) && !sums_to_one(true, rank - 1)) {
    if (rank == 2 && sums_to_one(true, 0)) return "Each column of yours sums to 1, where each row should.";
    return fmt::format("Each {0} of ours sums to 1; not every {0} of yours does.", row);
  }
  return "";
}

}  // namespace

std::string number_fact(const Parts& wrong, double tolerance) {
  bool empty = true, alike = true;
  std::size_t numbers = 0;
  for (const WrongPart& w : wrong) {
    empty = empty && w.theirs->kind == Part::Kind::opaque;
    alike = alike && w.theirs->has_numbers() && w.ours->has_numbers();
    numbers += w.ours->numbers.size();
  }
  if (empty && wrong[0].theirs->text.starts_with("an empty"))
    return fmt::format("Yours is {}: nothing was put into it.", wrong[0].theirs->text);
  if (!alike || numbers == 0) return "";
  if (const std::string fact = overflow_fact(wrong, tolerance); !fact.empty()) return fact;
  if (numbers < 2) return "";
  if (const std::string fact = length_fact(wrong, tolerance); !fact.empty()) return fact;

  Index nan = 0, infinite = 0, zero = 0, constant = 0;
  bool same_size = true;
  for (const WrongPart& w : wrong) {
    const std::vector<double>& t = w.theirs->numbers;
    same_size = same_size && t.size() == w.ours->numbers.size() && !t.empty();
    if (!same_size) break;
    bool has_nan = false, has_infinity = false;
    for (std::size_t i = 0; i < t.size(); ++i) {
      has_nan |= std::isnan(t[i]) && !std::isnan(w.ours->numbers[i]);
      has_infinity |= std::isinf(t[i]) && std::isfinite(w.ours->numbers[i]);
    }
    const bool equal = std::equal(t.begin() + 1, t.end(), t.begin());
    nan += has_nan;
    infinite += has_infinity && !has_nan;
    zero += equal && t[0] == 0;
    constant += equal && t.size() > 1;
  }
  const Index count = std::ssize(wrong);
  if (same_size && nan == count)
    return "Yours has NaN: an element that was never written (empty() is full of them), or 0/0, or ∞ − ∞.";
  if (same_size && infinite + nan == count)
    return "Yours has an infinity where ours has none: exp overflows above 709, and log 0 is −∞.";
  if (same_size && zero == count)
    return wrong[0].ours->numbers.size() > 1 ? "Yours is all zeros." : "Yours is always 0.";
  for (const auto fact : {argument_fact, order_fact})
    if (const std::string said = fact(wrong, tolerance); !said.empty()) return said;
  if (!same_size || numbers < 3) return "";
  if (constant == count) return "All numbers of yours are the same.";
  for (const auto fact : {scale_fact, function_fact, line_fact})
    if (const std::string said = fact(wrong, tolerance); !said.empty()) return said;
  return "";
}

}  // namespace coach
