#include "core/json.hpp"

#include <algorithm>          // min
#include <cmath>              // isfinite
#include <limits>             // numeric_limits
#include <nlohmann/json.hpp>  // json, json_sax

#include "core/text.hpp"  // characters, to_utf8

namespace attn {
namespace {

using nlohmann::json;

// Tells a JsonListener what the library finds.
struct Teller : nlohmann::json_sax<json> {
  explicit Teller(JsonListener& to) : listener(to) {}
  bool start_object(std::size_t) override { return listener.begin_object(), true; }
  bool key(std::string& key) override { return listener.key(key), true; }
  bool end_object() override { return listener.end_object(), true; }
  bool start_array(std::size_t) override { return listener.begin_array(), true; }
  bool end_array() override { return listener.end_array(), true; }
  bool string(std::string& text) override { return listener.string(text), true; }
  bool number_unsigned(std::uint64_t number) override { return listener.whole(number), true; }
  bool number_integer(std::int64_t) override { return listener.other("a negative number"), true; }
  bool number_float(double, const std::string&) override {
    return listener.other("a number that is no 64-bit integer"), true;
  }
  bool boolean(bool) override { return listener.other("a boolean"), true; }
  bool null() override { return listener.other("null"), true; }
  bool binary(json::binary_t&) override { return listener.other("binary data"), true; }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    return listener.no_json(position), false;
  }
  JsonListener& listener;
};

template <class Value>
bool take(bool is_of_this_kind, const json& from, Value& to) {
  if (is_of_this_kind) to = from.get<Value>();
  return is_of_this_kind;
}

}  // namespace

Json::Json(const std::string& string) : text("\"") {
  for (const Character& c : characters(string)) {
    if (c.code == '"' || c.code == '\\') text += '\\';
    if (c.code == '\n')
      text += "\\n";
    else if (c.code < 0x20)
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

Json Json::written(std::string text) {
  Json value("");
  value.text = std::move(text);
  return value;
}

Json json_object(const JsonMembers& members) {
  std::string text = "{";
  for (const auto& [name, value] : members)
    text += (text.size() > 1 ? "," : "") + Json(name).text + ":" + value.text;
  return Json::written(text + "}");
}

bool JsonValue::is_object() const { return value_->is_object(); }
bool JsonValue::is_array() const { return value_->is_array(); }
bool JsonValue::is_null() const { return value_->is_null(); }

bool JsonValue::to(bool& value) const { return take(value_->is_boolean(), *value_, value); }
bool JsonValue::to(double& value) const { return take(value_->is_number(), *value_, value); }
bool JsonValue::to(float& value) const { return take(value_->is_number(), *value_, value); }
bool JsonValue::to(std::string& value) const { return take(value_->is_string(), *value_, value); }
bool JsonValue::to(std::uint64_t& value) const { return take(value_->is_number_unsigned(), *value_, value); }
bool JsonValue::to(Index& value) const {
  constexpr std::uint64_t largest = std::numeric_limits<Index>::max();
  if (value_->is_number_unsigned())
    return value = Index(std::min(value_->get<std::uint64_t>(), largest)), true;
  return take(value_->is_number_integer(), *value_, value);
}

bool JsonValue::has(std::string_view key) const { return value_->contains(key); }

JsonValue JsonValue::operator[](std::string_view key) const {
  static const JsonValue null(std::make_shared<json>());
  const auto found = value_->find(key);
  return found == value_->end() ? null : JsonValue({value_, &*found});
}

std::vector<JsonValue> JsonValue::elements() const {
  std::vector<JsonValue> all;
  if (is_array())
    for (const json& element : *value_) all.push_back(JsonValue({value_, &element}));
  return all;
}

JsonValue::Members JsonValue::members() const {
  Members all;
  if (is_object())
    for (const auto& [key, value] : value_->items()) all.emplace_back(key, JsonValue({value_, &value}));
  return all;
}

std::string JsonValue::text() const { return value_->dump(-1, ' ', true); }

std::string shown_json(std::string_view text) {
  return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

JsonValue parse_json(std::string_view text) {
  constexpr int deepest = 100;
  // Line ends and tabs become spaces: if the text is wrong, the library spells out all that stand before the
  // place, as <U+000A> each, for a message that nobody reads.
  std::string plain(text);
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < plain.size() && depth <= deepest; ++i) {
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
  }
  json value = depth > deepest ? json() : json::parse(plain, nullptr, false);
  if (value.is_discarded()) value = nullptr;
  return JsonValue(std::make_shared<const json>(std::move(value)));
}

void read_json(std::string_view text, JsonListener& listener) {
  // The library takes a zero byte for the end of the text and would leave the rest unseen.
  if (const std::size_t zero = text.find('\0'); zero != text.npos) return listener.no_json(zero + 1);
  Teller teller(listener);
  json::sax_parse(text, &teller);
}

}  // namespace attn
