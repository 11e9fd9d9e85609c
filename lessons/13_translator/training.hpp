// Run: one training, from its first step to its last, with as many stops in between as one likes.
//
//   Run run = ...start(settings);        or resume(settings), from the file that a stop has left
//   TrainEnd end = run->train(lesson);
//
// The batch of a step is a function of seed and step, dropout draws from a generator whose place is saved,
// and the optimizer's memory is saved with the weights: so a run that was stopped has, in the end, the same
// bits as one that never was, on one thread or on two.
//
// Two files. NAME.run.safetensors is a run in the middle: everything that is needed to go on, written at each
// validation and at Ctrl-C, removed at the end. NAME.safetensors is a trained model, written when it is done:
// an old one is not touched before.
#pragma once

#include <memory>  // unique_ptr

#include "lessons/13_translator/data.hpp"
#include "lessons/13_translator/translator.hpp"
#include "lessons/support/lesson.hpp"
#include "optim/trainer.hpp"

namespace attn {

// What is kept of the past of a run: enough to draw it.
struct Curve {
  std::vector<TrainPoint> steps;
  std::vector<ValidationPoint> validations;

  std::string text() const;  // tab-separated: train, step, loss, learning rate; validation, step, loss
  static Curve from_text(const std::string& text);
};

class Run {
 public:
  static std::unique_ptr<Run> start(const Settings& settings);
  static std::unique_ptr<Run> resume(const Settings& settings);

  // `early_look` is called before the first validation: to look at the model while it knows little.
  TrainEnd train(Lesson& lesson, const std::function<void()>& early_look);
  Index total_steps() const;

  const Settings settings;
  const Dataset data;
  Translator translator;
  Curve curve;
  Index left_out = 0;  // pairs too long for the model

 private:
  Run(const Settings& settings, Dataset data, Translator translator);
  const std::vector<Index>& rows_of(Index batch);  // the sentences of a batch
  void save_run() const;
  void save_weights() const;
  std::string fingerprint() const;  // of the training sentences

  std::vector<EncodedPair> train_, validation_;
  Adam optimizer_;
  Rng dropout_;
  Index planned_epoch_ = -1;
  std::vector<std::vector<Index>> plan_;  // the batches of that epoch
};

}  // namespace attn
