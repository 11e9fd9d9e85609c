#include "lessons/coach/show.hpp"

#include <fmt/format.h>  // format

#include <algorithm>  // max, min
#include <cmath>      // exp, isnan
#include <limits>     // numeric_limits

namespace coach {

using PartKind = Part::Kind;

namespace {

constexpr Index most_matrices = 6, most_rows = 12, most_columns = 12, most_entries = 24, most_inline = 16,
                most_numbers = 1000;

// An answer may hold any bytes; a zero would end the message, and others could disturb the terminal.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7F || byte >= 0xF8 ? fmt::format("\\x{:02X}", byte) : std::string(1, c);
  }
  return "\"" + out + "\"";
}

std::vector<std::string> texts_of(const Part& part) {
  std::vector<std::string> texts;
  double largest = 0;
  for (const double number : part.numbers)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  for (const double number : part.numbers) {
    const bool noise = !part.exact && std::abs(number) < 1e-13 * largest;  // what rounding leaves of a 0
    texts.push_back(number_text(noise ? 0 : number, part.exact));
  }
  return texts;
}

// "[1 2 3 …]" or, of pairs, "[(0, 3) (3, 5)]".
std::string entries(const Part& part, Index most) {
  const std::vector<std::string> texts = texts_of(part);
  std::vector<std::string> items;
  for (Index i = 0; i < std::ssize(texts); ++i)
    if (part.kind != PartKind::pairs)
      items.push_back(texts[i]);
    else if (i % 2)
      items.push_back("(" + texts[i - 1] + ", " + texts[i] + ")");
  const bool cut = std::ssize(items) > most;
  if (cut) items.resize(std::size_t(most));
  return fmt::format("[{}{}]", fmt::join(items, " "), cut ? " …" : "");
}

// Rows `first` to `first + rows` of the tensor's rows, as one matrix.
std::string matrix(const std::vector<std::string>& texts, Index first, Index rows, Index columns,
                   int indent) {
  Index width = 0;
  for (const std::string& text : texts) width = std::max(width, std::ssize(text));
  std::string out;
  for (Index row = 0; row < std::min(rows, most_rows); ++row) {
    if (row) out += fmt::format("\n{:{}}", "", indent);
    out += row == 0 ? "[[" : " [";
    for (Index column = 0; column < std::min(columns, most_columns); ++column)
      out += fmt::format("{}{:>{}}", column ? "  " : "", texts[(first + row) * columns + column], width);
    out += columns > most_columns ? "  …]" : "]";
  }
  return rows > most_rows ? out + fmt::format("\n{:{}} …", "", indent) : out + "]";
}

std::string show_tensor(const Part& part, int indent) {
  const std::vector<std::string> texts = texts_of(part);
  if (part.shape.empty()) return texts[0];
  if (std::ssize(texts) > most_numbers) return "…";
  if (texts.empty()) return part.shape.size() == 1 ? "[]" : "empty";
  if (part.shape.size() == 1) return entries(part, most_entries);
  const Index columns = part.shape.back(), rows = part.shape[part.shape.size() - 2];
  const Index matrices = std::ssize(texts) / (rows * columns);
  if (part.shape.size() == 2) return matrix(texts, 0, rows, columns, indent);
  Part outer = part;
  outer.shape.resize(part.shape.size() - 2);
  std::string out;
  for (Index m = 0; m < std::min(matrices, most_matrices); ++m) {
    std::string place = index_text(outer, m);
    place = "[" + place.substr(1, place.size() - 2) + "] ";
    out += fmt::format("{}{}{}", m ? fmt::format("\n{:{}}", "", indent) : "", place,
                       matrix(texts, m * rows, rows, columns, indent + int(place.size())));
  }
  return matrices > most_matrices ? out + fmt::format("\n{:{}}…", "", indent) : out;
}

// "[[1 2] [3 4]]": from `at` on, the axes from `axis` on.
std::string nested(const Part& part, const std::vector<std::string>& texts, std::size_t axis, Index& at) {
  if (axis == part.shape.size()) return texts[at++];
  std::vector<std::string> items;
  for (Index i = 0; i < part.shape[axis]; ++i) items.push_back(nested(part, texts, axis + 1, at));
  return fmt::format("[{}]", fmt::join(items, " "));
}

// A list of texts on one line: words[0] and words[1] become words = ["to" "be"].
Value texts_together(const Value& value) {
  Value out;
  std::string list;  // the one that the last part belongs to
  for (const Part& part : value) {
    const bool element = part.kind == PartKind::text && part.name.ends_with(']');
    const std::string owner = element ? part.name.substr(0, part.name.rfind('[')) : "";
    if (!element)
      out.push_back(part);
    else if (owner == list)
      out.back().text.insert(out.back().text.size() - 1, " " + quoted(part.text));
    else
      out.push_back({.name = owner, .kind = PartKind::opaque, .text = "[" + quoted(part.text) + "]"});
    list = owner;
  }
  return out;
}

std::string labelled(const std::string& label, const Part& part) {
  const bool sized = part.kind == PartKind::tensor && (part.shape.size() > 1 || part.numbers.empty());
  const std::string head = fmt::format("{:{}}{} {}= ", "", margin, label, sized ? size_text(part) + " " : "");
  return head + show(part, int(head.size())) + "\n";
}

}  // namespace

