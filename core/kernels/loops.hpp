// The loops that the kernels share: over all vectors of a range, and sums over them.
//
//   over(n, [&](Index i, auto part) { part.store(y + i, exp(part.load(x + i))); });
//
// calls the body for each full vector and once more for what remains. `part` is Whole or Part: both load and
// store, Part only the elements that are there. Body and remainder are one source, so an element has the same
// bits wherever in the range it lies, and a range may be cut into calls anywhere.
//
// That needs some care with sums of products. The compiler contracts a * b + c to one fused operation; of
// a * b + c * d it may fuse either product, and need not choose the same one twice. So the kernels avoid it.
#pragma once

#include "core/kernels.hpp"  // GradTarget
#include "core/kernels/vector.hpp"

namespace attn::ATTN_TARGET {

template <class Body>
ATTN_INLINE void over(Index n, const Body& body) {
  Index i = 0;
  for (; i + lanes <= n; i += lanes) body(i, Whole{});
  if (i < n) body(i, Part(n - i));
}

// Puts vectors into a gradient: over what is there, or added to it.
template <bool add>
struct Put {
  real* data;
  template <class Access>
  ATTN_INLINE void operator()(Index i, const Access& part, const vec& value) const {
    part.store(data + i, add ? value + part.load(data + i) : value);
  }
};
// Calls body(put), where put(i, part, value) does one or the other: two loops instead of a branch in one.
template <class Body>
ATTN_INLINE void into(const GradTarget& gradient, const Body& body) {
  gradient.accumulate ? body(Put<true>{gradient.data}) : body(Put<false>{gradient.data});
}

// Two sums made in one pass.
struct Two {
  vec first, second;
  ATTN_INLINE Two operator+(const Two& other) const { return {first + other.first, second + other.second}; }
};

// Note [Sums]
// A sum of n terms is pairwise: blocks of `sum_block` elements are summed with several independent
// accumulators of one vector each (so that an addition need not wait for the last), then blocks with blocks,
// halves with halves. The order depends on n alone. The error is below (sum_block / lanes / accumulators +
// log2(n) + 4) / 2 ulp of the sum of the magnitudes, where a plain loop has n / 2.
constexpr Index sum_block = 1024;

template <int accumulators, class Term>
ATTN_INLINE auto sum_one_block(Index begin, Index end, const Term& term) {
  decltype(term(begin, Whole{})) sum[accumulators] = {};
  Index i = begin;
  if constexpr (accumulators > 1) {
    for (; i + accumulators * lanes <= end; i += accumulators * lanes) {
      for (int k = 0; k < accumulators; ++k) sum[k] = sum[k] + term(i + k * lanes, Whole{});
    }
  }
  for (; i + lanes <= end; i += lanes) sum[0] = sum[0] + term(i, Whole{});
  if (i < end) sum[accumulators > 1] = sum[accumulators > 1] + term(i, Part(end - i));
  if constexpr (accumulators == 1) {
    return sum[0];
  } else {
    static_assert(accumulators == 4);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

template <int accumulators, class Term>
auto sum_pairwise(Index begin, Index end, const Term& term) -> decltype(term(begin, Whole{})) {
  if (end - begin <= sum_block) return sum_one_block<accumulators>(begin, end, term);
  const Index blocks = (end - begin + sum_block - 1) / sum_block, middle = begin + blocks / 2 * sum_block;
  return sum_pairwise<accumulators>(begin, middle, term) + sum_pairwise<accumulators>(middle, end, term);
}

// The sum of term(i, part) over all vectors of 0 … n-1, lane by lane. In the last vector the lanes that are
// not there count too: their terms must be 0. Terms that take long (an exp) need one accumulator only.
template <int accumulators = 4, class Term>
ATTN_INLINE auto sum_over(Index n, const Term& term) {
  return n <= sum_block ? sum_one_block<accumulators>(0, n, term) : sum_pairwise<accumulators>(0, n, term);
}

// The same for all lanes together, in every lane.
template <int accumulators = 4, class Term>
ATTN_INLINE vec sum_all(Index n, const Term& term) {
  return sum_lanes(sum_over<accumulators>(n, term));
}

// The largest of x and `least`, in every lane; NaNs are passed over.
ATTN_INLINE vec max_over(Index n, const real* x, real least) {
  vec m[4];
  for (vec& lane : m) lane = splat(least);
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (int k = 0; k < 4; ++k) m[k] = max(load(x + i + k * lanes), m[k]);
  }
  for (; i + lanes <= n; i += lanes) m[0] = max(load(x + i), m[0]);
  if (i < n) m[1] = max(Part(n - i).load(x + i, -infinity), m[1]);
  return max_lanes(max(max(m[0], m[1]), max(m[2], m[3])));
}

}  // namespace attn::ATTN_TARGET
