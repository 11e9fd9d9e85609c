// Printing tensors as NumPy does: nested brackets, aligned columns, the middle of large ones left out.
#include <algorithm>  // max
#include <cmath>      // fabs, isfinite

#include "core/error.hpp"
#include "core/tensor.hpp"

namespace attn {
namespace {

constexpr Index edge_items = 3;      // shown at each end of an axis that is cut
constexpr Index whole_up_to = 1000;  // tensors of at most so many elements are shown whole

// One format for all values, so that columns line up: integers plain, else four digits after the point, and
// powers of ten where the sizes differ too much for that.
std::string format_value(real value, bool integers, bool scientific) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (integers) return fmt::format("{:.0f}.", value);
  return scientific ? fmt::format("{:.4e}", value) : fmt::format("{:.4f}", value);
}

std::string format_value(int value, bool, bool) { return fmt::format("{}", value); }

template <class T>
class Printer {
 public:
  Printer(const Shape& shape, const T* data) : shape_(shape), data_(data), cut_(shape.numel() > whole_up_to) {
    bool integers = true;
    double largest = 0, smallest = INFINITY;
    for_each_shown(0, 0, [&](T value) {
      const double size = std::fabs(double(value));
      if (!std::isfinite(size)) return;
      integers = integers && size == std::floor(size);
      largest = std::max(largest, size);
      if (size > 0) smallest = std::min(smallest, size);
    });
    integers_ = integers && largest < 1e8;
    scientific_ = !integers_ && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1e6);
    for_each_shown(0, 0, [&](T value) { width_ = std::max(width_, format(value).size()); });
  }

  std::string text() const { return print(0, 0, 0); }

 private:
  std::string format(T value) const { return format_value(value, integers_, scientific_); }
  bool left_out(int axis, Index i) const {
    return cut_ && shape_[axis] > 2 * edge_items && i >= edge_items && i < shape_[axis] - edge_items;
  }

  // Not inlined into itself: g++ 12 would warn of the axis after the last one, which is never reached.
  template <class Visit>
  [[gnu::noinline]] void for_each_shown(int axis, Index offset, const Visit& visit) const {
    if (axis == shape_.rank()) return visit(data_[offset]);
    for (Index i = 0; i < shape_[axis]; ++i)
      if (!left_out(axis, i)) for_each_shown(axis + 1, offset + i * shape_.stride(axis), visit);
  }

  std::string print(int axis, Index offset, std::size_t indent) const {
    if (axis == shape_.rank()) return fmt::format("{:>{}}", format(data_[offset]), width_);
    const bool innermost = axis == shape_.rank() - 1;
    std::string between = ",";
    if (innermost)
      between += ' ';
    else
      between.append(std::size_t(shape_.rank() - axis - 1), '\n').append(indent + 1, ' ');
    std::string out = "[";
    for (Index i = 0; i < shape_[axis]; ++i) {
      if (i) out += between;
      if (left_out(axis, i)) {
        out += "...";
        i = shape_[axis] - edge_items - 1;
      } else {
        out += print(axis + 1, offset + i * shape_.stride(axis), indent + 1);
      }
    }
    return out + "]";
  }

  Shape shape_;
  const T* data_;
  bool cut_, integers_ = false, scientific_ = false;
  std::size_t width_ = 0;
};

}  // namespace

std::string Tensor::str() const {
  if (!body_) return "(empty tensor)";
  const std::string values = numel() ? Printer<real>(shape(), data()).text() : "[]";
  return fmt::format("{}  shape {}", values, shape().str());
}

std::string IntTensor::str() const {
  const std::string values = numel() ? Printer<int>(shape_, data()).text() : "[]";
  return fmt::format("{}  shape {}", values, shape_.str());
}

}  // namespace attn
