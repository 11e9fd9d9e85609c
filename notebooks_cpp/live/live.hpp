// Live: the engine behind the live page. It answers requests about one translator, both in JSON.
//
//   Live live;
//   live.answer(R"({"do": "start", "pair": "en-fr", "steps": 900})")     a new model with random weights
//   live.answer(R"({"do": "train", "steps": 1})")                       {"step": 1, "losses": [6.21], …}
//   live.answer(R"({"do": "translate", "text": "The cat sleeps."})")    tokens, words, every layer
//
//   start      {pair, seed, steps, heads, layers, positions, scale, causal}: a new model, nothing learned yet
//   load       {path}: a file that lesson 13 or `save` has written
//   save       {path}
//   switch     {positions, heads, scale, causal, off: [[name, layer, head], …]}: other settings, same weights
//   train      {steps}: so many steps; `restart` begins the schedule anew, from the weights as they are
//   score      {count}: how many held-out sentences it translates without a mistake
//   examples   {count}: held-out sentences with their translations
//   translate  {text, beam, temperature, seed, expected, word}: a translation and how it came about; `word`
//              counts from 1: the one whose way through the decoder is told
//   weights    a number that stands for all weights, to compare two programs bit by bit
//
// Every answer is an object; where a request fails it is {"error": why}. The page runs this in WebAssembly
// (bridge.cpp), and `build/live_answers` natively: the same requests must get the same answers.
#pragma once

#include <memory>    // unique_ptr
#include <optional>  // optional
#include <set>       // set
#include <string>    // string
#include <tuple>     // tuple

#include "lessons/13_translator/training.hpp"

namespace attn {

class Live {
 public:
  std::string answer(const std::string& request);

 private:
  struct Request;
  std::string respond(const Request& request);
  std::string start(const Request& request);
  std::string load(const Request& request);
  std::string save(const Request& request);
  std::string apply_switches(const Request& request);
  std::string train(const Request& request);
  std::string score(const Request& request);
  std::string examples(const Request& request);
  std::string translate(const Request& request);
  std::string weights();
  std::string about();

  Translator& translator();
  Run& run();      // makes the sentences to learn from when they are first needed
  void restart();  // the same weights, a new optimizer and schedule
  // Switches off the heads that are to be off; null if all are on, and training keeps the fused attention.
  const AttentionProbe* ablation() const { return off_.empty() ? nullptr : &switch_off_; }
  std::vector<Pair> held_out(Index count) const;
  std::vector<std::vector<int>> write(const std::vector<std::vector<int>>& sources) const;

  Settings settings_;
  std::optional<Translator> loaded_;  // until there is a run, which then has it
  std::unique_ptr<Run> run_;
  std::set<std::tuple<std::string, Index, Index>> off_;  // name, layer, head
  AttentionProbe switch_off_ = [this](AttentionSteps& steps) { silence(steps); };
  void silence(AttentionSteps& steps) const;
};

}  // namespace attn
