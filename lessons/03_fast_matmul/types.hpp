// Matrices that exercise 03 asks about: one that watches how it is read, and one that lies in a larger one.
#pragma once

#include <iterator>  // ssize
#include <vector>    // vector

#include "core/tensor.hpp"

namespace exercise {

#ifdef ATTN_MINE  // in a milestone (lessons/mine) only the product counts, and nobody watches

struct WatchedMatrix {
  attn::Tensor matrix;
  attn::real operator()(attn::Index row, attn::Index column) const { return matrix(row, column); }
};

class WatchedNumbers {
 public:
  WatchedNumbers(const attn::Tensor& numbers) : numbers_(numbers) {}
  attn::real& operator[](attn::Index i) const { return numbers_.data()[i]; }
  attn::Index size() const { return numbers_.numel(); }

 private:
  attn::Tensor numbers_;
};

#else

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

// Numbers in memory that note the order in which they are used. Read and write them as values[i].
class WatchedNumbers {
 public:
  WatchedNumbers(std::vector<attn::real> numbers = {}) : numbers_(std::move(numbers)) {}

  attn::real& operator[](attn::Index i) { return note(i), numbers_.at(std::size_t(i)); }
  const attn::real& operator[](attn::Index i) const { return note(i), numbers_.at(std::size_t(i)); }
  attn::Index size() const { return std::ssize(numbers_); }

  const std::vector<attn::Index>& used() const { return used_; }  // the places, one after the other
  operator const std::vector<attn::real>&() const { return numbers_; }

 private:
  void note(attn::Index i) const { used_.push_back(i); }
  std::vector<attn::real> numbers_;
  mutable std::vector<attn::Index> used_;
};

#endif

// A matrix inside of a larger piece of memory: element (i, j) is values[i * stride + j]. What lies between
// the end of a row and the start of the next belongs to somebody else.
struct View {
  WatchedNumbers values;
  attn::Index stride = 0;
};

}  // namespace exercise
