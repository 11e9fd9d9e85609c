#include <doctest/doctest.h>

#include <random>  // mt19937_64
#include <string>
#include <vector>

#include "nn/text/utf8.hpp"

using namespace attn;

TEST_CASE("characters come out with their code and their bytes") {
  std::vector<char32_t> codes;
  std::vector<std::size_t> lengths;
  for (const Character& c : characters("aé한😀")) {
    codes.push_back(c.code);
    lengths.push_back(c.bytes.size());
    CHECK(c.valid);
  }
  CHECK(codes == std::vector<char32_t>{'a', 0xE9, 0xD55C, 0x1F600});
  CHECK(lengths == std::vector<std::size_t>{1, 2, 3, 4});
}

TEST_CASE("every code point survives encoding and decoding") {
  for (char32_t code = 0; code <= 0x10FFFF; code += 7) {
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    const std::string bytes = to_utf8(code);
    const Character c = character_at(bytes, 0);
    if (c.valid == surrogate) FAIL("U+", code);
    if (!surrogate && (c.code != code || c.bytes != bytes)) FAIL("U+", code);
  }
}

TEST_CASE("a byte that is not UTF-8 comes out alone and marked") {
  const char* invalid[] = {"\x80",         "\xC0\xAF",         "\xC3", "\xE0\x80\xAF",
                           "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"};
  for (const char* text : invalid) {
    const Character c = character_at(text, 0);
    CHECK_FALSE(c.valid);
    CHECK(c.code == 0xFFFD);
    CHECK(c.bytes.size() == 1);
    CHECK(first_invalid_byte(std::string("ok é") + text) == 5);
  }
  CHECK(first_invalid_byte("tout va bien: é 한") == std::string::npos);
}

TEST_CASE("the bytes of all characters are the text, for random bytes") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string text, again;
    for (int i = 0; i < 33; ++i) text += static_cast<char>(random() & (round % 2 ? 0xFF : 0xF7));
    for (const Character& c : characters(text)) again += c.bytes;
    CHECK(again == text);
  }
}

TEST_CASE("the spaces of French typography are spaces, and its quotation marks are not letters") {
  CHECK(kind(0x202F) == Kind::space);
  CHECK(kind(0xA0) == Kind::space);
  CHECK(kind(0x3000) == Kind::space);
  CHECK(kind(U'«') == Kind::symbol);
  CHECK(kind(U'’') == Kind::symbol);
  CHECK(kind(U'é') == Kind::letter);
  CHECK(kind(U'한') == Kind::letter);
  CHECK(kind('7') == Kind::digit);
  CHECK(normalize_spaces("\u00A0Va\u202F! \t Oui ") == "Va ! Oui");
  CHECK(normalize_spaces(" \u3000") == "");
}

TEST_CASE("the final consonant of a syllable is read off its code") {
  for (const char32_t code : U"학물달강집꽃") {
    if (code) CHECK(has_final_consonant(code));
  }
  for (const char32_t code : U"가나소개의utf") {
    if (code) CHECK_FALSE(has_final_consonant(code));
  }
}

TEST_CASE("a capital is put on French letters, too") {
  CHECK(capitalize("élan") == "Élan");
  CHECK(capitalize("œuf") == "Œuf");
  CHECK(capitalize("cat") == "Cat");
  CHECK(capitalize("÷") == "÷");
  CHECK(capitalize("한글") == "한글");
  CHECK(capitalize("") == "");
}

TEST_CASE("labels show what cannot be seen") { CHECK(printable(" a\n\xFF é") == "␣a<0A><FF>␣é"); }
