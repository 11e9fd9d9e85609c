#include "lessons/13_translator/settings.hpp"

#include <fmt/core.h>  // format

#include <algorithm>    // find
#include <filesystem>   // path
#include <iterator>     // ssize
#include <limits>       // numeric_limits
#include <type_traits>  // decay_t, is_arithmetic_v

#include "core/error.hpp"
#include "core/json.hpp"
#include "optim/group.hpp"
#include "optim/schedule.hpp"

namespace attn {
namespace {

// Every setting that decides a run, once: options, checkpoints and comparisons read this list.
template <class Visit>
void for_each_run_setting(const Visit& visit) {
  visit("pair", &Settings::pair, {"en-fr|en-ko", "the toy languages to learn"});
  visit("pairs", &Settings::pairs, {"N", "how many toy sentences to learn from", 100, 1'000'000});
  visit("corpus", &Settings::corpus, {"FILE.tsv", "learn from your own pairs instead: source TAB target"});
  visit("source", &Settings::source_file, {"FILE", "or from two files, line by line: this one"});
  visit("target", &Settings::target_file, {"FILE", "and its translation"});
  visit("in-memory", &Settings::in_memory,
        {"N", "pairs to keep in memory; portions of a larger corpus take turns", 100, 10'000'000});
  visit("vocabulary", &Settings::vocabulary,
        {"word|bpe", "one token per word, or pieces of words that both languages share"});
  visit("merges", &Settings::merges, {"N", "merges that bpe learns", 0, 100'000});
  visit("test", &Settings::test, {"N", "sentences kept from training to test with", 1, 100'000});
  visit("test-words", &Settings::test_words,
        {"N", "of a corpus, test only sentences of at most this many words; 0: any", 0, 10'000});
  visit("max-length", &Settings::max_length,
        {"N", "tokens of a sentence; longer ones are left out", 8, 10'000});

  visit("size", &Settings::size, {"tiny|small|base", "of the model; the next four change it"});
  visit("d-model", &Settings::d_model, {"C", "channels", 1, 16'384});
  visit("heads", &Settings::heads, {"H", "attention heads", 1, 1024});
  visit("layers", &Settings::layers, {"N", "blocks of the encoder, and of the decoder", 1, 1000});
  visit("ff", &Settings::d_ff, {"N", "hidden units of the feed-forward", 1, 65'536});
  visit("positions", &Settings::positions, {"NAME", "none, learned, sinusoidal, t5, alibi or rope"});
  visit("norm", &Settings::norm, {"pre|post", "x + f(norm(x)), or norm(x + f(x)) as in the paper"});
  visit("dropout", &Settings::dropout, {"P", "fraction of activations dropped in training", 0, 1});

  visit("epochs", &Settings::epochs, {"E", "how often to go through all pairs", 0, 10'000});
  visit("steps", &Settings::steps, {"N", "or how many steps to take; 0: by --epochs", 0, 1e9});
  visit("batch", &Settings::batch, {"N", "tokens per batch", 1, 1'000'000});
  visit("schedule", &Settings::schedule, {"NAME", "constant, noam, cosine or linear"});
  visit("learning-rate", &Settings::learning_rate, {"R", "the highest; with noam a factor", 0, 1000});
  visit("warmup", &Settings::warmup, {"N", "steps until the learning rate is at its highest", 0, 1e9});
  visit("smoothing", &Settings::smoothing, {"E", "label smoothing", 0, 1});
  visit("validations", &Settings::validations,
        {"N", "how often to measure the loss on unseen sentences", 1, 1'000'000});
  visit("shards", &Settings::shards,
        {"N", "parts of a batch, to share among processes; otherwise one per process", 1, 4096});
  visit("seed", &Settings::seed, {});  // a standard option
}

// What a checkpoint keeps: that, and defaults for using the model.
template <class Visit>
void for_each_stored_setting(const Visit& visit) {
  for_each_run_setting(visit);
  visit("beam", &Settings::beam, {"K", "hypotheses kept while translating; 1: greedy", 1, 1000});
  visit("length-penalty", &Settings::length_penalty, {"A", "for the beam: ((5 + length) / 6)^A", 0, 100});
  visit("fast", &Settings::fast, {});  // a standard option
}

bool was_given(const Settings& settings, const std::string& name) {
  return std::find(settings.given.begin(), settings.given.end(), "--" + name) != settings.given.end();
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

// The tried settings for what is to be learned, which is asked for by these six.
Settings recipe_for(const Settings& asked, const std::string& size = "") {
  Settings s;
  s.pair = asked.pair, s.corpus = asked.corpus, s.source_file = asked.source_file;
  s.target_file = asked.target_file, s.fast = asked.fast, s.seed = asked.seed;
  if (asked.fast) {
    s.pairs = 10000, s.test = 200, s.steps = 700, s.batch = 600, s.warmup = 40, s.validations = 4;
  } else if (!asked.is_toy()) {
    s.size = "base", s.dropout = 0.1, s.epochs = 6, s.batch = 2000, s.warmup = 400, s.test = 2000;
    s.learning_rate = 2e-3, s.smoothing = 0.1, s.validations = 20, s.beam = 4;
  } else {
    s.steps = 1800;
  }
  if (!asked.is_toy()) s.vocabulary = "bpe";
  if (!size.empty()) s.size = size;
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
    throw UsageError("--corpus has both languages: give it, or --source and --target, not all");
  if (!s.is_toy() && s.pair != Settings{}.pair)
    throw UsageError("--pair names toy languages: give it or a corpus, not both");
  if (s.source_file.empty() != s.target_file.empty())
    throw UsageError("--source and --target need each other");
  if (s.steps == 0 && s.epochs == 0) throw UsageError("--epochs 0 and --steps 0: there is nothing to train");
  if (s.smoothing >= 1) throw UsageError(fmt::format("--smoothing: {} is not below 1", s.smoothing));
  schedule_from_name(s.schedule);
  TransformerConfig config = s.config();
  config.vocabulary = 1;
  config.check();
}

void take_command(Settings& s, const std::vector<std::string>& words) {
  if (words.empty()) return;
  s.command = words[0];
  const std::vector<std::string> commands = {"train", "translate", "words", "evaluate", "resume"};
  if (std::find(commands.begin(), commands.end(), s.command) == commands.end())
    throw UsageError(fmt::format(
        "'{}' is not one of train, translate, words, evaluate, resume; --help tells more", s.command));
  if (s.command != "translate" && words.size() > 1)
    throw UsageError(fmt::format("unexpected '{}' after {}; --help tells more", words[1], s.command));
  if (words.size() == 2 && words[1].empty()) throw UsageError("translate: the sentence is empty");
  for (Index i = 1; i < std::ssize(words); ++i) s.text += (i > 1 ? " " : "") + words[i];
}

Settings stored_settings(const std::string& stored) {
  const JsonValue json = parse_json(stored);
  Settings s;
  try {
    for_each_stored_setting([&](const char* name, auto member, const OptionInfo& info) {
      if (json.has(name) && !json[name].to(s.*member)) fail("{} is {:.60}", name, json[name].text());
      if constexpr (std::is_arithmetic_v<std::decay_t<decltype(s.*member)>>)
        check_bounds(name, double(s.*member), info);
    });
  } catch (const std::exception& problem) {
    fail("the settings kept with the model are damaged: {:.200}", problem.what());
  }
  return s;
}

// Files are the same wherever they are named from. A file that is no longer there has moved.
bool is_same(const std::string& name, const std::string& a, const std::string& b) {
  const bool is_file = name == "corpus" || name == "source" || name == "target";
  std::error_code missing;
  return a == b || (is_file && !a.empty() && !b.empty() &&
                    (!std::filesystem::exists(a, missing) || !std::filesystem::exists(b, missing) ||
                     std::filesystem::equivalent(a, b, missing)));
}
template <class Number>
bool is_same(const std::string&, Number a, Number b) {
  return a == b;
}

// `asked`, where what was not given comes from `base`.
Settings completed(Settings asked, const Settings& base) {
  for_each_stored_setting([&](const char* name, auto member, const OptionInfo&) {
    if (!was_given(asked, name)) asked.*member = base.*member;
  });
  check(asked);
  return asked;
}

}  // namespace

Settings read_settings(const std::vector<std::string>& arguments) {
  Settings asked;
  Options options("13_translator [train | translate [SENTENCE] | words | evaluate | resume] [options]",
                  "It translates. Learns a language pair, shows what it has learned, and answers.");
  for_each_stored_setting([&](const char* name, auto member, const OptionInfo& info) {
    if (!info.help.empty()) options.add(std::string("--") + name, &(asked.*member), info);
  });
  options.add("--time-limit", &asked.time_limit,
              {.value = "SECONDS", .help = "stop training then, to be resumed; 0: never", .at_most = 1e9});
  options.add("--checkpoint", &asked.checkpoint,
              {.value = "PATH", .help = "the model's file; otherwise DIR/13_translator/NAME.safetensors"});
  options.add("--show", &asked.show,
              {.help = "with translate: draw where each word of the translation looks"});
  options.add("--overwrite", &asked.overwrite,
              {.help = "train anew, over an unfinished training or a model of other settings"});
  options.add("--zero", &asked.zero,
              {.help = "under mpirun: each process keeps only its part of the optimizer's state"});
  options.add_text(
      "train      learns (the default), saves, tests and draws; Ctrl-C saves, and `train` continues\n"
      "resume     continues that training, with the settings it began with\n"
      "translate  sentences, or standard input line by line, or what you type at a prompt\n"
      "words      lists the words that a trained model can read\n"
      "evaluate   tests a trained model again, on the sentences that were kept from its training");
  options.add_text(
      "Defaults are for the toy pairs. With --corpus or --source they are: --vocabulary bpe --size base "
      "--dropout 0.1\n"
      "--epochs 6 --batch 2000 --learning-rate 0.002 --warmup 400 --smoothing 0.1 --test 2000 --beam 4.");
  options.add_text(
      "On several processes or machines: `make mpi`, then `mpirun -n 4 13_translator …`. The number of "
      "shards\n"
      "decides the last bits of a run, the number of processes does not, and may change when a run goes on.");
  take_command(asked, asked.parse(options, arguments, std::numeric_limits<Index>::max()));
  asked.given = options.given();
  for (std::string* file : {&asked.corpus, &asked.source_file, &asked.target_file})  // from any folder
    if (!file->empty()) *file = std::filesystem::absolute(*file).lexically_normal().string();
  return with_recipe(asked);
}

Settings with_recipe(const Settings& asked) {
  Settings recipe = recipe_for(asked, was_given(asked, "size") ? asked.size : "");
  if (was_given(asked, "epochs")) recipe.steps = 0;
  recipe.shards = world().size();
  return completed(asked, recipe);
}

Settings with_stored(const Settings& asked, const std::string& stored) {
  const Settings base = stored_settings(stored);
  for_each_run_setting([&](const std::string& name, auto member, const OptionInfo&) {
    if (was_given(asked, name) && !is_same(name, asked.*member, base.*member))
      throw UsageError(fmt::format("this model was made with --{} {}; another value needs a new training",
                                   name, base.*member));
  });
  return completed(asked, base);
}

Settings with_shards_of(const std::string& stored, Settings asked) {
  if (!was_given(asked, "shards")) asked.shards = stored_settings(stored).shards;
  return asked;
}

std::string run_settings_json(const Settings& settings) {
  JsonMembers json;
  for_each_stored_setting(
      [&](const char* name, auto member, const OptionInfo&) { json.emplace_back(name, settings.*member); });
  return json_object(json).text;
}

std::string difference_from(const Settings& settings, const std::string& stored) {
  const Settings other = stored_settings(stored);
  std::string difference;
  for_each_run_setting([&](const std::string& name, auto member, const OptionInfo&) {
    if (difference.empty() && !is_same(name, settings.*member, other.*member))
      difference = fmt::format("--{} {}", name, other.*member);
  });
  return difference;
}

bool Settings::is_recipe() const {
  const Settings recipe = recipe_for(*this);
  bool same = is_toy();
  for_each_run_setting(
      [&](const char*, auto member, const OptionInfo&) { same &= this->*member == recipe.*member; });
  return same;
}

std::string Settings::name() const {
  const std::string file = corpus.empty() ? source_file : corpus;
  return (file.empty() ? pair : std::filesystem::path(file).stem().string()) + (fast ? "-fast" : "");
}

std::string Settings::weights_path() const {
  if (!checkpoint.empty()) return checkpoint;
  return (out / "13_translator" / (name() + ".safetensors")).string();
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
  if (out != Settings{}.out) text += " --out " + out.string();
  return text;
}

TransformerConfig Settings::config() const {
  return {.d_model = d_model,
          .heads = heads,
          .encoder_layers = layers,
          .decoder_layers = layers,
          .d_ff = d_ff,
          .dropout = real(dropout),
          .positions = positions_from_name(positions),
          .max_length = max_length,
          .pre_norm = norm == "pre"};
}

}  // namespace attn
