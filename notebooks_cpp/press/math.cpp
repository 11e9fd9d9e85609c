#include "notebooks_cpp/press/math.hpp"

#include <fmt/core.h>  // format

#include <string>   // string
#include <utility>  // exchange, pair

#include "core/error.hpp"
#include "core/text.hpp"                         // to_utf8
#include "notebooks_cpp/press/html.hpp"          // escape_html
#include "notebooks_cpp/press/math_reader.hpp"   // LatexReader
#include "notebooks_cpp/press/math_symbols.hpp"  // signs, lines, spaces, symbols

namespace attn::press {
namespace {

// The alphabets for mathematics. Unicode has their letters in a row, but for some that it had before.
struct Alphabet {
  std::string_view name;
  char32_t capitals, small, digits;  // the first of each; 0 if there are none
  std::string_view older;
  std::u32string_view older_letters;
};
constexpr Alphabet alphabets[] = {{"mathbf", 0x1D400, 0x1D41A, 0x1D7CE, "", U""},
                                  {"boldsymbol", 0x1D400, 0x1D41A, 0, "", U""},
                                  {"mathbb", 0x1D538, 0, 0, "CHNPQRZ", U"ℂℍℕℙℚℝℤ"},
                                  {"mathcal", 0x1D49C, 0, 0, "BEFHILMR", U"ℬℰℱℋℐℒℳℛ"}};

std::string letter_in(const Alphabet& alphabet, char c) {
  const char first = is_digit(c) ? '0' : c >= 'a' ? 'a' : 'A';
  const char32_t begin = first == '0' ? alphabet.digits : first == 'a' ? alphabet.small : alphabet.capitals;
  if (begin == 0) fail("math: \\{}{{{}}}: there is no such letter; it takes capitals", alphabet.name, c);
  const std::size_t older = alphabet.older.find(c);
  return to_utf8(older < alphabet.older.size() ? alphabet.older_letters[older] : begin + char32_t(c - first));
}

struct Atom {
  std::string mathml;
  Role kind = Role::ordinary;
  bool limits = false;
  double height = 1;  // about, in lines of text
};

Atom box(std::string mathml, double height) { return {std::move(mathml), Role::ordinary, false, height}; }

std::string row(const std::string& content) { return "<mrow>" + content + "</mrow>"; }

// Browsers stretch brackets and roots only if they have a font for mathematics, and many have none. So we
// stretch them ourselves, by the height that we guess, which looks the same everywhere.
std::string stretched(std::string_view sign, double height, std::string_view form) {
  if (sign.empty()) return "";
  const std::string style = height > 1.3 ? fmt::format(" style=\"transform:scaleY({:.2f})\"", height) : "";
  return fmt::format("<mo stretchy=\"false\" form=\"{}\"{}>{}</mo>", form, style, sign);
}

class Parser : LatexReader {
 public:
  Parser(std::string_view latex, bool display) : LatexReader(latex), display_(display) {}

  std::string whole() {
    const Atom content = sequence();
    if (at_ < latex_.size()) wrong(fmt::format("{} has no beginning", next_word()));
    return content.mathml;
  }

 private:
  // Atoms one after another, as one row, with TeX's thin space beside the names of functions. `in_brackets`:
  // a ] ends it.
  Atom sequence(bool in_brackets = false) {
    const Level level(*this);
    const bool outside = std::exchange(in_brackets_, in_brackets);
    Atom whole;
    Role previous = Role::none;
    while (!at_end_of_sequence()) {
      previous_ = previous;
      const Atom atom = with_scripts();
      const bool before =
          atom.kind == Role::function && (previous == Role::ordinary || previous == Role::close);
      const bool after =
          previous == Role::function && (atom.kind == Role::ordinary || atom.kind == Role::function);
      if (before || after) whole.mathml += "<mspace width=\"0.167em\"></mspace>";
      whole.mathml += atom.mathml;
      whole.height = std::max(whole.height, atom.height);
      if (atom.kind != Role::none) previous = atom.kind;
    }
    in_brackets_ = outside;
    whole.mathml = row(whole.mathml);
    return whole;
  }

