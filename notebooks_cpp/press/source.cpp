#include "notebooks_cpp/press/source.hpp"

#include <algorithm>  // min
#include <utility>    // move

namespace attn::press {
namespace {

bool closes(std::string_view open, std::string_view close) {
  return (open == "(" && close == ")") || (open == "[" && close == "]") || (open == "{" && close == "}") ||
         (open == "<" && close == ">");
}

bool is_macro_name(std::string_view name) {
  return name.size() > 1 && name.find_first_of("abcdefghijklmnopqrstuvwxyz~") == std::string_view::npos;
}

// Reads declarations from the tokens, comments and directives set aside.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : lines_(lines_of(source)) {
    int last_line = 0;
    for (const Token& token : tokens(source)) {
      if (token.kind == Token::Kind::Comment)
        comments_.push_back({token, token.line != last_line});
      else if (token.kind != Token::Kind::Directive)
        tokens_.push_back(token);
      last_line = token.last_line;
    }
  }

  std::vector<Declaration> scan() {
    while (at_ < tokens_.size()) {
      scope({}, {}, false);
      ++at_;  // a brace too many: nothing of this project, but no reason to stop
    }
    return std::move(found_);
  }

 private:
  struct Comment {
    Token token;
    bool alone;  // on its line
  };

  // A source may end in the middle of anything: behind the last token there is the last one again.
  const Token& token(std::size_t i) const { return tokens_[std::min(i, tokens_.size() - 1)]; }
  std::string_view text(std::size_t i) const { return i < tokens_.size() ? tokens_[i].text : ""; }
  bool is(std::string_view wanted) const { return text(at_) == wanted; }
  bool word_at(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == Token::Kind::Word; }

  // Behind what closes the bracket at `i`. Brackets inside count; angles only if we began with one.
  std::size_t behind_bracket(std::size_t i) const {
    std::vector<std::string_view> open;
    const bool angles = text(i) == "<";
    for (; i < tokens_.size(); ++i) {
      const std::string_view symbol = text(i);
      if (tokens_[i].kind != Token::Kind::Symbol) continue;
      if (symbol == "(" || symbol == "[" || symbol == "{" || (angles && symbol == "<"))
        open.push_back(symbol);
      else if (!open.empty() && closes(open.back(), symbol))
        open.pop_back();
      if (open.empty()) return i + 1;
    }
    return i;
  }

  // To the semicolon that ends the statement; brackets are skipped whole.
  void to_semicolon() {
    while (at_ < tokens_.size() && !is(";") && !is("}"))
      at_ = is("(") || is("{") || is("[") ? behind_bracket(at_) : at_ + 1;
  }

  void scope(const std::string& within, const std::string& type, bool internal, bool begins_private = false) {
    bool first = true, hidden = internal || begins_private;
    while (at_ < tokens_.size() && !is("}")) {
      if (is(";")) {
        ++at_;
      } else if ((is("public") || is("private") || is("protected")) && text(at_ + 1) == ":") {
        hidden = internal || !is("public");
        at_ += 2;
        first = true;
      } else {
        statement(within, type, hidden, first);
        first = false;
      }
    }
  }

  void statement(const std::string& within, const std::string& type, bool internal, bool first) {
    start_ = at_;
    first_ = first;
    while (is("template")) at_ = behind_bracket(at_ + 1);
    while (is("[") && text(at_ + 1) == "[") at_ = behind_bracket(at_);
    if (text(at_ + 1) == "(" &&
        is_macro_name(text(at_))) {  // a macro that stands for declarations: not ours to see
      at_ = behind_bracket(at_ + 1);
      return;
    }
    if (is("inline") && text(at_ + 1) == "namespace") ++at_;
    if (is("namespace")) return name_space(within, internal);
    if (is("extern") && token(at_ + 1).kind == Token::Kind::String && text(at_ + 2) == "{") {
      at_ += 3;
      scope(within, type, internal);
      ++at_;
      return;
    }
    if (is("using") || is("typedef")) return alias(within, type, internal);
    if (is("friend") || is("static_assert")) {
      while (at_ < tokens_.size() && !is(";") && !is("{") && !is("}"))
        at_ = is("(") ? behind_bracket(at_) : at_ + 1;
      at_ = is("{") ? behind_bracket(at_) : at_;
      return;
    }
    if ((is("struct") || is("class") || is("union") || is("enum")) && is_type_definition())
      return type_definition(within, type, internal);
    function_or_variables(within, type, internal);
  }

