// The data of figures that answer: the numbers of the lesson, in the order that the page's script reads.
#include <doctest/doctest.h>

#include <limits>             // numeric_limits
#include <nlohmann/json.hpp>  // json
#include <string>             // to_string

#include "core/error.hpp"
#include "core/ops.hpp"
#include "lessons/support/figures.hpp"

using namespace attn;
using nlohmann::json;

TEST_CASE("all heads of all layers are in one figure, the last choice fastest") {
  const Tensor first = tensor({{0.25, 0.75}, {1, 0}}), second = tensor({{0.5, 0.5}, {0, 1}});
  const auto two_heads = [](const Tensor& a, const Tensor& b) {
    return concat({reshape(a, {1, 1, 2, 2}), reshape(b, {1, 1, 2, 2})}, 1);
  };
  AttentionMap lower, upper;
  lower.layer = 0, lower.weights = two_heads(first, second);
  upper.layer = 1, upper.weights = two_heads(second, first);
  const json figure = json::parse(heads_figure({"le", "chat"}, {"the", "cat"}, {lower, upper}).text);
  CHECK(figure["axes"][0]["values"] == json({"1", "2"}));
  CHECK(figure["axes"][1]["values"] == json({"1", "2"}));
  CHECK(figure["maps"] == json::parse("[[0.25,0.75,1,0],[0.5,0.5,0,1],[0.5,0.5,0,1],[0.25,0.75,1,0]]"));
  CHECK_THROWS_WITH_AS(maps_figure({{"a"}, {"b"}, {{"step", {"0", "1"}}}, {viz::Matrix{{1}}}}),
                       doctest::Contains("1 maps for 2 choices"), Error);
}

TEST_CASE("the losses of a training stand beside its maps, one for each step") {
  const json figure = json::parse(
      maps_figure(
          {{"a"}, {"b"}, {{"step", {"0", "2"}, true}}, {viz::Matrix{{1}}, viz::Matrix{{0}}}, {3, 2, 1}})
          .text);
  CHECK(figure["axes"][0]["slider"] == true);
  CHECK(figure["curve"] == json::parse(R"({"name":"loss","x":[0,1,2],"y":[3,2,1]})"));
}

TEST_CASE("a beam is told node by node, with the end of the best hypothesis") {
  BeamResult result;
  result.tree = {{-1, 1, 0, 0, true, false}, {0, 7, -0.5, 1, true, true}, {0, 8, -2, 1, false, false}};
  result.hypotheses = {{{7}, -0.5, -0.5, 1}};
  const json figure =
      json::parse(beam_figure("it", result, 2, [](int token) { return "w" + std::to_string(token); }).text);
  CHECK(figure["best"] == 1);
  CHECK(figure["nodes"][1] ==
        json::parse(R"({"token":"w7","parent":0,"score":-0.5,"depth":1,"kept":true,"ended":true})"));
  CHECK(figure["nodes"][2]["kept"] == false);
}

TEST_CASE("logits keep four digits, and infinity is nothing") {
  const json figure = json::parse(
      sampling_figure("so", {real(1.23456), -std::numeric_limits<real>::infinity()}, [](int token) {
        return std::to_string(token);
      }).text);
  CHECK(figure["tokens"] == json({"0", "1"}));
  CHECK(figure["logits"] == json::parse("[1.235,null]"));
  CHECK_THROWS_AS(clocks_figure({1, 2}, {1}, {1}), Error);
}

TEST_CASE("JSON that we write is JSON: quotes, controls and bytes that are no UTF-8") {
  const std::string wild = "a\"b\\c\n\x01 été \xff";
  CHECK(json::parse(Json(wild).text) == "a\"b\\c\n\x01 été \uFFFD");
  CHECK(json::parse(json_object({{wild, std::vector<double>{1, 0.5, INFINITY}}}).text).begin().value() ==
        json::parse("[1,0.5,null]"));
  CHECK(json_object({}).text == "{}");
  CHECK(Json(std::vector<int>{}).text == "[]");
}
