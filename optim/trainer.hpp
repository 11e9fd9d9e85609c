// train: the training loop.
//
//   History history = train(optimizer, {.steps = 1000, .schedule = {.peak = 1e-3}},
//                           {.loss = [&](Index batch) { return StepLoss{loss_of(batch), tokens}; }});
//
// Each step: the loss of a batch (or of several, whose gradients add up), backward, clipping, one update. On
// a terminal a bar shows loss, learning rate, tokens a second and the time left; elsewhere a plain line now
// and then. The batch of a step should be a function of the step's number alone: then a run can be resumed
// anywhere.
#pragma once

#include <functional>  // function

#include "optim/optimizer.hpp"
#include "optim/schedule.hpp"

namespace attn {

struct StepLoss {
  Tensor loss;       // one number, the mean over its tokens
  Index tokens = 0;  // that it was computed from, for the speed shown
};

struct TrainOptions {
  Index steps = 1000;  // in all, counting those the optimizer has already taken
  Schedule schedule{};
  double clip = 1;           // global gradient norm; 0: none
  Index accumulate = 1;      // batches for one update
  Index validate_every = 0;  // steps; 0: never
  Index patience = 0;        // stop when so many validations in a row bring nothing better; 0: never
  bool progress = true;
  std::string label = "training";
  double time_limit = 0;  // seconds; 0: none
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
};

struct TrainCallbacks {
  std::function<StepLoss(Index batch)> loss;             // batches count from 0: (step - 1) * accumulate + i
  std::function<double()> validate = nullptr;            // the validation loss, without gradients
  std::function<void(Index step)> after_step = nullptr;  // samples, checkpoints
  std::function<bool()> interrupted = nullptr;           // asked after every step: true ends the run
};

History train(Optimizer& optimizer, const TrainOptions& options, const TrainCallbacks& callbacks);

}  // namespace attn