std::string number_text(double number, bool exact) {
  if (std::isnan(number)) return "NaN";
  if (number == 0) return "0";
  return exact ? fmt::format("{}", number) : fmt::format("{:.5g}", number);
}

std::string size_text(const Part& part) {
  switch (part.kind) {
    case PartKind::number:
    case PartKind::truth:
      return "a number";
    case PartKind::list:
    case PartKind::pairs:
    case PartKind::parts:
      return fmt::format("length {}", part.shape[0]);
    case PartKind::pair:
      return "a pair";
    case PartKind::shape:
      return fmt::format("rank {}", part.shape[0]);
    case PartKind::text:
      return "text";
    case PartKind::opaque:
      return part.text;
    case PartKind::tensor:
      break;
  }
  return part.shape.empty() ? "a scalar" : fmt::format("({})", fmt::join(part.shape, ","));
}

std::string index_text(const Part& part, Index element) {
  std::string text;
  for (std::size_t axis = part.shape.size(); axis-- > 0;) {
    text = fmt::format("{}{}{}", element % part.shape[axis], text.empty() ? "" : ",", text);
    element /= part.shape[axis];
  }
  return "(" + text + ")";
}

std::string show(const Part& part, int indent) {
  switch (part.kind) {
    case PartKind::number:
      return number_text(part.numbers[0], part.exact);
    case PartKind::truth:
      return part.numbers[0] != 0 ? "true" : "false";
    case PartKind::list:
    case PartKind::pairs:
      return entries(part, most_entries);
    case PartKind::pair:
      return fmt::format("({})", fmt::join(texts_of(part), ", "));
    case PartKind::shape:
      return fmt::format("({})", fmt::join(texts_of(part), ","));
    case PartKind::text:
      return quoted(part.text);
    case PartKind::parts:
      return part.shape[0] == 0 ? "[]" : fmt::format("a list of {}", part.shape[0]);
    case PartKind::opaque:
      return part.text;
    case PartKind::tensor:
      break;
  }
  return show_tensor(part, indent);
}

std::string show_inline(const Value& value) {
  std::vector<std::string> texts;
  for (const Part& part : value) {
    if (part.kind == PartKind::tensor && std::ssize(part.numbers) <= most_inline && !part.numbers.empty()) {
      Index at = 0;
      texts.push_back(nested(part, texts_of(part), 0, at));
    } else if (part.kind == PartKind::tensor) {
      texts.push_back("a tensor " + size_text(part));
    } else {
      texts.push_back(show(part, 0));
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string listing(const std::string& label, const Value& value) {
  std::string out, open;  // the struct whose line is not ended yet
  for (const Part& part : texts_together(value)) {
    const std::size_t dot = part.name.rfind('.');
    const bool small = dot != std::string::npos && part.numbers.size() < 10 && part.shape.size() < 2;
    const std::string owner = small ? part.name.substr(0, dot) : "";
    if (!open.empty() && open != owner) out += "\n";
    if (small) out += open == owner ? ", " : fmt::format("{:{}}{}{}: ", "", margin, label, owner);
    if (small)
      out += part.name.substr(dot + 1) + " = " + show(part, 0);
    else if (part.kind != PartKind::parts || part.shape[0] == 0)
      out += labelled(label + part.name, part);
    open = owner;
  }
  if (value.empty()) return fmt::format("{:{}}{}= nothing\n", "", margin, label);
  return open.empty() ? out : out + "\n";
}

namespace {

std::string highest(const Value& answered, double (*shown)(double), double least) {
  constexpr std::size_t most = 4;
  if (answered.size() != 1 || answered[0].shape.empty()) return show_inline(answered);
  const Part& part = answered[0];
  const Index columns = part.shape.back(), first = std::max<Index>(0, std::ssize(part.numbers) - columns);
  std::vector<Index> tokens;
  for (Index v = 0; v < columns; ++v)
    if (part.numbers[first + v] >= least) tokens.push_back(v);
  const auto score = [&](Index v) { return part.numbers[first + v]; };
  std::sort(tokens.begin(), tokens.end(), [&](Index a, Index b) { return score(a) > score(b); });
  const bool cut = tokens.size() > most;
  if (cut) tokens.resize(most);
  std::sort(tokens.begin(), tokens.end());
  std::vector<std::string> texts;
  for (const Index v : tokens) texts.push_back(fmt::format("{}: {:.3g}", v, shown(score(v))));
  if (cut) texts.push_back("…");
  return fmt::format("{}[{}]", part.shape.size() > 1 ? "…, " : "", fmt::join(texts, ", "));
}

}  // namespace

std::string highest_scores(const Value& answered) {
  return highest(
      answered, [](double n) { return n; }, -std::numeric_limits<double>::infinity());
}
std::string likeliest(const Value& answered) {
  return highest(
      answered, [](double n) { return std::exp(n); }, std::log(1e-6));
}

Index length_of(const Value& value) {
  Index length = 0;
  for (const Part& part : value) {
    length += 1 + std::ssize(part.text);
    for (const double number : part.numbers) length += 1 + std::ssize(number_text(number, part.exact));
  }
  return length;
}

}  // namespace coach
