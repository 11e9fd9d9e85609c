// Exercise 11: the layers of a Transformer, what it reads, and how large it is.
//
// Three parts are given in lessons/11_transformer/types.hpp: look(asking, answering, visible, weights) is
// attention, feed(x, weights) the feed-forward network, normalise(x) the LayerNorm. Weights are structs:
// w.self, w.cross, w.feed. Rows are words; a + b adds tensors. Each function may use the ones above it.
//
// Replace every todo(), then: make check-11
#pragma once

#include "lessons/11_transformer/types.hpp"

namespace exercise {

// What the decoder reads while it learns to write `target`: the start token, then the target
// without its last token. IntTensor(target.shape()) makes a table to be filled; its elements are
// out(b, t), target.shape()[1] is T.
//   target (B,T) -> (B,T)
//   shift_targets([[5, 6, 2], [7, 2, 0]], 1) = [[1, 5, 6], [1, 7, 2]]
IntTensor shift_targets(const IntTensor& target, int start) {
  todo();  // your answer
}

// Which of S keys may T queries see? Keys from `length` on are padding: nobody sees them. If `causal`, query
// i sees no key after i.
//   -> (T,S), 1 for seen and 0 for hidden
//   visible_keys(2, 3, 2, false) = [[1, 1, 0], [1, 1, 0]]      visible_keys(2, 2, 2, true) = [[1, 0], [1, 1]]
Tensor visible_keys(Index T, Index S, Index length, bool causal) {
  todo();  // your answer
}

// One encoder layer, post-norm as in the paper: x = LN(x + SelfAttention(x)), then x = LN(x +
// FeedForward(x)). The words from `length` on are padding.
//   x (S,C) -> (S,C)
//   encoder_layer(x, length, w) = normalise(x) nearly, if all weights of w are 0
Tensor encoder_layer(const Tensor& x, Index length, const EncoderWeights& w) {
  todo();  // your answer
}

// One decoder layer: masked self-attention, cross-attention to what the encoder made of the source (its words
// from `source_length` on are padding), feed-forward; each with its sum and norm. The target has no padding.
//   y (T,C), memory (S,C) -> (T,C)
//   decoder_layer(y, memory, source_length, w) = normalise(y) nearly, if all weights of w are 0
Tensor decoder_layer(const Tensor& y, const Tensor& memory, Index source_length, const DecoderWeights& w) {
  todo();  // your answer
}

// How many numbers does a Transformer learn? One embedding of V words, shared by source, target and output.
// N encoder and N decoder layers. An attention has four matrices (C,C), each with a bias, however many heads
// share them; a feed-forward has matrices (C,F) and (F,C), each with a bias; a norm has gain and bias. Every
// sublayer has one norm; there is no other.
//   count_parameters(37000, 512, 8, 2048, 6) = 63082496      (the paper's base model)
Index count_parameters(Index V, Index C, Index heads, Index F, Index N) {
  todo();  // your answer
}

}  // namespace exercise
