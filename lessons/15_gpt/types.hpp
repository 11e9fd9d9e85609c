// What the functions of exercise 15 take and return.
#pragma once

#include <functional>  // function

#include "lessons/coach/exercise.hpp"
#include "lessons/coach/value.hpp"

namespace exercise {

// Windows of a text for next-token prediction: what the model reads, and what it has to write beside it.
struct Windows {
  IntTensor reads, writes;  // (B, T)
};

// A block of a GPT, finished: attention with a causal mask, then feed-forward. (T, C) -> (T, C)
using Block = std::function<Tensor(const Tensor&)>;

struct TinyGpt {
  Tensor embedding;           // E (V, C): a row for each token, used at both ends
  Tensor positions;           // P (L, C): a row for each place; there are no more than L places
  std::vector<Block> blocks;  // from the first to the last
  Tensor gain, bias;          // of the final norm, (C) each
};

// A model that reads at most so many tokens (and throws if there are more): T tokens -> logits (T, V).
using Model = std::function<Tensor(const std::vector<int>& tokens)>;

inline auto fields(Windows& w) {
  return std::tuple{coach::field("reads", w.reads), coach::field("writes", w.writes)};
}
inline auto fields(TinyGpt& g) {
  return std::tuple{coach::field("embedding", g.embedding), coach::field("positions", g.positions),
                    coach::field("blocks", g.blocks), coach::field("gain", g.gain),
                    coach::field("bias", g.bias)};
}

}  // namespace exercise
