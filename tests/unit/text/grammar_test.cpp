#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "nn/text/grammar.hpp"

using namespace attn;

namespace {

std::map<std::string, std::string> all_of(const Grammar& grammar, Grammar::Part part = Grammar::Part::all) {
  std::map<std::string, std::string> found;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (Index count = 1; count < 6; ++count) {
      std::vector<Pair> pairs;
      try {
        pairs = grammar.generate(count, seed, part);
      } catch (const Error&) {
        break;  // there are fewer
      }
      for (const Pair& pair : pairs) {
        const auto known = found.emplace(pair.source, pair.target).first;
        CHECK(known->second == pair.target);
      }
    }
  return found;
}

std::string error_of(const std::string& text) {
  try {
    Grammar("g", text).generate(1, 0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const char* const tiny = R"(
feature n = one many
feature g = m f
vowels aeiou | aeiouh
<sentence> = <the g n> <red g n> <cat g n> +.   | <the> <cat> <red> +.
table <the g n>: * | m.one f.one many
  the | le~l'+ la~l'+ les
table <red g n>: * | m.one f.one m.many f.many
  green | vert verte verts vertes
  red   | rouge rouge rouges rouges
table <cat g n>: one many | g one many
  cat   cats   | m chat chats
  hero  heroes | m *héros *héros
  apple apples | f pomme pommes
  man   men    | m homme hommes
unseen red cat 1 in 3
)";

}  // namespace

TEST_CASE("a feature has one value throughout a rule: articles and adjectives agree with their noun") {
  const std::map<std::string, std::string> expected = {
      {"The green cat.", "Le chat vert."},     {"The green cats.", "Les chats verts."},
      {"The red cat.", "Le chat rouge."},      {"The red cats.", "Les chats rouges."},
      {"The green hero.", "Le héros vert."},   {"The green heroes.", "Les héros verts."},
      {"The red hero.", "Le héros rouge."},    {"The red heroes.", "Les héros rouges."},
      {"The green apple.", "La pomme verte."}, {"The green apples.", "Les pommes vertes."},
      {"The red apple.", "La pomme rouge."},   {"The red apples.", "Les pommes rouges."},
      {"The green man.", "L'homme vert."},     {"The green men.", "Les hommes verts."},
      {"The red man.", "L'homme rouge."},      {"The red men.", "Les hommes rouges."}};
  const Grammar grammar("tiny", tiny);
  CHECK(all_of(grammar) == expected);
}

TEST_CASE("pairs that are unseen are in no training sentence, and one is in every held-out sentence") {
  const Grammar grammar("tiny", tiny);
  std::vector<std::string> sentences;
  for (const auto& [source, target] : all_of(grammar, Grammar::Part::held_out)) sentences.push_back(source);
  CHECK(sentences == std::vector<std::string>{"The green cat.", "The green cats.", "The green man.",
                                              "The green men.", "The red apple.", "The red apples."});
  CHECK(all_of(grammar, Grammar::Part::training).size() == 10);

  REQUIRE(grammar.held_out().size() == 3);
  CHECK(grammar.held_out()[0].first == std::vector<std::string>{"green"});
  CHECK(grammar.held_out()[0].second == std::vector<std::string>{"cat", "cats"});
}

TEST_CASE("words are written by their neighbours") {
  const auto write = [](const std::string& words) {
    return Grammar("g", "vowels aeiou\n<sentence> = " + words).generate(1, 0)[0].source;
  };
  CHECK(write("a~an apple and a~an cat +.") == "An apple and a cat.");
  CHECK(write("he saw a~an *old man") == "He saw a old man");  // the star hides the vowel
  CHECK(write("책 +을/+를 , 사과 +을/+를") == "책을 , 사과를");
  CHECK(write("a +-+/+-t-+ il ? court +-+/+-t-+ il ?") == "A-t-il ? court-il ?");
  CHECK(write("\"+ Yes +,\" he said +. she did not +.") == "\"Yes,\" he said. She did not.");
  CHECK(write("at_the_market") == "At the market");
  CHECK(write("+ 2 - x") == "+ 2 - X");  // a mark alone is a word
}

TEST_CASE("a value can be written, and one that is listed more often is drawn more often") {
  const Grammar grammar("g",
                        "feature x = yes yes yes no\nfeature y = 0 1 2 3 4 5 6 7 8 9\n<s> = {x} {y} <d "
                        "y>\n<d y> = <e>\n<e> = a\n<e> = b\n<e> = c\n");
  int yes = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed)
    yes += grammar.generate(1, seed)[0].source.starts_with("Yes");
  CHECK(yes > 260);
  CHECK(yes < 340);
}

TEST_CASE("values that lead nowhere are never chosen") {
  const Grammar grammar("g",
                        "feature x = a b c d e f2 g2\n<s> = <word x> <other x>\n<word c> = yes\n<other x> = "
                        "indeed\n<word b> = no\n<other2 x> = z\n");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string source = grammar.generate(1, seed)[0].source;
    CHECK((source == "Yes indeed" || source == "No indeed"));
  }
  CHECK(error_of("feature x = a b\n<s> = <word a>\n<word b> = no") ==
        "g: its first symbol cannot be written");
}

