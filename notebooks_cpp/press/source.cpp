#include "notebooks_cpp/press/source.hpp"

#include <algorithm>  // min, partition_point
#include <iterator>   // ssize
#include <utility>    // move

#include "core/error.hpp"
#include "notebooks_cpp/press/lines.hpp"   // lines_of
#include "notebooks_cpp/press/tokens.hpp"  // tokens

namespace attn::press {
namespace {

constexpr int deepest = 100;
constexpr Index most_in_angles = 300;                         // tokens
constexpr Index most_declarations = 20'000, most_names = 30;  // in a file; in one statement

bool closes(std::string_view open, std::string_view close) {
  return (open == "(" && close == ")") || (open == "[" && close == "]") || (open == "{" && close == "}") ||
         (open == "<" && close == ">");
}

bool is_macro_name(std::string_view name) {
  return name.size() > 1 && name.find_first_of("abcdefghijklmnopqrstuvwxyz~") == name.npos;
}

// Where a declaration stands: the namespaces and the classes around it.
struct Scope {
  std::string within, type;
  bool internal = false;
};

// Comments that belong together: above a declaration, or at the end of a line and going on below it.
struct Block {
  std::string text;
  Index first_line, last_line, column;
  bool remark;  // follows code on its line
};

// Reads declarations from the tokens; directives are left out, comments set aside.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : lines_(lines_of(source)) {
    Index last_line = 0;
    for (const Token& token : tokens(source)) {
      if (!token.in_directive && token.kind == Token::Kind::comment)
        add_comment(token, token.line == last_line);
      else if (!token.in_directive)
        tokens_.push_back(token);
      last_line = token.last_line;
    }
  }

  std::vector<Declaration> scan() {
    while (at_ < count()) {
      scope({}, false);
      ++at_;  // a brace too many: not in this project, but no reason to stop
    }
    for (Index i = 0; i < std::ssize(found_); ++i)
      if (remarks_[i]) found_[i].remark = remarks_[i]->text;
    return std::move(found_);
  }

 private:
  // A comment alone on its line goes on with the one on the line before; with a remark only in its column.
  void add_comment(const Token& token, bool remark) {
    const std::string text = comment_text(token.text);
    const Block* before = blocks_.empty() ? nullptr : &blocks_.back();
    if (!remark && before && before->last_line == token.line - 1 &&
        (!before->remark || before->column == token.column)) {
      blocks_.back().text += "\n" + text;
      blocks_.back().last_line = token.last_line;
    } else {
      blocks_.push_back({text, token.line, token.last_line, token.column, remark});
    }
  }

  // A source may end in the middle of anything: past the last token comes the last one again.
  const Token& token(Index i) const { return tokens_[std::min(i, count() - 1)]; }
  std::string_view text(Index i) const { return i >= 0 && i < count() ? tokens_[i].text : ""; }
  bool is(std::string_view wanted) const { return text(at_) == wanted; }
  bool word_at(Index i) const { return i >= 0 && i < count() && tokens_[i].kind == Token::Kind::word; }
  Index last_line_at(Index i) const { return token(i).last_line; }
  Index count() const { return std::ssize(tokens_); }

  // Past what closes the bracket at `i`. Brackets inside count; angles only if we began with one.
  Index behind_bracket(Index i) const {
    std::vector<std::string_view> open;
    const Index begin = i;
    const bool angles = text(i) == "<";
    for (; i < count(); ++i) {
      const std::string_view symbol = text(i);
      if (tokens_[i].kind != Token::Kind::symbol) continue;
      if (symbol == "(" || symbol == "[" || symbol == "{" || (angles && symbol == "<"))
        open.push_back(symbol);
      else if (!open.empty() && closes(open.back(), symbol))
        open.pop_back();
      if (open.empty()) return i + 1;
      // It was a comparison: an argument list has no semicolon, and ours are short.
      if (open.back() == "<" && (symbol == ";" || i - begin > most_in_angles)) return i;
    }
    return i;
  }

