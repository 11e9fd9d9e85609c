// Exercise 13: batches, decoding and a score for a translator.
//
// pad = 0, bos = 1 and eos = 2 are tokens, words are 3 and up. IntTensor({B, T}) makes a table of
// integers to be filled (-1 until then); its elements are x(b, t), and x.shape()[1] is T. Each function
// may use the ones above it.
//
// Replace every todo(), then: make check-13
#pragma once

#include "lessons/13_translator/types.hpp"

namespace exercise {

// Target sentences as one batch for teacher forcing. The decoder reads bos and the words; beside each it
// has to write the token that comes next, and eos after the last word. Shorter rows are filled up with
// pad at the end. A sentence may be empty.
//   B sentences -> reads (B,T), writes (B,T), where T is the length of the longest sentence + 1
//   dictate({{5, 6}, {7}}) = reads [[1, 5, 6], [1, 7, 0]], writes [[5, 6, 2], [7, 2, 0]]
Dictation dictate(const std::vector<Sentence>& targets) {
  todo();  // your answer
}

// Who may see whom? In the encoder every query sees every real (not pad) key. In the decoder it sees the real
// keys up to its own place. In cross-attention the queries are the decoder's, the keys the source's: the real
// ones. Queries that are pad themselves follow the same rules: nobody uses what they see.
//   source (B,S), reads (B,T) -> encoder (B,S,S), decoder (B,T,T), cross (B,T,S), of 1 and 0
//   three_masks([[3, 2, 0]], [[1, 4]]) = encoder [[[1,1,0], [1,1,0], [1,1,0]]], decoder [[[1,0], [1,1]]],
//                                        cross [[[1,1,0], [1,1,0]]]
ThreeMasks three_masks(const IntTensor& source, const IntTensor& reads) {
  todo();  // your answer
}

// Greedy decoding. Ask the model for the scores behind {bos} and everything written so far, take the word
// with the highest score, append it, ask again. Stop when that word is eos, or after max_length words. The
// result has neither bos nor eos in it.
//   model({1, 5}) is a vector of V scores: one for each token
//   write_greedily(model, 10) = {5, 6}      if 5 scores highest after {1}, 6 after {1,5}, eos after {1,5,6}
Sentence write_greedily(const Model& model, int max_length) {
  todo();  // your answer
}

// How many runs of n neighbouring words of the output stand in the reference, and how many runs it has at
// all. A run counts at most as often as the reference has it (it is clipped).
//   -> {matches, total}
//   clipped_matches({"the", "the", "cat"}, {"the", "cat", "sat"}, 1) = {2, 3}      (`the` counts once)
//   clipped_matches({"the", "the", "cat"}, {"the", "cat", "sat"}, 2) = {1, 2}      (`the cat`)
std::pair<int, int> clipped_matches(const Words& output, const Words& reference, int n) {
  todo();  // your answer
}

// BLEU of a whole test, one reference a sentence: 100 · min(1, e^(1 − r/c)) · (p₁ p₂ p₃ p₄)^¼. p_n is the sum
// of all sentences' matches over the sum of all their totals; c is the number of words of all outputs, r that
// of all references. If some p_n has no match at all, the score is 0.
//   corpus_bleu({{"a","b","c","d"}}, {{"a","b","c","d","e"}}) = 77.88      (all p_n are 1; e^(1 − 5/4))
double corpus_bleu(const std::vector<Words>& outputs, const std::vector<Words>& references) {
  todo();  // your answer
}

}  // namespace exercise
