// Synchronous grammars: a small language that writes sentences in two languages at once.
//
//   const Grammar& toy = english_french();                       toy_languages.hpp
//   std::vector<Pair> train = toy.generate(20000, 1, Grammar::Part::training);
//   std::vector<Pair> test = toy.generate(1000, 2, Grammar::Part::held_out);
//
// A grammar file holds rules; sentences start from the first. `|` separates the languages (without it both
// sides are the same). The right side repeats the symbols of the left side in its own order:
//
//   feature n = one many
//   feature g = m f
//   <phrase n> = <the g n> <adjective g n> <noun g n>  | <the> <noun> <adjective>
//   table <noun g n>: one many | g one many
//     cat   cats   | m chat  chats
//     apple apples | f pomme pommes
//   unseen adjective noun 1 in 7
//
// feature   a variable and its values. It has one value throughout a rule: that is agreement. A value listed
//           twice is chosen twice as often.
// table     a dictionary: each form of a row is one rule. A column is named after the values it is for (one,
//           m.one; * for any; the first that fits is used) or after a feature whose values it lists
//           (adult,child). The cell - means that there is no such form.
// unseen    every 7th pair of rows of the two tables, those whose numbers (from 0) add up to a multiple of 7,
//           never occurs in a training sentence
// vowels    `vowels aeiou | aeiouh`: the letters that count as vowels in each language
//
// How words are written:
//   x+, +x    no space after, no space before         {n}   the value of a variable
//   x~y       y before a vowel: le~l'+, a~an          *x    counts as a consonant: *héros
//   x/y       x after a consonant, y after a vowel: +을/+를 (in Hangul the final consonant decides)
//   x_y       a space inside one word of the grammar
// The first word, and the first after a full stop, gets a capital. A grammar may be large, but not without
// bounds: what would take its parser or its writer too long is refused.
#pragma once

#include <cstdint>      // uint64_t
#include <memory>       // shared_ptr
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "nn/text/corpus.hpp"  // Pair

namespace attn {

struct GrammarRules;

class Grammar {
 public:
  Grammar(std::string_view name, std::string_view text);  // the name is for error messages

  // Training and held-out sentences differ by rule, not by chance: a pair of words that `unseen` names occurs
  // in no training sentence, and at least one occurs in every held-out sentence.
  enum class Part { all, training, held_out };
  std::vector<Pair> generate(Index count, std::uint64_t seed, Part part = Part::all) const;  // all distinct

  // The pairs that never occur in training: the forms of both words in the source language.
  struct WordPair {
    std::vector<std::string> first, second;
  };
  std::vector<WordPair> held_out() const;

 private:
  std::shared_ptr<const GrammarRules> rules_;
};

}  // namespace attn
