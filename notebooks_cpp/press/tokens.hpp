// C++ as a stream of tokens: the highlighter colours them, the scanner (source.hpp) and the book read them.
//
//   tokens("x = 1;  // one")   ->   word x, symbol =, number 1, symbol ;, comment // one
//
// Only white space stands between tokens. Text that is not C++ gives tokens, too; more than 200,000 of them
// are an error, which keeps memory within bounds (our longest file has 10,000).
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/shape.hpp"  // Index

namespace attn::press {

struct Token {
  enum class Kind { word, number, string, character, symbol, comment, directive };
  Kind kind;
  std::string_view text;  // into the source; of a directive the name alone: `# define`
  Index line, last_line;  // from 1
  Index column;           // from 0, in bytes
  bool in_directive;      // is a directive, or on the line of one
};

// Symbols are single characters, but for `::` and `->`. The file of an #include is a string.
std::vector<Token> tokens(std::string_view source);

// The text of a comment: without the slashes and the space after them, line by line.
std::string comment_text(std::string_view comment);

// The text of the string literal at tokens[at], or of several side by side, which the compiler joins. `at`
// moves past them. Throws if there is no literal.
std::string string_literal(const std::vector<Token>& tokens, Index& at);

}  // namespace attn::press
