#include <doctest/doctest.h>

#include <algorithm>  // count
#include <csignal>    // raise
#include <fstream>    // ofstream

#include "core/text.hpp"  // read_file
#include "lessons/13_translator/show.hpp"
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

TEST_CASE("a corpus larger than its room in memory is learned in portions, and a run over them resumes") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  {
    std::ofstream corpus(folder / "pairs.tsv");
    for (int i = 0; i < 250; ++i) corpus << "a word" << i % 40 << "\tun mot" << i << "\n";
  }
  const auto with = [&](const std::string& name, const std::string& in_memory) {
    return settings_of({"--fast", "--corpus", (folder / "pairs.tsv").string(), "--batch", "200", "--steps",
                        "0", "--epochs", "1", "--merges", "10", "--in-memory", in_memory, "--validations",
                        "3", "--checkpoint", (folder / name).string()});
  };
  const auto in_one = Run::start(with("one.safetensors", "250"));
  CHECK_FALSE(in_one->data.portions);
  const auto whole = Run::start(with("whole.safetensors", "100"));
  REQUIRE(whole->data.portions);
  CHECK(whole->data.portions->portions() == 3);
  CHECK(std::abs(whole->total_steps() - in_one->total_steps()) <= 5);  // an epoch is the whole corpus
  whole->train(lesson, [] {});
  CHECK(bytes_of((folder / "whole.safetensors").string()) != "");

  Settings settings = with("parts.safetensors", "100");
  settings.time_limit = 1e-9;
  TrainEnd end = Run::start(settings)->train(lesson, [] {});
  while (end == TrainEnd::time_limit)
    end = Run::resume(settings, Checkpoint(settings.run_path()))->train(lesson, [] {});
  CHECK(bytes_of((folder / "parts.safetensors").string()) ==
        bytes_of((folder / "whole.safetensors").string()));

  const auto orphan = Run::start(with("orphan.safetensors", "100"));
  std::filesystem::remove(folder / "pairs.tsv");  // the next portion is read when its turn comes
  CHECK(message_of([&] { orphan->train(lesson, [] {}); }).find("pairs.tsv: cannot be read") !=
        std::string::npos);
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
    CHECK(message.find("never seen: dodo (near: do, does, dog), zebra; it knows") != std::string::npos);
    CHECK(message.find("`13_translator words --checkpoint") != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
  SUBCASE("a sentence that is too long is refused") {
    std::string sentence = "The cat";
    for (int i = 0; i < 100; ++i) sentence += " the cat";
    CHECK(message_of([&] { answer(loaded, settings, sentence); }).find("made for 64") != std::string::npos);
  }
  SUBCASE("a small start and no full stop are forgiven") {
    CHECK(answer(loaded, settings, " the cat  sleeps") == answer(loaded, settings, "The cat sleeps."));
  }
  SUBCASE("capitals are put where the grammar has them") {
    const auto tidy = [&](const std::string& sentence) { return tidy_sentence(sentence, *loaded.source); };
    CHECK(tidy("THE Cat SLEEPS.") == "The cat sleeps.");
    CHECK(tidy("does The queen like me") == "Does the queen like me.");
    CHECK(tidy("black the cats") == "black the cats.");  // no sentence starts with black
    CHECK(tidy("i do not sing, i dance!") == "I do not sing, I dance!");
    CHECK(tidy("Zebra eats DODOS?") == "Zebra eats DODOS?");  // unknown words stay as they are
    CHECK(tidy("zebras eat") == "zebras eat.");
    CHECK_NOTHROW(answer(loaded, settings, "black the horse"));
  }
  SUBCASE("several sentences on a line are translated one by one") {
    CHECK(split_sentences(" The cat sleeps.  Who sings? ") ==
          std::vector<std::string>{"The cat sleeps.", "Who sings?"});
    CHECK(split_sentences("really?! I sing") == std::vector<std::string>{"really?!", "I sing"});
    CHECK(split_sentences("  ").empty());
    const std::string one = loaded.translate("The cat sleeps."), two = loaded.translate("Who sings?");
    CHECK(answer(loaded, settings, "the cat sleeps. who sings?") == one + (one.empty() ? "" : " ") + two);
    CHECK(message_of([&] { answer(loaded, settings, "The cat sleeps. The dodo sings."); }).find("dodo") !=
          std::string::npos);
  }
  SUBCASE("known words are listed once, and the nearest are found") {
    const std::vector<std::string> known = known_words(loaded);
    const auto count = [&](const char* word) { return std::count(known.begin(), known.end(), word); };
    CHECK(count("the") == 1);
    CHECK(count("The") == 0);
    CHECK(count("I") == 1);
    CHECK(count(".") == 0);
    CHECK(nearest_words("Hourse", {"cat", "house", "horse", "hat"}, 2) ==
          std::vector<std::string>{"house", "horse"});
    CHECK(nearest_words("love", {"like", "cat"}, 2) == std::vector<std::string>{"like"});
    CHECK(nearest_words("xyz", {"like", "cat"}, 2).empty());
  }
  SUBCASE("the attention of a translation is drawn as text, a row for each word") {
    const std::string map =
        terminal_look(look_at(loaded, {"The cat sleeps.", loaded.translate("The cat sleeps.")}));
    for (const char* word : {"The", "cat", "sleeps", "<eos>"}) CHECK(map.find(word) != std::string::npos);
  }
}