  void name_space(const std::string& within, bool internal) {
    std::string name;
    for (++at_; at_ < tokens_.size() && !is("{") && !is(";") && !is("="); ++at_) name += text(at_);
    if (!is("{")) return to_semicolon();
    ++at_;
    scope(within + (within.empty() || name.empty() ? "" : "::") + name, {},
          internal || name.empty() || name == "detail");
    ++at_;
  }

  void alias(const std::string& within, const std::string& type, bool internal) {
    const bool is_typedef = is("typedef");
    std::size_t name = at_ + 1, keyword = at_;
    to_semicolon();
    if (is_typedef) {  // the last word before the semicolon or the attribute
      for (std::size_t i = name; i < at_ && text(i) != "__attribute__"; ++i)
        if (word_at(i)) name = i;
    } else if (text(keyword + 2) != "=") {
      return;  // `using namespace x;`, `using a::b;`
    }
    add(Declaration::Kind::Alias, std::string(text(name)), name, at_, within, type, internal).defined = true;
    ++at_;
  }

  // Whether a body comes before the statement ends: not so for `struct Node;` and `struct tm now = …;`.
  bool is_type_definition() const {
    for (std::size_t i = at_ + 1; i < tokens_.size();) {
      if (text(i) == "{") return true;
      if (text(i) == ";") return true;  // a forward declaration: handled there, too
      if (text(i) == "=") return false;
      if (text(i) == "(" && text(i - 1) != "alignas" && text(i - 1) != "__attribute__") return false;
      i = text(i) == "(" || text(i) == "[" || text(i) == "<" ? behind_bracket(i) : i + 1;
    }
    return false;
  }

  void type_definition(const std::string& within, const std::string& type, bool internal) {
    const bool is_enum = is("enum"), is_class = is("class");
    std::size_t name = 0;
    for (++at_; at_ < tokens_.size() && !is("{") && !is(";") && !is(":");) {
      if (word_at(at_) && !is("class") && !is("final") && !is("alignas") && !is("__attribute__")) name = at_;
      at_ = is("(") || is("[") || is("<") ? behind_bracket(at_) : at_ + 1;
    }
    const std::size_t head = at_;
    while (at_ < tokens_.size() && !is("{") && !is(";")) ++at_;
    if (is(";")) return;
    if (name == 0) {  // `enum { a, b };`, a nameless struct
      at_ = behind_bracket(at_);
      return to_semicolon();
    }
    const std::size_t behind = behind_bracket(at_);
    const std::size_t index = found_.size();
    add(Declaration::Kind::Type, std::string(text(name)), name, is_enum ? behind : head, within, type,
        internal);
    found_[index].defined = true;
    found_[index].last_line = token(behind - 1).last_line;
    if (is_enum) {
      at_ = behind;
    } else {
      ++at_;
      const std::string inner = qualified(found_[index]);
      scope(within, inner, internal, is_class);
      at_ = behind;
    }
    to_semicolon();
  }

  void function_or_variables(const std::string& within, const std::string& type, bool internal) {
    for (; at_ < tokens_.size() && !is("}"); ++at_) {
      if (is("operator")) return function(operator_name(), within, type, internal);
      if (is("<") && at_ > start_ && word_at(at_ - 1)) at_ = behind_bracket(at_) - 1;
      if (is("[") && text(at_ + 1) == "[") at_ = behind_bracket(at_) - 1;
      if (is("(")) {
        const std::string_view before = text(at_ - 1);
        if (before == "alignas" || before == "__attribute__" || before == "decltype" || before == "explicit")
          at_ = behind_bracket(at_) - 1;
        else if (text(at_ + 1) == "*")
          return variables(within, type, internal);  // a pointer to a function
        else if (at_ > start_ && word_at(at_ - 1))
          return function(std::string(before), within, type, internal);
      }
      if (is("=") || is(";") || is("{") || is(",") || (is("[") && text(at_ + 1) != "[") || is(":"))
        return variables(within, type, internal);
    }
  }

