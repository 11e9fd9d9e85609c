// What the functions of exercise 14 take.
#pragma once

#include <functional>  // function

#include "lessons/coach/exercise.hpp"
#include "lessons/coach/value.hpp"

namespace exercise {

constexpr int bos = 1, eos = 2;  // other words are 0 and 3, 4, 5, …

// A model that has read its source: the logarithms of the probabilities of all V words for the place behind
// what is written so far, which begins with bos.
using Model = std::function<std::vector<double>(const std::vector<int>& written)>;

// One head of self-attention: queries, keys and values are x W, (C, C) each.
struct HeadWeights {
  Tensor query, key, value;
};

// The keys and values of the words so far, (C) each: keys[t] and values[t] belong to place t.
struct Cache {
  std::vector<Tensor> keys, values;
};

inline auto fields(HeadWeights& w) {
  return std::tuple{coach::field("query", w.query), coach::field("key", w.key),
                    coach::field("value", w.value)};
}
inline auto fields(Cache& c) {
  return std::tuple{coach::field("keys", c.keys), coach::field("values", c.values)};
}

}  // namespace exercise
