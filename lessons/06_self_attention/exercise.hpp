// Exercise 06: self-attention, step by step.
//
// T queries look at S keys; D is the size of a query and of a key, E that of a value. Rows are tokens.
// Elements are q(i, d); q.size(0) is T, q.size(1) is D; empty({T, S}) makes a tensor to be filled.
// Each function may use the ones above it.
//
// Replace every todo(), then: make check-06
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// How much does query i like key j? Their dot product, divided by √D.
//   q (T,D), k (S,D) -> (T,S)
//   scores([[1,2,0,1]], [[3,1,0,1], [0,2,4,0]]) = [[3, 2]]      (6/√4 and 4/√4)
Tensor scores(const Tensor& q, const Tensor& k) {
  todo();  // your answer
}

// Turns each row into weights: all positive, sum 1, and e times as much for one more point of score:
// w_j = exp(s_j) / Σ exp(s_m). Scores may be as large as ±1000, where exp alone overflows:
// subtract the row's largest score first, which changes no weight.
//   s (T,S) -> (T,S)
//   row_softmax([[0, 1.0986]]) = [[0.25, 0.75]]                 (1.0986 is log 3)
Tensor row_softmax(const Tensor& s) {
  todo();  // your answer
}

// What each query takes away: the values of all keys, averaged with the weights row_softmax(scores(q, k)).
//   q (T,D), k (S,D), v (S,E) -> (T,E)
//   attend([[0]], [[5], [7]], [[10, 20], [30, 60]]) = [[20, 40]]      (equal scores: the plain mean)
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  todo();  // your answer
}

// Queries, keys and values from one input, through three learned matrices: q = x w_q, k = x w_k, v = x w_v.
// (matmul(a, b) is the product of lesson 01.)
//   x (T,C), w_q (C,D), w_k (C,D), w_v (C,E) -> (T,E)
//   self_attention([[1, 1]], [[1], [0]], [[0], [1]], [[2, 3], [4, 5]]) = [[6, 8]]      (one token: its own
//   value)
Tensor self_attention(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
  todo();  // your answer
}

// The backward of scores: the gradients with respect to q and to k, given the one with respect to the scores.
// Each is a product, divided by √D like the scores: dq_i = Σ_j g_ij k_j / √D and dk_j = Σ_i g_ij q_i / √D.
//   q (T,D), k (S,D), gradient (T,S) -> {(T,D), (S,D)}
//   scores_backward([[1,2,0,1]], [[3,1,0,1]], [[2]]) = {[[3,1,0,1]], [[1,2,0,1]]}      (2/√4 = 1)
std::pair<Tensor, Tensor> scores_backward(const Tensor& q, const Tensor& k, const Tensor& gradient) {
  todo();  // your answer
}

}  // namespace exercise
