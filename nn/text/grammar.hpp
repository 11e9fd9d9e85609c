// Synchronous grammars: a small language that writes sentences in two languages at once.
//
//   const Grammar& toy = english_french();                       toy_languages.hpp
//   std::vector<Pair> train = toy.generate(20000, 1, Grammar::Part::training);
//   std::vector<Pair> test = toy.generate(1000, 2, Grammar::Part::held_out);
//
// A grammar file holds rules; the first is where a sentence starts. `|` stands between the languages
// (without it both sides are alike). The right side repeats the symbols of the left in an order of its own:
//
//   feature n = one many
//   feature g = m f
//   <phrase n> = the <adjective g n> <noun g n>  | <the g n> <noun> <adjective>
//   table <noun g n>: one many | g one many
//     cat   cats   | m chat  chats
//     apple apples | f pomme pommes
//   unseen adjective noun 1 in 7
//
// feature   a variable and its values. It has one value throughout a rule: that is agreement. A value listed
//           twice is drawn twice as often.
// table     a dictionary: each row stands for one rule a form. A column is named after the values it is for
//           (one, m.one; * for any; the first that fits is taken) or after a feature whose values it lists
//           (adult,child). The cell - means that there is no such form.
// unseen    every 7th pair of rows of the two tables, those whose numbers (from 0) add up to a multiple of 7,
//           never meets in a training sentence
// vowels    `vowels aeiou | aeiouh`: the letters that count as one, in each language
//
// How words are written:
//   x+, +x    no space after, no space before         {n}   the value of a variable
//   x~y       y before a vowel: le~l'+, a~an          *x    counts as a consonant: *héros
//   x/y       x after a consonant, y after a vowel: +을/+를 (in Hangul the final consonant decides)
//   x_y       a space inside one word of the grammar
// The first word, and any after a full stop, gets a capital.
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

  // Training and held-out sentences differ by the pairs of words in them, not by luck: a pair that `unseen`
  // names is in no training sentence, and at least one is in every held-out sentence.
  enum class Part { all, training, held_out };
  std::vector<Pair> generate(Index count, std::uint64_t seed, Part part = Part::all) const;  // all distinct

  std::uint64_t size() const;  // in how many ways the start can be written

  // The pairs that are kept from training, each by the forms of both words in the source language.
  struct WordPair {
    std::vector<std::string> first, second;
  };
  std::vector<WordPair> held_out() const;

 private:
  std::shared_ptr<const GrammarRules> rules_;
};

}  // namespace attn
