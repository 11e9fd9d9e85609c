// vec: as many reals as one register of the target holds (4, 8 or 16 floats), with the usual operators.
//
//   vec x = load(p), y = splat(2);         // unaligned loads; a scalar in every lane
//   store(p, fma(x, y, x));                // x * y + x, one instruction where the target has one
//   vec m = select(x > y, x, y);           // a comparison gives an ivec of 0 and -1: a mask
//   Part end(3);                           // the first three lanes: end.load(p), end.store(p, x)
//
// These are the vector types of GCC and clang, so one source serves SSE, AVX2, AVX-512, ARM and WebAssembly.
//
// Note [No standard library in kernels]
// Every source in core/kernels/ is compiled several times, each time with other instructions allowed. An
// inline function of the standard library (std::max, std::vector::push_back) would then exist in several
// versions under one name; the linker keeps any one of them, perhaps the AVX-512 one, and a CPU without
// AVX-512 dies in a piece of code that has nothing to do with kernels. So the kernels call no inline function
// from outside, not even a member function of our own structs: all that they define lives in the namespace
// attn::ATTN_TARGET, where each version has a name of its own. Headers may be included for types and for
// functions that are really called (not inlined). Intrinsics are always inlined.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>  // what vector types cannot express: masked loads and stores, max, wide products
#endif

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, int64_t, uint32_t, uint64_t
#include <utility>  // integer_sequence

#include "core/index.hpp"
#include "core/real.hpp"

#ifndef ATTN_TARGET
#error "a kernel source is compiled with -DATTN_TARGET=baseline, v3 or v4"
#endif

#define ATTN_INLINE [[gnu::always_inline]] inline

namespace attn::ATTN_TARGET {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

constexpr int lanes = vector_bytes / int(sizeof(real));
using Lanes = std::make_integer_sequence<int, lanes>;

// The integer types with as many bits as a real, and their vectors.
#ifdef ATTN_DOUBLE
using ireal = std::int64_t;
using ureal = std::uint64_t;
#else
using ireal = std::int32_t;
using ureal = std::uint32_t;
#endif

typedef real vec __attribute__((vector_size(vector_bytes)));
typedef ireal ivec __attribute__((vector_size(vector_bytes)));
typedef ureal uvec __attribute__((vector_size(vector_bytes)));

// The same as it lies in memory: aligned as a single real is.
typedef real unaligned_vec __attribute__((vector_size(vector_bytes), aligned(sizeof(real)), may_alias));

constexpr real infinity = __builtin_huge_val();
constexpr real largest_real = sizeof(real) == 4 ? real(__FLT_MAX__) : real(__DBL_MAX__);

ATTN_INLINE vec load(const real* p) { return *reinterpret_cast<const unaligned_vec*>(p); }
// Bytes become reals. g++ 12 would move them one by one where the target has an instruction for it.
ATTN_INLINE vec load(const std::int8_t* p) {
#if defined(__AVX512F__) && !defined(ATTN_DOUBLE)
  return _mm512_maskz_cvtepi32_ps(
      0xffff, _mm512_maskz_cvtepi8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__) && !defined(ATTN_DOUBLE)
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#elif defined(__SSE2__) && !defined(ATTN_DOUBLE)
  const __m128i bytes = _mm_loadu_si32(p), pairs = _mm_unpacklo_epi8(bytes, bytes);
  return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(pairs, pairs), 24));  // byte 3 of each, signed
#else
  typedef std::int8_t bytes __attribute__((vector_size(lanes), aligned(1), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const bytes*>(p), vec);
#endif
}
ATTN_INLINE void store(real* p, const vec& x) { *reinterpret_cast<unaligned_vec*>(p) = x; }
ATTN_INLINE vec splat(real x) { return x - vec{}; }
ATTN_INLINE vec fma(const vec& a, const vec& b, const vec& c) { return a * b + c; }
ATTN_INLINE vec select(const ivec& mask, const vec& yes, const vec& no) { return mask ? yes : no; }
ATTN_INLINE constexpr Index min(Index a, Index b) { return a < b ? a : b; }

