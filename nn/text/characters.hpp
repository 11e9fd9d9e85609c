// What kind of character each is, as far as cutting text into words needs it, and a few changes of text.
//
//   for (const Character& c : characters("l'été")) kind(c.code)   letter, symbol, letter, letter, letter
//
// `kind` knows the blocks that matter for our languages, not the whole Unicode database.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/text.hpp"  // Character, characters

namespace attn {

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
// consonant (받침), which decides the form of the particle, is the remainder modulo 28; 0 means none.
inline bool is_hangul(char32_t code) { return 0xAC00 <= code && code <= 0xD7A3; }
inline bool has_final_consonant(char32_t code) { return is_hangul(code) && (code - 0xAC00) % 28 != 0; }

}  // namespace attn
