// Exercise 12: what a training step is made of.
//
// V is the number of words. logits(t, v) is the model's score for word v at place t, targets(t) the word that
// stands there; a target of 0 is padding: nobody has to guess it. Each function may use the ones above it.
//
// Replace every todo(), then: make check-12
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// The cost of one guess with label smoothing. The target is not all on the right word: it is (1 − smoothing)
// there, and besides smoothing / V on each of the V words, the right one too. The cost is −Σ target(v) · log
// p(v), p the softmax of the scores. Scores may be as large as ±1000: subtract the largest first.
//   scores (V) -> a number
//   smoothed_loss([0, 1.0986], 1, 0) = 0.2877      (p = 0.25, 0.75; 1.0986 is log 3)
//   smoothed_loss([0, 1.0986], 1, 0.2) = 0.3975    (0.9 · 0.2877 + 0.1 · 1.3863)
real smoothed_loss(const Tensor& scores, int target, real smoothing) {
  todo();  // your answer
}

// The loss of a sentence: the mean of smoothed_loss over the places whose target is not 0 (padding). If there
// is none, 0. logits[t] is row t.
//   logits (T,V), targets (T) -> a number
//   sentence_loss([[0, 1.0986], [5, 0]], [1, 0], 0) = 0.2877      (the second place is padding)
real sentence_loss(const Tensor& logits, const IntTensor& targets, real smoothing) {
  todo();  // your answer
}

// The paper's learning rate at a step; steps count from 1: d_model^−½ · min(step^−½, step · warmup^−1.5).
// Refuse step 0 and below with std::invalid_argument.
//   learning_rate(1, 4, 4) = 0.0625      learning_rate(4, 4, 4) = 0.25      learning_rate(16, 4, 4) = 0.125
real learning_rate(Index step, Index d_model, Index warmup) {
  todo();  // your answer
}

// Makes gradients shorter, in place: if the norm of all of them together (the root of the sum of the squares
// of all numbers) is above the limit, each number is multiplied by limit / norm; otherwise nothing changes.
// Returns the norm as it was. g.numel() numbers of a tensor g begin at g.data().
//   clip_gradients({[3, 4], [12]}, 1) = 13, and the gradients are {[0.231, 0.308], [0.923]}
real clip_gradients(std::vector<Tensor>& gradients, real limit) {
  todo();  // your answer
}

// How many words does a model hesitate among? e to the mean loss of a whole text: the mean over all words of
// all batches. losses[i] is the mean loss of batch i, which has words[i] words.
//   perplexity({0.6931, 1.3863}, {30, 10}) = 2.378      (e^(0.75 · 0.6931 + 0.25 · 1.3863))
real perplexity(const std::vector<real>& losses, const std::vector<Index>& words) {
  todo();  // your answer
}

// The backward of sentence_loss: its gradient with respect to the logits. With n the number of targets that
// are not 0, row t is (softmax(logits[t]) − target) / n, where the smoothed target has smoothing / V at every
// word and 1 − smoothing more at the right one. Rows of padding are 0; if all is padding, everything is 0.
//   logits (T,V), targets (T) -> (T,V)
//   sentence_loss_backward([[0, 1.0986], [5, 0]], [1, 0], 0) = [[0.25, -0.25], [0, 0]]
Tensor sentence_loss_backward(const Tensor& logits, const IntTensor& targets, real smoothing) {
  todo();  // your answer
}

}  // namespace exercise
