// Rows of tokens in boxes: a sentence cut three ways, a corrupted one and its target, a gap filled in.
//
//   token_rows({{.name = "words", .detail = "3 tokens", .tokens = {"the", "cats", "sat"}},
//               {.name = "pieces", .tokens = {"the", {"cat", 1}, {"s", 1}, "sat"}}});
//
// A row that is too long goes on in the next line. Blanks, line feeds and tabs are made visible.
#pragma once

#include <string>   // string
#include <utility>  // move
#include <vector>   // vector

#include "core/viz/image.hpp"

namespace attn::viz {

struct Token {
  std::string text;
  int color;         // of the palette; -1 is plain
  std::string note;  // below the box, small: an id, a probability

  Token(const char* text, int color = -1, std::string note = {})
      : Token(std::string(text), color, std::move(note)) {}
  Token(std::string text, int color = -1, std::string note = {})
      : text(std::move(text)), color(color), note(std::move(note)) {}
};

struct TokenRow {
  std::string name = {};    // at the left, bold
  std::string detail = {};  // below the name, small
  std::vector<Token> tokens = {};
  bool boxed = true;  // false: flowing text, for samples
};

struct TokenOptions {
  std::string title = {};
  std::vector<Token> legend = {};  // what the colours mean
  int width = 820;                 // at most; narrower when that is enough
};

Image token_rows(const std::vector<TokenRow>& rows, const TokenOptions& options = {});

// Tokens of one colour, from their texts.
std::vector<Token> plain_tokens(const std::vector<std::string>& texts, int color = -1);

}  // namespace attn::viz
