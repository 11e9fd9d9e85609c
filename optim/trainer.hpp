// train: the training loop.
//
//   History history = train(optimizer, {.steps = 1000, .schedule = {.peak = 1e-3}},
//                           {.loss = [&](Index batch) { return StepLoss{loss_of(batch), tokens}; }});
//
// Each step: the loss of a batch (or of several, whose gradients are averaged), backward, clipping, one
// update. The mean of n batches of equal size is the gradient of one batch n times as large, so learning rate
// and clipping keep their meaning whatever n is; the sum would be n times as long. On a terminal a bar shows
// loss, learning rate, tokens per second and the time left; elsewhere a plain line now and then. The batch of
// a step should depend on the step's number alone: then a run can resume anywhere. In a group of processes
// each rank calls train with the same options and has the same weights after every step.
#pragma once

#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

#include "optim/group.hpp"
#include "optim/optimizer.hpp"
#include "optim/schedule.hpp"

namespace attn {

struct StepLoss {
  Tensor loss;        // one number, the mean over its tokens; of a shard without any, an empty Tensor
  Index tokens = 0;   // in the batch, for the speed that is shown
  double weight = 1;  // of a shard in the mean of its batch: its share of the tokens that the loss counts
};

struct TrainOptions {
  Index steps = 1000;  // in all, including those the optimizer has already taken
  Schedule schedule{};
  double clip = 1;           // the largest gradient norm; 0: no clipping
  Index accumulate = 1;      // batches per update; each counts the same
  Index validate_every = 0;  // steps; 0: never
  Index patience = 0;        // stop after this many validations in a row without a new best; 0: never
  Index record_every = 1;    // the history keeps step 1 and every multiple of this
  bool progress = true;
  std::string label = "training";
  double time_limit = 0;  // seconds; 0: none
  // A batch may be cut into shards (optim/shards.hpp), which the ranks of a group share. The number of shards
  // decides the last bits of a run, so a run keeps it; the number of ranks, at most that many, does not.
  Index shards = 1;
  Group* group = &alone();
};

struct TrainPoint {
  Index step;
  double loss, learning_rate, gradient_norm;
};
struct ValidationPoint {
  Index step;
  double loss;
};
enum class TrainEnd { finished, early_stop, time_limit, interrupted };
struct History {
  std::vector<TrainPoint> steps;
  std::vector<ValidationPoint> validations;
  TrainEnd end = TrainEnd::finished;
  double seconds = 0;

  // Tab-separated lines for a file: `train step loss learning_rate` and `validation step loss`. Gradient
  // norms, the end and the time are not in it.
  std::string text() const;
  static History from_text(const std::string& text);  // throws if it is damaged
};

struct TrainCallbacks {
  std::function<StepLoss(Index batch)> loss = nullptr;  // batches count from 0: (step - 1) * accumulate + i
  // Instead of it, if the options ask for several shards: the loss of one of them.
  std::function<StepLoss(Index batch, Index shard)> shard_loss = nullptr;
  std::function<double()> validate = nullptr;  // the validation loss, without gradients
  // After every step, and after its validation if it has one: for samples and checkpoints. On every rank;
  // the validation is rank 0's.
  std::function<void(const TrainPoint&)> after_step = nullptr;
  std::function<bool()> interrupted = nullptr;  // asked after every step: true ends the run
};

// Adds to the history as it goes: a resumed run passes the one it had, and callbacks may read it.
void train(Optimizer& optimizer, const TrainOptions& options, const TrainCallbacks& callbacks,
           History& history);
inline History train(Optimizer& optimizer, const TrainOptions& options, const TrainCallbacks& callbacks) {
  History history;
  train(optimizer, options, callbacks, history);
  return history;
}

}  // namespace attn
