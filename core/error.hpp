// Error: what every part of the library throws. The message names the operation, what it was given
// and what it wanted, in one line: `matmul: (2,3) x (4,5): inner dimensions differ (3 and 4)`.
#pragma once

#include <fmt/core.h>  // format

#include <stdexcept>  // runtime_error
#include <utility>    // forward

namespace attn {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace attn
