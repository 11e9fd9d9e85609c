// Philox4x32-10 on vectors (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
//
// Ten rounds of multiply, swap and xor turn a 128-bit counter and a 64-bit key into four random words. We use
// the low 64 bits of the counter, the number of a block; core/rng.cpp has the same for one block at a time.
//
// Each 64-bit lane holds one word of one block in its low half. The upper half may hold anything, because a
// product takes only the low halves. So a round is two products, two shifts and four xors.
#pragma once

#include "core/kernels/vector.hpp"  // immintrin.h

namespace attn::ATTN_TARGET {

typedef std::uint64_t word_vec __attribute__((vector_size(vector_bytes)));
typedef word_vec unaligned_word_vec __attribute__((aligned(4), may_alias));

constexpr int philox_lanes = vector_bytes / 8;  // blocks side by side
constexpr int philox_words = 4 * philox_lanes;  // the words they make

// 32 x 32 -> 64 bits in each lane.
ATTN_INLINE word_vec multiply(const word_vec& a, const word_vec& b) {
#if defined(__AVX512F__)
  // Unmasked, g++ 12 warns of its own header.
  return (word_vec)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (word_vec)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (word_vec)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// The lower or the upper half of a0 b0 a1 b1 …
template <bool upper, int... Lane>
ATTN_INLINE word_vec interleave(const word_vec& a, const word_vec& b, std::integer_sequence<int, Lane...>) {
  constexpr int first = upper ? philox_lanes / 2 : 0;
  return __builtin_shufflevector(a, b, (first + Lane / 2 + Lane % 2 * philox_lanes)...);
}

// The keys of the ten rounds, in every lane.
struct PhiloxKeys {
  word_vec first[10], second[10];
  ATTN_INLINE explicit PhiloxKeys(std::uint64_t key) {
    std::uint32_t low = std::uint32_t(key), high = std::uint32_t(key >> 32);
    for (int round = 0; round < 10; ++round) {
      first[round] = std::uint64_t(low) - word_vec{};
      second[round] = std::uint64_t(high) - word_vec{};
      low += 0x9E3779B9;   // the golden ratio
      high += 0xBB67AE85;  // sqrt(3) - 1
    }
  }
};

// The words of the chains * philox_lanes blocks from `block` on. A round waits for the one before: several
// chains of rounds at a time keep the CPU busy.
template <int chains>
ATTN_INLINE void philox_blocks(const PhiloxKeys& keys, std::uint64_t block, std::uint32_t* out) {
  word_vec x0[chains], x1[chains], x2[chains] = {}, x3[chains] = {};
  for (int c = 0; c < chains; ++c) {
    word_vec number = {};
    for (int i = 0; i < philox_lanes; ++i) number[i] = std::uint64_t(c * philox_lanes + i);
    x0[c] = number + block;
    x1[c] = x0[c] >> 32;
  }
  for (int round = 0; round < 10; ++round) {
    for (int c = 0; c < chains; ++c) {
      const word_vec p0 = multiply(x0[c], std::uint64_t(0xD2511F53) - word_vec{});
      const word_vec p1 = multiply(x2[c], std::uint64_t(0xCD9E8D57) - word_vec{});
      x0[c] = (p1 >> 32) ^ (x1[c] ^ keys.first[round]);
      x1[c] = p1;
      x2[c] = (p0 >> 32) ^ (x3[c] ^ keys.second[round]);
      x3[c] = p0;
    }
  }
  for (int c = 0; c < chains; ++c) {
    const word_vec x01 = (x0[c] & 0xffffffffu) | (x1[c] << 32), x23 = (x2[c] & 0xffffffffu) | (x3[c] << 32);
    unaligned_word_vec* to = reinterpret_cast<unaligned_word_vec*>(out) + 2 * c;
    to[0] = interleave<false>(x01, x23, std::make_integer_sequence<int, philox_lanes>());
    to[1] = interleave<true>(x01, x23, std::make_integer_sequence<int, philox_lanes>());
  }
}

// At least n words, from the first of `block` on; up to the next multiple of philox_words are written.
ATTN_INLINE void philox_fill(const PhiloxKeys& keys, std::uint64_t block, Index n, std::uint32_t* out) {
  Index i = 0;
  for (; i + 3 * philox_words <= n; i += 3 * philox_words)
    philox_blocks<3>(keys, block + std::uint64_t(i / 4), out + i);
  for (; i < n; i += philox_words) philox_blocks<1>(keys, block + std::uint64_t(i / 4), out + i);
}

}  // namespace attn::ATTN_TARGET