  // `operator` stands at at_; afterwards the parameters do.
  std::string operator_name() {
    std::string name = "operator";
    ++at_;
    if (is("(")) name += "()", at_ += 2;
    for (; at_ < tokens_.size() && !is("("); ++at_)
      name += (word_at(at_) && name == "operator" ? " " : "") + std::string(text(at_));
    return name;
  }

  // The parameters stand at at_.
  void function(std::string name, const std::string& within, std::string type, bool internal) {
    const bool is_operator = name.starts_with("operator");
    std::size_t place = at_ - 1;
    while (is_operator && text(place) != "operator") --place;
    if (place > start_ && text(place - 1) == "~") name = "~" + name;
    const std::size_t parameters = at_;
    at_ = behind_bracket(at_);
    const std::size_t parameters_end = at_;
    while (at_ < tokens_.size() && !is(";") && !is("{") && !is("=") && !is(":") && !is("}"))
      at_ = is("(") || is("[") ? behind_bracket(at_) : at_ + 1;
    const bool settled = is("=");  // by default, delete or 0: no body will follow elsewhere
    if (settled) to_semicolon();
    const std::size_t head = at_;
    if (is(":")) constructor_initialisers();
    const bool defined = is("{");

    // `Tensor::at`, `Attention<T>::run`: the scope is written before the name.
    std::string outer;
    std::size_t before = place - (name[0] == '~' ? 1 : 0);
    while (before > start_ + 1 && text(before - 1) == "::" && word_at(before - 2)) {
      outer = std::string(text(before - 2)) + (outer.empty() ? "" : "::") + outer;
      before -= 2;
    }
    if (!outer.empty()) type += (type.empty() ? "" : "::") + outer;

    Declaration& declaration = add(Declaration::Kind::Function, name, place, head, within, type, internal);
    declaration.defined = defined || settled;
    declaration.parameters = without_defaults(parameters + 1, parameters_end - 1);
    if (defined) {
      at_ = behind_bracket(at_);
      declaration.last_line = token(at_ - 1).last_line;
    }
    if (is(";")) ++at_;
  }

  void constructor_initialisers() {
    while (at_ < tokens_.size() && !is(";")) {
      ++at_;  // the colon or a comma
      while (at_ < tokens_.size() && !is("(") && !is("{")) at_ = is("<") ? behind_bracket(at_) : at_ + 1;
      at_ = behind_bracket(at_);
      while (is(".")) ++at_;
      if (!is(",")) return;
    }
  }

