#include "lessons/support/json.hpp"

#include <cmath>    // isfinite
#include <cstdlib>  // strtod

#include "core/text.hpp"  // characters, to_utf8

namespace attn {

Json::Json(const std::string& string) : text("\"") {
  for (const Character& c : characters(string)) {
    if (c.code == '"' || c.code == '\\') text += '\\';
    if (c.code < 0x20)
      text += fmt::format("\\u{:04x}", unsigned(c.code));
    else
      text += c.valid ? std::string(c.bytes) : to_utf8(c.code);
  }
  text += '"';
}

Json::Json(double number) : text(std::isfinite(number) ? fmt::format("{}", number) : "null") {}

Json::Json(const std::vector<Json>& values) : text("[") {
  for (const Json& value : values) text += (text.size() > 1 ? "," : "") + value.text;
  text += "]";
}

Json json_object(const JsonMembers& members) {
  Json object("");
  object.text = "{";
  for (const auto& [name, value] : members)
    object.text += (object.text.size() > 1 ? "," : "") + Json(name).text + ":" + value.text;
  object.text += "}";
  return object;
}

Json short_numbers(const viz::Numbers& numbers) {
  std::vector<double> rounded;
  for (const double number : numbers)
    rounded.push_back(std::strtod(fmt::format("{:.4g}", number).c_str(), nullptr));
  return rounded;
}

}  // namespace attn