  bool is_any(std::string_view symbols) const {
    return text(at_).size() == 1 && symbols.find(text(at_)[0]) != symbols.npos;
  }
  // Moves on to the first of the symbols in `ends`; what stands in `brackets` is skipped whole.
  void skip_to(std::string_view ends, std::string_view brackets) {
    while (at_ < count() && !is_any(ends)) at_ = is_any(brackets) ? behind_bracket(at_) : at_ + 1;
  }
  void to_semicolon() { skip_to(";}", "([{"); }

  void scope(const Scope& here, bool begins_private) {
    if (++depth_ > deepest) fail("source: namespaces and classes are nested more than {} deep", deepest);
    Scope inside = here;
    inside.internal = here.internal || begins_private;
    bool first = true;
    while (at_ < count() && !is("}")) {
      if (is(";")) {
        ++at_;
      } else if ((is("public") || is("private") || is("protected")) && text(at_ + 1) == ":") {
        inside.internal = here.internal || !is("public");
        at_ += 2;
        first = true;
      } else {
        statement(inside, first);
        first = false;
      }
    }
    --depth_;
  }

  void statement(const Scope& here, bool first) {
    start_ = at_;
    first_ = first;
    while (is("template")) at_ = behind_bracket(at_ + 1);
    while (is("[") && text(at_ + 1) == "[") at_ = behind_bracket(at_);
    if (text(at_ + 1) == "(" && is_macro_name(text(at_))) {  // it stands for declarations that we cannot see
      at_ = behind_bracket(at_ + 1);
      return;
    }
    if (is("inline") && text(at_ + 1) == "namespace") ++at_;
    if (is("namespace")) return name_space(here);
    if (is("extern") && token(at_ + 1).kind == Token::Kind::string && text(at_ + 2) == "{") {
      at_ += 3;
      scope(here, false);
      ++at_;
    } else if (is("using") || is("typedef")) {
      alias(here);
    } else if (is("friend") || is("static_assert")) {
      skip_to(";{}", "(");
      if (is("{")) at_ = behind_bracket(at_);
    } else if ((is("struct") || is("class") || is("union") || is("enum")) && is_type_definition()) {
      type_definition(here);
    } else {
      function_or_variables(here);
    }
  }

  void name_space(const Scope& here) {
    std::string name;
    for (++at_; at_ < count() && !is_any("{;="); ++at_) name += text(at_);
    if (!is("{")) return to_semicolon();
    ++at_;
    scope({here.within + (here.within.empty() || name.empty() ? "" : "::") + name,
           {},
           here.internal || name.empty() || name == "detail"},
          false);
    ++at_;
  }

  void alias(const Scope& here) {
    const bool is_typedef = is("typedef");
    const Index keyword = at_;
    Index name = at_ + 1;
    to_semicolon();
    if (is_typedef) {  // the last word before the semicolon or the attribute
      for (Index i = name; i < at_ && text(i) != "__attribute__"; ++i)
        if (word_at(i)) name = i;
    } else if (text(keyword + 2) != "=") {
      return;  // `using namespace x;`, `using a::b;`
    }
    add(Declaration::Kind::alias, std::string(text(name)), name, at_, here).defined = true;
    ++at_;
  }

  // Whether a body or a semicolon comes first: not so for `struct tm now = …;` and `struct tm now();`.
  bool is_type_definition() const {
    for (Index i = at_ + 1; i < count();) {
      if (text(i) == "{" || text(i) == ";") return true;
      if (text(i) == "=" || text(i) == "}") return false;
      if (text(i) == "(" && text(i - 1) != "alignas" && text(i - 1) != "__attribute__") return false;
      i = text(i) == "(" || text(i) == "[" || text(i) == "<" ? behind_bracket(i) : i + 1;
    }
    return false;
  }

  void type_definition(const Scope& here) {
    const bool is_enum = is("enum"), is_class = is("class");
    Index name = 0;
    for (++at_; at_ < count() && !is_any("{;:");) {
      if (word_at(at_) && !is("class") && !is("final") && !is("alignas") && !is("__attribute__")) name = at_;
      at_ = is_any("([<") ? behind_bracket(at_) : at_ + 1;
    }
    const Index head = at_;
    skip_to("{;", "");
    if (is(";")) return;  // a forward declaration
    const Index behind = behind_bracket(at_);
    if (name > 0) {  // not `enum { a, b };`
      Declaration& type =
          add(Declaration::Kind::type, std::string(text(name)), name, is_enum ? behind : head, here);
      type.defined = true;
      type.last_line = last_line_at(behind - 1);
      ++at_;
      if (!is_enum) scope({here.within, qualified(type), here.internal}, is_class);
    }
    at_ = behind;
    to_semicolon();
  }

