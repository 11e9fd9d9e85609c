#include <doctest/doctest.h>

#include "nn/text/characters.hpp"

using namespace attn;

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
