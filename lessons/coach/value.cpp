#include "lessons/coach/value.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // max
#include <cmath>      // abs, isnan
#include <cstring>    // memcpy

#include "core/error.hpp"

namespace coach {
namespace detail {

void add_numbers(Value& out, const std::string& name, bool exact, std::vector<Index> shape,
                 std::vector<double> numbers) {
  out.push_back({.name = name, .exact = exact, .shape = std::move(shape), .numbers = std::move(numbers)});
}

void add_tensor(Value& out, const std::string& name, const attn::Tensor& tensor) {
  if (!tensor) return add_opaque(out, name, "an empty Tensor");
  add_numbers(out, name, false, {tensor.shape().begin(), tensor.shape().end()},
              {tensor.data(), tensor.data() + tensor.numel()});
}

void add_ints(Value& out, const std::string& name, const attn::IntTensor& tensor) {
  add_numbers(out, name, true, {tensor.shape().begin(), tensor.shape().end()},
              {tensor.data(), tensor.data() + tensor.numel()});
}

void add_shape(Value& out, const std::string& name, const attn::Shape& shape) {
  out.push_back({.name = name,
                 .kind = Part::Kind::Shape,
                 .exact = true,
                 .shape = {shape.rank()},
                 .numbers = {shape.begin(), shape.end()}});
}

void add_text(Value& out, const std::string& name, const std::string& text) {
  out.push_back({.name = name, .kind = Part::Kind::Text, .exact = true, .text = text});
}

void add_list(Value& out, const std::string& name, Index size) {
  out.push_back({.name = name, .kind = Part::Kind::List, .exact = true, .shape = {size}});
}

void add_opaque(Value& out, const std::string& name, const char* what) {
  out.push_back({.name = name, .kind = Part::Kind::Opaque, .exact = true, .text = what});
}

attn::Tensor clone_tensor(const attn::Tensor& tensor) {
  if (!tensor) return {};
  attn::Tensor copy = attn::from_values(tensor.shape(), tensor.values());
  if (tensor.needs_grad()) copy.requires_grad();
  return copy;
}

attn::IntTensor clone_ints(const attn::IntTensor& tensor) {
  return tensor.data() ? attn::IntTensor(tensor.shape(), tensor.values()) : attn::IntTensor();
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

bool numbers_differ(const Part& theirs, const Part& ours, std::size_t element, double tolerance) {
  return apart(theirs.numbers[element], ours.numbers[element], allowed_error(ours, tolerance));
}

std::optional<Difference> compare(const Value& theirs, const Value& ours, double tolerance) {
  using Kind = Difference::Kind;
  for (std::size_t p = 0; p < std::min(theirs.size(), ours.size()); ++p) {
    if (theirs[p].kind != ours[p].kind) return Difference{Kind::Structure, p};
    if (theirs[p].shape != ours[p].shape) return Difference{Kind::Shape, p};
  }
  if (theirs.size() != ours.size()) return Difference{Kind::Structure, std::min(theirs.size(), ours.size())};

  std::optional<Difference> worst;
  double worst_distance = -1;
  for (std::size_t p = 0; p < ours.size(); ++p) {
    if (theirs[p].text != ours[p].text) return Difference{Kind::Text, p};
    const double allowed = allowed_error(ours[p], tolerance), scale = std::max(largest(ours[p]), 1e-12);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < ours[p].numbers.size(); ++i) {
      const double a = theirs[p].numbers[i], b = ours[p].numbers[i];
      if (!apart(a, b, allowed)) continue;
      ++wrong;
      const double gap = std::abs(a - b) / scale, distance = std::isfinite(gap) ? gap : 1e300;
      if (distance <= worst_distance) continue;
      worst_distance = distance;
      worst = {Kind::Number, p, i};
    }
    if (worst && worst->part == p) worst->wrong = wrong;
  }
  return worst;
}

std::string shape_text(const Part& part) {
  switch (part.kind) {
    case Part::Kind::Text:
      return "text";
    case Part::Kind::Opaque:
      return part.text;
    case Part::Kind::List:
      return fmt::format("a list of {}", part.shape[0]);
    case Part::Kind::Shape:
      return fmt::format("a shape of rank {}", part.shape[0]);
    case Part::Kind::Number:
      break;
  }
  if (part.shape.empty()) return "a number";
  std::string text = "(";
  for (const Index size : part.shape) text += fmt::format("{}{}", text.size() > 1 ? "," : "", size);
  return text + ")";
}

std::string index_text(const Part& part, std::size_t element) {
  std::string text;
  Index rest = static_cast<Index>(element);
  for (std::size_t axis = part.shape.size(); axis-- > 0;) {
    text = fmt::format("{}{}{}", rest % part.shape[axis], text.empty() ? "" : ",", text);
    rest /= part.shape[axis];
  }
  return "(" + text + ")";
}

std::string number_text(double number, bool exact) {
  if (std::isnan(number)) return "NaN";
  return exact ? fmt::format("{}", number) : fmt::format("{:.5g}", number);
}

namespace {
// An answer may hold any bytes; a zero would end the message, and others could disturb the terminal.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7F || byte >= 0xF8 ? fmt::format("\\x{:02X}", byte) : std::string(1, c);
  }
  return "\"" + out + "\"";
}
}  // namespace

