// Toy languages: any amount of text with known rules, from the grammars in this folder.
//
//   english_french().generate(20000, seed)    "The cat sleeps." -> "Le chat dort."
//   english_korean().generate(20000, seed)    "The cat eats an apple." -> "고양이는 사과를 먹어요."
//   small_stories(1000, seed)                 three to six sentences each, for a language model
//   labelled_sentences(1000, seed)            opinions: positive or not, and the part of speech of each word
//
// The same seed gives the same text on any machine. Nothing is read from disk: the grammars are compiled in.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "nn/text/grammar.hpp"

namespace attn {

const Grammar& english_french();
const Grammar& english_korean();

std::vector<std::string> small_stories(Index count, std::uint64_t seed);

struct LabelledSentence {
  std::string text;
  bool positive;
  std::vector<std::string> words, tags;  // split_words(text), and the tag of each word
};
std::vector<LabelledSentence> labelled_sentences(Index count, std::uint64_t seed,
                                                 Grammar::Part part = Grammar::Part::all);

}  // namespace attn
