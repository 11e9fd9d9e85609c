#include "nn/text/utf8.hpp"

#include <fmt/format.h>  // format

namespace attn {

Character long_character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  const Character invalid{0xFFFD, text.substr(at, 1), false};
  // 110xxxxx, 1110xxxx and 11110xxx start 2, 3 and 4 bytes; the rest are 10xxxxxx.
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC0 || first > 0xF4 || at + length > text.size()) return invalid;
  char32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return invalid;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = 0xD800 <= code && code <= 0xDFFF;
  if (code < smallest[length] || surrogate || code > 0x10FFFF) return invalid;
  return {code, text.substr(at, length), true};
}

std::string to_utf8(char32_t code) {
  std::string bytes;
  const auto put = [&](char32_t byte) { bytes += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return bytes;
}

std::size_t first_invalid_byte(std::string_view text) {
  std::size_t at = 0;
  for (const Character& c : characters(text)) {
    if (!c.valid) return at;
    at += c.bytes.size();
  }
  return std::string_view::npos;
}

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
  for (const std::string_view word : split_at_spaces(text)) {
    if (!normal.empty()) normal += ' ';
    normal += word;
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
