#include "notebooks_cpp/live/live.hpp"

#include <doctest/doctest.h>

#include <filesystem>         // remove, temp_directory_path
#include <nlohmann/json.hpp>  // json

using namespace attn;
using Value = nlohmann::json;

namespace {

struct Asked {
  Live live;
  Value operator()(const Value& request) { return Value::parse(live.answer(request.dump())); }
};

const Value start{{"do", "start"}, {"pairs", 300}, {"steps", 12}};
const Value translate{{"do", "translate"}, {"text", "the cat sleeps"}, {"expected", "Le chat dort."}};

// The weights of a layer, one head after the other.
std::vector<double> weights(const Value& answer, const std::string& name) {
  for (const Value& layer : answer["layers"])
    if (layer["name"] == name) return layer["weights"];
  return {};
}

}  // namespace

TEST_CASE("the live engine says what is wrong with a request, and stays as it was") {
  Asked ask;
  CHECK(Value::parse(ask.live.answer("{"))["error"] == "{ is no request");
  CHECK(ask({{"do", "dance"}})["error"] == "'dance' is nothing that can be asked for");
  CHECK(ask(translate)["error"] == "there is no model yet: load one or start one");
  CHECK(ask({{"do", "load"}, {"path", "/nowhere"}}).contains("error"));
  CHECK(ask({{"do", "start"}, {"pair", "en-xx"}})["error"] == "the pairs are en-fr and en-ko, not en-xx");
  REQUIRE(ask(start)["heads"] == 2);
  CHECK(ask({{"do", "switch"}, {"heads", 5}}).contains("error"));
  CHECK(ask({{"do", "train"}, {"steps", "two"}})["error"] == "steps: \"two\" cannot be");
  CHECK(ask({{"do", "train"}, {"steps", 0}})["error"] == "steps: 0 is not between 1 and 100000");
  CHECK(ask({{"do", "translate"}, {"text", "The catt sleeps."}})["error"] ==
        "The model has never seen catt (near: cat, cats, at)");
  CHECK(ask({{"do", "translate"}, {"text", " "}}).contains("error"));
  CHECK(ask(translate)["text"] == "The cat sleeps.");
}

TEST_CASE("the live engine trains step by step as in one go, and what it saves is what it has") {
  Asked one, two;
  one(start), two(start);
  const Value all = one({{"do", "train"}, {"steps", 12}});
  CHECK(all["losses"].size() == 12);
  std::vector<double> losses;
  for (int i = 0; i < 12; ++i) losses.push_back(two({{"do", "train"}})["losses"][0]);
  CHECK(all["losses"] == losses);
  CHECK(one({{"do", "weights"}}) == two({{"do", "weights"}}));
  CHECK(losses.back() < losses.front());
  CHECK(one({{"do", "score"}, {"count", 20}}) == Value{{"right", 0}, {"of", 20}});
  CHECK(one({{"do", "examples"}, {"count", 3}})["pairs"].size() == 3);

  const std::string path = std::filesystem::temp_directory_path() / "attn_live_test.safetensors";
  one({{"do", "switch"}, {"positions", "none"}, {"scale", false}});
  one({{"do", "save"}, {"path", path}});
  Asked loaded;
  const Value about = loaded({{"do", "load"}, {"path", path}});
  CHECK(about["positions"] == "none");
  CHECK(about["scale"] == false);
  CHECK(loaded(translate) == one(translate));
  std::filesystem::remove(path);
}

TEST_CASE("the switches of the live engine switch, and switch back") {
  Asked ask;
  ask(start);
  const Value plain = ask(translate);
  const auto after = [&](Value request) {
    request["do"] = "switch";
    ask(request);
    return ask(translate);
  };
  for (const char* scheme : {"none", "sinusoidal", "alibi", "rope"})
    CHECK((after({{"positions", scheme}}) == plain) == (std::string(scheme) == "rope"));
  CHECK(weights(after({{"scale", false}}), "cross") != weights(plain, "cross"));
  CHECK(after({{"scale", true}}) == plain);

  const Value leaky = after({{"causal", false}});
  CHECK(weights(plain, "decoder")[1] == 0);  // the first word does not see the second
  CHECK(weights(leaky, "decoder")[1] > 0);
  CHECK(weights(leaky, "encoder") == weights(plain, "encoder"));
  CHECK(after({{"causal", true}}) == plain);

  const std::vector<double> silent = weights(after({{"off", {{"cross", 0, 1}}}}), "cross");
  const std::size_t half = silent.size() / 2;
  CHECK(std::vector<double>(silent.begin() + Index(half), silent.end()) == std::vector<double>(half, 0.0));
  CHECK(silent[0] == weights(plain, "cross")[0]);
  CHECK(after({{"off", Value::array()}}) == plain);
  CHECK(weights(after({{"heads", 4}}), "cross").size() == 2 * weights(plain, "cross").size());
}

TEST_CASE("the way of a word adds up, and ends where the model ends") {
  Asked ask;
  ask(start);
  Value request = translate;
  request["word"] = 2;
  const Value answer = ask(request), &way = answer["way"];
  CHECK(answer["word"] == 1);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < way.size(); ++i) {
    names.push_back(way[i]["name"]);
    for (std::size_t c = 0; i > 0 && c < way[i]["state"].size(); ++c)
      CHECK(way[i]["state"][c].get<double>() ==
            doctest::Approx(way[i - 1]["state"][c].get<double>() + way[i]["added"][c].get<double>()));
  }
  CHECK(names == std::vector<std::string>{"embedding", "decoder", "cross", "feed_forward"});
  CHECK(way[3]["guess"] == answer["words"][1]);
  CHECK(way[2]["guess"] != answer["words"][1]);
  CHECK(way[3]["neurons"].size() == 128);
  for (const Value& neuron : way[3]["neurons"]) CHECK(neuron >= 0);
  request["word"] = 99;
  CHECK(ask(request)["word"] == answer["words"].size() - 1);
  request["word"] = 0;
  CHECK(ask(request).contains("error"));
}

TEST_CASE("the live engine's gradients, beam and samples") {
  Asked ask;
  ask(start);
  Value request = translate;
  const Value plain = ask(request);
  for (const Value& layer : plain["layers"]) CHECK(layer["gradients"].size() == layer["weights"].size());
  request["beam"] = 3;
  const Value beam = ask(request);
  CHECK(beam["tree"]["hypotheses"].size() == 3);
  CHECK(beam["tree"]["hypotheses"][0]["text"] == beam["translation"]);
  request["beam"] = 1, request["temperature"] = 2.0;
  CHECK(ask(request) == ask(request));
  const Value first = ask(request);
  request["seed"] = 2;
  CHECK(ask(request)["translation"] != first["translation"]);
}

TEST_CASE("positions with weights of their own, or a new schedule, start the live engine's optimizer anew") {
  Asked ask;
  ask(start);
  for (const char* scheme : {"learned", "t5", "rope"}) {
    ask({{"do", "train"}, {"steps", 2}});
    CHECK(ask({{"do", "switch"}, {"positions", scheme}})["positions"] == scheme);
    CHECK(ask(translate).contains("translation"));
    CHECK(ask({{"do", "train"}})["losses"].size() == 1);
  }
  const Value learned = ask({{"do", "weights"}}),
              again = ask({{"do", "train"}, {"restart", true}, {"of", 5}});
  CHECK(again["step"] == 0);
  CHECK(again["total"] == 5);
  CHECK(ask({{"do", "weights"}}) == learned);
  CHECK(ask({{"do", "train"}})["step"] == 1);
}
