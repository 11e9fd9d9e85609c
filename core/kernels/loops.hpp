// The loops that the kernels share: over all vectors of a range, and sums over them.
//
//   over(n, [&](Index i, auto part) { part.store(y + i, exp(part.load(x + i))); });
//
// calls the body for each full vector and once more for what remains. `part` is Whole or Part: both load and
// store, Part only the elements that are there. Body and remainder are one source, so an element has the same
// bits wherever in the range it lies, and a range may be cut into calls anywhere.
//
// That needs some care with sums of products. The compiler contracts a * b + c to one fused operation; of
// a * b + c * d it may fuse either product, and need not choose the same one twice. The kernels avoid that
// form.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>  // masked loads and stores, 32 x 32 bit products
#endif

#include "core/kernels/vector.hpp"

namespace attn::ATTN_TARGET {

constexpr real infinity = __builtin_huge_val();
constexpr real largest_real = sizeof(real) == 4 ? real(__FLT_MAX__) : real(__DBL_MAX__);

// a > b ? a : b and a < b ? a : b, which is b if either is NaN. The CPU has one instruction for it; g++ 12
// finds it in the plain expression, but not when a or b is a constant.
#if defined(__AVX512F__) && !defined(ATTN_DOUBLE)
ATTN_INLINE vec larger(const vec& a, const vec& b) { return _mm512_maskz_max_ps(0xffff, a, b); }
ATTN_INLINE vec smaller(const vec& a, const vec& b) { return _mm512_maskz_min_ps(0xffff, a, b); }
#elif defined(__AVX__) && !defined(ATTN_DOUBLE)
ATTN_INLINE vec larger(const vec& a, const vec& b) { return _mm256_max_ps(a, b); }
ATTN_INLINE vec smaller(const vec& a, const vec& b) { return _mm256_min_ps(a, b); }
#elif defined(__SSE2__) && !defined(ATTN_DOUBLE)
ATTN_INLINE vec larger(const vec& a, const vec& b) { return _mm_max_ps(a, b); }
ATTN_INLINE vec smaller(const vec& a, const vec& b) { return _mm_min_ps(a, b); }
#else
ATTN_INLINE vec larger(const vec& a, const vec& b) { return a > b ? a : b; }
ATTN_INLINE vec smaller(const vec& a, const vec& b) { return a < b ? a : b; }
#endif

// A full vector.
struct Whole {
  ATTN_INLINE vec load(const real* p, real /*fill*/ = 0) const { return attn::ATTN_TARGET::load(p); }
  ATTN_INLINE void store(real* p, const vec& x) const { attn::ATTN_TARGET::store(p, x); }
  ATTN_INLINE vec clear(const vec& x) const { return x; }
};

// The first `count` lanes (1 to all of them): the others load as `fill`, are not stored, and `clear` makes
// them 0.
struct Part {
  ATTN_INLINE explicit Part(Index n) : count(n) {
    ivec number = {};
    for (int i = 0; i < lanes; ++i) number[i] = i;
    inside = number < ireal(n) - ivec{};
  }
  ATTN_INLINE vec load(const real* p, real fill = 0) const {
#if defined(__AVX512F__) && defined(ATTN_DOUBLE)
    return _mm512_mask_loadu_pd(splat(fill), bits(), p);
#elif defined(__AVX512F__)
    return _mm512_mask_loadu_ps(splat(fill), bits(), p);
#elif defined(__AVX2__) && defined(ATTN_DOUBLE)
    return (vec)((uvec)_mm256_maskload_pd(p, (__m256i)inside) | outside(fill));
#elif defined(__AVX2__)
    return (vec)((uvec)_mm256_maskload_ps(p, (__m256i)inside) | outside(fill));
#else
    vec x = splat(fill);
    for (int i = 0; i < lanes; ++i) {
      if (i < count) x[i] = p[i];
    }
    return x;
#endif
  }
  ATTN_INLINE void store(real* p, const vec& x) const {
#if defined(__AVX512F__) && defined(ATTN_DOUBLE)
    _mm512_mask_storeu_pd(p, bits(), x);
#elif defined(__AVX512F__)
    _mm512_mask_storeu_ps(p, bits(), x);
#elif defined(__AVX2__) && defined(ATTN_DOUBLE)
    _mm256_maskstore_pd(p, (__m256i)inside, x);
#elif defined(__AVX2__)
    _mm256_maskstore_ps(p, (__m256i)inside, x);
#else
    for (int i = 0; i < lanes; ++i) {
      if (i < count) p[i] = x[i];
    }
#endif
  }
  ATTN_INLINE vec clear(const vec& x) const { return select(inside, x, vec{}); }

 private:
  ATTN_INLINE unsigned bits() const { return (1u << count) - 1; }  // a mask of AVX-512
  ATTN_INLINE uvec outside(real fill) const { return ~(uvec)inside & (uvec)splat(fill); }

  Index count;
  ivec inside;
};

template <class Body>
ATTN_INLINE void over(Index n, const Body& body) {
  Index i = 0;
  for (; i + lanes <= n; i += lanes) body(i, Whole{});
  if (i < n) body(i, Part(n - i));
}

// x with lanes i and i ^ distance exchanged.
template <int distance, class Vector>
ATTN_INLINE Vector exchange(const Vector& x) {
  constexpr int d = distance;
  if constexpr (lanes == 2) {
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d);
  } else if constexpr (lanes == 4) {
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d);
  } else if constexpr (lanes == 8) {
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d, 4 ^ d, 5 ^ d, 6 ^ d, 7 ^ d);
  } else {
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d, 4 ^ d, 5 ^ d, 6 ^ d, 7 ^ d, 8 ^ d, 9 ^ d,
                                   10 ^ d, 11 ^ d, 12 ^ d, 13 ^ d, 14 ^ d, 15 ^ d);
  }
}

// The sum, or the largest, of all lanes, in every lane.
template <int distance = lanes / 2>
ATTN_INLINE vec sum_lanes(const vec& x) {
  const vec y = x + exchange<distance>(x);
  if constexpr (distance == 1) {
    return y;
  } else {
    return sum_lanes<distance / 2>(y);
  }
}
template <int distance = lanes / 2>
ATTN_INLINE vec max_lanes(const vec& x) {
  const vec y = larger(x, exchange<distance>(x));
  if constexpr (distance == 1) {
    return y;
  } else {
    return max_lanes<distance / 2>(y);
  }
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

// The largest of x and `least`, in every lane; NaNs are passed over.
ATTN_INLINE vec max_over(Index n, const real* x, real least) {
  vec m[4];
  for (vec& lane : m) lane = splat(least);
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (int k = 0; k < 4; ++k) m[k] = larger(load(x + i + k * lanes), m[k]);
  }
  for (; i + lanes <= n; i += lanes) m[0] = larger(load(x + i), m[0]);
  if (i < n) m[1] = larger(Part(n - i).load(x + i, -infinity), m[1]);
  return max_lanes(larger(larger(m[0], m[1]), larger(m[2], m[3])));
}

}  // namespace attn::ATTN_TARGET
