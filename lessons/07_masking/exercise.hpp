// Exercise 07: what may be seen.
//
// A mask is a matrix of 1 (visible) and 0 (hidden): rows are queries, columns are keys. T queries, S keys,
// B sentences in a batch. Tokens are numbered from 0. Each function may use the ones above it.
//
// Replace every todo(), then: make check-07
#pragma once

#include <functional>  // function

#include "lessons/coach/exercise.hpp"

namespace exercise {

// Token i sees itself and what came before.
//   T -> (T,T)
//   causal_mask(2) = [[1, 0], [1, 1]]
Tensor causal_mask(Index T) {
  todo();  // your answer
}

// Which keys are words: sentence b has lengths[b] words at the front, the rest of its S places is filler.
//   B lengths -> (B,S)
//   padding_mask({3, 1}, 3) = [[1, 1, 1], [1, 0, 0]]
Tensor padding_mask(const std::vector<int>& lengths, Index S) {
  todo();  // your answer
}

// Both at once, for a batch that is written: query i of sentence b sees key j if j is not in i's future and
// j is a word of sentence b. (Queries that are filler keep their rows: nobody reads what they compute.)
//   B lengths -> (B,T,T)
//   decoder_mask({1}, 2) = [[[1, 0], [1, 0]]]
Tensor decoder_mask(const std::vector<int>& lengths, Index T) {
  todo();  // your answer
}

// Softmax of each row over its visible keys; hidden ones get 0. A row that sees nothing is all 0, not NaN.
// Scores may be as large as ±1000, hidden ones too: they must take no part in anything.
//   scores (T,S), visible (T,S) -> (T,S)
//   masked_softmax([[0, 1.0986, 9]], [[1, 1, 0]]) = [[0.25, 0.75, 0]]      (1.0986 is log 3)
Tensor masked_softmax(const Tensor& scores, const Tensor& visible) {
  todo();  // your answer
}

// The leak detector. The model turns x (T,C) into outputs (T,E). Change token t (row t of x), run the
// model again, and see whether an output before t has moved by more than 1e-9. Returns every t that
// was seen too early, in ascending order. Make sure that your change is one: rows of x may be
// anything, zeros or ones too, and a model with a LayerNorm takes no notice of the same number added
// to all channels, so add a different one to each. x itself must stay as it is: tensors are handles,
// so copy with from_values(x.shape(), x.values()).
//   leaking_tokens(each output is the sum of its own and the next token, [[1], [2], [3]]) = {1, 2}
std::vector<int> leaking_tokens(const std::function<Tensor(const Tensor&)>& model, const Tensor& x) {
  todo();  // your answer
}

}  // namespace exercise
