#include "core/base64.hpp"

#include <algorithm>  // min

namespace attn {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;  // three bytes are four digits of six bits
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += j <= count ? digits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string decode_base64(std::string_view text) {
  std::string bytes;
  unsigned pending = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t value = digits.find(c);
    if (value == digits.npos) break;  // the padding at the end
    pending = pending << 6 | unsigned(value);
    if ((bits += 6) >= 8) bytes += static_cast<char>(pending >> (bits -= 8) & 0xff);
  }
  return bytes;
}

}  // namespace attn
