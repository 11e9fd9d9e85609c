// Index: how elements, sizes and positions are counted. Signed, so that differences may be negative.
#pragma once

#include <cstdint>  // int64_t

namespace attn {

using Index = std::int64_t;

}  // namespace attn
