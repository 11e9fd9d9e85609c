// UTF-8: text as the characters people see, and what kind of character each is.
//
//   for (const Character& c : characters("l'été")) …      c.code, c.bytes, c.valid
//
// Text is a std::string of bytes and may hold anything. A byte that is no part of valid UTF-8 (overlong forms
// and lone surrogates are not valid) comes out alone, as U+FFFD with valid == false; so the `bytes` of all
// characters, put together, are always the text itself.
// `kind` knows the blocks that matter for cutting text into words, not the whole Unicode database.
#pragma once

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn {

struct Character {
  char32_t code;           // U+FFFD if invalid
  std::string_view bytes;  // 1 to 4 bytes of the text
  bool valid;
};

// The character that starts at text[at].
Character long_character_at(std::string_view text, std::size_t at);
inline Character character_at(std::string_view text, std::size_t at) {
  const unsigned char first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, text.substr(at, 1), true};
  return long_character_at(text, at);
}

// The characters of a text, for a range-based for.
class Characters {
 public:
  class Iterator {
   public:
    Iterator(std::string_view text, std::size_t at) : text_(text), at_(at) { read(); }
    const Character& operator*() const { return character_; }
    const Character* operator->() const { return &character_; }
    Iterator& operator++() {
      at_ += character_.bytes.size();
      read();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    void read() {
      if (at_ < text_.size()) character_ = character_at(text_, at_);
    }
    std::string_view text_;
    std::size_t at_;
    Character character_{};
  };

  explicit Characters(std::string_view text) : text_(text) {}
  Iterator begin() const { return {text_, 0}; }
  Iterator end() const { return {text_, text_.size()}; }

 private:
  std::string_view text_;
};
inline Characters characters(std::string_view text) { return Characters(text); }

std::string to_utf8(char32_t code);
std::size_t first_invalid_byte(std::string_view text);  // npos if all is valid

enum class Kind { space, letter, digit, symbol };
Kind kind_beyond_ascii(char32_t code);
inline Kind kind(char32_t code) {  // every space of Unicode is a space: U+00A0 and U+202F, too
  if (code >= 0x80) return kind_beyond_ascii(code);
  if (((code | 0x20) >= 'a') && ((code | 0x20) <= 'z')) return Kind::letter;
  if (code == ' ' || (code >= '\t' && code <= '\r') || (code >= 0x1C && code <= 0x1F)) return Kind::space;
  return code >= '0' && code <= '9' ? Kind::digit : Kind::symbol;
}

std::vector<std::string_view> split_at_spaces(std::string_view text);
std::string normalize_spaces(std::string_view text);  // one plain space between words, none at the ends
std::string capitalize(std::string_view text);        // the first letter, for ASCII and the accents of French
std::string printable(std::string_view text);  // spaces as ␣, control and invalid bytes as <0A>: for labels

// Hangul syllables are laid out by arithmetic: U+AC00 + (initial * 21 + vowel) * 28 + final. So the final
// consonant (받침), on which the choice of a particle hangs, is the remainder by 28; 0 means none.
inline bool is_hangul(char32_t code) { return 0xAC00 <= code && code <= 0xD7A3; }
inline bool has_final_consonant(char32_t code) { return is_hangul(code) && (code - 0xAC00) % 28 != 0; }

}  // namespace attn
