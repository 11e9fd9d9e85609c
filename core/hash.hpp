// fnv1a: a short number that stands for many bytes (FNV-1a, Fowler, Noll and Vo). It tells two texts apart
// and notices damage: if bytes of one place change, so does the number. It is no protection against malice.
// Cost: a byte takes about a nanosecond.
#pragma once

#include <cstdint>      // uint64_t
#include <string_view>  // string_view

namespace attn {

// To go on after other bytes, pass their number as `hash`.
inline std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace attn
