// Included before a file of answers. `make check` compiles with real = double, a milestone with real = float:
// what passed there must compile here, too. With `double largest`, std::max(largest, s(i, j)) then has two
// types, which the standard library refuses.
#pragma once

#include <algorithm>    // max, min
#include <type_traits>  // is_floating_point_v

namespace std {

template <class A, class B>
requires(is_floating_point_v<A>&& is_floating_point_v<B> && !is_same_v<A, B>)  //
    constexpr double max(const A& a, const B& b) {
  return max<double>(a, b);
}

template <class A, class B>
requires(is_floating_point_v<A>&& is_floating_point_v<B> && !is_same_v<A, B>)  //
    constexpr double min(const A& a, const B& b) {
  return min<double>(a, b);
}

}  // namespace std
