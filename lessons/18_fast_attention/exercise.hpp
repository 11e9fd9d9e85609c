// Exercise 18: attention that never holds its matrix, and two ways to look at less.
//
// T queries look at S keys; D is the size of a query and of a key, E that of a value. Rows are tokens.
// Elements are q(i, d); q.size(0) is T. empty({T, S}) and zeros({T, S}) make tensors to be filled.
//
// Replace every todo(), then: make check-18
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// The running softmax. So far `largest` is the largest score of a row and `sum` is Σ exp(s − largest) over
// the scores read. Now a tile of further scores arrives: bring both up to date, as if they had been there
// from the start. Before the first tile, largest is −∞ and sum is 0. Scores may be as large as ±1000.
//   absorb_tile(largest = 0, sum = 1, [0.6931, 0]) sets largest = 0.6931, sum = 2
//   (log 2 is the new largest: the 1 so far becomes 0.5, the tile adds 1 and 0.5)
void absorb_tile(real& largest, real& sum, const std::vector<real>& tile) {
  todo();  // your answer
}

// softmax(q kᵀ / √D) v, reading the keys in tiles of `tile` (the last one may be shorter), for each
// query with a largest score, a sum and an output that are kept up to date. At most `tile` scores are
// held at a time.
//   q (T,D), k (S,D), v (S,E) -> (T,E)
//   tiled_attend([[0]], [[5], [7], [1]], [[10], [30], [20]], 2) = [[20]]      (equal scores: the plain mean)
Tensor tiled_attend(const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
  todo();  // your answer
}

// What may be seen through a sliding window of w = `window` (at least 1): 1 where query i sees key j, else 0.
// A token sees keys less than w steps away, itself included; if `causal`, no later ones. With a window of T
// or more, nothing is hidden but (if causal) the future.
//   -> (T,T)
//   window_mask(3, 2, true) = [[1,0,0], [1,1,0], [0,1,1]]
Tensor window_mask(Index T, Index window, bool causal) {
  todo();  // your answer
}

// Grouped-query attention: `heads` query heads share the kv heads of k, neighbours sharing one: with 4 heads
// and 2 kv heads, query heads 0 and 1 use kv head 0, query heads 2 and 3 use kv head 1. Returns the keys that
// each query head sees. If the heads cannot be shared evenly, throw std::invalid_argument.
//   k (kv,S,D) -> (heads,S,D)
//   share_heads([[[1]], [[2]]], 4) = [[[1]], [[1]], [[2]], [[2]]]
Tensor share_heads(const Tensor& k, Index heads) {
  todo();  // your answer
}

// How many bytes the cache of a model has after `tokens` tokens: in every layer the keys and the values
// of each token, which have kv_heads heads, while queries have `heads` and are not kept. A head is
// d_model / heads numbers.
//   cache_bytes(1, 10, 64, 8, 2, 4) = 1280      (2 · 10 tokens · 2 heads · 8 numbers · 4 bytes)
Index cache_bytes(Index layers, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index bytes_a_number) {
  todo();  // your answer
}

}  // namespace exercise
