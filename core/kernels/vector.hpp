// vec: as many reals as one register of the target holds (4, 8 or 16 floats), with the usual operators.
//
//   vec x = load(p), y = splat(2.0f);      // unaligned loads; a scalar in every lane
//   store(p, fma(x, y, x));                // x * y + x, one instruction where the target has one
//   vec m = select(x > y, x, y);           // a comparison gives an ivec of 0 and -1: a mask
//
// These are the vector types of GCC and clang, so one source serves SSE, AVX2, AVX-512, ARM and WebAssembly.
//
// Note [No standard library in kernels]
// Every source in core/kernels/ is compiled several times, each time with other instructions allowed. An
// inline function of the standard library (std::max, std::vector::push_back) would then exist in several
// versions under one name; the linker keeps any one of them, perhaps the AVX-512 one, and a CPU without
// AVX-512 dies in a piece of code that has nothing to do with kernels. So the kernels use no code from
// outside: all that they define lives in the namespace attn::ATTN_TARGET, where each version has a name of
// its own. Headers of the library may be included for types and for functions that are really called (not
// inlined). Intrinsics are always inlined.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>  // masked loads and stores, which vector types cannot express
#endif

#include <cstdint>  // int32_t, int64_t, uint32_t, uint64_t

#include "core/real.hpp"
#include "core/shape.hpp"  // Index

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

ATTN_INLINE vec load(const real* p) { return *reinterpret_cast<const unaligned_vec*>(p); }
ATTN_INLINE void store(real* p, const vec& x) { *reinterpret_cast<unaligned_vec*>(p) = x; }

// The first n (0 < n <= lanes) elements at p, the other lanes 0; and their way back.
#if defined(__AVX512F__) && !defined(ATTN_DOUBLE)
ATTN_INLINE vec load_part(const real* p, Index n) { return (vec)_mm512_maskz_loadu_ps((1u << n) - 1, p); }
ATTN_INLINE void store_part(real* p, const vec& x, Index n) {
  _mm512_mask_storeu_ps(p, (1u << n) - 1, (__m512)x);
}
#elif defined(__AVX2__) && !defined(ATTN_DOUBLE)
ATTN_INLINE ivec first_lanes(Index n) { return ivec{0, 1, 2, 3, 4, 5, 6, 7} < ireal(n); }
ATTN_INLINE vec load_part(const real* p, Index n) {
  return (vec)_mm256_maskload_ps(p, (__m256i)first_lanes(n));
}
ATTN_INLINE void store_part(real* p, const vec& x, Index n) {
  _mm256_maskstore_ps(p, (__m256i)first_lanes(n), (__m256)x);
}
#else
ATTN_INLINE vec load_part(const real* p, Index n) {
  vec x = {};
  for (Index i = 0; i < n; ++i) x[i] = p[i];
  return x;
}
ATTN_INLINE void store_part(real* p, const vec& x, Index n) {
  for (Index i = 0; i < n; ++i) p[i] = x[i];
}
#endif

ATTN_INLINE vec splat(real x) { return x - vec{}; }
ATTN_INLINE vec fma(const vec& a, const vec& b, const vec& c) { return a * b + c; }
ATTN_INLINE vec select(const ivec& mask, const vec& yes, const vec& no) { return mask ? yes : no; }
ATTN_INLINE vec max(const vec& a, const vec& b) { return a > b ? a : b; }
ATTN_INLINE vec min(const vec& a, const vec& b) { return a < b ? a : b; }

// The sum of all lanes, halves onto halves: a fixed order.
ATTN_INLINE real sum(const vec& x) {
  real lane[lanes];
  for (int i = 0; i < lanes; ++i) lane[i] = x[i];
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
}
ATTN_INLINE real max_lane(const vec& x) {
  real m = x[0];
  for (int i = 1; i < lanes; ++i) m = x[i] > m ? x[i] : m;
  return m;
}

}  // namespace attn::ATTN_TARGET
