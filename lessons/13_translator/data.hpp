// Data: what the translator learns from, and what is kept from it to test with.
//
// The toy pairs are written by a grammar (nn/text/toy_languages.hpp). Their test is of combinations: certain
// pairs of words ("kind" with "girls") stand in no training sentence, and one of them in every test sentence.
// Who passes cannot have learned sentences by heart. A corpus is divided by its source sentences, so that all
// translations of one are on the same side.
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
  std::vector<Pair> train;
  std::vector<TestSentence> validation, test;
  std::vector<std::string> unseen;  // a few of the combinations that only the test has
  Pair watched;                     // whose translation is shown while it gets better
  std::vector<Pair> dictionary;     // which of its words translates which, where order differs
};
Dataset make_dataset(const Settings& settings);

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // one and the same for bpe
};
Vocabularies learn_vocabularies(const Settings& settings, const std::vector<Pair>& train);

// A sentence as the toy languages write it: spaces tidied, a capital in front, a full stop at the end.
std::string tidy_sentence(const std::string& sentence);

}  // namespace attn
