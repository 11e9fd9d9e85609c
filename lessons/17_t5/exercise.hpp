// Exercise 17: text to text, by holes in the text.
//
// Tokens are numbers. Sentinel n is first_sentinel + n; every token from first_sentinel on is a sentinel,
// every one below is a word.
//
// Replace every todo(), then: make check-17
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// How much is taken out of a text of `length` tokens (at least 2): first how many tokens, length · fraction,
// rounded (a half is rounded up, as std::lround does), but at least 1 and at most length − 1; second how many
// spans, those tokens / mean_length, rounded in the same way, but at least 1 and at most as many as tokens
// are kept (there is one before each span).
//   span_counts(100, 0.15, 3) = (15, 5)
//   span_counts(3, 0.15, 3) = (1, 1)      (0.45 would be none)
std::pair<Index, Index> span_counts(Index length, double fraction, double mean_length) {
  todo();  // your answer
}

// Takes spans out. `spans` are (begin, length) in `tokens`, in order, and do not touch. Returns the input,
// where each span is replaced by one sentinel (the first span by sentinel 0, the next by 1, …), and the
// target: each sentinel followed by what was under it, and one more sentinel that closes.
//   corrupt_at([5, 6, 7, 8, 9], [(1, 2), (4, 1)], 100) = ([5, 100, 8, 101], [100, 6, 7, 101, 9, 102])
std::pair<std::vector<int>, std::vector<int>> corrupt_at(const std::vector<int>& tokens,
                                                         const std::vector<std::pair<Index, Index>>& spans,
                                                         int first_sentinel) {
  todo();  // your answer
}

// Rebuilds the text: each sentinel of the input gives way to the words that follow the same sentinel in the
// target. A model wrote the target: its spans may be empty or in another order, and the closing sentinel may
// be missing. If a sentinel of the input is nowhere in the target, throw std::invalid_argument.
//   rebuild([5, 100, 8, 101], [100, 6, 7, 101, 9, 102], 100) = [5, 6, 7, 8, 9]
std::vector<int> rebuild(const std::vector<int>& input, const std::vector<int>& target, int first_sentinel) {
  todo();  // your answer
}

// The tokens of ByT5: each byte of the text plus 3 (0 is padding, 1 the end, 2 unknown), then the end
// token, 1. A byte is a number from 0 to 255; a letter beyond ASCII is several of them.
//   byte_ids("hi") = [107, 108, 1]      (h is 104, i is 105)
std::vector<int> byte_ids(const std::string& text) {
  todo();  // your answer
}

}  // namespace exercise
