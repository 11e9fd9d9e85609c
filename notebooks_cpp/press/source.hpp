// What a source file declares: its tokens, and the functions, types, aliases and variables with their
// comments.
//
//   for (const Declaration& each : declarations("Tensor relu(const Tensor& x);  // max(x, 0)\n"))
//     each.name      "relu"
//     each.signature "Tensor relu(const Tensor& x)"
//     each.remark    "max(x, 0)"
//
// This is a scanner for the code of this project, not a C++ parser. It knows namespaces, classes and where a
// declaration begins and ends; it skips the bodies of functions; it does not know types, does not expand
// macros and takes every branch of an #if. Where `a < b` could be a comparison or a template it takes the
// template, which is right for declarations as they are written here (defaults and initialisers are skipped
// whole).
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn::press {

struct Token {
  enum class Kind { Word, Number, String, Character, Symbol, Comment, Directive };
  Kind kind;
  std::string_view text;  // into the source; a Directive is a whole line that begins with #
  int line, last_line;    // from 1
  int column;             // from 0, in bytes
};

// Everything but the space between. Symbols are single characters, but for `::` and `->`.
std::vector<Token> tokens(std::string_view source);

struct Declaration {
  enum class Kind { Function, Type, Alias, Variable };
  Kind kind = Kind::Function;
  std::string name;          // "softmax", "operator+", "~Tensor"
  std::string scope;         // of a member: "Characters::Iterator"
  std::string within;        // the namespaces around: "attn::viz"
  std::string signature;     // on one line, without body, initialisers of a constructor and semicolon
  std::string comment;       // the comment above it; lines kept
  std::string remark;        // the comment at the end of its line
  std::string parameters;    // "const Tensor&x,int axis": without defaults, to tell overloads apart
  int line = 0;              // where its name stands
  int first_line = 0;        // where it or the comment above it begins
  int last_line = 0;         // where its body or its semicolon ends
  bool defined = false;      // has its body here, or never has one (= default)
  bool internal = false;     // private, or in a namespace that is nameless or called detail
  bool after_blank = false;  // a blank line stands before it, or the beginning of its scope
};

// In the order of the source; a type comes before its members. One statement that declares several variables
// gives one declaration for each. Forward declarations of types and friends are left out.
std::vector<Declaration> declarations(std::string_view source);

std::string qualified(const Declaration& declaration);  // "Rng::split": the scope, if any, and the name

// The text of a comment: without the slashes and the space behind them, lines kept.
std::string comment_text(std::string_view comment);

// A string literal, or several side by side as the compiler joins them, from tokens[at] on: the text that
// they stand for. `at` moves behind them. Throws if no literal stands there.
std::string string_literal(const std::vector<Token>& tokens, std::size_t& at);

std::vector<std::string> lines_of(std::string_view text);

}  // namespace attn::press
