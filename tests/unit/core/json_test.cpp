#include "core/json.hpp"

#include <doctest/doctest.h>

#include <cmath>   // INFINITY
#include <limits>  // numeric_limits
#include <map>     // map
#include <string>  // string
#include <vector>  // vector

using namespace attn;

TEST_CASE("JSON is read as it is, and what is none is null") {
  const JsonValue value = parse_json(R"({"b": [1, 2.5, "é"], "a": {"c": true, "d": null}})");
  CHECK(value.text() == R"({"a":{"c":true,"d":null},"b":[1,2.5,"\u00e9"]})");
  CHECK((value.is_object() && !value.is_array() && !value.is_null()));
  CHECK((value["b"].is_array() && !value["b"].is_object()));
  CHECK(value["b"].elements().size() == 3);
  CHECK(value["b"].elements()[2].text() == R"("\u00e9")");
  REQUIRE(value.members().size() == 2);
  CHECK(value.members()[1].first == "b");
  CHECK(value.members()[1].second.text() == value["b"].text());
  CHECK((value["a"].has("d") && value["a"]["d"].is_null()));
  for (const char* text : {"", "{", "[1,]", "nul", "{} {}"}) {
    CAPTURE(text);
    CHECK(parse_json(text).is_null());
  }
}

TEST_CASE("whatever JSON is, it can be asked for what it does not have") {
  for (const char* text : {"null", "7", "\"a\"", "[1]", "{\"b\": 1}"}) {
    CAPTURE(text);
    const JsonValue value = parse_json(text);
    CHECK_FALSE(value.has("a"));
    CHECK(value["a"]["b"].is_null());
    CHECK(value["a"].elements().empty());
    CHECK(value.elements().size() == (value.is_array() ? 1 : 0));
    CHECK(value.members().size() == (value.is_object() ? 1 : 0));
  }
}

TEST_CASE("a value of JSON goes only where it fits") {
  const auto fits = [](const char* text) {
    const JsonValue json = parse_json(text);
    bool flag;
    Index index;
    std::uint64_t whole;
    double number;
    float single;
    std::string string;
    return fmt::format("{:d}{:d}{:d}{:d}{:d}{:d}", json.to(flag), json.to(index), json.to(whole),
                       json.to(number), json.to(single), json.to(string));
  };
  CHECK(fits("true") == "100000");
  CHECK(fits("7") == "011110");
  CHECK(fits("-7") == "010110");
  CHECK(fits("7.5") == "000110");
  CHECK(fits("\"7\"") == "000001");
  for (const char* text : {"null", "[7]", "{}"}) CHECK(fits(text) == "000000");

  Index index = 5;
  CHECK(parse_json("18446744073709551615").to(index));
  CHECK(index == std::numeric_limits<Index>::max());
  CHECK_FALSE(parse_json("\"1\"").to(index));
  CHECK(index == std::numeric_limits<Index>::max());
  CHECK(parse_json("-3").to(index));
  CHECK(index == -3);
  std::uint64_t whole = 0;
  CHECK(parse_json("18446744073709551615").to(whole));
  CHECK(whole == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("line ends and tabs are space between the words of JSON, and nothing of a string") {
  CHECK(parse_json("{\r\n\t\"a\\n\\\"\":\n\t1\n}\n").text() == R"({"a\n\"":1})");
  CHECK(parse_json("\"a\nb\"").is_null());
  CHECK(parse_json("1\n2").is_null());
  CHECK(parse_json("nu\nll").is_null());
}

TEST_CASE("JSON that nests without end is not read, brackets in strings do not count") {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(parse_json(nested(100)).is_array());
  CHECK(parse_json(nested(101)).is_null());
  CHECK(parse_json(R"({"a": ")" + std::string(1000, '{') + R"(\\\" [[", "b": []})")["b"].is_array());
  std::string flat = "[";
  for (int i = 0; i < 1000; ++i) flat += "[],";
  CHECK(parse_json(flat + "[]]").elements().size() == 1001);
}

TEST_CASE("JSON that we write is JSON: quotes, controls and bytes that are no UTF-8") {
  const std::string wild = "a\"b\\c\n\x01 été \xff";
  std::string read;
  CHECK(parse_json(Json(wild).text).to(read));
  CHECK(read == "a\"b\\c\n\x01 été \uFFFD");
  const auto members =
      parse_json(json_object({{wild, std::vector<double>{1, 0.5, INFINITY}}}).text).members();
  REQUIRE(members.size() == 1);
  CHECK(members[0].first == read);
  CHECK(members[0].second.text() == "[1,0.5,null]");
  CHECK(json_object({}).text == "{}");
  CHECK(Json(std::vector<int>{}).text == "[]");
  CHECK(Json(std::map<std::string, int>{{"b", 1}, {"a", 2}}).text == R"({"a":2,"b":1})");
  CHECK(Json(nullptr).text == "null");
  CHECK(shown_json("a\"\xff\n") == R"("a\"\ufffd\n")");
}
