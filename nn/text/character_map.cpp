#include "nn/text/character_map.hpp"

#include <algorithm>  // min
#include <cstring>    // memcpy

#include "core/error.hpp"
#include "core/text.hpp"  // character_at

namespace attn {
namespace {

// A unit of the double array: from a node, byte c leads to the unit at node ^ offset(node) ^ c, if the label
// there is c. Where a key ends, the unit at node ^ offset(node) holds its value instead.
std::uint32_t offset(std::uint32_t unit) { return unit >> 10 << (unit >> 6 & 8); }  // bit 9: times 256
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000ff; }
bool ends_here(std::uint32_t unit) { return unit >> 8 & 1; }
std::uint32_t value(std::uint32_t unit) { return unit & 0x7fffffff; }

constexpr std::size_t longest_key = 64;  // of real maps: 18 bytes

}  // namespace

CharacterMap::CharacterMap(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() >= 4) std::memcpy(&size, bytes.data(), 4);
  if (size == 0 || size % 4 != 0 || size > bytes.size() - 4)
    fail("tokenizer: its map of characters is damaged: {} bytes, and a trie of {}", bytes.size(), size);
  trie_.resize(size / 4);
  std::memcpy(trie_.data(), bytes.data() + 4, size);
  replacements_ = bytes.substr(4 + size);
  if (!replacements_.ends_with('\0')) fail("tokenizer: its map of characters is damaged: it has no end");
}

CharacterMap::Match CharacterMap::longest(std::string_view text) const {
  Match match;
  std::size_t node = offset(trie_[0]);
  for (std::size_t i = 0; i < std::min(text.size(), longest_key); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= trie_.size() || label(trie_[node]) != byte) break;
    const std::uint32_t unit = trie_[node];
    node ^= offset(unit);
    if (!ends_here(unit) || node >= trie_.size()) continue;
    if (const std::uint32_t at = value(trie_[node]); at < replacements_.size())
      match = {i + 1, replacements_.c_str() + at};
  }
  return match;
}

std::string CharacterMap::operator()(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    const Match match = longest(text);
    const std::string_view one = character_at(text, 0).bytes;
    out += match.length ? std::string_view(match.replacement) : one;
    text.remove_prefix(match.length ? match.length : one.size());
  }
  return out;
}

}  // namespace attn
