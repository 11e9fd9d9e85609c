// What the functions of exercise 19 take and return.
#pragma once

#include "lessons/coach/exercise.hpp"
#include "lessons/coach/value.hpp"

namespace exercise {

// Which expert each token goes to, and the probability with which its output is multiplied.
struct Routing {
  std::vector<int> expert;
  std::vector<double> weight;
};

// A matrix in 8 bits: row r is scale[r] times the integers values[r][…], which lie in -127 … 127.
struct Int8Rows {
  std::vector<std::vector<int>> values;
  std::vector<double> scale;
};

using Distribution = std::vector<double>;  // a probability for each of V tokens; they sum to 1

// Draws a token: the first x for which p[0] + … + p[x] is above `lot`, a random number in [0, 1).
inline int draw_token(const Distribution& p, double lot) {
  int last = 0;
  for (int x = 0; x < int(p.size()); ++x) {
    if (p[std::size_t(x)] <= 0) continue;
    last = x;
    if ((lot -= p[std::size_t(x)]) < 0) break;
  }
  return last;  // if rounding left a little, the last token that can come
}

inline auto fields(Routing& r) {
  return std::tuple{coach::field("expert", r.expert), coach::field("weight", r.weight)};
}
inline auto fields(Int8Rows& m) {
  return std::tuple{coach::field("values", m.values), coach::field("scale", m.scale)};
}

}  // namespace exercise
