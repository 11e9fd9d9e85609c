// Run: one training, from its first step to its last, with any number of stops in between.
//
//   std::unique_ptr<Run> run = Run::begin(settings);
//   const TrainEnd end = run->train(lesson, early_look);
//
// The batch of a step depends on seed and step alone, dropout draws from a generator whose state is saved,
// and the optimizer's state is saved with the weights. So a run that was stopped ends with the same bits as
// one that was not, on any number of threads. With several shards (optim/shards.hpp) the dropout of each is a
// function of seed, step and shard, and the number of processes does not matter either.
//
// There are two files. NAME.run.safetensors is an unfinished run, with all it needs to go on: written
// at each validation and when the program is asked to stop (Ctrl-C, SIGTERM, SIGHUP), removed at the
// end. NAME.safetensors is a trained model: written when the training is finished, so an older one
// stays until then.
#pragma once

#include <memory>  // unique_ptr

#include "core/atomic_file.hpp"
#include "lessons/13_translator/data.hpp"
#include "lessons/13_translator/translator.hpp"
#include "lessons/support/lesson.hpp"
#include "optim/trainer.hpp"

namespace attn {

class Run {
 public:
  // Goes on with an unfinished run of the same settings, or else starts one. What would fail at the end or
  // would replace something is refused now: a file that cannot be written or is not ours, a run that another
  // program is training, and without settings.overwrite the work of other settings or sentences.
  static std::unique_ptr<Run> begin(Settings settings);
  static std::unique_ptr<Run> start(const Settings& settings);
  static std::unique_ptr<Run> start(const Settings& settings, Translator translator);  // from these weights
  static std::unique_ptr<Run> resume(const Settings& settings, Checkpoint file);

  // Calls `early_look` at the first validation: to look at the model while it knows little. Under mpirun
  // every rank calls train, and only rank 0 prints and writes.
  TrainEnd train(Lesson& lesson, const std::function<void()>& early_look);
  // Takes up to `steps` further steps, and nothing else: no file, no text.
  void advance(Index steps, const AttentionProbe* probe = nullptr);
  Index total_steps() const;
  Index steps_taken() const { return optimizer_.steps; }
  int signal() const;  // that interrupted the training: 128 plus it is the exit code

  const Settings settings;
  const Dataset data;
  Translator translator;
  History history;
  Index left_out = 0;  // pairs that are too long for the model

 private:
  Run(const Settings& settings, Dataset data, Translator translator);
  static std::unique_ptr<FileLock> lock(const Settings& settings);  // rank 0 has it while it trains
  void check_group() const;
  const std::vector<Index>& rows_of(Index batch);  // the pairs of a batch
  StepLoss loss_of(Index batch, Index shard, const AttentionProbe* probe = nullptr);
  TrainOptions options() const;
  void save_run() const;
  void save_weights() const;

  std::vector<EncodedPair> train_, validation_;
  std::string fingerprint_;  // of the training pairs
  Adam optimizer_;
  Rng dropout_;
  Index round_ = -1, steps_per_round_ = 0;
  std::vector<std::vector<Index>> plan_;  // the batches of that round
};

}  // namespace attn
