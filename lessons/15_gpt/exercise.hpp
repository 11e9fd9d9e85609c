// Exercise 15: a GPT, from its batches to its text.
//
// T tokens in time, B windows, C channels, V vocabulary. IntTensor({B, T}) makes a table of integers to
// be filled (-1 until then); its elements are x(b, t). types.hpp has the structs. Each function may use
// the ones above it.
//
// Replace every todo(), then: make check-15
#pragma once

#include "lessons/15_gpt/types.hpp"

namespace exercise {

// One window of T tokens for each start: row b reads text[start_b], text[start_b + 1], … and writes, beside
// each, the token that comes next in the text. A window that leaves the text is refused, whether its start is
// negative or its last target lies behind the end: throw std::invalid_argument("…").
//   text of n tokens, B starts -> reads (B,T), writes (B,T)
//   next_token_windows({5, 6, 7, 8, 9}, {0, 2}, 2) = reads [[5, 6], [7, 8]], writes [[6, 7], [8, 9]]
Windows next_token_windows(const std::vector<int>& text, const std::vector<int>& starts, int T) {
  todo();  // your answer
}

// How surprised is the model, on average, by what it had to write? The mean over t of −log
// P(writes[t]), where P is the softmax of row t. Logits may be as large as ±1000: subtract the row's
// largest first. (natural logarithm)
//   logits (T,V), T targets -> a number
//   next_token_loss([[0, 0], [0, 1.0986]], {0, 1}) = 0.4904      (−log ½ = 0.6931, −log ¾ = 0.2877)
double next_token_loss(const Tensor& logits, const std::vector<int>& writes) {
  todo();  // your answer
}

// The whole model: embedding and positions added up, the blocks one after the other, the final norm,
// and the dot product with every row of the embedding. More tokens than there are positions are
// refused: throw std::invalid_argument("…"). layer_norm(x, gain, bias) and matmul(a, b,
// Transpose::second) are there for you.
//   T tokens -> logits (T,V)
//   gpt_logits(E = [[1, 3], [5, 1]], P = [[0, 0]], no blocks, gain [1, 1], bias [0, 0]; {0}) = [[2, -4]]
//   (the row [1, 3] is normalised to [-1, 1])
Tensor gpt_logits(const TinyGpt& gpt, const std::vector<int>& tokens) {
  todo();  // your answer
}

// Writes `count` tokens more, each the likeliest one after all that stands there. The model reads at most
// `limit` tokens: when the text is longer, it gets the newest `limit` of them. The result is the prompt (at
// least one token) with what was written behind it.
//   model({4, 6}) is (2,V): row 0 is for the token after the 4, row 1 for the token after the 6
//   generate(model, {4}, 2, 8) = {4, 6, 5}      if 6 is likeliest after {4}, and 5 after {4, 6}
std::vector<int> generate(const Model& model, const std::vector<int>& prompt, int count, int limit) {
  todo();  // your answer
}

}  // namespace exercise
