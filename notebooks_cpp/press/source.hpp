// What a source file declares: functions, types, aliases and variables, with their comments.
//
//   for (const Declaration& each : declarations("Tensor relu(const Tensor& x);  // max(x, 0)\n"))
//     each.name      "relu"
//     each.signature "Tensor relu(const Tensor& x)"
//     each.remark    "max(x, 0)"
//
// This is a scanner for the code of this project, not a C++ parser. It knows namespaces, classes and where a
// declaration begins and ends, and skips the bodies of functions. It does not know types, does not expand
// macros and takes every branch of an #if. Where `a < b` could be a comparison or a template it takes the
// template, which is right for declarations as we write them: defaults and initialisers are skipped whole.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/shape.hpp"  // Index

namespace attn::press {

struct Declaration {
  enum class Kind { function, type, alias, variable };
  Kind kind = Kind::function;
  std::string name;          // "softmax", "operator+", "~Tensor"
  std::string scope;         // of a member: "Characters::Iterator"
  std::string within;        // the namespaces around it: "attn::viz"
  std::string signature;     // on one line, without body, constructor initialisers and semicolon
  std::string comment;       // the comment above it, line by line
  std::string remark;        // the comment at the end of its line
  std::string parameters;    // "const Tensor&x,int axis": without defaults, to tell overloads apart
  Index line = 0;            // of its name
  Index first_line = 0;      // where it or the comment above it begins
  Index last_line = 0;       // where its body or its semicolon ends
  bool defined = false;      // has its body here, or never has one (= default)
  bool internal = false;     // private, or in a namespace that is nameless or called detail
  bool after_blank = false;  // follows a blank line, or is the first in its scope
};

// In the order of the source; a type comes before its members. A statement that declares several variables
// gives one declaration for each. Forward declarations of types and friends are left out. Throws if
// namespaces and classes are nested more than 100 deep, or there are more than 20,000 declarations.
std::vector<Declaration> declarations(std::string_view source);

std::string qualified(const Declaration& declaration);  // "Rng::split": the scope, if any, and the name

}  // namespace attn::press
