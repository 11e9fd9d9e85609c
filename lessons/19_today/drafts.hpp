// Speculative decoding (Leviathan et al., 2023): a small model drafts, a large one accepts or rejects.
#pragma once

#include "lessons/19_today/models.hpp"

namespace attn {

struct Piece {  // what one pass of the large model wrote
  std::vector<int> accepted;
  int last;    // the replacement, or the bonus
  bool bonus;  // all were accepted
};

struct Written {
  std::vector<int> tokens;
  std::vector<Piece> pieces;
  Index passes = 0;  // of the large model
};

// Token by token, as in lesson 14.
Written write_alone(const Gpt& model, const std::vector<int>& prompt, Index count, double temperature,
                    Rng& rng);
// The draft proposes k tokens, one pass of the large model judges them all.
Written write_with_draft(const Gpt& model, const Gpt& draft, const std::vector<int>& prompt, Index count,
                         Index k, double temperature, Rng& rng);

// A model's distribution of the token after a text.
std::vector<double> next_distribution(const Gpt& model, const std::vector<int>& text, double temperature);

struct DraftPair {
  Gpt draft, model;
};
// A draft of one block, and a model of four blocks of twice the width and four more that read many weights
// and change nothing. `config` is the draft's.
DraftPair train_pair(const Course& course, TransformerConfig config, std::uint64_t seed);

}  // namespace attn
