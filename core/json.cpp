#include "core/json.hpp"

#include <nlohmann/json.hpp>  // json

namespace attn {

static bool nests_deeper_than(std::string_view text, int most) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      in_string = !in_string;
    else if (in_string)
      i += c == '\\';
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (depth > most) return true;
  }
  return false;
}

nlohmann::json parse_json(std::string_view text) {
  if (nests_deeper_than(text, 100)) return nlohmann::json::value_t::discarded;
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace attn
