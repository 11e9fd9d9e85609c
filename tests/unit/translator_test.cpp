#include <doctest/doctest.h>

#include "lessons/13_translator/talk.hpp"
#include "lessons/13_translator/training.hpp"
#include "optim/safetensors.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;

namespace {

Settings settings_of(const std::vector<std::string>& words, const std::string& stored = "") {
  const Settings asked = read_settings(words);
  return stored.empty() ? asked : with_stored(asked, stored);
}

std::vector<std::string> tiny(const TemporaryFolder& folder, const std::string& name) {
  return {"--fast",  "--dropout",    "0.1",
          "--pairs", "1000",         "--steps",
          "9",       "--test",       "5",
          "--batch", "2000",         "--validations",
          "3",       "--checkpoint", (folder / name).string()};
}

Lesson quiet_lesson() { return Lesson({.name = "13_translator", .question = ""}); }

std::string bytes_of(const std::string& path) {
  std::string bytes;
  SafetensorsFile file = SafetensorsFile::open(path);
  for (const std::string& name : file.names()) {
    std::vector<real> values(file.shape(name).numel());
    file.read(name, values.data(), file.shape(name));
    bytes += name;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(real));
  }
  return bytes;
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a run that was stopped and resumed ends with the same bits as one that never was") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  const auto no_look = [] {};
  const auto whole = Run::start(settings_of(tiny(folder, "whole.safetensors")));
  REQUIRE(whole->train(lesson, no_look) == TrainEnd::finished);

  Settings settings = settings_of(tiny(folder, "parts.safetensors"));
  settings.time_limit = 1e-9;  // the time is up after every step
  TrainEnd end = Run::start(settings)->train(lesson, no_look);
  int stops = 0;
  std::string history;
  for (; end == TrainEnd::time_limit && stops < 20; ++stops) {
    REQUIRE(std::filesystem::exists(settings.run_path()));
    const auto run = Run::resume(settings, Checkpoint(settings.run_path()));
    end = run->train(lesson, no_look);
    history = run->history.text();
  }
  CHECK(stops == 8);
  CHECK_FALSE(std::filesystem::exists(settings.run_path()));
  CHECK(history == whole->history.text());
  CHECK(bytes_of((folder / "parts.safetensors").string()) ==
        bytes_of((folder / "whole.safetensors").string()));
}

TEST_CASE("a run does not go on with other sentences than it began with") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  Settings settings = settings_of(tiny(folder, "model.safetensors"));
  settings.time_limit = 1e-9;
  Run::start(settings)->train(lesson, [] {});
  settings.pairs = 1001;
  CHECK(message_of([&] { Run::resume(settings, Checkpoint(settings.run_path())); }).find("have changed") !=
        std::string::npos);
}

TEST_CASE("a loaded translator says what the saved one said") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  const Settings settings = settings_of(tiny(folder, "model.safetensors"));
  const auto run = Run::start(settings);
  run->train(lesson, [] {});
  const Translator loaded = Translator::load(Checkpoint(settings.weights_path()));
  const std::vector<std::string> sentences = {"The cat sleeps.", "Who eats the red apples?"};
  CHECK(loaded.translate(sentences) == run->translator.translate(sentences));
  CHECK(loaded.translate(sentences[0], {.beam = 3}) == run->translator.translate(sentences[0], {.beam = 3}));
  CHECK(loaded.target->save() == run->translator.target->save());

  SUBCASE("words it has never seen are listed") {
    const std::string message = message_of([&] { answer(loaded, settings, "the dodo eats a zebra"); });
    CHECK(message.find("dodo, zebra") != std::string::npos);
  }
  SUBCASE("a sentence that is too long is refused") {
    std::string sentence = "The cat";
    for (int i = 0; i < 100; ++i) sentence += " the cat";
    CHECK(message_of([&] { answer(loaded, settings, sentence); }).find("made for 64") != std::string::npos);
  }
  SUBCASE("a small start and no full stop are forgiven") {
    CHECK(answer(loaded, settings, " the cat  sleeps") == answer(loaded, settings, "The cat sleeps."));
  }
}

TEST_CASE("joint pieces of words know every text, and are stored once") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  std::vector<std::string> words = tiny(folder, "model.safetensors");
  words.insert(words.end(), {"--vocabulary", "bpe", "--merges", "50"});
  const Settings settings = settings_of(words);
  Run::start(settings)->train(lesson, [] {});
  const Translator loaded = Translator::load(Checkpoint(settings.weights_path()));
  CHECK(loaded.source == loaded.target);
  CHECK(loaded.metadata().count("vocabulary.target") == 0);
  CHECK_NOTHROW(answer(loaded, settings, "A dodo \xff eats 고양이."));
}

TEST_CASE("options are read over the recipe that fits") {
  CHECK(settings_of({}).vocabulary == "word");
  CHECK(settings_of({}).is_recipe());
  CHECK(settings_of({"--pair", "en-ko", "--seed", "7"}).is_recipe());
  CHECK_FALSE(settings_of({"--dropout", "0"}).is_recipe());
  CHECK(settings_of({"--corpus", "my.tsv"}).vocabulary == "bpe");
  CHECK(settings_of({"--corpus", "my.tsv", "--vocabulary", "word"}).vocabulary == "word");
  CHECK(settings_of({"--size", "tiny", "--layers", "3"}).d_model == 32);
  CHECK(settings_of({"--size", "tiny", "--layers", "3"}).layers == 3);
  CHECK(settings_of({"translate", "The", "cat"}).text == "The cat");
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{{"fly"},
                                                                                     {"--pair", "en-de"},
                                                                                     {"--heads", "7"},
                                                                                     {"--source", "a"},
                                                                                     {"--dropout", "1"},
                                                                                     {"--norm", "no"}})
    CHECK(message_of([&] { settings_of(wrong); }) != "");
}

TEST_CASE("what was decided when a run began cannot be changed later") {
  const std::string stored = run_settings_json(settings_of({"--layers", "1", "--beam", "4"}));
  CHECK(settings_of({}, stored).layers == 1);
  CHECK(settings_of({}, stored).beam == 4);
  CHECK(settings_of({"--beam", "2"}, stored).beam == 2);
  CHECK(message_of([&] { settings_of({"--layers", "2"}, stored); }).find("--layers 1") != std::string::npos);
}