// a > b ? a : b and a < b ? a : b, which is b if either is NaN. The CPU has one instruction for it; g++ 12
// finds it in the plain expression, but not when a or b is a constant.
#if defined(__AVX512F__) && !defined(ATTN_DOUBLE)
ATTN_INLINE vec max(const vec& a, const vec& b) { return _mm512_maskz_max_ps(0xffff, a, b); }
ATTN_INLINE vec min(const vec& a, const vec& b) { return _mm512_maskz_min_ps(0xffff, a, b); }
#elif defined(__AVX__) && !defined(ATTN_DOUBLE)
ATTN_INLINE vec max(const vec& a, const vec& b) { return _mm256_max_ps(a, b); }
ATTN_INLINE vec min(const vec& a, const vec& b) { return _mm256_min_ps(a, b); }
#elif defined(__SSE2__) && !defined(ATTN_DOUBLE)
ATTN_INLINE vec max(const vec& a, const vec& b) { return _mm_max_ps(a, b); }
ATTN_INLINE vec min(const vec& a, const vec& b) { return _mm_min_ps(a, b); }
#else
ATTN_INLINE vec max(const vec& a, const vec& b) { return a > b ? a : b; }
ATTN_INLINE vec min(const vec& a, const vec& b) { return a < b ? a : b; }
#endif

// A full vector, for code that serves both it and a Part.
struct Whole {
  ATTN_INLINE vec load(const real* p, real /*fill*/ = 0) const { return attn::ATTN_TARGET::load(p); }
  ATTN_INLINE vec load(const std::int8_t* p) const { return attn::ATTN_TARGET::load(p); }
  ATTN_INLINE void store(real* p, const vec& x) const { attn::ATTN_TARGET::store(p, x); }
  ATTN_INLINE vec clear(const vec& x) const { return x; }
};

// The first n lanes (1 to all of them): the others load as 0 or `fill`, are not stored, and
// `clear` makes them 0.
struct Part {
  ATTN_INLINE explicit Part(Index n) : count(n) {
    ivec number = {};
    for (int i = 0; i < lanes; ++i) number[i] = i;
    inside = number < ireal(n) - ivec{};
  }
  ATTN_INLINE vec load(const real* p) const {
#if defined(__AVX512F__) && defined(ATTN_DOUBLE)
    return _mm512_maskz_loadu_pd(__mmask8(bits()), p);
#elif defined(__AVX512F__)
    return _mm512_maskz_loadu_ps(__mmask16(bits()), p);
#elif defined(__AVX2__) && defined(ATTN_DOUBLE)
    return _mm256_maskload_pd(p, (__m256i)inside);
#elif defined(__AVX2__)
    return _mm256_maskload_ps(p, (__m256i)inside);
#else
    vec x = {};
    for (int i = 0; i < lanes; ++i) x[i] = p[i < count ? i : 0];
    return clear(x);
#endif
  }
  ATTN_INLINE vec load(const std::int8_t* p) const {
    vec x = {};
    for (int i = 0; i < lanes; ++i) x[i] = real(p[i < count ? i : 0]);
    return clear(x);
  }
  ATTN_INLINE vec load(const real* p, real fill) const {
#if defined(__AVX512F__) && !defined(ATTN_DOUBLE)
    return _mm512_mask_loadu_ps(splat(fill), __mmask16(bits()), p);
#else
    return select(inside, load(p), splat(fill));
#endif
  }
  ATTN_INLINE void store(real* p, const vec& x) const {
#if defined(__AVX512F__) && defined(ATTN_DOUBLE)
    _mm512_mask_storeu_pd(p, __mmask8(bits()), x);
#elif defined(__AVX512F__)
    _mm512_mask_storeu_ps(p, __mmask16(bits()), x);
#elif defined(__AVX2__) && defined(ATTN_DOUBLE)
    _mm256_maskstore_pd(p, (__m256i)inside, x);
#elif defined(__AVX2__)
    _mm256_maskstore_ps(p, (__m256i)inside, x);
#else
    __builtin_memcpy(p, &x, std::size_t(count) * sizeof(real));
#endif
  }
  ATTN_INLINE vec clear(const vec& x) const { return select(inside, x, vec{}); }

 private:
  ATTN_INLINE unsigned bits() const { return (1u << count) - 1; }  // a mask of AVX-512

  Index count;
  ivec inside;
};

// x with lanes i and i ^ distance exchanged.
template <int distance, int... Lane>
ATTN_INLINE vec exchange(const vec& x, std::integer_sequence<int, Lane...>) {
  return __builtin_shufflevector(x, x, (Lane ^ distance)...);
}

// The sum, or the largest, of all lanes, in every lane: halves onto halves, a fixed order.
template <int distance = lanes / 2>
ATTN_INLINE vec sum_lanes(const vec& x) {
  const vec y = x + exchange<distance>(x, Lanes());
  if constexpr (distance > 1) return sum_lanes<distance / 2>(y);
  return y;
}
template <int distance = lanes / 2>
ATTN_INLINE vec max_lanes(const vec& x) {
  const vec y = max(x, exchange<distance>(x, Lanes()));
  if constexpr (distance > 1) return max_lanes<distance / 2>(y);
  return y;
}

}  // namespace attn::ATTN_TARGET
