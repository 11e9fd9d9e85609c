// Shape: the sizes of a tensor's axes, outermost first.
//
//   Shape{2, 3, 4}       rank 3, 24 elements, row-major: the last axis is contiguous
//   Shape{}              rank 0, one element: a scalar
//
// A small value type with its dimensions inline, so that copying a shape never allocates. Axes and sizes that
// cannot be throw: an axis outside, a negative size, more elements than memory can hold.
#pragma once

#include <initializer_list>  // initializer_list
#include <span>              // span
#include <string>            // string

#include "core/index.hpp"

namespace attn {

class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<Index> sizes) : Shape(sizes.begin(), int(sizes.size())) {}
  Shape(const Index* sizes, int rank);
  explicit Shape(std::span<const Index> sizes) : Shape(sizes.data(), int(sizes.size())) {}  // a vector

  int rank() const { return rank_; }
  Index numel() const { return product_from(0); }
  // Negative axes count from the end: shape[-1] is the last axis.
  Index operator[](int axis) const { return dims_[position(axis)]; }
  Index& operator[](int axis) { return dims_[position(axis)]; }
  const Index* begin() const { return dims_; }
  const Index* end() const { return dims_ + rank_; }
  bool operator==(const Shape& other) const = default;

  // Elements per step along `axis`: the product of the sizes to its right.
  Index stride(int axis) const { return product_from(position(axis) + 1); }
  // Where the element with these indices, one for each axis, lies among all; throws when it is outside.
  Index offset(std::initializer_list<Index> index) const;
  Shape with(int axis, Index size) const;      // the same shape, one axis resized
  Shape without(int axis) const;               // one axis removed
  Shape inserted(int axis, Index size) const;  // one axis added before `axis`
  std::string str() const;                     // "(2,3,4)"

 private:
  static constexpr Index max_numel = Index{1} << 59;  // with 8 bytes each, still half of what an Index counts

  int position(int axis) const {
    const int from_start = axis < 0 ? axis + rank_ : axis;
    if (from_start < 0 || from_start >= rank_) refuse_axis(axis);
    return from_start;
  }
  Index product_from(int axis) const {
    Index n = 1;
    bool overflow = false;
    for (int i = axis; i < rank_; ++i) overflow |= __builtin_mul_overflow(n, dims_[i], &n);
    if (overflow || n < 0 || n > max_numel) refuse_sizes();
    return n;
  }
  [[noreturn, gnu::cold]] void refuse_axis(int axis) const;
  [[noreturn, gnu::cold]] void refuse_sizes() const;

  Index dims_[max_rank] = {};  // zeros after the last axis
  int rank_ = 0;
};

// Where `axis` (which may be negative) lies in 0..rank-1; throws, naming `op`, when it is outside.
int normalize_axis(const char* op, const Shape& shape, int axis);

// NumPy's rule: align from the right, an axis of size 1 stretches. Throws, naming `op`, on a misfit.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);

}  // namespace attn