  Atom group() {  // what stands in braces, or one atom
    if (!take('{')) {
      if (at_end_of_sequence()) wrong("something is missing");
      if (is_digit(peek())) return {fmt::format("<mn>{}</mn>", take_word())};  // of x^12 only the 1
      previous_ = Role::none;
      return atom();
    }
    const Atom content = sequence();
    if (!take('}')) wrong("a { that is never closed");
    return content;
  }

  Atom with_scripts() {
    Atom base = peek() == '_' || peek() == '^' ? Atom{"<mrow></mrow>"} : atom();
    const bool stacked = base.limits && display_;
    std::string below, above;
    const auto script = [&] {
      const Atom content = group();
      base.height += stacked ? 0.7 * content.height : 0.2;
      return content.mathml;
    };
    for (;;) {
      if (take('_')) {
        if (!below.empty()) wrong("two subscripts; put {} around one of them");
        below = script();
      } else if (take('^')) {
        if (!above.empty()) wrong("two superscripts; put {} around one of them");
        above = script();
      } else if (peek() == '\'') {
        if (!above.empty()) wrong("a prime after a superscript; put {} around what it belongs to");
        std::string primes;
        while (take('\'')) primes += "′";
        above = row(fmt::format("<mo>{}</mo>{}", primes, take('^') ? script() : ""));
      } else {
        break;
      }
    }
    if (below.empty() && above.empty()) return base;
    const char* tag = above.empty()   ? (stacked ? "munder" : "msub")
                      : below.empty() ? (stacked ? "mover" : "msup")
                                      : (stacked ? "munderover" : "msubsup");
    base.mathml = fmt::format("<{0}>{1}{2}{3}</{0}>", tag, base.mathml, below, above);
    return base;
  }

  Atom sign(const Symbol& symbol) {
    const std::string text = escape_html(symbol.text);
    switch (symbol.kind) {
      case Role::function:
        if (symbol.text.size() > 1 && is_letter(symbol.text[0]))
          return {"<mi>" + text + "</mi>", symbol.kind, symbol.limits};
        if (!display_) return {"<mo>" + text + "</mo>", symbol.kind, symbol.limits};
        return {"<mo largeop=\"false\" style=\"font-size:1.5em\">" + text + "</mo>", symbol.kind,
                symbol.limits, 1.5};
      case Role::operation: {
        const bool unary = previous_ != Role::ordinary && previous_ != Role::close;
        return {fmt::format("<mo{}>{}</mo>", unary ? " form=\"prefix\"" : "", text), symbol.kind};
      }
      case Role::open:
      case Role::close:
        return {stretched(text, 1, symbol.kind == Role::open ? "prefix" : "postfix"), symbol.kind};
      case Role::relation:
        return {"<mo stretchy=\"false\">" + text + "</mo>", symbol.kind};
      case Role::punctuation:
        return {"<mo separator=\"true\" lspace=\"0\" rspace=\"0.167em\">" + text + "</mo>", symbol.kind};
      case Role::upright:
        return {"<mi mathvariant=\"normal\">" + text + "</mi>"};
      case Role::accent: {
        const Atom base = group();
        return box(
            "<mover accent=\"true\">" + base.mathml + "<mo stretchy=\"false\">" + text + "</mo></mover>",
            base.height);
      }
      default:
        if (text == "|" || text == "‖")
          return {"<mo stretchy=\"false\" lspace=\"0\" rspace=\"0\">" + text + "</mo>"};
        return {"<mi>" + text + "</mi>"};
    }
  }

  Atom atom() {
    const char c = peek();
    if (c == '\\') return command(take_word());
    if (c == '{') return group();
    const auto digit_at = [&](std::size_t i) { return i < latex_.size() && is_digit(latex_[i]); };
    std::size_t end = at_;
    while (digit_at(end) || (end < latex_.size() && latex_[end] == '.' && digit_at(end + 1))) ++end;
    if (end > at_) {
      const std::string_view digits = latex_.substr(at_, end - at_);
      at_ = end;
      return {fmt::format("<mn>{}</mn>", digits)};
    }
    const std::string_view character = take_word();
    if (c == '/') return {"<mo lspace=\"0\" rspace=\"0\">/</mo>"};
    if (c == '~') return {"<mspace width=\"0.333em\"></mspace>", Role::none};
    const auto found = signs.find(character);
    return sign(found != signs.end() ? found->second : Symbol{Role::ordinary, character});
  }

