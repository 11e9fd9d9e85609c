// Text: every character there and back, bytes that are not UTF-8, columns, wrapping, and files.
#include <doctest/doctest.h>

#include <fstream>  // ofstream
#include <random>   // mt19937_64
#include <string>   // string
#include <vector>   // vector

#include "core/base64.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;

namespace {

using Lines = std::vector<std::string>;

std::u32string codes_of(std::string_view text) {
  std::u32string codes;
  for (const Character& c : characters(text)) codes += c.code;
  return codes;
}

}  // namespace

TEST_CASE("characters come out with their code and their bytes") {
  std::vector<std::size_t> lengths;
  for (const Character& c : characters("aé한😀")) {
    lengths.push_back(c.bytes.size());
    CHECK(c.valid);
  }
  CHECK(codes_of("aé한😀") == U"aé한😀");
  CHECK(lengths == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(codes_of("").empty());
}

TEST_CASE("every scalar value survives encoding and decoding, in the fewest bytes") {
  struct Range {
    char32_t first, last;
    std::size_t bytes;
  };
  for (const Range range :
       {Range{0, 0x7F, 1}, {0x80, 0x7FF, 2}, {0x800, 0xD7FF, 3}, {0xE000, 0xFFFF, 3}, {0x10000, 0x10FFFF, 4}})
    for (char32_t code = range.first; code <= range.last; ++code) {
      const std::string bytes = to_utf8(code);
      const Character c = character_at(bytes, 0);
      if (!c.valid || c.code != code || c.bytes != bytes || bytes.size() != range.bytes) FAIL("U+", code);
    }
  for (const char32_t code : {0xD800, 0xDFFF, 0x110000, 0x7FFFFFFF}) CHECK(to_utf8(code) == "\uFFFD");
}

TEST_CASE("a byte that is not UTF-8 comes out alone and marked") {
  const std::string invalid[] = {"\x80",              // a continuation of nothing
                                 "\xC3",              // cut off
                                 "\xE2\x82",          // cut off
                                 "\xF0\x9F\x98",      // cut off
                                 "\xC3(",             // no continuation
                                 "\xC0\xAF",          // a slash in two bytes
                                 "\xE0\x80\xAF",      // in three
                                 "\xF0\x80\x80\xAF",  // in four
                                 "\xED\xA0\x80",      // half of a surrogate pair
                                 "\xF4\x90\x80\x80",  // beyond Unicode
                                 "\xF8\x88\x80\x80\x80",
                                 "\xFE",
                                 "\xFF"};
  for (const std::string& text : invalid) {
    CAPTURE(text.size());
    const Character c = character_at(text, 0);
    CHECK_FALSE(c.valid);
    CHECK(c.code == 0xFFFD);
    CHECK(c.bytes.size() == 1);
    CHECK(first_invalid_byte("ok é" + text) == 5);
    CHECK(codes_of(text).size() == text.size());
    CHECK(display_width(text) == Index(text.size()));
  }
  CHECK_FALSE(character_at(std::string_view("é").substr(0, 1), 0).valid);  // though the rest lies behind it
  CHECK(first_invalid_byte("tout va bien: é 한") == std::string::npos);
}

TEST_CASE("the bytes of all characters are the text, for random bytes") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string text, again;
    for (int i = 0; i < 33; ++i) text += static_cast<char>(random() & (round % 2 ? 0xFF : 0xF7));
    for (const Character& c : characters(text)) again += c.bytes;
    CHECK(again == text);
    for (const Index width : {0, 1, 7, 33})
      CHECK(first_invalid_byte(clipped(text, width)) == std::string::npos);
    CHECK_NOTHROW(wrapped(padded(text, 40), {.width = 7}));
  }
}

TEST_CASE("Hangul, Chinese, full-width forms and emoji take two columns, combining marks and colours none") {
  const std::pair<const char*, Index> widths[] = {{"", 0},
                                                  {"abc", 3},
                                                  {"été", 3},
                                                  {"e\u0301te\u0301", 3},
                                                  {"한", 2},
                                                  {"나는 간다", 9},
                                                  {"漢字かな", 8},
                                                  {"ＡＢ！", 6},
                                                  {"😀", 2},
                                                  {"✅ ok", 5},
                                                  {"❤\uFE0F", 1},
                                                  {"\u1112\u1161\u11AB", 2},
                                                  {"→ ✓ ✔ ✘ █ ▀ ⏎ ␣ √ ᵀ", 19},
                                                  {"a\tb\n", 2},
                                                  {"\x1b[1;31mred\x1b[0m", 3},
                                                  {"\x1b[38;2;1;2;3m한\x1b[0m", 2},
                                                  {"\x1b[", 0},
                                                  {"\x1b", 0}};
  for (const auto& expected : widths) {
    CAPTURE(expected.first);
    CHECK(display_width(expected.first) == expected.second);
  }
}

