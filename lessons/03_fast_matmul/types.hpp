// Matrices that exercise 03 asks about: one that watches how it is read, and one that lies in a larger one.
#pragma once

#include <vector>  // vector

#include "core/tensor.hpp"

namespace exercise {

// A matrix that counts its jumps: how often it is read at a place in memory that is neither the same as
// before nor the next one. Read it as b(k, j).
struct WatchedMatrix {
  attn::Tensor matrix;
  attn::Index jumps = 0, last = -1;

  attn::real operator()(attn::Index row, attn::Index column) {
    const attn::real value = matrix(row, column);  // refuses what is outside
    const attn::Index place = row * matrix.size(1) + column;
    jumps += place != last && place != last + 1;
    last = place;
    return value;
  }
};

// A matrix inside of a larger piece of memory: element (i, j) is values[i * stride + j]. What lies between
// the end of a row and the start of the next belongs to somebody else.
struct View {
  std::vector<attn::real> values;
  attn::Index stride = 0;
};

}  // namespace exercise
