#include "core/shape.hpp"

#include <algorithm>  // copy, max
#include <iterator>   // ssize

#include "core/error.hpp"

namespace attn {

Shape::Shape(const Index* sizes, int rank) : rank_(rank) {
  if (rank < 0 || rank > max_rank)
    fail("shape: rank {} is not between 0 and the {} axes supported", rank, max_rank);
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] < 0) fail("shape: axis {} has a negative size ({})", i, sizes[i]);
    dims_[i] = sizes[i];
  }
  product_from(0);
}

void Shape::refuse_axis(int axis) const {
  fail("shape: axis {} is outside {}, which has {} axes", axis, str(), rank_);
}
void Shape::refuse_sizes() const { fail("shape: {} has more elements than memory can hold", str()); }

Index Shape::offset(std::initializer_list<Index> index) const {
  if (std::ssize(index) != rank_) fail("at: {} indices for a tensor of shape {}", index.size(), str());
  Index position = 0;
  const Index* size = dims_;
  for (const Index i : index) {
    if (i < 0 || i >= *size)
      fail("at: index {} is outside axis {} of {}, which has size {}", i, size - dims_, str(), *size);
    position = position * *size++ + i;
  }
  return position;
}

Shape Shape::with(int axis, Index size) const {
  Shape out = *this;
  out[axis] = size;
  return {out.dims_, rank_};
}

Shape Shape::without(int axis) const {
  Shape out = *this;
  std::copy(dims_ + position(axis) + 1, dims_ + rank_, out.dims_ + position(axis));
  out.dims_[--out.rank_] = 0;
  return out;
}

Shape Shape::inserted(int axis, Index size) const {
  if (rank_ == max_rank) fail("shape: {} already has {} axes, the most supported", str(), max_rank);
  Shape out = *this;
  ++out.rank_;
  const int at = out.position(axis);
  std::copy(dims_ + at, dims_ + rank_, out.dims_ + at + 1);
  out.dims_[at] = size;
  return {out.dims_, out.rank_};
}

std::string Shape::str() const {
  std::string text = "(";
  for (int i = 0; i < rank_; ++i) {
    if (i) text += ',';
    text += std::to_string(dims_[i]);
  }
  return text += ')';
}

int normalize_axis(const char* op, const Shape& shape, int axis) {
  const int rank = shape.rank();
  if (axis < -rank || axis >= rank)
    fail("{}: axis {} is outside {}, which has {} axes", op, axis, shape.str(), rank);
  return axis < 0 ? axis + rank : axis;
}

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out = a.rank() == rank ? a : b;
  for (int i = 1; i <= rank; ++i) {
    const Index x = i <= a.rank() ? a[-i] : 1, y = i <= b.rank() ? b[-i] : 1;
    if (x != y && x != 1 && y != 1)
      fail("{}: {} and {} do not broadcast: axis {} from the right is {} and {}", op, a.str(), b.str(), i, x,
           y);
    out[-i] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace attn
