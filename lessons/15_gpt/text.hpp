// The text of lesson 15: small stories or the learner's own file as characters, and windows to learn from.
#pragma once

#include "core/tensor.hpp"
#include "nn/text/vocabulary.hpp"

namespace attn {

// The text, cut into characters: the last tenth is kept back, to be guessed but never learned from.
struct Text {
  CharacterVocabulary vocabulary;
  std::vector<int> training, unseen;
  std::string training_text;
  std::string prompt;                                         // how samples begin
  bool is_own;                                                // the learner's file, of which we know nothing
  Index characters() const { return vocabulary.size() - 4; }  // without <pad>, <bos>, <eos>, <unk>
};

// `path` is the learner's file, or empty for `stories` small stories.
Text load_text(const std::string& path, Index stories, std::uint64_t seed);

// Windows of T + 1 characters: the model reads the first T and has to write the last T.
struct Windows {
  IntTensor reads, writes;  // (B, T): writes(b, t) = reads(b, t + 1), and one character more
};

Windows window_at(const std::vector<int>& text, Index start, Index T);  // (1, T)
// A batch: B of them from anywhere in the text.
Windows random_windows(const std::vector<int>& text, Index B, Index T, std::uint64_t seed);

// A text on one line, to be printed; a word without end is cut.
std::string one_line(const std::string& text);

// The share of the words it wrote that the training text has, too. Punctuation does not count, and neither
// does the last word, which may be cut off.
double known_words(const std::string& written, const Text& text);

}  // namespace attn
