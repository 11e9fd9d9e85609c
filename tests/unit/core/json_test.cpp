#include "core/json.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>  // json
#include <string>             // string

using namespace attn;

TEST_CASE("JSON is read as it is, and what is none is discarded") {
  CHECK(parse_json(R"({"a": [1, 2.5, "x"]})") == nlohmann::json{{"a", {1, 2.5, "x"}}});
  for (const char* text : {"", "{", "[1,]", "nul", "{} {}"}) {
    CAPTURE(text);
    CHECK(parse_json(text).is_discarded());
  }
}

TEST_CASE("line ends and tabs are space between the words of JSON, and nothing of a string") {
  CHECK(parse_json("{\r\n\t\"a\\n\\\"\":\n\t1\n}\n") == nlohmann::json{{"a\n\"", 1}});
  CHECK(parse_json("\"a\nb\"").is_discarded());
  CHECK(parse_json("1\n2").is_discarded());
  CHECK(parse_json("nu\nll").is_discarded());
}

TEST_CASE("JSON that nests without end is discarded unread, brackets in strings do not count") {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK_FALSE(parse_json(nested(100)).is_discarded());
  CHECK(parse_json(nested(101)).is_discarded());
  CHECK(parse_json(R"({"a": ")" + std::string(1000, '{') + R"(\\\" [[", "b": []})").at("b").empty());
  std::string flat = "[";
  for (int i = 0; i < 1000; ++i) flat += "[],";
  CHECK(parse_json(flat + "[]]").size() == 1001);
}
