#include "core/text.hpp"

#include <unistd.h>  // isatty

#include <algorithm>     // any_of, max
#include <cerrno>        // errno
#include <cstdlib>       // getenv
#include <filesystem>    // is_directory
#include <fstream>       // ifstream
#include <iterator>      // istreambuf_iterator
#include <sstream>       // istringstream
#include <system_error>  // error_code, generic_category

#include "core/error.hpp"

namespace attn {
namespace {

constexpr char32_t replacement = 0xFFFD;

struct Range {
  char32_t first, last;
};

template <std::size_t count>
bool is_in(const Range (&ranges)[count], char32_t code) {
  return std::any_of(ranges, ranges + count, [=](Range r) { return r.first <= code && code <= r.last; });
}

// Unicode's East_Asian_Width W and F: Hangul, Chinese, Japanese, full-width forms, emoji.
constexpr Range wide[] = {{0x1100, 0x115F},   {0x2329, 0x232A},   {0x2E80, 0x303E},   {0x3041, 0x3247},
                          {0x3250, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},
                          {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
                          {0xFFE0, 0xFFE6},   {0x16FE0, 0x1B2FF}, {0x1F200, 0x1F64F}, {0x1F680, 0x1F6FF},
                          {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};
constexpr std::u32string_view wide_symbols =
    U"⌚⌛⏩⏪⏫⏬⏰⏳◽◾☔☕♈♉♊♋♌♍♎♏♐♑♒♓♿⚓⚡⚪⚫⚽"
    U"⚾⛄⛅⛎⛔⛪⛲⛳⛵⛺⛽✅✊✋✨❌❎❓❔❕❗➕➖➗➰➿⬛⬜⭐⭕";
// Control characters, combining marks, Hangul vowels and finals that join an initial, joiners.
constexpr Range zero_width[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x300, 0x36F},   {0x483, 0x489},
                                {0x591, 0x5BD},   {0x64B, 0x65F},   {0x1160, 0x11FF}, {0x1AB0, 0x1AFF},
                                {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x2060, 0x2064}, {0x20D0, 0x20FF},
                                {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

Index width_of(char32_t code) {
  if (code >= 0x20 && code < 0x7F) return 1;
  if (is_in(zero_width, code)) return 0;
  return is_in(wide, code) || wide_symbols.find(code) != wide_symbols.npos ? 2 : 1;
}

bool is_scalar(char32_t code) { return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF); }

// Past the colour code (ESC [ … letter) that starts at text[at].
std::size_t after_escape(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\x1b[") return at + 1;
  const std::size_t last = text.find_first_not_of("0123456789;", at + 2);
  return last == std::string_view::npos ? text.size() : last + 1;
}

}  // namespace

Character long_character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  const Character invalid{replacement, text.substr(at, 1), false};
  // 110xxxxx, 1110xxxx and 11110xxx start 2, 3 and 4 bytes; the rest are 10xxxxxx.
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC0 || first > 0xF4 || at + length > text.size()) return invalid;
  char32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return invalid;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};  // a longer form than needed is invalid
  if (code < smallest[length] || !is_scalar(code)) return invalid;
  return {code, text.substr(at, length), true};
}

std::string to_utf8(char32_t code) {
  if (!is_scalar(code)) code = replacement;
  if (code < 0x80) return {static_cast<char>(code)};
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  std::string bytes(1 + more, 0);
  for (int i = more; i > 0; --i, code >>= 6) bytes[i] = static_cast<char>(0x80 | (code & 0x3F));
  bytes[0] = static_cast<char>(0xF0 << (3 - more) | code);
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

Index display_width(std::string_view text) {
  Index width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    width += width_of(c.code);
    at = c.code == 0x1B ? after_escape(text, at) : at + c.bytes.size();
  }
  return width;
}

std::string clipped(std::string_view text, Index width) {
  std::string kept;
  for (const Character& c : characters(text)) {
    width -= width_of(c.code);
    if (width < 0) break;
    kept += c.valid ? std::string(c.bytes) : to_utf8(c.code);
  }
  return kept;
}

std::string padded(std::string_view text, Index width, Align align) {
  const Index missing = std::max<Index>(0, width - display_width(text));
  const Index left = align == Align::left ? 0 : align == Align::right ? missing : missing / 2;
  return std::string(left, ' ').append(text).append(missing - left, ' ');
}

std::vector<std::string> wrap(std::string_view text, const Wrapping& wrapping) {
  std::vector<std::string> lines;
  std::string line = wrapping.first;
  bool empty = true;  // no word on this line yet
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word; empty = false) {
    if (!empty && wrapping.measure(line + " " + word) > wrapping.width) {
      lines.push_back(line);
      line = wrapping.rest;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
  }
  if (!empty) lines.push_back(line);
  return lines;
}

std::string wrapped(std::string_view text, const Wrapping& wrapping) {
  std::string result;
  for (const std::string& line : wrap(text, wrapping)) result += line + "\n";
  return result;
}

std::string single_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  return text;
}

bool on_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

bool in_color() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value ? value : "");
  };
  return on_terminal() && variable("NO_COLOR").empty() && !variable("TERM").empty() &&
         variable("TERM") != "dumb";
}

std::string colored(const char* code, const std::string& text, bool color) {
  return color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string read_file(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) fail("cannot read {}: it is a folder", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read {}: {}", path, std::generic_category().message(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace attn
