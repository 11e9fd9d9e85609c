#include "notebooks_cpp/live/live.hpp"

#include <doctest/doctest.h>

#include <filesystem>  // remove, temp_directory_path
#include <map>         // map

#include "core/json.hpp"

using namespace attn;
using Request = std::map<std::string, Json>;

namespace {

struct Asked {
  Live live;
  JsonValue operator()(const Request& request) {
    const JsonValue answer = parse_json(live.answer(Json(request).text));
    REQUIRE(answer.is_object());
    return answer;
  }
};

const Request start{{"do", "start"}, {"pairs", 300}, {"steps", 12}};
const Request translate{{"do", "translate"}, {"text", "the cat sleeps"}, {"expected", "Le chat dort."}};

std::vector<double> numbers(const JsonValue& list) {
  REQUIRE(list.is_array());
  std::vector<double> all;
  for (const JsonValue& each : list.elements()) REQUIRE(each.to(all.emplace_back()));
  return all;
}

// The weights of a layer, one head after the other.
std::vector<double> weights(const JsonValue& answer, const std::string& name) {
  for (const JsonValue& layer : answer["layers"].elements())
    if (layer["name"].text() == Json(name).text) return numbers(layer["weights"]);
  return {};
}

}  // namespace

TEST_CASE("the live engine says what is wrong with a request, and stays as it was") {
  Asked ask;
  CHECK(ask.live.answer("{") == R"({"error":"{ is no request"})");
  CHECK(ask({{"do", "dance"}})["error"].text() == R"("'dance' is nothing that can be asked for")");
  CHECK(ask(translate)["error"].text() == R"("there is no model yet: load one or start one")");
  CHECK(ask({{"do", "load"}, {"path", "/nowhere"}}).has("error"));
  CHECK(ask({{"do", "start"}, {"pair", "en-xx"}})["error"].text() ==
        R"("the pairs are en-fr and en-ko, not en-xx")");
  REQUIRE(ask(start)["heads"].text() == "2");
  CHECK(ask({{"do", "switch"}, {"heads", 5}}).has("error"));
  CHECK(ask({{"do", "train"}, {"steps", "two"}})["error"].text() == R"("steps: \"two\" cannot be")");
  CHECK(ask({{"do", "train"}, {"steps", 0}})["error"].text() == R"("steps: 0 is not between 1 and 100000")");
  CHECK(ask({{"do", "translate"}, {"text", "The catt sleeps."}})["error"].text() ==
        "\"The model has never seen catt (near: cat, cats, at)\"");
  CHECK(ask({{"do", "translate"}, {"text", " "}}).has("error"));
  CHECK(ask(translate)["text"].text() == R"("The cat sleeps.")");
}

TEST_CASE("the live engine trains step by step as in one go, and what it saves is what it has") {
  Asked one, two;
  one(start), two(start);
  const std::vector<double> all = numbers(one({{"do", "train"}, {"steps", 12}})["losses"]);
  CHECK(all.size() == 12);
  std::vector<double> losses;
  for (int i = 0; i < 12; ++i) losses.push_back(numbers(two({{"do", "train"}})["losses"]).at(0));
  CHECK(all == losses);
  CHECK(one({{"do", "weights"}}).text() == two({{"do", "weights"}}).text());
  CHECK(losses.back() < losses.front());
  CHECK(one({{"do", "score"}, {"count", 20}}).text() == R"({"of":20,"right":0})");
  CHECK(one({{"do", "examples"}, {"count", 3}})["pairs"].elements().size() == 3);

  const std::string path = std::filesystem::temp_directory_path() / "attn_live_test.safetensors";
  one({{"do", "switch"}, {"positions", "none"}, {"scale", false}});
  one({{"do", "save"}, {"path", path}});
  Asked loaded;
  const JsonValue about = loaded({{"do", "load"}, {"path", path}});
  CHECK(about["positions"].text() == R"("none")");
  CHECK(about["scale"].text() == "false");
  CHECK(loaded(translate).text() == one(translate).text());
  std::filesystem::remove(path);
}

TEST_CASE("the switches of the live engine switch, and switch back") {
  Asked ask;
  ask(start);
  const JsonValue plain = ask(translate);
  const auto after = [&](Request request) {
    request.emplace("do", "switch");
    ask(request);
    return ask(translate);
  };
  for (const char* scheme : {"none", "sinusoidal", "alibi", "rope"})
    CHECK((after({{"positions", scheme}}).text() == plain.text()) == (std::string(scheme) == "rope"));
  CHECK(weights(after({{"scale", false}}), "cross") != weights(plain, "cross"));
  CHECK(after({{"scale", true}}).text() == plain.text());

  const JsonValue leaky = after({{"causal", false}});
  CHECK(weights(plain, "decoder")[1] == 0);  // the first word does not see the second
  CHECK(weights(leaky, "decoder")[1] > 0);
  CHECK(weights(leaky, "encoder") == weights(plain, "encoder"));
  CHECK(after({{"causal", true}}).text() == plain.text());

  const std::vector<double> silent = weights(after({{"off", Json::written(R"([["cross",0,1]])")}}), "cross");
  const std::size_t half = silent.size() / 2;
  CHECK(std::vector<double>(silent.begin() + Index(half), silent.end()) == std::vector<double>(half, 0.0));
  CHECK(silent[0] == weights(plain, "cross")[0]);
  CHECK(after({{"off", std::vector<Json>()}}).text() == plain.text());
  CHECK(weights(after({{"heads", 4}}), "cross").size() == 2 * weights(plain, "cross").size());
}

TEST_CASE("the way of a word adds up, and ends where the model ends") {
  Asked ask;
  ask(start);
  Request request = translate;
  request.emplace("word", 2);
  const JsonValue answer = ask(request);
  CHECK(answer["word"].text() == "1");
  const std::vector<JsonValue> way = answer["way"].elements(), words = answer["words"].elements();
  std::vector<std::string> names;
  std::vector<double> before;
  for (const JsonValue& step : way) {
    REQUIRE(step["name"].to(names.emplace_back()));
    const std::vector<double> state = numbers(step["state"]), added = numbers(step["added"]);
    for (std::size_t c = 0; names.size() > 1 && c < state.size(); ++c)
      CHECK(state[c] == doctest::Approx(before.at(c) + added.at(c)));
    before = state;
  }
  REQUIRE(names == std::vector<std::string>{"embedding", "decoder", "cross", "feed_forward"});
  CHECK(way[3]["guess"].text() == words.at(1).text());
  CHECK(way[2]["guess"].text() != words.at(1).text());
  const std::vector<double> neurons = numbers(way[3]["neurons"]);
  CHECK(neurons.size() == 128);
  for (const double neuron : neurons) CHECK(neuron >= 0);
  request.insert_or_assign("word", 99);
  CHECK(ask(request)["word"].text() == std::to_string(words.size() - 1));
  request.insert_or_assign("word", 0);
  CHECK(ask(request).has("error"));
}

TEST_CASE("the live engine's gradients, beam and samples") {
  Asked ask;
  ask(start);
  Request request = translate;
  const JsonValue layers = ask(request)["layers"];
  CHECK(layers.is_array());
  for (const JsonValue& layer : layers.elements())
    CHECK(numbers(layer["gradients"]).size() == numbers(layer["weights"]).size());
  request.emplace("beam", 3);
  const JsonValue beam = ask(request), hypotheses = beam["tree"]["hypotheses"];
  REQUIRE(hypotheses.elements().size() == 3);
  CHECK(hypotheses.elements()[0]["text"].text() == beam["translation"].text());
  request.insert_or_assign("beam", 1), request.emplace("temperature", 2.0);
  const JsonValue first = ask(request);
  CHECK(ask(request).text() == first.text());
  request.emplace("seed", 2);
  CHECK(ask(request)["translation"].text() != first["translation"].text());
}

TEST_CASE("positions with weights of their own, or a new schedule, start the live engine's optimizer anew") {
  Asked ask;
  ask(start);
  for (const char* scheme : {"learned", "t5", "rope"}) {
    ask({{"do", "train"}, {"steps", 2}});
    CHECK(ask({{"do", "switch"}, {"positions", scheme}})["positions"].text() == Json(scheme).text);
    CHECK(ask(translate).has("translation"));
    CHECK(ask({{"do", "train"}})["losses"].elements().size() == 1);
  }
  const JsonValue learned = ask({{"do", "weights"}}),
                  again = ask({{"do", "train"}, {"restart", true}, {"of", 5}});
  CHECK(again["step"].text() == "0");
  CHECK(again["total"].text() == "5");
  CHECK(ask({{"do", "weights"}}).text() == learned.text());
  CHECK(ask({{"do", "train"}})["step"].text() == "1");
}
