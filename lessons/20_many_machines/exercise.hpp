// Exercise 20: one gradient from many machines, and the same one whoever computes it.
//
// A batch is cut into shards. A rank is one of the processes that train together, counted from 0; it computes
// the gradients of some of the shards. n is the number of parameters, and so of the numbers in a gradient.
//
// Replace every todo(), then: make check-20
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// The gradient of a batch, which is the mean over all of its tokens, from those of its shards. Row s of
// `gradients` is the mean over the tokens of shard s alone; it has tokens[s] of them, which may be 0. If the
// batch has no token at all, throw std::invalid_argument.
//   gradients (shards,n) -> (n)
//   weighted_mean([[1], [5]], {3, 1}) = [2]      (three tokens pull towards 1, one towards 5)
Tensor weighted_mean(const Tensor& gradients, const std::vector<Index>& tokens) {
  todo();  // your answer
}

// The sum of one number per shard, in one fixed order, so that it has the same bits whoever is late:
// values[i] arrived i-th and belongs to shard shard[i]; each of the shards 0, 1, … is there once, and there
// is at least one. Sum them by a tree: cut the shards in the middle (an odd one goes to the left half), sum
// each half in the same way, and add the two. One shard alone is its own sum.
//   tree_sum({2, 0, 1}, {30, 10, 20}) = (10 + 20) + 30 = 60
//   tree_sum({3, 2, 1, 0}, {1e20, -1e20, 1, 1}) = (1 + 1) + (-1e20 + 1e20) = 2      (from left to right: 0)
real tree_sum(const std::vector<Index>& shard, const std::vector<real>& values) {
  todo();  // your answer
}

// One step of a ring all-reduce. N ranks stand in a ring, and each has a vector cut into N chunks of K
// numbers: held(r, c, k) is number k of chunk c as rank r holds it. In each step every rank r sends one chunk
// to rank r + 1 (the last to rank 0), all at the same time:
//   steps 0 to N−2:      rank r sends chunk r − step, and the receiver adds it to its own;
//   steps N−1 to 2N−3:   rank r sends chunk r + 1 − (step − (N−1)), and the receiver replaces its own by it.
// Chunk numbers wrap around: −1 is the last chunk, N is chunk 0. Return what the ranks hold afterwards. N is
// at least 2.
//   held (N,N,K) -> (N,N,K)
//   ring_step([[[1], [2]], [[30], [40]]], 0) = [[[1], [42]], [[31], [40]]]
//   ring_step([[[1], [42]], [[31], [40]]], 1) = [[[31], [42]], [[31], [42]]]
Tensor ring_step(const Tensor& held, Index step) {
  todo();  // your answer
}

// Which part of n numbers does this rank keep? They are cut into chunks of `chunk` (the last may be
// shorter), which are shared out in order and as equally as possible: all ranks before rank r together have
// chunks · r / ranks of them, rounded down. Returns where the part begins, and where it ends: one beyond
// its last number. So ZeRO shares Adam's averages, and, with chunks of 1, a group the shards of a batch.
//   kept_part(10, 1, 4, 0) = {0, 2}, then {2, 5}, {5, 7} and {7, 10} for ranks 1, 2 and 3
//   kept_part(10, 4, 2, 1) = {4, 10}      (three chunks: one for rank 0, two for rank 1)
std::pair<Index, Index> kept_part(Index n, Index chunk, Index ranks, Index rank) {
  todo();  // your answer
}

// The number of the random stream that draws the dropout of a shard. In every step (counted from 0) the
// batch has `shards` shards, and rank r computes those of kept_part(shards, 1, ranks, r), in order. You are
// asked for shard number i among its own. No two shards of a training may share a stream, and a shard's
// stream must not depend on which rank computes it: count them through, step after step.
//   dropout_stream(0, 4, 2, 1, 0) = 2      (rank 1 of 2 begins with shard 2)
//   dropout_stream(5, 4, 2, 1, 0) = 22     (20 shards came before this step)
Index dropout_stream(Index step, Index shards, Index ranks, Index rank, Index i) {
  todo();  // your answer
}

}  // namespace exercise
