// JSON, written and read.
//
//   json_object({{"kind", "claim"}, {"holds", true}, {"losses", losses}}).text
//   if (Index id = 0; parse_json(text)["model"]["unk_id"].to(id)) …
//
// Reading is left to nlohmann-json, whose header takes longer to compile than a lesson. So of the
// library only json.cpp sees it.
#pragma once

#include <fmt/core.h>  // format

#include <concepts>               // integral
#include <cstddef>                // nullptr_t
#include <cstdint>                // uint64_t
#include <map>                    // map
#include <memory>                 // shared_ptr
#include <nlohmann/json_fwd.hpp>  // json
#include <string>                 // string
#include <string_view>            // string_view
#include <utility>                // pair
#include <vector>                 // vector

#include "core/index.hpp"

namespace attn {

// A value to be written: its text is what stands in the file.
struct Json {
  Json(const std::string& string);  // in quotes; what is no UTF-8 becomes U+FFFD
  Json(const char* string) : Json(std::string(string)) {}
  Json(std::nullptr_t) : text("null") {}
  Json(std::integral auto number) : text(fmt::format("{}", number)) {}  // also true and false
  Json(double number);                                                  // null if it is not finite
  Json(const std::vector<Json>& values);
  template <class Value>
  Json(const std::vector<Value>& values) : Json(std::vector<Json>(values.begin(), values.end())) {}
  template <class Value>
  Json(const std::map<std::string, Value>& members);
  static Json written(std::string text);  // what is JSON already

  std::string text;
};

using JsonMembers = std::vector<std::pair<std::string, Json>>;
Json json_object(const JsonMembers& members);
template <class Value>
Json::Json(const std::map<std::string, Value>& members)
    : Json(json_object({members.begin(), members.end()})) {}

// A value that somebody else wrote. Copies are cheap and keep all of the text's values alive.
class JsonValue {
 public:
  using Members = std::vector<std::pair<std::string, JsonValue>>;

  explicit JsonValue(std::shared_ptr<const nlohmann::json> value) : value_(std::move(value)) {}

  bool is_object() const;
  bool is_array() const;
  bool is_null() const;
  // Takes the value and returns true, if it is of this kind. Too large an Index becomes the largest.
  bool to(bool& value) const;
  bool to(Index& value) const;
  bool to(std::uint64_t& value) const;
  bool to(double& value) const;
  bool to(float& value) const;
  bool to(std::string& value) const;

  bool has(std::string_view key) const;
  JsonValue operator[](std::string_view key) const;  // null if there is none
  std::vector<JsonValue> elements() const;           // of an array; others have none
  Members members() const;                           // of an object; others have none
  std::string text() const;                          // as it may be shown: one line of ASCII

 private:
  std::shared_ptr<const nlohmann::json> value_;
};

// Null if the text is no JSON or nests deeper than any honest file: a megabyte of `[` would take a second
// and 50 MB.
JsonValue parse_json(std::string_view text);

// A string in quotes as it may be shown: one line of ASCII, whatever is in it.
std::string shown_json(std::string_view text);

// Is told what stands in a text, token by token, without a copy of it all. A call that throws ends it.
class JsonListener {
 public:
  virtual ~JsonListener() = default;
  virtual void begin_object() = 0;
  virtual void key(const std::string& key) = 0;
  virtual void end_object() = 0;
  virtual void begin_array() = 0;
  virtual void end_array() = 0;
  virtual void string(const std::string& text) = 0;
  virtual void whole(std::uint64_t number) = 0;
  virtual void other(const char* what) = 0;        // "null", "a boolean", "a negative number", …
  virtual void no_json(std::size_t position) = 0;  // where that is found out, counted from 1
};
void read_json(std::string_view text, JsonListener& listener);

}  // namespace attn