  void function_or_variables(const Scope& here) {
    for (; at_ < count() && !is("}"); ++at_) {
      if (is("operator")) {
        const Index name = at_;
        return function(operator_name(), name, here);
      }
      if (is("<") && at_ > start_ && word_at(at_ - 1)) at_ = behind_bracket(at_) - 1;
      if (is("[") && text(at_ + 1) == "[") at_ = behind_bracket(at_) - 1;
      if (is("(")) {
        const std::string_view before = text(at_ - 1);
        if (before == "alignas" || before == "__attribute__" || before == "decltype" || before == "explicit")
          at_ = behind_bracket(at_) - 1;
        else if (text(at_ + 1) == "*")
          return variables(here);  // a pointer to a function
        else if (at_ > start_ && word_at(at_ - 1))
          return function(std::string(before), at_ - 1, here);
      }
      if (is_any("=;{,:") || (is("[") && text(at_ + 1) != "[")) return variables(here);
    }
  }

  // at_ is at `operator`, and afterwards at the parameters.
  std::string operator_name() {
    std::string name = "operator";
    ++at_;
    if (is("(")) name += "()", at_ += 2;
    for (; at_ < count() && !is("("); ++at_)
      name += (word_at(at_) && name == "operator" ? " " : "") + std::string(text(at_));
    return name;
  }

  // at_ is at the parameters.
  void function(std::string name, Index name_at, const Scope& here) {
    Index before = name_at;
    if (name_at > start_ && text(name_at - 1) == "~") name = "~" + name, --before;
    const Index parameters = at_;
    at_ = behind_bracket(at_);
    const Index parameters_end = at_;
    skip_to(";{=:}", "([");
    const bool settled = is("=");  // by default, delete or 0: no body will follow elsewhere
    if (settled) to_semicolon();
    const Index head = at_;
    if (is(":")) constructor_initialisers();
    const bool defined = is("{");

    // `Tensor::at`, `Attention<T>::run`: the scope is written before the name.
    Scope scope = here;
    std::string outer;
    for (; before > start_ + 1 && text(before - 1) == "::" && word_at(before - 2); before -= 2)
      outer = std::string(text(before - 2)) + (outer.empty() ? "" : "::") + outer;
    if (!outer.empty()) scope.type += (scope.type.empty() ? "" : "::") + outer;

    Declaration& declaration = add(Declaration::Kind::function, name, name_at, head, scope);
    declaration.defined = defined || settled;
    declaration.parameters = without_defaults(parameters + 1, parameters_end - 1);
    if (defined) {
      at_ = behind_bracket(at_);
      declaration.last_line = last_line_at(at_ - 1);
    }
    if (is(";")) ++at_;
  }

  void constructor_initialisers() {
    while (at_ < count() && !is(";")) {
      ++at_;  // the colon or a comma
      skip_to("({", "<");
      at_ = behind_bracket(at_);
      while (is(".")) ++at_;
      if (!is(",")) return;
    }
  }

  std::string without_defaults(Index begin, Index end) const {
    std::string result;
    for (Index i = begin; i < end; ++i) {
      if (text(i) == "=")
        while (i < end && text(i) != ",") i = text(i) == "(" || text(i) == "{" ? behind_bracket(i) : i + 1;
      if (i >= end) break;
      const bool gap = i > begin && word_at(i) && word_at(i - 1);
      result += (gap ? " " : "") + std::string(text(i));
    }
    return result;
  }

