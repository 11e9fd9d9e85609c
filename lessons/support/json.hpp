// Writing JSON. (It is read with nlohmann-json, whose header takes longer to compile than a lesson.)
//
//   json_object({{"kind", "claim"}, {"holds", true}, {"losses", short_numbers(losses)}}).text
#pragma once

#include <fmt/core.h>  // format

#include <concepts>  // integral
#include <string>    // string
#include <utility>   // pair
#include <vector>    // vector

#include "core/viz/matrix.hpp"  // Numbers

namespace attn {

// A value: its text is what stands in the file.
struct Json {
  Json(const std::string& string);  // in quotes; what is no UTF-8 becomes U+FFFD
  Json(const char* string) : Json(std::string(string)) {}
  Json(std::integral auto number) : text(fmt::format("{}", number)) {}  // also true and false
  Json(double number);                                                  // null if it is not finite
  Json(const std::vector<Json>& values);
  template <class Value>
  Json(const std::vector<Value>& values) : Json(std::vector<Json>(values.begin(), values.end())) {}

  std::string text;
};

using JsonMembers = std::vector<std::pair<std::string, Json>>;
Json json_object(const JsonMembers& members);

// Four digits are as many as anybody reads off a picture.
Json short_numbers(const viz::Numbers& numbers);

}  // namespace attn
