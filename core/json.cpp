#include "core/json.hpp"

#include <nlohmann/json.hpp>  // json

namespace attn {

nlohmann::json parse_json(std::string_view text) {
  constexpr int deepest = 100;
  // Line ends and tabs become spaces: if the text is wrong, the library spells out all that stand before the
  // place, as <U+000A> each, for a message that nobody reads.
  std::string plain(text);
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    char& c = plain[i];
    if (c == '"')
      in_string = !in_string;
    else if (in_string)
      i += c == '\\';
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    else if (c == '\n' || c == '\r' || c == '\t')
      c = ' ';
    if (depth > deepest) return nlohmann::json::value_t::discarded;
  }
  return nlohmann::json::parse(plain, nullptr, false);
}

}  // namespace attn