  // at_ is at what follows the first name. One declaration for each name.
  void variables(const Scope& here) {
    std::vector<Index> names;
    Index head = 0;
    for (Index name = at_ - 1; at_ < count() && !is("}"); name = at_++) {
      if (is("(") && text(at_ + 1) == "*") {  // a pointer to a function: (*name)(…)
        name = at_ + 2;
        at_ = behind_bracket(behind_bracket(at_));
      }
      while (is("[")) at_ = behind_bracket(at_);
      if (is(":")) at_ += 2;  // bits
      if (!is_any("={,;")) continue;
      if (word_at(name)) names.push_back(name);
      if (std::ssize(names) > most_names) fail("source: a statement declares more than {} names", most_names);
      if (!is_any(",;") && head == 0) head = at_;
      while (at_ < count() && !is_any(",;}"))
        at_ = is_any("({[") ? behind_bracket(at_) : is("<") && word_at(at_ - 1) ? behind_angle(at_) : at_ + 1;
      if (is(";")) break;
    }
    // An initialiser of several lines is no part of the signature.
    const bool long_one = names.size() == 1 && head > 0 && token(names[0]).line != last_line_at(at_);
    for (const Index name : names)
      add(Declaration::Kind::variable, std::string(text(name)), name, long_one ? head : at_, here).last_line =
          last_line_at(at_);
    if (is(";")) ++at_;
  }

  // In an initialiser `<` is a template if its `>` comes before the statement ends.
  Index behind_angle(Index i) const {
    const Index behind = behind_bracket(i);
    return text(behind - 1) == ">" ? behind : i + 1;
  }

  // The statement's tokens up to `end` are the signature.
  Declaration& add(Declaration::Kind kind, const std::string& name, Index name_at, Index end,
                   const Scope& here) {
    if (std::ssize(found_) == most_declarations) fail("source: more than {} declarations", most_declarations);
    Declaration declaration;
    declaration.kind = kind;
    declaration.name = name;
    declaration.scope = here.type;
    declaration.within = here.within;
    declaration.internal = here.internal;
    declaration.signature = joined(start_, end);
    declaration.line = token(name_at).line;
    declaration.last_line = last_line_at(end);
    declaration.first_line = token(start_).line;
    // Of several statements on a line, the comment above belongs to the first, a remark to the last.
    const bool begins_line = start_ == 0 || last_line_at(start_ - 1) < token(start_).line;
    const Block* remark = nullptr;
    const auto before = [&](const Block& block) { return block.last_line < token(start_).line - 1; };
    for (auto near = std::partition_point(blocks_.begin(), blocks_.end(), before);
         near != blocks_.end() && near->first_line <= declaration.last_line; ++near) {
      const Block& block = *near;
      if (block.remark && block.first_line == declaration.last_line) {
        for (; remarked_ < std::ssize(found_) && remarked_by_ != start_; ++remarked_)
          if (found_[remarked_].last_line == declaration.last_line) remarks_[remarked_] = nullptr;
        remarked_by_ = start_;
        remark = &block;
      }
      if (begins_line && !block.remark && block.last_line == token(start_).line - 1) {
        declaration.comment = block.text;
        declaration.first_line = block.first_line;
      }
    }
    declaration.after_blank =
        first_ || declaration.first_line == 1 || lines_[declaration.first_line - 2].empty();
    found_.push_back(std::move(declaration));
    remarks_.push_back(remark);
    return found_.back();
  }

  // The source between two tokens on one line, without comments.
  std::string joined(Index begin, Index end) const {
    std::string result;
    for (Index i = begin; i < std::min(end, count()); ++i) {
      if (i > begin && tokens_[i - 1].text.data() + tokens_[i - 1].text.size() != tokens_[i].text.data())
        result += ' ';
      result += tokens_[i].text;
    }
    return result;
  }

  std::vector<std::string> lines_;
  std::vector<Token> tokens_;
  std::vector<Block> blocks_;
  std::vector<Declaration> found_;
  std::vector<const Block*> remarks_;  // of each, or null; copied once the last statement of a line is known
  Index at_ = 0, start_ = 0;           // the token that is read; the first of its statement
  Index remarked_ = 0, remarked_by_ = -1;  // the first found with the last remark; the start of its statement
  bool first_ = false;                     // the statement is the first of its scope
  int depth_ = 0;
};

}  // namespace

std::vector<Declaration> declarations(std::string_view source) { return Scanner(source).scan(); }

std::string qualified(const Declaration& declaration) {
  return declaration.scope.empty() ? declaration.name : declaration.scope + "::" + declaration.name;
}

}  // namespace attn::press