// The file again, with one text of its metadata changed and no checksum: as another program could write it.
void change_metadata(const std::string& path, const std::string& key, const std::string& from,
                     const std::string& to) {
  SafetensorsFile file = SafetensorsFile::open(path);
  Metadata metadata = file.metadata();
  metadata.erase("checksum");
  REQUIRE(metadata.at(key).find(from) != std::string::npos);
  metadata[key].replace(metadata[key].find(from), from.size(), to);
  std::vector<std::vector<real>> values;
  std::vector<ArrayView> arrays;
  for (const std::string& name : file.names()) {
    values.emplace_back(file.shape(name).numel());
    file.read(name, values.back().data(), file.shape(name));
    arrays.push_back({name, file.shape(name), values.back().data()});
  }
  write_safetensors(path, arrays, metadata);
}

TEST_CASE("sizes that the metadata names are compared with the tensors before a model is built") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  std::vector<std::string> words = tiny(folder, "model.safetensors");
  words.insert(words.end(), {"--positions", "sinusoidal"});
  const Settings settings = settings_of(words);
  Run::start(settings)->train(lesson, [] {});
  const auto complaint_with = [&](const std::string& from, const std::string& to) {
    std::filesystem::copy(settings.weights_path(), folder / "changed.safetensors",
                          std::filesystem::copy_options::overwrite_existing);
    const std::string path = (folder / "changed.safetensors").string();
    change_metadata(path, "config", from, to);
    return message_of([&] { Translator::load(Checkpoint(path)); });
  };
  const auto says = [&](const std::string& message, const std::string& part) {
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };
  CHECK(complaint_with("\"max_length\":64", "\"max_length\":1000000") == "");  // none of the tensors has it
  says(complaint_with("\"max_length\":64", "\"max_length\":4611686018427387904"), "may be at most 1000000");
  says(complaint_with("\"d_ff\":128", "\"d_ff\":4000000"), "describes a model of");
  says(complaint_with("\"encoder_layers\":1", "\"encoder_layers\":1000"), "describes a model of");
  says(complaint_with("\"d_model\":32", "\"d_model\":1048576"), "describes a model of");
  says(complaint_with("\"positions\":\"sinusoidal\"", "\"positions\":\"learned\""), "describes a model of");
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
  CHECK_FALSE(settings_of({"--dropout", "0.1"}).is_recipe());
  CHECK(settings_of({"--corpus", "my.tsv"}).vocabulary == "bpe");
  CHECK(settings_of({"--corpus", "my.tsv", "--vocabulary", "word"}).vocabulary == "word");
  CHECK(settings_of({"--size", "tiny", "--layers", "3"}).d_model == 32);
  CHECK(settings_of({"--size", "tiny", "--layers", "3"}).layers == 3);
  CHECK(settings_of({"--epochs", "2"}).steps == 0);
  CHECK(settings_of({"--epochs", "2", "--steps", "9"}).steps == 9);
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
  const std::string stored = run_settings_json(settings_of({"--layers", "3", "--beam", "4"}));
  CHECK(settings_of({}, stored).layers == 3);
  CHECK(settings_of({}, stored).beam == 4);
  CHECK(settings_of({"--beam", "2"}, stored).beam == 2);
  CHECK(message_of([&] { settings_of({"--layers", "2"}, stored); }).find("--layers 3") != std::string::npos);
}