TEST_CASE("a symbol that asks for the same value twice fits only the same value") {
  const Grammar grammar(
      "g", "feature n = one two\nfeature m = one two\n<s> = {n} {m} <twice n m>\n<twice n n> = fits\n");
  std::set<std::string> sentences;
  for (const Pair& pair : grammar.generate(2, 1)) sentences.insert(pair.source);
  CHECK(sentences == std::set<std::string>{"One one fits", "Two two fits"});
  CHECK_THROWS_WITH_AS(grammar.generate(3, 1), "g: found only 2 distinct sentences, not 3", Error);
}

TEST_CASE("the same seed gives the same sentences, another seed others, and all are distinct") {
  const Grammar grammar("tiny", tiny);
  CHECK(grammar.generate(8, 1) == grammar.generate(8, 1));
  CHECK(grammar.generate(8, 1) != grammar.generate(8, 2));
  std::set<std::string> distinct;
  for (const Pair& pair : grammar.generate(16, 3)) distinct.insert(pair.source);
  CHECK(distinct.size() == 16);
  CHECK_THROWS_WITH_AS(grammar.generate(17, 3), "tiny: found only 16 distinct sentences, not 17", Error);
}

TEST_CASE("a mistake in a grammar is named with its line") {
  CHECK(error_of("\nrubbish") ==
        "g:2: a line starts with <symbol>, =, feature, table, vowels or unseen, not with 'rubbish'");
  CHECK(error_of("feature x yes no") == "g:1: write: feature name = value value …");
  CHECK(error_of("feature f = m f") == "g:1: 'f' is both a feature and a value");
  CHECK(error_of("<s> = <a q>") == "g:1: 'q' is neither a feature nor a value of one");
  CHECK(error_of("<s> = <a") == "g:1: < without >");
  CHECK(error_of("<s> = x | <a>") == "g:1: <a> occurs on the right only");
  CHECK(error_of("<s> = <a> <a>") == "g:1: <a> occurs twice on the left");
  CHECK(error_of("<s> = {x}") == "g:1: 'x' is neither a feature nor a value of one");
  CHECK(error_of("<s> = <a>") == "g: <a> with 0 values is used, but no rule defines it");
  CHECK(error_of("  = x") == "g:1: = without a <symbol> above it");
  CHECK(error_of("  x y") == "g:1: an indented line belongs to a table or starts with =");
  CHECK(error_of("table <a>: * | *\n  x") == "g:2: 1 cells for 2 columns");
  CHECK(error_of("table <a> x") == "g:1: write: table <symbol features>: columns | columns");
  CHECK(error_of("table <a>: *\n  x\nunseen a b 1 in 5") == "g:3: no table b above");
  CHECK(error_of("unseen a b") == "g:1: write: unseen table table 1 in 7");
  CHECK(error_of("") == "g: has no rules");
  CHECK(error_of("<s> = x <t>\n<t> = y\n<t> = <s>") ==
        "g: <s> leads back to itself; a grammar must be finite");
}
