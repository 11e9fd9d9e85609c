// The small translator of lesson 14, which still hesitates, and the ways to ask it.
#pragma once

#include <memory>  // unique_ptr

#include "lessons/support/lesson.hpp"
#include "nn/decode.hpp"
#include "nn/text/corpus.hpp"  // Pair
#include "nn/text/vocabulary.hpp"

namespace attn {

constexpr int pad = Vocabulary::pad, bos = Vocabulary::bos, eos = Vocabulary::eos;
constexpr Index longest = 24;  // words of a translation

struct Translator {
  std::unique_ptr<WordVocabulary> english, french;
  std::unique_ptr<Transformer> model;
  std::vector<Pair> test;
};
Translator train_translator(const Lesson& lesson, double smoothing);

std::vector<int> source_of(const Translator& t, const std::string& text);  // ends with eos
// The sum of log p over the words and the end, as the model sees a given translation.
double log_probability(const Translator& t, const std::vector<int>& source, std::vector<int> tokens);

std::vector<int> greedy_of(const Translator& t, const std::vector<int>& source);
BeamResult beams(const Translator& t, const std::vector<int>& source, Index width, double alpha);

// A way to reshape the distribution of the next word before drawing from it.
struct Setting {
  std::string name = "as it is";
  SampleOptions options = {};
  double min_p = 0;
  Index stay = 0;  // of five words, counted by hand
};
std::vector<double> reshaped(const std::vector<real>& logits, const Setting& setting);
double words_in_play(const std::vector<double>& distribution);  // e^entropy

// What the model thinks of every next word of the first test sentences, with the right words before it.
struct Guess {
  std::string where;
  std::vector<real> logits;
};
std::vector<Guess> guesses(const Translator& t, Index sentences);

// How much probability lies outside the five likeliest words, on average, and the share of sentences, drawn
// as it is, that have no word from there.
struct Tail {
  double mass, clean_sentences;
};
Tail tail_of(const Translator& t, Index sentences);

}  // namespace attn
