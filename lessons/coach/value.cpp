#include "lessons/coach/value.hpp"

#include <algorithm>  // max, min
#include <cmath>      // abs, isnan

namespace coach {
namespace detail {

void add_numbers(Value& out, const std::string& name, Part::Kind kind, bool exact, std::vector<Index> shape,
                 std::vector<double> numbers) {
  out.push_back(
      {.name = name, .kind = kind, .exact = exact, .shape = std::move(shape), .numbers = std::move(numbers)});
}

void add_tensor(Value& out, const std::string& name, const attn::Tensor& tensor) {
  if (!tensor) return add_opaque(out, name, "an empty Tensor");
  add_numbers(out, name, Part::Kind::tensor, false, {tensor.shape().begin(), tensor.shape().end()},
              {tensor.data(), tensor.data() + tensor.numel()});
}

void add_ints(Value& out, const std::string& name, const attn::IntTensor& tensor) {
  if (!tensor) return add_opaque(out, name, "an empty IntTensor");
  add_numbers(out, name, Part::Kind::tensor, true, {tensor.shape().begin(), tensor.shape().end()},
              {tensor.data(), tensor.data() + tensor.numel()});
}

void add_shape(Value& out, const std::string& name, const attn::Shape& shape) {
  add_numbers(out, name, Part::Kind::shape, true, {shape.rank()}, {shape.begin(), shape.end()});
}

void add_text(Value& out, const std::string& name, const std::string& text) {
  out.push_back({.name = name, .kind = Part::Kind::text, .exact = true, .text = text});
}

void add_parts(Value& out, const std::string& name, Index count) {
  out.push_back({.name = name, .kind = Part::Kind::parts, .exact = true, .shape = {count}});
}

void add_opaque(Value& out, const std::string& name, const char* what) {
  out.push_back({.name = name, .kind = Part::Kind::opaque, .exact = true, .text = what});
}

attn::Tensor clone_tensor(const attn::Tensor& tensor) {
  if (!tensor) return {};
  attn::Tensor copy = attn::from_values(tensor.shape(), tensor.values());
  if (tensor.needs_grad()) copy.requires_grad();
  return copy;
}

attn::IntTensor clone_ints(const attn::IntTensor& tensor) {
  return tensor ? tensor.copy() : attn::IntTensor();
}

}  // namespace detail

namespace {

double largest(const Part& part) {
  double most = 0;
  for (const double number : part.numbers)
    if (std::isfinite(number)) most = std::max(most, std::abs(number));
  return most;
}

bool apart(double theirs, double ours, double allowed) {
  if (std::isnan(ours)) return !std::isnan(theirs);
  if (theirs == ours) return false;
  return !(std::abs(theirs - ours) <= allowed) || std::isinf(ours);
}

double allowed_error(const Part& ours, double tolerance) {
  return ours.exact ? 0 : std::max(tolerance * largest(ours), 1e-12);
}

}  // namespace

bool numbers_differ(const Part& theirs, const Part& ours, Index element, double tolerance) {
  return apart(theirs.numbers[element], ours.numbers[element], allowed_error(ours, tolerance));
}

Value pairs_apart(const Value& value) {
  Value out;
  for (const Part& part : value) {
    if (part.kind != Part::Kind::pair) {
      out.push_back(part);
      continue;
    }
    const std::string prefix = part.name.empty() ? "" : part.name + ".";
    for (const int i : {0, 1})
      out.push_back(
          {.name = prefix + (i ? "second" : "first"), .exact = part.exact, .numbers = {part.numbers[i]}});
  }
  return out;
}

std::optional<Difference> compare(const Value& theirs, const Value& ours, double tolerance) {
  using Kind = Difference::Kind;
  const Index common = std::min(std::ssize(theirs), std::ssize(ours));
  for (Index p = 0; p < common; ++p) {
    if (theirs[p].kind != ours[p].kind) return Difference{Kind::structure, p};
    if (theirs[p].shape != ours[p].shape) return Difference{Kind::shape, p};
  }
  if (theirs.size() != ours.size()) return Difference{Kind::structure, common};

  std::optional<Difference> worst;
  double worst_distance = -1;
  for (Index p = 0; p < std::ssize(ours); ++p) {
    if (theirs[p].text != ours[p].text) return Difference{Kind::text, p};
    const double allowed = allowed_error(ours[p], tolerance), scale = std::max(largest(ours[p]), 1e-12);
    Index wrong = 0;
    for (Index i = 0; i < std::ssize(ours[p].numbers); ++i) {
      const double a = theirs[p].numbers[i], b = ours[p].numbers[i];
      if (!apart(a, b, allowed)) continue;
      ++wrong;
      const double gap = std::abs(a - b) / scale, distance = std::isfinite(gap) ? gap : 1e300;
      if (distance <= worst_distance) continue;
      worst_distance = distance;
      worst = {Kind::number, p, i};
    }
    if (worst && worst->part == p) worst->wrong = wrong;
  }
  return worst;
}

}  // namespace coach
