// The texts of lesson 16: opinions with labels and tags, and small stories, as numbers.
//
// [CLS] stands in front of each sentence, [SEP] behind it, [MASK] for a gap. The opinions are without `not`:
// turning a word around takes more labels than the classifiers of the lesson get. With it, all are near 50%.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "nn/text/batching.hpp"
#include "nn/text/vocabulary.hpp"

namespace attn {

constexpr int not_asked = -100;  // a target that does not count: cross_entropy passes over it

struct Words {
  WordVocabulary vocabulary;
  int cls = vocabulary.special("[CLS]"), sep = vocabulary.special("[SEP]"),
      mask = vocabulary.special("[MASK]");

  static Words learn(const std::vector<std::vector<std::string>>& sentences);
  std::vector<int> encode(const std::vector<std::string>& words) const;  // [CLS] … [SEP]
  int random_word(Rng& rng) const;                                       // none of the special ones
};

struct Example {
  std::vector<int> ids, tags;  // tags: one for each id, not_asked for [CLS] and [SEP]
  int label;                   // 1: positive
};

struct Data {
  Words words;
  std::vector<std::string> tag_names;
  std::vector<Example> training, test;  // every test sentence has words together that never met in training
};
Data load_opinions(Index training, Index test, std::uint64_t seed);

struct Stories {
  Words words;
  std::vector<std::vector<std::vector<int>>> stories;  // each a list of sentences, with [CLS] and [SEP]
};
Stories load_stories(Index count, std::uint64_t seed);

struct PairInput {
  Tokens tokens;               // (B, T)
  IntTensor segments, labels;  // (B, T) of 0 and 1; (B): 1 if it really followed
};
// The opening of a story, one of `first` to `end`, and what followed or a sentence of another, in one row.
PairInput draw_pairs(const Stories& pairs, Index B, Index first, Index end, Rng& rng);

// Batches, padded.
Tokens tokens_of(const std::vector<const Example*>& examples);     // (B, T)
IntTensor labels_of(const std::vector<const Example*>& examples);  // (B)
IntTensor tags_of(const std::vector<const Example*>& examples);    // (B, T), padded with not_asked

// `count` random examples, the same ones for the same seed; or all of them.
std::vector<const Example*> pick(const std::vector<Example>& examples, Index count, std::uint64_t seed);
std::vector<const Example*> all_of(const std::vector<Example>& examples);

}  // namespace attn