  Atom command(std::string_view word) {
    const Level level(*this);
    const std::string_view name = word.substr(1);
    if (const auto found = symbols.find(name); found != symbols.end()) return sign(found->second);
    if (const auto found = spaces.find(name); found != spaces.end())
      return {fmt::format("<mspace width=\"{}\"></mspace>", found->second), Role::none};
    if (const auto found = lines.find(name); found != lines.end()) {
      const Atom base = group();
      return {fmt::format("<mrow style=\"{}\">{}</mrow>", found->second.text, base.mathml), Role::ordinary,
              found->second.limits, base.height};
    }
    if (name == "frac" || name == "binom") return fraction(name);
    if (name == "sqrt") return root();
    if (name == "text" || name == "mathrm" || name == "operatorname") return words(name);
    for (const Alphabet& alphabet : alphabets)
      if (name == alphabet.name) return letters(alphabet);
    if (name == "left") return fenced();
    if (name == "begin") return environment();
    if (name == "overset" || name == "underset") {
      const Atom mark = group(), base = group();
      const char* tag = name == "overset" ? "mover" : "munder";
      return {fmt::format("<{0}>{1}{2}</{0}>", tag, base.mathml, mark.mathml), base.kind, false, base.height};
    }
    for (const auto& [size, height] : {std::pair{"big", 1.4}, {"Big", 1.8}, {"bigg", 2.4}, {"Bigg", 3.0}}) {
      if (name == fmt::format("{}l", size)) return {stretched(delimiter(), height, "prefix"), Role::open};
      if (name == fmt::format("{}r", size)) return {stretched(delimiter(), height, "postfix"), Role::close};
      if (name == size) return {stretched(delimiter(), height, "prefix")};
    }
    wrong(fmt::format(
        "unknown command {}{}", word,
        name.size() > 1 ? fmt::format(" (for the name of a function: \\operatorname{{{}}})", name) : ""));
  }

  Atom fraction(std::string_view name) {
    const Atom above = group(), below = group();
    const double height = (above.height + below.height) * (display_ ? 1 : 0.75) + 0.2;
    const std::string content = above.mathml + below.mathml;
    if (name == "frac") return box("<mfrac>" + content + "</mfrac>", height);
    return fenced("(", box("<mfrac linethickness=\"0\">" + content + "</mfrac>", height), ")");
  }

  Atom root() {
    std::string degree;
    if (take('[')) {
      degree = sequence(true).mathml;
      if (!take(']')) wrong("\\sqrt[ without ]");
    }
    const Atom content = group();
    const double height = content.height + 0.1;
    if (content.height < 1.5)
      return box(degree.empty() ? "<msqrt>" + content.mathml + "</msqrt>"
                                : "<mroot>" + content.mathml + degree + "</mroot>",
                 height);
    const std::string sign = stretched("√", height, "prefix");
    return box(row((degree.empty() ? sign : "<msup><mrow></mrow>" + degree + "</msup>" + sign) +
                   "<mrow style=\"border-top:0.06em solid;padding-top:0.1em\">" + content.mathml + "</mrow>"),
               height);
  }

  Atom words(std::string_view name) {
    const bool limits = name == "operatorname" && take('*');
    std::string text;
    const std::string_view written = braced_text(fmt::format("\\{}", name));
    for (std::size_t i = 0; i < written.size(); ++i)
      if (written[i] == ' ' || written.substr(i, 2) == "\\,")
        text += "\u00A0", i += written[i] == '\\';
      else if (written[i] != '\\')  // \_ is _
        text += escape_html(written.substr(i, 1));
    if (name == "text") return {"<mtext>" + text + "</mtext>"};
    return {"<mi mathvariant=\"normal\">" + text + "</mi>",
            name == "operatorname" ? Role::function : Role::ordinary, limits};
  }

