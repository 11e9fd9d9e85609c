#include "core/rng.hpp"

#include <cmath>  // cos, log, sqrt

#include "core/error.hpp"

namespace attn {

// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): ten rounds of multiply, swap and xor turn a counter
// into four words of random bits. Word counter % 4 of block counter / 4 is ours.
std::uint32_t philox(std::uint64_t key, std::uint64_t counter) {
  std::uint32_t x0 = std::uint32_t(counter / 4), x1 = std::uint32_t((counter / 4) >> 32);
  std::uint32_t x2 = 0, x3 = 0;
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
  const std::uint32_t words[] = {x0, x1, x2, x3};
  return words[counter % 4];
}

std::uint32_t Rng::bits() { return philox(key, counter++); }

std::uint64_t Rng::bits64() {
  const std::uint64_t high = bits();  // a statement of its own: the order of the draws must be fixed
  return high << 32 | bits();
}

double Rng::uniform() {
  const std::uint64_t high = bits() >> 5, low = bits() >> 6;  // 27 and 26 bits
  return double(high << 26 | low) * 0x1p-53;
}

// Box and Muller: a point with a random angle at a distance whose square is exponentially distributed.
double Rng::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(6.283185307179586477 * uniform());
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
