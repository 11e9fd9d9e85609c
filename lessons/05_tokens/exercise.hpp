// Exercise 05: how words become vectors.
//
// types.hpp has Ids, a list of token numbers, Merges, a list of pairs, and PaddedBatch. Bytes are the tokens
// 0 to 255 here (there are no special tokens), and merge number n of a list makes token 256 + n.
// IntTensor({B, T}) makes a tensor of integers; its elements are ids(i, t). Elements of a Tensor are x(i, j).
// Each function may use the ones above it. Replace every todo(), then: make check-05
#pragma once

#include "lessons/05_tokens/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// The pair of neighbours that stands most often in a sequence; every place counts. Of several that are
// equally frequent, the one with the smallest left id, then with the smallest right id.
// (std::map<std::pair<int, int>, int> keeps its keys in just this order.) A sequence of fewer than two tokens
// has no pair and is refused.
//   frequent_pair([1,2,3,1,2]) = (1,2)
std::pair<int, int> frequent_pair(const Ids& ids) {
  todo();  // your answer
}

// One merge: every left, right that stand side by side become one token, `merged`. From left to right, and a
// token that has been used up cannot be used again.
//   merge_once([1,1,1,2], 1, 1, 9) = [9,1,2]
Ids merge_once(const Ids& ids, int left, int right, int merged) {
  todo();  // your answer
}

// Text to tokens: its bytes, then all merges in the order in which they were learned.
//   bpe_encode("aab", [(97,98), (97,97)]) = [97,256]         (97 is a, 98 is b; a b was learned first)
Ids bpe_encode(const std::string& text, const Merges& merges) {
  todo();  // your answer
}

// Tokens to text: a merged token stands for its two halves, and these may be merged themselves.
//   bpe_decode([97,256], [(97,98), (97,97)]) = "aab"
std::string bpe_decode(const Ids& ids, const Merges& merges) {
  todo();  // your answer
}

// Sequences of different lengths as a rectangle: short ones are filled up at the end with `pad`. The mask is
// 1 for what was there and 0 for padding (a real token may have the same number as the padding).
//   sequences (B of them, the longest of T tokens) -> {.ids = (B,T), .mask = (B,T)}
//   pad_rows([[5,6], [7]], 0) = {[[5,6], [7,0]], [[1,1], [1,0]]}
PaddedBatch pad_rows(const std::vector<Ids>& sequences, int pad) {
  todo();  // your answer
}

// Backward of an embedding lookup: each token hands its gradient to its row of the table. A token that occurs
// several times gets the sum; rows of tokens that do not occur are 0.
//   ids (T of them, below V), gradient (T,C), the size V of the vocabulary -> (V,C)
//   lookup_backward([2,0,2], [[1],[10],[100]], 3) = [[10],[0],[101]]
Tensor lookup_backward(const Ids& ids, const Tensor& gradient, Index vocabulary) {
  todo();  // your answer
}

}  // namespace exercise