std::string show(const Part& part, int indent) {
  constexpr std::size_t most_rows = 12, most_columns = 12;
  if (part.kind == Part::Kind::Text) return quoted(part.text);
  if (part.kind == Part::Kind::List && part.shape[0] == 0) return "an empty list";
  if (part.kind == Part::Kind::Opaque || part.kind == Part::Kind::List) return shape_text(part);
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const double number : part.numbers) {
    texts.push_back(number_text(number, part.exact));
    width = std::max(width, texts.back().size());
  }
  if (part.kind == Part::Kind::Shape) return fmt::format("({})", fmt::join(texts, ","));
  if (part.shape.empty()) return texts.at(0);
  if (part.shape.size() == 1 && texts.empty()) return "[]";
  const std::size_t columns = static_cast<std::size_t>(part.shape.back());
  const std::size_t rows = columns ? texts.size() / columns : 0;
  if (rows == 0) return shape_text(part) + ", empty";
  std::string out;
  if (part.shape.size() == 1) width = 0;
  for (std::size_t row = 0; row < std::min(rows, most_rows); ++row) {
    if (row) out += fmt::format("\n{:{}}", "", indent);
    out += part.shape.size() == 1 ? "[" : row == 0 ? "[[" : " [";
    for (std::size_t column = 0; column < std::min(columns, most_columns); ++column)
      out += fmt::format("{}{:>{}}", column ? "  " : "", texts[row * columns + column], width);
    if (columns > most_columns) out += "  …";
    out += "]";
  }
  if (rows > most_rows) return out + fmt::format("\n{:{}} …", "", indent);
  return out + (part.shape.size() == 1 ? "" : "]");
}

namespace {

template <class Number>
void put(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put(std::string& out, const std::string& text) {
  put(out, text.size());
  out += text;
}
template <class Number>
Number take(const char*& in, const char* end) {
  Number number;
  if (end - in < static_cast<std::ptrdiff_t>(sizeof number)) attn::fail("coach: an answer was cut short");
  std::memcpy(&number, in, sizeof number);
  in += sizeof number;
  return number;
}
std::string take_text(const char*& in, const char* end) {
  const auto size = take<std::size_t>(in, end);
  if (static_cast<std::size_t>(end - in) < size) attn::fail("coach: an answer was cut short");
  return std::string(std::exchange(in, in + size), size);
}

}  // namespace

void serialize(std::string& out, const Value& value) {
  put(out, value.size());
  for (const Part& part : value) {
    put(out, part.name);
    put(out, part.kind);
    put(out, part.exact);
    put(out, part.text);
    put(out, part.shape.size());
    for (const Index size : part.shape) put(out, size);
    put(out, part.numbers.size());
    for (const double number : part.numbers) put(out, number);
  }
}

Value deserialize(const char*& in, const char* end) {
  Value value(take<std::size_t>(in, end));
  for (Part& part : value) {
    part.name = take_text(in, end);
    part.kind = take<Part::Kind>(in, end);
    part.exact = take<bool>(in, end);
    part.text = take_text(in, end);
    part.shape.resize(take<std::size_t>(in, end));
    for (Index& size : part.shape) size = take<Index>(in, end);
    part.numbers.resize(take<std::size_t>(in, end));
    for (double& number : part.numbers) number = take<double>(in, end);
  }
  return value;
}

}  // namespace coach
