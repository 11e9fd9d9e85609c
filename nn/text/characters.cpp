#include "nn/text/characters.hpp"

#include <fmt/core.h>  // format

namespace attn {

Kind kind_beyond_ascii(char32_t code) {
  if (code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
      code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000)
    return Kind::space;
  const bool symbol = (code < 0xC0 && code != 0xAA && code != 0xB5 && code != 0xBA) || code == 0xD7 ||
                      code == 0xF7 || (code >= 0x2000 && code <= 0x2BFF) ||  // punctuation, currency, arrows
                      (code >= 0x3001 && code <= 0x303F) ||                  // 、。「」
                      (code >= 0xFE10 && code <= 0xFE6F) || (code >= 0xFF01 && code <= 0xFF0F) ||
                      (code >= 0xFF1A && code <= 0xFF20) || code == 0xFFFD || code >= 0x1F000;
  return symbol ? Kind::symbol : Kind::letter;
}

std::vector<std::string_view> split_at_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0, start = 0;
  const auto close = [&] {
    if (start < at) words.push_back(text.substr(start, at - start));
  };
  for (const Character& c : characters(text)) {
    if (kind(c.code) == Kind::space) {
      close();
      start = at + c.bytes.size();
    }
    at += c.bytes.size();
  }
  close();
  return words;
}

std::string normalize_spaces(std::string_view text) {
  std::string normal;
  normal.reserve(text.size());
  bool after_space = false;
  for (const Character& c : characters(text)) {
    const bool space = kind(c.code) == Kind::space;
    if (!space) {
      if (after_space && !normal.empty()) normal += ' ';
      normal += c.bytes;
    }
    after_space = space;
  }
  return normal;
}

std::string capitalize(std::string_view text) {
  if (text.empty()) return {};
  const Character first = character_at(text, 0);
  char32_t code = first.code;
  const bool latin1 = code >= 0xE0 && code <= 0xFE && code != 0xF7;  // à … þ stand 32 above À … Þ
  if ((code >= 'a' && code <= 'z') || latin1) code -= 0x20;
  if (code == 0x153) code = 0x152;  // œ, Œ
  if (code == first.code) return std::string(text);
  return to_utf8(code).append(text.substr(first.bytes.size()));
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const Character& c : characters(text)) {
    if (c.code == ' ')
      shown += "␣";
    else if (!c.valid || c.code < 0x20 || c.code == 0x7F)
      shown += fmt::format("<{:02X}>", static_cast<unsigned char>(c.bytes[0]));
    else
      shown += c.bytes;
  }
  return shown;
}

}  // namespace attn
