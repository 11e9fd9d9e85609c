// Exercise 16: the games that BERT learns from, its classifier, and its student.
//
// pad = 0, cls = 4, sep = 5 and mask = 6 are special tokens, words are first_word = 7 and up. B batch, T
// time, C channels, V vocabulary, K classes. Each function may use the ones above it.
//
// Replace every todo(), then: make check-16
#pragma once

#include "lessons/16_bert/types.hpp"

namespace exercise {

// Makes gaps. Token t is chosen if it is a word and choose[t] < 0.15. Of a chosen one the model reads: mask
// if lot[t] < 0.8; the word other[t] if lot[t] is in [0.8, 0.9); the word itself otherwise. It is asked for
// every chosen one, whatever it reads there. (choose and lot are random numbers in [0, 1), drawn for you.)
//   all of length T -> reads (T), asked (T)
//   mask_tokens({4, 9, 8, 5}, {0.1, 0.1, 0.7, 0.9}, {0.5, 0.3, 0.2, 0.1}, {7, 7, 7, 7})
//       = reads {4, 6, 8, 5}, asked {0, 1, 0, 0}      (the 4 is no word, the 8 was not chosen)
Gaps mask_tokens(const std::vector<int>& tokens, const std::vector<double>& choose,
                 const std::vector<double>& lot, const std::vector<int>& other) {
  todo();  // your answer
}

// The loss of the masked language model: the mean of −log P(words[t]) over the places that are asked for,
// where P is the softmax of row t. If no place is asked for, it is 0. (Logits are small here: no overflow.)
//   logits (T,V), words (T), asked (T) -> a number
//   mlm_loss([[0, 0], [0, 1.0986]], {0, 1}, {0, 1}) = 0.2877      (−log ¾; the first row does not count)
double mlm_loss(const Tensor& logits, const std::vector<int>& words, const std::vector<int>& asked) {
  todo();  // your answer
}

// Two sentences in one row: cls, the first, sep, the second, sep. cls and the sep in between belong to the
// first sentence (segment 0), the last sep to the second (segment 1).
//   join_pair({7, 8}, {9}) = tokens {4, 7, 8, 5, 9, 5}, segments {0, 0, 0, 0, 1, 1}
PairRow join_pair(const std::vector<int>& first, const std::vector<int>& second) {
  todo();  // your answer
}

// Classes of a sentence, from the state of its first token, cls: pooled = tanh(pool_w h + pool_b), then
// logits = head_w pooled + head_b.
//   states (B,T,C), pool_w (C,C), pool_b (C), head_w (K,C), head_b (K) -> logits (B,K)
//   classify([[[0], [5]]], [[1]], [0], [[2], [3]], [1, 1]) = [[1, 1]]      (tanh 0 = 0: only head_b is left)
Tensor classify(const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                const Tensor& head_b) {
  todo();  // your answer
}

// What a student pays for differing from its teacher: both logits divided by the temperature τ, softmax of
// each gives p (teacher) and q (student), and the loss is τ² times the mean over the rows of Σ p log(p / q).
//   student (B,K), teacher (B,K) -> a number
//   distillation_loss([[0, 0]], [[0, 2.1972]], 2) = 0.5233      (p = ¼, ¾; q = ½, ½; 4 · 0.1308)
double distillation_loss(const Tensor& student, const Tensor& teacher, double temperature) {
  todo();  // your answer
}

}  // namespace exercise
