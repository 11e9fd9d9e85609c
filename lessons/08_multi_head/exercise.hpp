// Exercise 08: several heads.
//
// B batch, T and S time, C channels, H heads, D = C / H the size of a head. Elements are x(b, t, c); matmul,
// softmax, reshape, permute and transpose are there if you like (core/ops.hpp). Each function may use the
// ones above it.
//
// Replace every todo(), then: make check-08
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// Cuts the channels into heads: head h gets channels h·D … h·D + D - 1 of every token.
//   x (B,T,C), C divisible by heads -> (B,H,T,D)
//   split_heads([[[1,2,3,4], [5,6,7,8]]], 2) = [[[[1,2], [5,6]], [[3,4], [7,8]]]]
Tensor split_heads(const Tensor& x, Index heads) {
  todo();  // your answer
}

// The way back: the heads of a token side by side again, so that merge_heads(split_heads(x, H)) is x.
//   x (B,H,T,D) -> (B,T,H·D)
//   merge_heads([[[[1,2], [5,6]], [[3,4], [7,8]]]]) = [[[1,2,3,4], [5,6,7,8]]]
Tensor merge_heads(const Tensor& x) {
  todo();  // your answer
}

// Multi-head self-attention: project (q = x w_q and so on), split into heads, let each head attend on its own
// with softmax(q kᵀ / √D) v, merge, and multiply by w_o.
//   x (B,T,C), each w (C,C) -> (B,T,C)
//   multi_head([[[1,2]]], I, I, [[3,0],[0,4]], [[0,1],[1,0]], 2) = [[[8,3]]]
//   (one token sees only itself: its value is (3,8), and this w_o swaps the two; I is the identity)
Tensor multi_head(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
                  Index heads) {
  todo();  // your answer
}

// Grouped-query attention: H query heads share G heads of keys and values, G a divisor of H. The first H / G
// query heads use key/value head 0, the next H / G use head 1, and so on. Each is softmax(q kᵀ / √D) v.
//   q (H,T,D), k (G,S,D), v (G,S,E) -> (H,T,E)
//   grouped_query([[[0]], [[0]]], [[[7], [9]]], [[[1], [3]]]) = [[[2]], [[2]]]
//   (a query of 0 scores 0 with every key: both heads take the plain mean of 1 and 3)
Tensor grouped_query(const Tensor& q, const Tensor& k, const Tensor& v) {
  todo();  // your answer
}

// How many numbers a model keeps of the keys and values of `tokens` tokens, in all of its layers.
//   cache_numbers(6, 8, 64, 1000) = 6144000      (2 · 6 · 8 · 64 · 1000)
Index cache_numbers(Index layers, Index kv_heads, Index head_size, Index tokens) {
  todo();  // your answer
}

}  // namespace exercise