TEST_CASE("text is padded and clipped to columns, not bytes") {
  CHECK(padded("é", 3) == "é  ");
  CHECK(padded("한", 5, Align::right) == "   한");
  CHECK(padded("한", 5, Align::center) == " 한  ");
  CHECK(padded("\x1b[1mab\x1b[0m", 3) == "\x1b[1mab\x1b[0m ");
  CHECK(padded("longer", 3) == "longer");
  CHECK(clipped("한글", 3) == "한");
  CHECK(clipped("한글", 4) == "한글");
  CHECK(clipped("e\u0301te", 1) == "e\u0301");
  CHECK(clipped("a\xFF", 2) == "a\uFFFD");
  CHECK(clipped("abc", 0).empty());
}

TEST_CASE("paragraphs are wrapped to columns, with Hangul counted twice") {
  std::string korean, english;
  for (int i = 0; i < 40; ++i) korean += "나는 고양이를  봅니다.\n", english += "some words, été ";
  for (const double width : {40.0, 80.0})
    for (const std::string& text : {korean, english}) {
      std::string again;
      const Lines lines = wrap(text, {.width = width, .first = "1. ", .rest = "   "});
      for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(lines[i].starts_with(i == 0 ? "1. " : "   "));
        CHECK(double(display_width(lines[i])) <= width);
        // The first word of the next line would not have fitted.
        const std::string next = i + 1 < lines.size() ? lines[i + 1].substr(3) : std::string(100, 'x');
        CHECK(double(display_width(lines[i] + " " + next.substr(0, next.find(' ')))) > width);
        again += (i == 0 ? "" : " ") + lines[i].substr(3);
      }
      CHECK(Lines{again} == wrap(text, {.width = 1e9}));
    }
  CHECK(wrap("나는 가 다", {.width = 7}) == Lines{"나는 가", "다"});
  CHECK(wrap("나는 가 다", {.width = 6}) == Lines{"나는", "가 다"});
}

TEST_CASE("a word that is wider than the line stays whole, and nothing makes no line") {
  CHECK(wrap("see lessons/06_self_attention here", {.width = 10}) ==
        Lines{"see", "lessons/06_self_attention", "here"});
  CHECK(wrap("lessons/06_self_attention", {.width = 10, .first = "- "}) ==
        Lines{"- lessons/06_self_attention"});
  CHECK(wrap(" \n ").empty());
  CHECK(wrapped("").empty());
  CHECK(wrapped("a b c", {.width = 3, .rest = " "}) == "a b\n c\n");
}

TEST_CASE("colour codes are not counted when text is wrapped") {
  const std::string red = "\x1b[31mred\x1b[0m";
  CHECK(wrap(red + " " + red + " " + red, {.width = 7}) == Lines{red + " " + red, red});
  CHECK(colored("31", "red", true) == red);
  CHECK(colored("31", "red", false) == "red");
}

TEST_CASE("a file is read as it is, and one that cannot be read is an error of one line") {
  const TemporaryFolder folder;
  const std::string bytes("a\r\n\0\xFF é", 8);
  std::ofstream(folder / "file", std::ios::binary) << bytes;
  CHECK(read_file(folder / "file") == bytes);
  CHECK_THROWS_WITH_AS(read_file(folder / "none"),
                       ("cannot read " + (folder / "none").string() + ": No such file or directory").c_str(),
                       Error);
  CHECK_THROWS_WITH_AS(read_file(folder.path),
                       ("cannot read " + folder.path.string() + ": it is a folder").c_str(), Error);
}

TEST_CASE("base64 pads to whole groups of four digits") {
  CHECK(base64("") == "");
  CHECK(base64("M") == "TQ==");
  CHECK(base64("Ma") == "TWE=");
  CHECK(base64("Man") == "TWFu");
  CHECK(base64(std::string("\xff\x00\xfe", 3)) == "/wD+");
}

TEST_CASE("base64 of any length is decoded") {
  CHECK(decode_base64("") == "");
  CHECK(decode_base64("TQ==") == "M");
  CHECK(decode_base64("TWE=") == "Ma");
  CHECK(decode_base64("TWFu") == "Man");
  CHECK(decode_base64("/+8A") == std::string("\xff\xef\0", 3));
}
