// Plain text in parts: its lines, its words, and kinds of characters (ASCII; other bytes are of no kind).
#pragma once

#include <algorithm>    // count, min
#include <cctype>       // isalnum, isalpha, isdigit, isspace
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn::press {

inline bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
inline bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)); }
inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }
inline bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

inline bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

// Without their ends: \n, \r\n or even \r\r\n.
inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  lines.reserve(std::count(text.begin(), text.end(), '\n') + 1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, text.substr(0, end).find_last_not_of('\r') + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The words between spaces.
inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t end, at = 0; (at = text.find_first_not_of(' ', at)) < text.size(); at = end) {
    end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
  }
  return words;
}

}  // namespace attn::press
