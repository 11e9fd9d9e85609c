// Apart from options.cpp, whose from_chars not every C++ library has yet: the live page needs this alone.
#include "lessons/support/options.hpp"

#include <fmt/core.h>  // format

namespace attn {

void check_bounds(const std::string& name, double value, const OptionInfo& info, const std::string& written) {
  const std::string text = written.empty() ? fmt::format("{}", value) : written;
  if (value < info.at_least)
    throw UsageError(fmt::format("{}: {} is too small: it must be at least {}", name, text, info.at_least));
  if (!(value <= info.at_most))
    throw UsageError(fmt::format("{}: {} is too large: it must be at most {}", name, text, info.at_most));
}

}  // namespace attn
