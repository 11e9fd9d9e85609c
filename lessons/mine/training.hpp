// One step of training, by parts: the learner's clipping, schedule and Adam.
#pragma once

#include <optional>  // optional

#include "core/parameters.hpp"
#include "lessons/mine/parts.hpp"
#include "optim/progress.hpp"

namespace attn::mine {

struct StepSettings {
  double rate = 0;    // of the learning rate; with a schedule, a factor on it
  Index warmup = 0;   // of the schedule: 0 for none
  Index d_model = 1;  // of the schedule
  real clip = 0;      // the largest norm of all gradients together; 0 for no clipping
  AdamRates adam = {.rate = 0};
};

class Trainer {
 public:
  Trainer(const Parts& parts, const ParameterList& parameters, const StepSettings& settings);

  // Backward through the loss, and one step of every parameter. Returns the loss.
  double step(const Tensor& loss);
  void show_progress(const std::string& label, Index steps) { progress_.emplace(label, steps, true); }

 private:
  const Parts& parts_;
  std::vector<Tensor> parameters_;
  std::vector<AdamMemory> memory_;
  StepSettings settings_;
  Index steps_ = 0;
  std::optional<Progress> progress_;
};

}  // namespace attn::mine
