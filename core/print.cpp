// Printing tensors as NumPy does: nested brackets, aligned columns, the middle of large ones left out.
#include "core/tensor.hpp"

#include <algorithm>    // max, min
#include <cmath>        // fabs, floor, isfinite
#include <functional>   // function
#include <type_traits>  // is_integral_v

namespace attn {
namespace {

constexpr Index edge_items = 3;      // shown at each end of an axis that is cut
constexpr Index whole_up_to = 1000;  // elements: a larger tensor is cut

using Leaf = std::function<std::string(Index offset)>;

// The brackets around leaf(offset), which is called for each element that is shown.
std::string print(const Shape& shape, int axis, Index offset, const Leaf& leaf) {
  if (axis == shape.rank()) return leaf(offset);
  const Index size = shape[axis];
  const bool cut = shape.numel() > whole_up_to && size > 2 * edge_items;
  std::string between = ",", out = "[";
  if (axis == shape.rank() - 1)
    between += ' ';
  else
    between.append(shape.rank() - axis - 1, '\n').append(axis + 1, ' ');
  for (Index i = 0; i < size; ++i) {
    if (i) out += between;
    if (cut && i == edge_items) {
      out += "..." + between;
      i = size - edge_items;
    }
    out += print(shape, axis + 1, offset + i * shape.stride(axis), leaf);
  }
  return out + "]";
}

// One format for all values, so that columns line up: integers plain, else four digits after the point, and
// powers of ten where the sizes differ too much for that.
template <class T>
std::string to_text(const Shape& shape, const T* data) {
  if (shape.numel() == 0) return fmt::format("[]  shape {}", shape.str());
  bool integers = true;
  double largest = 0, smallest = INFINITY;
  print(shape, 0, 0, [&](Index i) {
    const double size = std::fabs(double(data[i]));
    if (!std::isfinite(size)) return "";
    integers = integers && size == std::floor(size);
    largest = std::max(largest, size);
    if (size > 0) smallest = std::min(smallest, size);
    return "";
  });
  integers = integers && largest < 1e8;
  const bool scientific = largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1e6;
  const auto format = [&](Index i) {
    if constexpr (std::is_integral_v<T>) return fmt::format("{}", data[i]);
    if (!std::isfinite(data[i])) return fmt::format("{}", data[i]);
    if (integers) return fmt::format("{:.0f}.", double(data[i]));
    return scientific ? fmt::format("{:.4e}", double(data[i])) : fmt::format("{:.4f}", double(data[i]));
  };
  std::size_t width = 0;
  print(shape, 0, 0, [&](Index i) {
    width = std::max(width, format(i).size());
    return "";
  });
  const Leaf aligned = [&](Index i) { return fmt::format("{:>{}}", format(i), width); };
  return fmt::format("{}  shape {}", print(shape, 0, 0, aligned), shape.str());
}

}  // namespace

std::string Tensor::str() const { return body_ ? to_text(shape(), data()) : "(empty tensor)"; }
std::string IntTensor::str() const { return storage_ ? to_text(shape_, data()) : "(empty tensor)"; }

}  // namespace attn