  Atom letters(const Alphabet& alphabet) {
    const bool braced = take('{');
    std::string content;
    do {
      if (is_letter(peek()) || (is_digit(peek()) && alphabet.digits))
        content += fmt::format("<mi>{}</mi>", letter_in(alphabet, latex_[at_++]));
      else if (!at_end_of_sequence())
        content += atom().mathml;  // no such form: as it is
      else
        break;
    } while (braced);
    if (braced && !take('}')) wrong("a { that is never closed");
    return {row(content)};
  }

  // A bracket that grows; "." is none.
  std::string delimiter() {
    const std::string_view word = take_word();
    if (word == ".") return "";
    if (!word.empty() && std::string_view("()[]|/").find(word) != std::string_view::npos)
      return std::string(word);
    const auto found = symbols.find(word.substr(word.starts_with('\\') ? 1 : 0));
    if (word.starts_with('\\') && found != symbols.end()) {
      const auto& [kind, text, limits] = found->second;
      if (kind == Role::open || kind == Role::close || text == "|" || text == "‖") return std::string(text);
    }
    wrong(fmt::format("'{}' is not a bracket", word));
  }

  Atom fenced() {
    const std::string open = delimiter();
    const Atom content = sequence();
    if (!take_command("\\right")) wrong("\\left without \\right");
    return fenced(open, content, delimiter());
  }

  static Atom fenced(std::string_view open, const Atom& content, std::string_view close) {
    return box(row(stretched(open, content.height, "prefix") + content.mathml +
                   stretched(close, content.height, "postfix")),
               content.height);
  }

  Atom environment() {
    std::string name(braced_text("\\begin"));
    if (!name.empty() && name.back() == '*') name.pop_back();
    static const std::unordered_map<std::string, std::pair<const char*, const char*>> known = {
        {"matrix", {"", ""}}, {"pmatrix", {"(", ")"}}, {"bmatrix", {"[", "]"}}, {"vmatrix", {"|", "|"}},
        {"cases", {"{", ""}}, {"aligned", {"", ""}},   {"align", {"", ""}}};
    const auto brackets = known.find(name);
    if (brackets == known.end()) wrong(fmt::format("unknown environment {}", name));
    const bool aligned = name.starts_with("align");
    Atom table;
    table.height = 0;
    while (next_word() != "\\end") {
      if (peek() == '\0') wrong(fmt::format("\\begin{{{}}} without \\end", name));
      table.mathml += "<mtr>";
      double height = 1;
      std::size_t column = 0;
      do {
        const bool left = aligned ? column % 2 == 1 : name == "cases";
        const Atom content = sequence();
        height = std::max(height, content.height);
        const char* side = left ? "left" : aligned ? "right" : "center";
        const char* close = aligned ? ";padding-left:0;padding-right:0" : "";
        // What is left of its relation is in the cell before.
        const std::string cell = aligned && left ? row("<mrow></mrow>" + content.mathml) : content.mathml;
        table.mathml += fmt::format("<mtd style=\"text-align:{}{}\">{}</mtd>", side, close, cell);
        ++column;
      } while (take('&'));
      table.mathml += "</mtr>";
      table.height += height + 0.4;  // with the space between rows
      if (!take_command("\\\\") && next_word() != "\\end")
        wrong(fmt::format("{} in a {}", next_word(), name));
    }
    take_word();
    braced_text("\\end");
    table.mathml =
        fmt::format("<mtable{}>{}</mtable>", aligned ? " displaystyle=\"true\"" : "", table.mathml);
    return fenced(brackets->second.first, table, brackets->second.second);
  }

  bool display_;
  Role previous_ = Role::none;  // what stands before the atom that is being read
};

}  // namespace

std::string mathml(std::string_view latex, bool display) {
  constexpr std::size_t longest = 100'000;  // one character may become fifty
  if (latex.size() > longest) fail("math: an equation of more than {} bytes: {:.60}", longest, latex);
  return fmt::format("<math{}>{}</math>", display ? " display=\"block\"" : "",
                     Parser(latex, display).whole());
}

}  // namespace attn::press
