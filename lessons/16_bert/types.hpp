// What the functions of exercise 16 take and return.
#pragma once

#include "lessons/coach/exercise.hpp"
#include "lessons/coach/value.hpp"

namespace exercise {

// Special tokens; words are first_word and up.
constexpr int pad = 0, cls = 4, sep = 5, mask = 6, first_word = 7;

// A sentence with gaps: what the model reads, and 1 where it is asked for the true word, else 0.
struct Gaps {
  std::vector<int> reads, asked;
};

// Two sentences in one row: the tokens, and for each 0 (first sentence) or 1 (second).
struct PairRow {
  std::vector<int> tokens, segments;
};

inline auto fields(Gaps& g) {
  return std::tuple{coach::field("reads", g.reads), coach::field("asked", g.asked)};
}
inline auto fields(PairRow& p) {
  return std::tuple{coach::field("tokens", p.tokens), coach::field("segments", p.segments)};
}

}  // namespace exercise
