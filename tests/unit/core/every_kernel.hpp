// What the tests of the kernels share: a walk over every instruction set that this CPU can run, and numbers.
#pragma once

#include <doctest/doctest.h>

#include <cstring>  // memcmp
#include <limits>   // numeric_limits
#include <random>   // mt19937, uniform_real_distribution
#include <string>   // string
#include <vector>   // vector

#include "core/kernels.hpp"

namespace attn {

using Wide = long double;
using Reals = std::vector<real>;
using Limits = std::numeric_limits<real>;
constexpr real inf = Limits::infinity();

template <class Check>
void on_every_set(const Check& check) {
  for (int i = 0; i < kernel_set_count(); ++i) {
    const Kernels& set = kernel_set(i);
    const std::string name = set.name;
    CAPTURE(name);
    check(set);
  }
}

inline Reals random_reals(Index n, unsigned seed, real low = -2, real high = 2) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<real> uniform(low, high);
  Reals x(n);
  for (real& v : x) v = uniform(generator);
  return x;
}

inline bool same_bits(const Reals& a, const Reals& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0);
}

}  // namespace attn
