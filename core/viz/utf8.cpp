#include "core/viz/text.hpp"

namespace attn::viz {

std::vector<char32_t> decode_utf8(std::string_view text) {
  std::vector<char32_t> letters;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80         ? 1
                               : first >> 5 == 0x6  ? 2
                               : first >> 4 == 0xE  ? 3
                               : first >> 3 == 0x1E ? 4
                                                    : 0;
    char32_t letter = length <= 1 ? first : first & (0x7Fu >> length);
    bool valid = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; valid && k < length; ++k) {
      valid = byte(i + k) >> 6 == 2;
      letter = letter << 6 | (byte(i + k) & 0x3Fu);
    }
    constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};  // a longer form than needed is invalid
    valid = valid && letter >= smallest[length] && letter <= 0x10FFFF && (letter < 0xD800 || letter > 0xDFFF);
    letters.push_back(valid ? letter : U'\uFFFD');
    i += valid ? length : 1;
  }
  return letters;
}

std::string encode_utf8(char32_t letter) {
  std::string text;
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (letter < 0x80) {
    put(letter);
  } else if (letter < 0x800) {
    put(0xC0 | letter >> 6), put(0x80 | (letter & 0x3F));
  } else if (letter < 0x10000) {
    put(0xE0 | letter >> 12), put(0x80 | (letter >> 6 & 0x3F)), put(0x80 | (letter & 0x3F));
  } else {
    put(0xF0 | letter >> 18), put(0x80 | (letter >> 12 & 0x3F));
    put(0x80 | (letter >> 6 & 0x3F)), put(0x80 | (letter & 0x3F));
  }
  return text;
}

int terminal_width(std::string_view text) {
  int width = 0;
  for (const char32_t letter : decode_utf8(text)) {
    const bool wide = (letter >= 0x1100 && letter <= 0x115F) || (letter >= 0x2E80 && letter <= 0xA4CF) ||
                      (letter >= 0xAC00 && letter <= 0xD7A3) || (letter >= 0xF900 && letter <= 0xFAFF) ||
                      (letter >= 0xFE30 && letter <= 0xFE6F) || (letter >= 0xFF00 && letter <= 0xFF60) ||
                      (letter >= 0x1F300 && letter <= 0x1FAFF) || (letter >= 0x20000 && letter <= 0x3FFFD);
    const bool combining = letter >= 0x300 && letter <= 0x36F;
    width += combining ? 0 : wide ? 2 : 1;
  }
  return width;
}

std::string visible(std::string_view token) {
  const std::size_t first = token.find_first_not_of(' '), last = token.find_last_not_of(' ');
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool outer = first == std::string_view::npos || i < first || i > last;
    if (token[i] == '\n')
      text += "⏎";
    else if (token[i] == '\t')
      text += "⇥";
    else if (token[i] == ' ' && outer)
      text += "␣";
    else
      text += token[i];
  }
  return text;
}

std::string shorten(std::string_view text, double width, double size, bool bold) {
  if (text_width(text, size, bold) <= width) return std::string(text);
  std::string kept;
  for (const char32_t letter : decode_utf8(text)) {
    const std::string longer = kept + encode_utf8(letter);
    if (text_width(longer + "…", size, bold) > width) break;
    kept = longer;
  }
  while (!kept.empty() && kept.back() == ' ') kept.pop_back();
  return kept + "…";
}

std::vector<std::string> wrap(std::string_view text, double width, double size, bool bold) {
  std::vector<std::string> lines;
  std::string line, word;
  const auto fits = [&](const std::string& candidate) { return text_width(candidate, size, bold) <= width; };
  const auto end_line = [&] {
    if (!line.empty()) lines.push_back(line);
    line.clear();
  };
  const auto end_word = [&] {
    if (word.empty()) return;
    if (!line.empty() && !fits(line + " " + word)) end_line();
    if (line.empty() && !fits(word)) {
      for (const char32_t letter : decode_utf8(word)) {
        if (!line.empty() && !fits(line + encode_utf8(letter))) end_line();
        line += encode_utf8(letter);
      }
    } else {
      line += line.empty() ? word : " " + word;
    }
    word.clear();
  };
  for (const char c : text) {
    if (c != ' ' && c != '\n') {
      word += c;
      continue;
    }
    end_word();
    if (c == '\n') end_line();
  }
  end_word();
  end_line();
  return lines;
}

}  // namespace attn::viz
