// As if: the same question with one thing changed.
//
// Many mistakes are the right answer to another question: an argument ignored, one too many, a sign, two
// arguments exchanged. So the right answer is asked such questions, too, and when a learner's answers agree
// with it on every input, they are told: "It behaves as if epsilon were 0".
#pragma once

#include <cmath>  // sqrt

#include "core/ops.hpp"
#include "lessons/coach/value.hpp"

namespace coach::detail {

struct Variation {
  int countdown;     // changes yet to be skipped
  std::string text;  // of the change that was made: "epsilon were 0"

  // True once, when it is this change's turn.
  bool turn(const std::string& name, const std::string& change) {
    if (countdown-- != 0) return false;
    text = name + " " + change;
    return true;
  }
};

// Row `row` in the place of all; -1 is the last.
inline attn::Tensor repeated(const attn::Tensor& x, int row) {
  const Index rows = x.size(0);
  return attn::take_rows(x, std::vector<int>(std::size_t(rows), row < 0 ? int(rows) - 1 : row));
}
// The same with the first (0) or the last (-1) entry along an axis made 0.
inline attn::Tensor with_zeros(const attn::Tensor& x, int axis, int entry) {
  attn::Tensor out = clone_tensor(x);
  const int at = attn::normalize_axis("with_zeros", x.shape(), axis);
  const Index size = x.size(at), stride = x.shape().stride(at), wanted = entry < 0 ? size - 1 : 0;
  for (Index i = 0; i < out.numel(); ++i)
    if (i / stride % size == wanted) out.data()[i] = 0;
  return out;
}

template <class Fields>
bool vary_fields(const Fields& fields, const std::string& prefix, Variation& variation);

// Makes change number `countdown` to the value and returns true; or, if it has fewer, counts them down.
template <class T>
bool vary(T& value, const std::string& name, Variation& variation) {
  const auto turn = [&](const char* change) { return variation.turn(name, change); };
  if constexpr (std::is_same_v<T, bool>) {
    if (turn("were true")) return value = true, true;
    if (turn("were false")) return value = false, true;
  } else if constexpr (std::is_integral_v<T>) {
    if (turn("were one larger")) return ++value, true;
    if (turn("were one smaller")) return --value, true;
    if (turn("were 0")) return value = 0, true;
    if (turn("were 1")) return value = 1, true;
    if (turn("were twice as large")) return value *= 2, true;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (turn("were 0")) return value = 0, true;
    if (turn("were 1")) return value = 1, true;
    if (turn("had the other sign")) return value = -value, true;
    if (turn("were 1 minus itself")) return value = 1 - value, true;
    if (turn("were 1 divided by itself")) return value = 1 / value, true;
    if (turn("were its own square")) return value *= value, true;
    if (turn("were its own root")) return value = std::sqrt(value), true;
  } else if constexpr (std::is_same_v<T, attn::Tensor>) {
    if (turn("were all 0")) return value = attn::zeros(value.shape()), true;
    if (turn("were all 1")) return value = attn::ones(value.shape()), true;
    if (turn("had the other sign")) return value = attn::neg(value), true;
    if (turn("were transposed")) return value = attn::transpose(value), true;
    if (turn("were its own square")) return value = value * value, true;
    if (turn("had its first axis reversed")) {
      std::vector<int> rows;
      for (Index i = value.size(0); i-- > 0;) rows.push_back(int(i));
      return value = attn::take_rows(value, rows), true;
    }
    if (turn("had its first row everywhere")) return value = repeated(value, 0), true;
    if (turn("had its last row everywhere")) return value = repeated(value, -1), true;
    if (turn("were 0 in its first column")) return value = with_zeros(value, -1, 0), true;
    if (turn("were 0 in its last column")) return value = with_zeros(value, -1, -1), true;
    if (turn("were 0 in its first row")) return value = with_zeros(value, 0, 0), true;
    if (turn("were 0 in its last row")) return value = with_zeros(value, 0, -1), true;
  } else if constexpr (is_a<T, std::vector>) {
    if (turn("were in reverse order")) return value = T(value.rbegin(), value.rend()), true;
    if (turn("had no first element")) return value.at(0), value.erase(value.begin()), true;
    if (turn("had no last element")) return value.at(0), value.pop_back(), true;
    if (turn("had its first element everywhere"))
      return value = T(value.size(), typename T::value_type(value.at(0))), true;
    if (turn("had its last element everywhere"))
      return value = T(value.size(), typename T::value_type(value.at(value.size() - 1))), true;
    if (turn("were empty")) return value.clear(), true;
    if constexpr (std::is_arithmetic_v<typename T::value_type>) {
      if (turn("were sorted")) return std::sort(value.begin(), value.end()), true;
      if (turn("were all 0")) return value.assign(value.size(), 0), true;
      if (turn("were all 1")) return value.assign(value.size(), 1), true;
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (turn("were in reverse order")) return std::reverse(value.begin(), value.end()), true;
    if (turn("ended at its first 0 byte")) return value = value.c_str(), true;
  } else if constexpr (std::is_same_v<T, std::function<attn::Tensor(const attn::Tensor&)>>) {
    if (turn("did nothing")) return value = [](const attn::Tensor& x) { return x; }, true;
  } else if constexpr (requires(T & v) { fields(v); }) {
    return vary_fields(fields(value), name + ".", variation);
  }
  return false;
}

// The same for each of several; then two of one type exchanged, or one put in the other's place.
template <class Fields>
bool vary_fields(const Fields& fields, const std::string& prefix, Variation& variation) {
  const auto alone = [&](const auto&... f) { return (vary(f.value, prefix + f.name, variation) || ...); };
  if (std::apply(alone, fields)) return true;
  const auto pair = [&](const auto& a, const auto& b) {
    using A = std::decay_t<decltype(a.value)>;
    if constexpr (std::is_same_v<A, std::decay_t<decltype(b.value)>> && !std::is_same_v<A, bool>) {
      if (&a.value == &b.value) return false;
      const std::string left = prefix + a.name, right = prefix + b.name;
      if (&a.value < &b.value && variation.turn(left + " and " + right, "were exchanged"))
        return std::swap(a.value, b.value), true;
      if (variation.turn(left, "were " + right)) return a.value = b.value, true;
    }
    return false;
  };
  const auto with_each = [&](const auto& a) {
    return std::apply([&](const auto&... b) { return (pair(a, b) || ...); }, fields);
  };
  return std::apply([&](const auto&... a) { return (with_each(a) || ...); }, fields);
}

}  // namespace coach::detail
