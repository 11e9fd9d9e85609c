// Data: what the translator learns from, and what is held out to test it.
//
// A grammar writes the toy pairs (nn/text/toy_languages.hpp). They test new combinations: certain pairs of
// words ("kind" with "girls") occur in no training sentence, and every test sentence has one. A model that
// only memorised sentences fails. A corpus is split by its source sentences, so that all translations of a
// sentence are on the same side.
#pragma once

#include <memory>  // shared_ptr
#include <string>  // string
#include <vector>  // vector

#include "lessons/13_translator/settings.hpp"
#include "nn/text/corpus.hpp"
#include "nn/text/vocabulary.hpp"

namespace attn {

struct Dataset {
  std::string source_language, target_language;
  std::vector<Pair> train;                   // of a large corpus its first portion
  Index pairs = 0;                           // to train on and to test, all portions together
  std::shared_ptr<const Corpus> portions{};  // of a large corpus: takes the place of `train` in turn
  std::vector<TestSentence> validation, test;
  std::vector<std::string> unseen;   // a few of the combinations that only the test has
  Pair watched;                      // the pair whose translation is shown during training
  std::vector<Pair> dictionary;      // its words and their translations, where the order differs
  std::vector<std::string> puzzles;  // sentences that may have several translations
  std::string why_puzzling;          // a sentence; empty for a corpus
};
Dataset make_dataset(const Settings& settings);

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // the same object for bpe
};
Vocabularies learn_vocabularies(const Settings& settings, const std::vector<Pair>& train);

// The sentences of a line: each ends with its full stops, question and exclamation marks.
std::vector<std::string> split_sentences(const std::string& line);
// A sentence as the toy languages write it: single spaces, a full stop at the end, and capitals where the
// vocabulary has them: at the start if it knows the word so, elsewhere in `I` alone.
std::string tidy_sentence(const std::string& sentence, const Vocabulary& vocabulary);
std::string lower_case(std::string text);  // the letters of ASCII

}  // namespace attn
