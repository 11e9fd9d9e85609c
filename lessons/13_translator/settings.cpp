#include "lessons/13_translator/settings.hpp"

#include <fmt/format.h>  // format

#include <filesystem>         // path
#include <nlohmann/json.hpp>  // json

#include "core/error.hpp"
#include "core/parallel.hpp"  // thread_count
#include "optim/schedule.hpp"

namespace attn {
namespace {

// Every setting that decides a run, once: options, checkpoints and comparisons read this list.
template <class Visit>
void for_each_run_setting(Settings& s, const Visit& visit) {
  visit("pair", "en-fr|en-ko", "the toy languages to learn", s.pair, 0);
  visit("pairs", "N", "how many toy sentences to learn from", s.pairs, 100);
  visit("corpus", "FILE.tsv", "learn from your own pairs instead: source TAB target", s.corpus, 0);
  visit("source", "FILE", "or from two files, line by line: this one", s.source_file, 0);
  visit("target", "FILE", "and its translation", s.target_file, 0);
  visit("vocabulary", "word|bpe", "one token a word, or pieces of words that both languages share",
        s.vocabulary, 0);
  visit("merges", "N", "merges that bpe learns", s.merges, 0);
  visit("test", "N", "sentences kept from training to test with", s.test, 1);
  visit("test-words", "N", "of a corpus, only sentences of at most so many words; 0: any", s.test_words, 0);
  visit("max-length", "N", "tokens of a sentence; longer ones are left out", s.max_length, 8);

  visit("size", "tiny|small|base", "of the model; the next four change it", s.size, 0);
  visit("d-model", "C", "channels", s.d_model, 1);
  visit("heads", "H", "attention heads", s.heads, 1);
  visit("layers", "N", "blocks of the encoder, and of the decoder", s.layers, 1);
  visit("ff", "N", "hidden units of the feed-forward", s.d_ff, 1);
  visit("positions", "NAME", "none, learned, sinusoidal, t5, alibi or rope", s.positions, 0);
  visit("norm", "pre|post", "x + f(norm(x)), or norm(x + f(x)) as in the paper", s.norm, 0);
  visit("dropout", "P", "share of activations dropped in training", s.dropout, 0);

  visit("epochs", "E", "how often to go through all pairs", s.epochs, 0);
  visit("steps", "N", "or how many steps to take; 0: by --epochs", s.steps, 0);
  visit("batch", "N", "tokens of a batch", s.batch, 1);
  visit("schedule", "NAME", "constant, noam, cosine or linear", s.schedule, 0);
  visit("learning-rate", "R", "the highest; with noam a factor", s.learning_rate, 0);
  visit("warmup", "N", "steps until then", s.warmup, 0);
  visit("smoothing", "E", "of the labels", s.smoothing, 0);
  visit("validations", "N", "looks at sentences not learned from, during training", s.validations, 1);
  visit("seed", "N", "start of the random numbers", s.seed, 0);
}

struct AddOption {
  Options& options;
  void operator()(const std::string& name, const char* value, const char* help, std::string& target,
                  int) const {
    options.add("--" + name, value, help, target);
  }
  template <class Number>
  void operator()(const std::string& name, const char* value, const char* help, Number& target,
                  int at_least) const {
    options.add("--" + name, value, help, target, static_cast<Number>(at_least));
  }
};

Options options_for(Settings& s) {
  Options options("13_translator [train | translate [SENTENCE] | evaluate | resume] [options]",
                  "It translates. Learns a language pair, shows what it has learned, and answers.");
  for_each_run_setting(s, AddOption{options});
  options.add("--time-limit", "SECONDS", "stop training then, to be resumed; 0: never", s.time_limit);
  options.add("--beam", "K", "hypotheses kept while translating; 1: greedy", s.beam, 1);
  options.add("--length-penalty", "A", "for the beam: ((5 + length) / 6)^A", s.length_penalty);
  options.add("--checkpoint", "PATH", "the model's file; otherwise DIR/13_translator/NAME.safetensors",
              s.checkpoint);
  options.add("--threads", "N", "threads to compute with", s.threads, 1, 256);
  options.add("--out", "DIR", "where pictures and results go", s.out);
  options.add_flag("--fast", "a demonstration: a small model, a few seconds, many mistakes", s.fast);
  options.add_flag("--version", "the kernels and the number of threads in use", s.version);
  options.add_text(
      "train      learns (the default), saves, tests and draws; Ctrl-C saves, `resume` goes on\n"
      "translate  a sentence, or standard input line by line, or what you type at a prompt\n"
      "evaluate   tests a trained model again, on the sentences that were kept from its training");
  options.add_text(
      "Defaults are for the toy pairs. With --corpus or --source they are: --vocabulary bpe --size base\n"
      "--epochs 6 --batch 2000 --learning-rate 0.002 --warmup 400 --smoothing 0.1 --test 2000 --beam 4.");
  return options;
}

void use_size(Settings& s) {
  if (s.size == "tiny")
    s.d_model = 32, s.heads = 2, s.layers = 1, s.d_ff = 128;
  else if (s.size == "small")
    s.d_model = 64, s.heads = 4, s.layers = 2, s.d_ff = 256;
  else if (s.size == "base")
    s.d_model = 192, s.heads = 4, s.layers = 3, s.d_ff = 768;
  else
    throw UsageError(fmt::format("--size: '{}' is not one of tiny, small, base", s.size));
}

// The tried settings for what is to be learned.
Settings recipe_for(const Settings& asked) {
  Settings s;
  s.threads = thread_count();
  if (asked.fast) {
    s.size = "tiny", s.pairs = 10000, s.test = 200, s.steps = 700, s.batch = 600, s.dropout = 0;
    s.learning_rate = 1e-2, s.warmup = 40, s.validations = 4;
  } else if (!asked.is_toy()) {
    s.size = "base", s.epochs = 6, s.batch = 2000, s.warmup = 400, s.test = 2000;
    s.learning_rate = 2e-3, s.smoothing = 0.1, s.validations = 20, s.beam = 4;
  }
  if (!asked.is_toy()) s.vocabulary = "bpe";
  if (asked.size != Settings{}.size) s.size = asked.size;
  use_size(s);
  return s;
}

void check(const Settings& s) {
  const auto one_of = [](const char* option, const std::string& value, const std::string& a,
                         const std::string& b) {
    if (value != a && value != b)
      throw UsageError(fmt::format("{}: '{}' is neither {} nor {}", option, value, a, b));
  };
  one_of("--pair", s.pair, "en-fr", "en-ko");
  one_of("--vocabulary", s.vocabulary, "word", "bpe");
  one_of("--norm", s.norm, "pre", "post");
  if (!s.corpus.empty() && (!s.source_file.empty() || !s.target_file.empty()))
    throw UsageError("--corpus has both languages; give either it, or --source and --target");
  if (!s.is_toy() && s.pair != Settings{}.pair)
    throw UsageError("--pair names toy languages; give either it, or a corpus");
  if (s.source_file.empty() != s.target_file.empty())
    throw UsageError("--source and --target need each other");
  if (s.steps == 0 && s.epochs == 0)
    throw UsageError("--epochs 0 and --steps 0: there would be nothing to do");
  if (s.smoothing >= 1) throw UsageError(fmt::format("--smoothing: {} is not below 1", s.smoothing));
  schedule_from_name(s.schedule);
  TransformerConfig config = s.config();
  config.vocabulary = 1;
  config.check();
}

void take_command(Settings& s, const std::vector<std::string>& words) {
  if (words.empty()) return;
  s.command = words[0];
  if (s.command != "train" && s.command != "translate" && s.command != "evaluate" && s.command != "resume")
    throw UsageError(
        fmt::format("'{}' is not one of train, translate, evaluate, resume; --help tells more", s.command));
  if (s.command != "translate" && words.size() > 1)
    throw UsageError(fmt::format("there is nothing to do with '{}' behind {}", words[1], s.command));
  if (words.size() == 2 && words[1].empty()) throw UsageError("translate: the sentence is empty");
  for (std::size_t i = 1; i < words.size(); ++i) s.text += (i > 1 ? " " : "") + words[i];
}

nlohmann::json json_of(const Settings& settings) {
  nlohmann::json json;
  Settings copy = settings;
  for_each_run_setting(
      copy, [&](const char* name, const char*, const char*, const auto& value, int) { json[name] = value; });
  return json;
}

Settings stored_settings(const std::string& stored) {
  const nlohmann::json json = nlohmann::json::parse(stored, nullptr, false);
  Settings s;
  s.threads = thread_count();
  try {
    for_each_run_setting(s, [&](const char* name, const char*, const char*, auto& value, int) {
      if (json.contains(name)) json.at(name).get_to(value);
    });
    s.beam = json.value("beam", Index{1});
    s.length_penalty = json.value("length-penalty", 0.6);
    s.fast = json.value("fast", false);
  } catch (const nlohmann::json::exception&) {
    fail("the settings kept with the model are damaged: {}", stored.substr(0, 60));
  }
  return s;
}

}  // namespace

Settings read_settings(int argc, char** argv, const std::string& stored) {
  Settings asked;
  asked.threads = thread_count();
  options_for(asked).parse(argc, argv);  // a first look, for the recipe
  Settings settings = stored.empty() ? recipe_for(asked) : stored_settings(stored);
  const nlohmann::json before = json_of(settings);
  take_command(settings, options_for(settings).parse(argc, argv));
  check(settings);
  if (!stored.empty()) {
    const nlohmann::json after = json_of(settings);
    for (const auto& item : before.items()) {
      const bool is_file = item.key() == "corpus" || item.key() == "source" || item.key() == "target";
      if (!is_file && after[item.key()] != item.value())  // files may have moved; what is in them is checked
        throw UsageError(fmt::format("this model was made with --{} {}; another value needs a new training",
                                     item.key(), item.value().dump()));
    }
  }
  return settings;
}

std::string run_settings_json(const Settings& settings) {
  nlohmann::json json = json_of(settings);
  json["beam"] = settings.beam;
  json["length-penalty"] = settings.length_penalty;
  json["fast"] = settings.fast;
  return json.dump();
}

bool Settings::is_recipe() const {
  Settings recipe = recipe_for(*this);
  recipe.pair = pair, recipe.seed = seed;
  return is_toy() && json_of(*this) == json_of(recipe);
}

std::string Settings::name() const {
  const std::string file = corpus.empty() ? source_file : corpus;
  return (file.empty() ? pair : std::filesystem::path(file).stem().string()) + (fast ? "-fast" : "");
}

std::string Settings::weights_path() const {
  if (!checkpoint.empty()) return checkpoint;
  return (std::filesystem::path(out) / "13_translator" / (name() + ".safetensors")).string();
}

std::string Settings::run_path() const {
  return std::filesystem::path(weights_path()).replace_extension(".run.safetensors").string();
}

std::string Settings::options_text() const {
  std::string text;
  if (!checkpoint.empty()) return " --checkpoint " + checkpoint;
  if (is_toy() && pair != Settings{}.pair) text += " --pair " + pair;
  if (!corpus.empty()) text += " --corpus " + corpus;
  if (!source_file.empty()) text += " --source " + source_file + " --target " + target_file;
  if (fast) text += " --fast";
  if (out != Settings{}.out) text += " --out " + out;
  return text;
}

TransformerConfig Settings::config() const {
  return {.d_model = d_model,
          .heads = heads,
          .encoder_layers = layers,
          .decoder_layers = layers,
          .d_ff = d_ff,
          .dropout = static_cast<real>(dropout),
          .positions = positions_from_name(positions),
          .max_length = max_length,
          .pre_norm = norm == "pre"};
}

}  // namespace attn
