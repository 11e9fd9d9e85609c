// What the functions of exercise 13 take and return.
#pragma once

#include <functional>  // function
#include <map>         // map
#include <utility>     // pair

#include "lessons/coach/exercise.hpp"
#include "lessons/coach/value.hpp"

namespace exercise {

constexpr int pad = 0, bos = 1, eos = 2;  // words are 3, 4, 5, …

using Sentence = std::vector<int>;       // its words, without bos and eos
using Words = std::vector<std::string>;  // the same to be read by people

// A batch of targets, padded: what the decoder reads, and what it has to write beside it.
struct Dictation {
  IntTensor reads, writes;  // (B, T)
};

// 1 where query i may see key j, else 0.
struct ThreeMasks {
  Tensor encoder, decoder, cross;  // (B, S, S), (B, T, T), (B, T, S)
};

// A model that has read its source: the scores of all V words for the place behind what is written so far.
using Model = std::function<std::vector<double>(const std::vector<int>& written)>;

inline auto fields(Dictation& d) {
  return std::tuple{coach::field("reads", d.reads), coach::field("writes", d.writes)};
}
inline auto fields(ThreeMasks& m) {
  return std::tuple{coach::field("encoder", m.encoder), coach::field("decoder", m.decoder),
                    coach::field("cross", m.cross)};
}

}  // namespace exercise
