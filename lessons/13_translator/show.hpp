// Pictures of a trained translator: its losses, where it looks, where it should look, and what it considered.
#pragma once

#include "lessons/13_translator/training.hpp"

namespace attn {

// The cross-attention of one sentence and its right translation.
struct Look {
  std::vector<std::string> read, written;  // S tokens, T tokens; both end with <eos>
  std::vector<AttentionMap> cross;         // one per layer: weights (1, H, T, S) with their gradients
  double loss;                             // of the right translation, per token

  // How much each written token looks at each one read, over all heads and layers. (T, S)
  viz::Matrix mean_weights() const;
  // Does each target word of the dictionary, in some head, look most at its source word?
  bool finds(const std::vector<Pair>& dictionary) const;
};
Look look_at(const Translator& translator, const Pair& pair);

// A word of a greedy translation, how sure the model was of it, and what it would have said instead.
struct WrittenWord {
  int token;
  std::string word, second;
  double probability, second_probability;
};
std::vector<WrittenWord> written_words(const Translator& translator, const std::string& sentence);
// The sentence over whose translation it hesitates most: that with the least sure word.
std::string most_puzzling(const Translator& translator, const std::vector<std::string>& sentences);

// The weights of all heads together, for the terminal.
std::string terminal_look(const Look& look, Index columns = 100);

void show_curve(Lesson& lesson, const std::string& name, const History& history);
void show_attention(Lesson& lesson, const std::string& name, const Look& look);
// Where it looked early in training, where the gradient pulled it, and where it looks now.
void show_gradient(Lesson& lesson, const std::string& name, const Look& early, const Look& now);
void show_beam(Lesson& lesson, const std::string& name, const Translator& translator,
               const std::string& sentence, const Search& search);

}  // namespace attn
