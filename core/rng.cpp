#include "core/rng.hpp"

#include <array>  // array
#include <cmath>  // cos, log, sqrt

#include "core/error.hpp"

namespace attn {

namespace {

using Words = std::array<std::uint32_t, 4>;

// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): ten rounds of multiply, swap and xor turn the number
// of a block into four words of random bits.
Words philox_block(std::uint64_t key, std::uint64_t number) {
  std::uint32_t x0 = std::uint32_t(number), x1 = std::uint32_t(number >> 32), x2 = 0, x3 = 0;
  std::uint32_t k0 = std::uint32_t(key), k1 = std::uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * x0, p1 = std::uint64_t{0xCD9E8D57} * x2;
    x0 = std::uint32_t(p1 >> 32) ^ x1 ^ k0;
    x1 = std::uint32_t(p1);
    x2 = std::uint32_t(p0 >> 32) ^ x3 ^ k1;
    x3 = std::uint32_t(p0);
    k0 += 0x9E3779B9;  // the golden ratio
    k1 += 0xBB67AE85;  // sqrt(3) - 1
  }
  return {x0, x1, x2, x3};
}

// The next `count` words. Those of one block are made together.
template <int count>
std::array<std::uint32_t, count> next_words(Rng& rng) {
  std::array<std::uint32_t, count> words;
  Words block;
  for (int i = 0; i < count; ++i, ++rng.counter) {
    if (i == 0 || rng.counter % 4 == 0) block = philox_block(rng.key, rng.counter / 4);
    words[i] = block[rng.counter % 4];
  }
  return words;
}

// In [0, 1), from 27 and 26 bits.
double fraction(std::uint32_t high, std::uint32_t low) {
  return double(std::uint64_t(high >> 5) << 26 | low >> 6) * 0x1p-53;
}

}  // namespace

std::uint32_t philox(std::uint64_t key, std::uint64_t counter) {
  return philox_block(key, counter / 4)[counter % 4];
}

std::uint32_t Rng::bits() { return philox(key, counter++); }

std::uint64_t Rng::bits64() {
  const auto [high, low] = next_words<2>(*this);
  return std::uint64_t(high) << 32 | low;
}

double Rng::uniform() {
  const auto [high, low] = next_words<2>(*this);
  return fraction(high, low);
}

// Box and Muller: a point with a random angle at a distance whose square is exponentially distributed.
double Rng::normal() {
  const auto [a, b, c, d] = next_words<4>(*this);
  return std::sqrt(-2 * std::log(1 - fraction(a, b))) * std::cos(6.283185307179586477 * fraction(c, d));
}

Index Rng::below(Index n) {
  if (n < 1) fail("below: there is no number below {}", n);
  // Draws that would make the low remainders likelier are thrown away.
  const std::uint64_t range = std::uint64_t(n), limit = ~std::uint64_t{0} - ~std::uint64_t{0} % range;
  std::uint64_t draw;
  do draw = bits64();
  while (draw >= limit);
  return Index(draw % range);
}

}  // namespace attn
