// Settings: what can be said behind `13_translator`, and the recipes for when nothing is.
//
// A recipe is a set of settings that was tried: for the toy pairs (a minute, or seconds with --fast) and for
// a corpus of one's own (half an hour). Options are read over the recipe that fits. The settings that decide
// a run are kept in its checkpoint: going on later gives the same numbers as never having stopped.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "lessons/support/options.hpp"  // UsageError
#include "nn/config.hpp"

namespace attn {

struct Settings {
  // What is wanted now.
  std::string command = "train";  // or translate, evaluate, resume
  std::string text;               // to translate; empty: from standard input
  std::string out = "out", checkpoint;
  Index threads = 1;
  double time_limit = 0;  // seconds
  bool fast = false, version = false;
  Index beam = 1;
  double length_penalty = 0.6;

  // What decides the run: see for_each_run_setting in settings.cpp, where each has its explanation.
  std::string pair = "en-fr", corpus, source_file, target_file, vocabulary = "word";
  Index merges = 8000, pairs = 40000, test = 1000, test_words = 10, max_length = 64;
  std::string size = "small", positions = "rope", norm = "pre";
  Index d_model = 64, heads = 4, layers = 2, d_ff = 256;
  double dropout = 0.1;
  double epochs = 4;
  Index steps = 0, batch = 1000, warmup = 100, validations = 8, seed = 1;
  std::string schedule = "cosine";
  double learning_rate = 3e-3, smoothing = 0;

  bool is_toy() const { return corpus.empty() && source_file.empty(); }
  bool is_recipe() const;            // as it was tried, but for pair and seed
  std::string name() const;          // "en-fr", or that of the corpus
  std::string weights_path() const;  // of a trained model
  std::string run_path() const;      // of a run that was stopped: beside the former
  std::string options_text() const;  // " --pair en-ko": what names this model on a command line
  TransformerConfig config() const;
};

// Reads the command line; throws UsageError, one line, if it makes no sense. `stored`: the settings of a run
// (from run_settings_json) to be gone on with; an option that contradicts them is refused.
Settings read_settings(int argc, char** argv, const std::string& stored = "");

std::string run_settings_json(const Settings& settings);

}  // namespace attn
