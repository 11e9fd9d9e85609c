// The data of figures that answer: the numbers of the lesson, in the order that the page's script reads.
#include <doctest/doctest.h>

#include <limits>  // numeric_limits
#include <string>  // to_string

#include "core/error.hpp"
#include "core/ops.hpp"
#include "lessons/support/figures.hpp"

using namespace attn;

TEST_CASE("all heads of all layers are in one figure, the last choice fastest") {
  const Tensor first = tensor({{0.25, 0.75}, {1, 0}}), second = tensor({{0.5, 0.5}, {0, 1}});
  const auto two_heads = [](const Tensor& a, const Tensor& b) {
    return concat({reshape(a, {1, 1, 2, 2}), reshape(b, {1, 1, 2, 2})}, 1);
  };
  AttentionMap lower, upper;
  lower.layer = 0, lower.weights = two_heads(first, second);
  upper.layer = 1, upper.weights = two_heads(second, first);
  const JsonValue figure = parse_json(heads_figure({"le", "chat"}, {"the", "cat"}, {lower, upper}).text);
  for (const JsonValue& axis : figure["axes"].elements()) CHECK(axis["values"].text() == R"(["1","2"])");
  CHECK(figure["axes"].elements().size() == 2);
  CHECK(figure["maps"].text() == "[[0.25,0.75,1,0],[0.5,0.5,0,1],[0.5,0.5,0,1],[0.25,0.75,1,0]]");
  CHECK_THROWS_WITH_AS(maps_figure({{"a"}, {"b"}, {{"step", {"0", "1"}}}, {viz::Matrix{{1}}}}),
                       doctest::Contains("1 maps for 2 choices"), Error);
}

TEST_CASE("the losses of a training stand beside its maps, one for each step") {
  const JsonValue figure = parse_json(
      maps_figure(
          {{"a"}, {"b"}, {{"step", {"0", "2"}, true}}, {viz::Matrix{{1}}, viz::Matrix{{0}}}, {3, 2, 1}})
          .text);
  CHECK(figure["axes"].elements()[0]["slider"].text() == "true");
  CHECK(figure["curve"].text() == R"({"name":"loss","x":[0,1,2],"y":[3,2,1]})");
}

TEST_CASE("a beam is told node by node, with the end of the best hypothesis") {
  BeamResult result;
  result.tree = {{-1, 1, 0, 0, true, false}, {0, 7, -0.5, 1, true, true}, {0, 8, -2, 1, false, false}};
  result.hypotheses = {{{7}, -0.5, -0.5, 1}};
  const JsonValue figure =
      parse_json(beam_figure("it", result, 2, [](int token) { return "w" + std::to_string(token); }).text);
  CHECK(figure["best"].text() == "1");
  CHECK(figure["nodes"].elements()[1].text() ==
        R"({"depth":1,"ended":true,"kept":true,"parent":0,"score":-0.5,"token":"w7"})");
  CHECK(figure["nodes"].elements()[2]["kept"].text() == "false");
}

TEST_CASE("logits keep four digits, and infinity is nothing") {
  const JsonValue figure = parse_json(
      sampling_figure("so", {real(1.23456), -std::numeric_limits<real>::infinity()}, [](int token) {
        return std::to_string(token);
      }).text);
  CHECK(figure["tokens"].text() == R"(["0","1"])");
  CHECK(figure["logits"].text() == "[1.235,null]");
  CHECK_THROWS_AS(clocks_figure({1, 2}, {1}, {1}), Error);
}
