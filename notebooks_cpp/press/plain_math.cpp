#include "notebooks_cpp/press/plain_math.hpp"

#include <map>  // map

#include "core/error.hpp"
#include "core/text.hpp"  // character_at
#include "lessons/support/html.hpp"
#include "notebooks_cpp/press/lines.hpp"  // is_digit, is_letter
#include "notebooks_cpp/press/math.hpp"
#include "notebooks_cpp/press/math_symbols.hpp"

namespace attn::press {
namespace {

using Names = std::map<std::string_view, std::string_view>;

const Names raised = {{"ᵀ", "\\top"}, {"⁰", "0"}, {"¹", "1"}, {"²", "2"}, {"³", "3"}, {"⁴", "4"}, {"⁵", "5"},
                      {"⁶", "6"},     {"⁷", "7"}, {"⁸", "8"}, {"⁹", "9"}, {"⁻", "-"}, {"⁺", "+"}, {"ⁿ", "n"},
                      {"ⁱ", "i"},     {"ᵗ", "t"}, {"ᵖ", "p"}, {"ᵏ", "k"}, {"ᵈ", "d"}, {"ˣ", "x"}};
const Names lowered = {{"₀", "0"}, {"₁", "1"}, {"₂", "2"}, {"₃", "3"}, {"₄", "4"}, {"₅", "5"}, {"ᵢ", "i"},
                       {"ⱼ", "j"}, {"ₖ", "k"}, {"ₘ", "m"}, {"ₙ", "n"}, {"ₜ", "t"}, {"ₓ", "x"}};

// "⋅" to "cdot", from the names that the equations know.
std::string_view name_of(std::string_view symbol) {
  static const Names names = [] {
    Names all = {{"·", "cdot"}, {"Σ", "sum"}, {"Π", "prod"}};
    for (const auto& [name, entry] : symbols)
      if (!is_letter(entry.text[0]) && is_letter(name[0])) all.emplace(entry.text, name);
    return all;
  }();
  const auto found = names.find(symbol);
  return found == names.end() ? std::string_view() : found->second;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string all() {
    std::string latex;
    while (at_ < text_.size()) latex += next();
    return latex;
  }

 private:
  std::string_view here() const { return at_ < text_.size() ? character_at(text_, at_).bytes : ""; }

  // Letters and digits from here on.
  std::string_view word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return text_.substr(start, at_ - start);
  }

  static std::string upright(std::string_view word) {
    return word.size() > 1 && is_letter(word[0]) ? "\\operatorname{" + std::string(word) + "}"
                                                 : std::string(word);
  }

  // All characters in a row that the table knows, as one index or exponent.
  std::string script(const char* mark, const Names& table) {
    std::string inside;
    for (auto found = table.find(here()); found != table.end(); found = table.find(here())) {
      at_ += found->first.size();
      inside += found->second;
    }
    return fmt::format("{}{{{}}}", mark, inside);
  }

  // What a root or an index holds: a pair of brackets, or one word with its index.
  std::string group() {
    if (++depth_ > 100) fail("an equation is nested more than 100 deep");
    std::string inside;
    if (here() == "(") {
      for (++at_; at_ < text_.size() && here() != ")";) inside += next();
      if (at_ < text_.size()) ++at_;
    } else if (at_ < text_.size()) {
      inside = next();
    }
    --depth_;
    return inside;
  }

  std::string next() {
    const std::string_view symbol = here();
    if (raised.contains(symbol)) return script("^", raised);
    if (lowered.contains(symbol)) return script("_", lowered);
    if (is_letter(symbol[0]) || is_digit(symbol[0])) {
      std::string latex = upright(word());
      if (here() == "_" || here() == "^") latex += next();
      return latex;
    }
    at_ += symbol.size();
    if (symbol == "√") return "\\sqrt{" + group() + "}";
    if (symbol == "_" || symbol == "^") return std::string(symbol) + "{" + group() + "}";
    if (symbol == "{" || symbol == "}" || symbol == "%" || symbol == "#" || symbol == "&" || symbol == "$")
      return "\\" + std::string(symbol);
    if (symbol == " ") return " ";
    if (symbol == "−") return "-";
    const std::string_view name = name_of(symbol);
    return name.empty() ? std::string(symbol) : fmt::format("\\{} ", name);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string latex_of(std::string_view plain) { return Reader(plain).all(); }

std::string plain_equation(const std::string& plain) {
  try {
    return "<div class=\"equation\">" + mathml(latex_of(plain), true) + "</div>";
  } catch (const Error&) {
    return "<div class=\"equation\"><code>" + escape_html(plain) + "</code></div>";
  }
}

}  // namespace attn::press
