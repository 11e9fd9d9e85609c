// Text: UTF-8, its width on a terminal, wrapping, colour, and reading a file.
//
//   for (const Character& c : characters("l'été")) …               c.code, c.bytes, c.valid
//   display_width("나는")                                            4: a Hangul syllable takes two columns
//   wrapped(paragraph, {.width = 80, .first = "✓ ", .rest = "  "})   lines of at most 80 columns
//
// Text is a std::string of bytes and may hold anything. A byte that is no part of valid UTF-8 (overlong forms
// and surrogates are not valid) comes out alone, as U+FFFD with valid == false; so the `bytes` of all
// characters, put together, are always the text itself. Positions are std::size_t, as those of std::string.
// Grapheme clusters are not known here: a family of emoji is as wide as its members.
#pragma once

#include <cstdio>       // FILE, stdout
#include <functional>   // function
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/index.hpp"

namespace attn {

// UTF-8.

struct Character {
  char32_t code;           // U+FFFD if invalid
  std::string_view bytes;  // 1 to 4 bytes of the text
  bool valid;
};

// The character that starts at text[at], where at < text.size().
Character long_character_at(std::string_view text, std::size_t at);
inline Character character_at(std::string_view text, std::size_t at) {
  const unsigned char first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, text.substr(at, 1), true};
  return long_character_at(text, at);
}

// The characters of a text, for a range-based for.
struct Characters {
  class Iterator {
   public:
    Iterator(std::string_view text, std::size_t at) : text_(text), at_(at) { read(); }
    const Character& operator*() const { return character_; }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }
    Iterator& operator++() {
      at_ += character_.bytes.size();
      read();
      return *this;
    }

   private:
    void read() {
      if (at_ < text_.size()) character_ = character_at(text_, at_);
    }
    std::string_view text_;
    std::size_t at_;
    Character character_{};
  };

  std::string_view text;
  Iterator begin() const { return {text, 0}; }
  Iterator end() const { return {text, text.size()}; }
};
inline Characters characters(std::string_view text) { return {text}; }

std::string to_utf8(char32_t code);                     // U+FFFD for what is not a character
std::size_t first_invalid_byte(std::string_view text);  // npos if all is valid

// Columns on a terminal. Hangul, Chinese, Japanese, full-width forms and emoji take two columns; combining
// marks, control characters and colour codes none.

enum class Align { left, center, right };

Index display_width(std::string_view text);
std::string clipped(std::string_view text, Index width);  // as much of its start as fits
std::string padded(std::string_view text, Index width, Align align = Align::left);  // a wider text stays

struct Wrapping {
  double width = 100;      // of a line, in the unit of `measure`
  std::string first = "";  // what the first line begins with
  std::string rest = "";   // what every other line begins with
  std::function<double(std::string_view)> measure = display_width;
};

// Lines broken at blanks and line ends; a word that is wider than a line stays whole, on a line of its own.
std::vector<std::string> wrap(std::string_view text, const Wrapping& wrapping = {});
std::string wrapped(std::string_view text, const Wrapping& wrapping = {});  // each line with its line end

std::string single_line(std::string text);  // line ends, tabs and all control characters become blanks

// The terminal.

bool on_terminal(std::FILE* stream = stdout);
bool in_color();  // standard output is a terminal that shows colours, and NO_COLOR is not set
// "1;31" is bold red; without `color`, the text as it is.
std::string colored(const char* code, const std::string& text, bool color = in_color());

// The whole file; throws Error if it cannot be read.
std::string read_file(const std::string& path);

}  // namespace attn
