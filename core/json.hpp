// Reading JSON that somebody else wrote.
#pragma once

#include <nlohmann/json_fwd.hpp>  // json
#include <string_view>            // string_view

namespace attn {

// The value, or a discarded one (`is_discarded()`) if the text is no JSON or nests deeper than any honest
// file: a megabyte of `[` would take a second and 50 MB.
nlohmann::json parse_json(std::string_view text);

}  // namespace attn