TEST_CASE("every number of the command line and of a file has a ceiling that says itself") {
  const std::vector<std::vector<std::string>> wrong{{"--beam", "1000000000"},
                                                    {"--layers", "100000000"},
                                                    {"--pairs", "99999999999"},
                                                    {"--pairs", "9223372036854775807"},
                                                    {"--d-model", "2305843009213693952"},
                                                    {"--ff", "9223372036854775807"},
                                                    {"--max-length", "1000000000000000000"},
                                                    {"--epochs", "1e308"}};
  for (const std::vector<std::string>& words : wrong) {
    const std::string message = message_of([&] { settings_of(words); });
    CAPTURE(message);
    CHECK(message.starts_with(words[0] + ": " + words[1] + " is too large: it must be at most "));
  }
  CHECK(message_of([&] {
          settings_of({"--beam", "1001"});
        }) == "--beam: 1001 is too large: it must be at most 1000");
  std::string stored = run_settings_json(settings_of({}));
  stored.replace(stored.find("\"beam\":1"), 8, "\"beam\":1000000000");
  CHECK(message_of([&] { settings_of({}, stored); }).find("beam: 1000000000 is too large") !=
        std::string::npos);
  CHECK(message_of([&] {
          Run::start(settings_of(
              {"--fast", "--d-model", "16384", "--heads", "1", "--layers", "1000", "--pairs", "1000"}));
        }).find("this machine has") != std::string::npos);
}

TEST_CASE("a training is stopped and saved by SIGINT, SIGTERM and SIGHUP") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryFolder folder;
    Lesson lesson = quiet_lesson();
    const Settings settings = settings_of(tiny(folder, "model.safetensors"));
    const auto run = Run::start(settings);
    const auto before = std::signal(signal, SIG_DFL);  // under nohup SIGHUP is ignored, and stays so
    CHECK(run->train(lesson, [&] { raise(signal); }) == TrainEnd::interrupted);
    std::signal(signal, before);
    CHECK(run->signal() == signal);
    CHECK(Run::resume(settings, Checkpoint(settings.run_path()))->steps_taken() == 3);
  }
}

TEST_CASE("two trainings do not share a checkpoint") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  const Settings settings = settings_of(tiny(folder, "model.safetensors"));
  const auto first = Run::begin(settings), second = Run::begin(settings);
  std::string refused, refused_early;
  first->train(lesson, [&] {
    refused = message_of([&] { second->train(lesson, [] {}); });
    refused_early = message_of([&] { Run::begin(settings); });
  });
  CHECK(refused.starts_with(settings.run_path() + " is being trained; wait"));
  CHECK(refused_early == refused);
  CHECK_FALSE(std::filesystem::exists(settings.run_path() + ".lock"));
  second->train(lesson, [] {});
}

