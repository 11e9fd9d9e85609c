// Base64: bytes as text of 64 letters, as pages, notebooks and tokenizer.json carry them.
#pragma once

#include <string>       // string
#include <string_view>  // string_view

namespace attn {

std::string base64(std::string_view bytes);
std::string decode_base64(std::string_view text);  // up to the first character that is no digit of it

}  // namespace attn