  std::string without_defaults(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t i = begin; i < end; ++i) {
      if (text(i) == "=")
        while (i < end && text(i) != ",") i = text(i) == "(" || text(i) == "{" ? behind_bracket(i) : i + 1;
      if (i >= end) break;
      const bool gap = i > begin && word_at(i) && word_at(i - 1);
      result += (gap ? " " : "") + std::string(text(i));
    }
    return result;
  }

  // at_ is at what follows the first name. One declaration for each name.
  void variables(const std::string& within, const std::string& type, bool internal) {
    std::vector<std::size_t> names;
    std::size_t head = 0;
    for (std::size_t name = at_ - 1; at_ < tokens_.size() && !is("}"); name = at_++) {
      if (is("(") && text(at_ + 1) == "*") {  // a pointer to a function: (*name)(…)
        name = at_ + 2;
        at_ = behind_bracket(behind_bracket(at_));
      }
      while (is("[")) at_ = behind_bracket(at_);
      if (is(":")) at_ += 2;  // bits
      if (is("=") || is("{") || is(",") || is(";")) {
        if (word_at(name)) names.push_back(name);
        if (!is(",") && !is(";") && head == 0) head = at_;
        while (at_ < tokens_.size() && !is(",") && !is(";") && !is("}"))
          at_ = is("(") || is("{") || is("[") ? behind_bracket(at_)
                : is("<") && word_at(at_ - 1) ? behind_angle(at_)
                                              : at_ + 1;
        if (is(";")) break;
      }
    }
    const std::size_t signature_end =
        names.size() == 1 && token(names[0]).line != text_line(at_) ? head : at_;
    for (const std::size_t name : names)
      add(Declaration::Kind::Variable, std::string(text(name)), name, signature_end ? signature_end : at_,
          within, type, internal)
          .last_line = text_line(at_);
    if (is(";")) ++at_;
  }

  // In an initialiser `<` is a template if its `>` comes before the statement ends.
  std::size_t behind_angle(std::size_t i) const {
    const std::size_t behind = behind_bracket(i);
    for (std::size_t k = i; k < behind; ++k)
      if (text(k) == ";") return i + 1;
    return behind;
  }

  int text_line(std::size_t i) const { return i < tokens_.size() ? tokens_[i].last_line : 0; }

  Declaration& add(Declaration::Kind kind, const std::string& name, std::size_t name_at, std::size_t end,
                   const std::string& within, const std::string& type, bool internal) {
    Declaration declaration;
    declaration.kind = kind;
    declaration.name = name;
    declaration.scope = type;
    declaration.within = within;
    declaration.signature = joined(start_, end);
    declaration.line = token(name_at).line;
    declaration.internal = internal;
    declaration.last_line = text_line(std::min(end, tokens_.size() - 1));
    const std::size_t above = comment_above(token(start_).line);
    declaration.first_line = above < comments_.size() ? comments_[above].token.line : token(start_).line;
    for (std::size_t i = above; i < comments_.size() && comments_[i].token.line < token(start_).line; ++i)
      declaration.comment += (i == above ? "" : "\n") + comment_text(comments_[i].token.text);
    declaration.remark = comment_behind(text_line(std::min(end, tokens_.size() - 1)));
    const int before = declaration.first_line - 2;  // as an index into lines_
    declaration.after_blank = first_ || before < 0 || lines_[static_cast<std::size_t>(before)].empty();
    found_.push_back(std::move(declaration));
    return found_.back();
  }

  // The first of the comments that stand directly above `line`, each alone on its line; their number if none.
  std::size_t comment_above(int line) const {
    std::size_t first = comments_.size();
    for (std::size_t i = comments_.size(); i-- > 0;) {
      if (comments_[i].token.last_line >= line) continue;
      if (comments_[i].token.last_line != line - 1 || !comments_[i].alone || continues(i)) break;
      first = i;
      line = comments_[i].token.line;
    }
    return first;
  }

  // Whether a comment goes on with the one at the end of the line before: same column, one line further.
  bool continues(std::size_t i) const {
    if (i == 0 || !comments_[i].alone) return false;
    const Token &before = comments_[i - 1].token, &token = comments_[i].token;
    return before.last_line == token.line - 1 && before.column == token.column &&
           (!comments_[i - 1].alone || continues(i - 1));
  }

  std::string comment_behind(int line) const {
    for (std::size_t i = 0; i < comments_.size(); ++i)
      if (comments_[i].token.line == line && !comments_[i].alone) {
        std::string result = comment_text(comments_[i].token.text);
        while (++i < comments_.size() && continues(i)) result += "\n" + comment_text(comments_[i].token.text);
        return result;
      }
    return "";
  }

  // The source between two tokens on one line, without comments.
  std::string joined(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t i = begin; i < end && i < tokens_.size(); ++i) {
      if (i > begin && tokens_[i - 1].text.data() + tokens_[i - 1].text.size() != tokens_[i].text.data())
        result += ' ';
      result += tokens_[i].text;
    }
    return result;
  }

  std::vector<std::string> lines_;
  std::vector<Token> tokens_;
  std::vector<Comment> comments_;
  std::vector<Declaration> found_;
  std::size_t at_ = 0, start_ = 0;
  bool first_ = false;
};

}  // namespace

std::vector<Declaration> declarations(std::string_view source) { return Scanner(source).scan(); }

std::string qualified(const Declaration& declaration) {
  return declaration.scope.empty() ? declaration.name : declaration.scope + "::" + declaration.name;
}

}  // namespace attn::press