TEST_CASE("a batch in shards has about the loss of the whole, and a run keeps its number of shards") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  const auto with_shards = [&](const std::string& name, const char* shards) {
    std::vector<std::string> words = tiny(folder, name);
    words.insert(words.end(), {"--shards", shards});
    return settings_of(words);
  };
  const auto losses = [&](const char* shards) {
    const auto run = Run::begin(with_shards(std::string(shards) + ".safetensors", shards));
    run->train(lesson, [] {});
    return run->history;
  };
  const History whole = losses("1"), parts = losses("3"), many = losses("64");
  CHECK(parts.text() != whole.text());
  for (const History* history : {&parts, &many}) {
    CHECK(history->steps[0].loss == doctest::Approx(whole.steps[0].loss).epsilon(0.05));  // dropout differs
    CHECK(history->validations.back().loss == doctest::Approx(whole.validations.back().loss).epsilon(0.05));
  }

  Settings settings = with_shards("stopped.safetensors", "3");
  settings.time_limit = 1e-9;
  Run::begin(settings)->train(lesson, [] {});
  CHECK(Run::begin(settings_of(tiny(folder, "stopped.safetensors")))->settings.shards == 3);
  CHECK(message_of([&] { Run::begin(with_shards("stopped.safetensors", "2")); }).find("--shards 3") !=
        std::string::npos);
}

TEST_CASE("a training replaces nothing without being asked") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  const std::vector<std::string> words = tiny(folder, "model.safetensors");
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return settings_of(all);
  };
  Settings settings = with({});
  settings.time_limit = 1e-9;
  Run::begin(settings)->train(lesson, [] {});
  const auto refused = [&](const Settings& other, const std::string& part) {
    const std::string message = message_of([&] { Run::begin(other); });
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };

  SUBCASE("an unfinished run of the same settings goes on") {
    CHECK(Run::begin(settings)->steps_taken() == 1);
    CHECK(Run::begin(with({"--overwrite"}))->steps_taken() == 0);
  }
  SUBCASE("the work of other settings stays") {
    refused(with({"--layers", "2"}), "was trained with --layers 1: give another --checkpoint");
    refused(with({"--seed", "2"}), "was trained with --seed 1: give another --checkpoint");
    CHECK(Run::begin(with({"--layers", "2", "--overwrite"}))->steps_taken() == 0);
    std::filesystem::remove(settings.run_path());  // only the model is left
    refused(with({"--layers", "2"}), "was trained with --layers 1: give another --checkpoint");
    CHECK(Run::begin(with({}))->steps_taken() == 0);
  }
  SUBCASE("a file that is not ours stays, whatever is asked for") {
    std::ofstream(folder / "notes.txt") << "my notes";
    refused(with({"--overwrite", "--checkpoint", (folder / "notes.txt").string()}),
            "is not a model of this program");
    CHECK(read_file(folder / "notes.txt") == "my notes");
  }
  SUBCASE("a folder is refused before the work") {
    refused(with({"--checkpoint", (folder / "m/").string()}), "names a folder, not a file");
    refused(with({"--checkpoint", folder.path.string()}), "is not a regular file");
  }
}

TEST_CASE("two corpora of the same name do not share a model") {
  const TemporaryFolder folder;
  Lesson lesson = quiet_lesson();
  for (const std::string name : {"a", "b"}) {
    std::filesystem::create_directory(folder / name);
    std::ofstream corpus(folder / name / "pairs.tsv");
    for (int i = 0; i < 100; ++i) corpus << name << " word" << i << "\tmot" << i << "\n";
  }
  const auto with = [&](const std::string& name) {
    return settings_of({"--fast", "--corpus", (folder / name / "pairs.tsv").string(), "--steps", "2",
                        "--validations", "1", "--merges", "10", "--out", folder.path.string()});
  };
  Run::begin(with("a"))->train(lesson, [] {});
  CHECK(message_of([&] { Run::begin(with("a")); }) == "");
  const std::string message = message_of([&] { Run::begin(with("b")); });
  CAPTURE(message);
  CHECK(message.find("a/pairs.tsv: give another --checkpoint") != std::string::npos);
  const std::string stored = Checkpoint(with("a").weights_path()).entry("settings");
  CHECK(message_of([&] { with_stored(with("b"), stored); }).find("was made with --corpus") !=
        std::string::npos);
  std::ofstream(folder / "a/pairs.tsv", std::ios::app) << "one more\tun de plus\n";
  CHECK(message_of([&] { Run::begin(with("a")); }).find("trained on other sentences") != std::string::npos);
}
