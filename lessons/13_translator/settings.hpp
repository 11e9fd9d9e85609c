// Settings: the command line of `13_translator`, and the recipes for what it leaves open.
//
// A recipe is a set of settings that was tried: for the toy pairs (seconds) and for a corpus of one's own
// (half an hour). Options override the recipe that fits. The settings that decide a run are kept in its
// checkpoint: a run that is resumed gives the same numbers as one that never stopped.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "lessons/support/standard_options.hpp"
#include "nn/config.hpp"

namespace attn {

struct Settings : StandardOptions {
  // What is wanted now.
  std::string command = "train";   // or translate, words, evaluate, resume
  std::string text;                // to translate; empty: from standard input
  std::string checkpoint;          // empty: see weights_path
  bool show = false;               // translate: the attention, too
  bool overwrite = false;          // a training may replace another model, or start anew
  bool zero = false;               // each process keeps only its part of the optimizer's state
  double time_limit = 0;           // seconds
  std::vector<std::string> given;  // the options that were written: these win over a recipe and a checkpoint
  Index beam = 1;
  double length_penalty = 0.6;

  // What decides the run, with the seed: for_each_run_setting in settings.cpp explains each.
  std::string pair = "en-fr", corpus, source_file, target_file, vocabulary = "word";
  Index in_memory = 300'000, merges = 8000, pairs = 40000, test = 1000, test_words = 10, max_length = 64;
  std::string size = "tiny", positions = "rope", norm = "pre";
  Index d_model = 32, heads = 2, layers = 1, d_ff = 128;
  double dropout = 0;
  double epochs = 4;
  Index steps = 0, batch = 800, warmup = 60, validations = 8;
  std::string schedule = "cosine";
  double learning_rate = 1e-2, smoothing = 0;
  Index shards = 1;

  bool is_toy() const { return corpus.empty() && source_file.empty(); }
  bool is_recipe() const;            // as it was tried, but for pair and seed
  std::string name() const;          // "en-fr", or that of the corpus
  std::string weights_path() const;  // of a trained model
  std::string run_path() const;      // of a run that was stopped, beside the trained model
  std::string options_text() const;  // " --pair en-ko": what names this model on a command line
  TransformerConfig config() const;
};

// Reads the command line; throws UsageError if it makes no sense.
Settings read_settings(const std::vector<std::string>& arguments);
// The recipe for what is asked for: pair or corpus, fast, seed, and whatever was given.
Settings with_recipe(const Settings& asked);
// `asked` with the settings of an earlier run, as run_settings_json wrote them; throws UsageError if an
// option contradicts them.
Settings with_stored(const Settings& asked, const std::string& stored);

// `asked` with the shards of an unfinished run, unless others were given: it may go on with more or fewer
// processes than it began with.
Settings with_shards_of(const std::string& stored, Settings asked);

std::string run_settings_json(const Settings& settings);
// "--layers 1": the first setting by which an earlier run differs from this one; empty if there is none, and
// the two have the same weights in the end.
std::string difference_from(const Settings& settings, const std::string& stored);

}  // namespace attn
