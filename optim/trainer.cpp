#include "optim/trainer.hpp"

#include <algorithm>  // min_element
#include <cmath>      // isfinite
#include <sstream>    // istringstream

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"
#include "optim/progress.hpp"

namespace attn {
namespace {

// How many validations have passed since the best one.
Index since_best(const std::vector<ValidationPoint>& validations) {
  const auto better = [](const ValidationPoint& a, const ValidationPoint& b) { return a.loss < b.loss; };
  return validations.end() - 1 - std::min_element(validations.begin(), validations.end(), better);
}

}  // namespace

std::string History::text() const {
  std::string text;
  for (const TrainPoint& point : steps)
    text += fmt::format("train\t{}\t{}\t{}\n", point.step, point.loss, point.learning_rate);
  for (const ValidationPoint& point : validations)
    text += fmt::format("validation\t{}\t{}\n", point.step, point.loss);
  return text;
}

History History::from_text(const std::string& text) {
  History history;
  std::istringstream lines(text);
  for (std::string kind; lines >> kind;) {
    TrainPoint point{};
    lines >> point.step >> point.loss;
    if (kind == "train")
      lines >> point.learning_rate, history.steps.push_back(point);
    else
      history.validations.push_back({point.step, point.loss});
    if (!lines || (kind != "train" && kind != "validation"))
      fail("history: line {} is damaged", history.steps.size() + history.validations.size());
  }
  return history;
}

void train(Optimizer& optimizer, const TrainOptions& options, const TrainCallbacks& callbacks,
           History& history) {
  if (options.accumulate < 1) fail("train: {} batches for one update", options.accumulate);
  if (options.record_every < 1) fail("train: cannot record every {} steps", options.record_every);
  Progress progress(options.label, options.steps, options.progress);
  const Index first_step = optimizer.steps + 1;
  Index tokens = 0;
  double smooth_loss = 0;
  history.end = TrainEnd::finished;

  while (history.end == TrainEnd::finished && optimizer.steps < options.steps) {
    const Index step = optimizer.steps + 1;
    double loss = 0;
    for (Index i = 0; i < options.accumulate; ++i) {
      const StepLoss part = callbacks.loss((step - 1) * options.accumulate + i);
      // The gradients of several batches add up; scaling each loss makes the sum their mean.
      backward(options.accumulate == 1 ? part.loss : part.loss / real(options.accumulate));
      loss += part.loss.item() / double(options.accumulate);
      tokens += part.tokens;
    }
    const double norm = optimizer.block.gradient_norm();
    if (!std::isfinite(norm)) fail("train: the gradient is not finite at step {} (loss {})", step, loss);
    const double learning_rate = options.schedule(step);
    optimizer.step(learning_rate, clip_scale(norm, options.clip));
    const TrainPoint point{step, loss, learning_rate, norm};
    if (step == 1 || step % options.record_every == 0) history.steps.push_back(point);

    smooth_loss = step == first_step ? loss : 0.95 * smooth_loss + 0.05 * loss;
    std::string details = fmt::format("loss {:.4f}  lr {:.2e}", smooth_loss, learning_rate);
    if (tokens) details += fmt::format("  {:.0f} tokens/s", double(tokens) / progress.seconds());
    if (!history.validations.empty())
      details += fmt::format("  validation {:.4f}", history.validations.back().loss);
    progress.update(step, details);

    const bool validates = callbacks.validate && options.validate_every > 0;
    if (validates && step % options.validate_every == 0) {
      const NoGrad no_grad;
      history.validations.push_back({step, callbacks.validate()});
      if (options.patience > 0 && since_best(history.validations) >= options.patience)
        history.end = TrainEnd::early_stop;
    }
    if (callbacks.after_step) callbacks.after_step(point);
    if (history.end != TrainEnd::finished) break;
    if (callbacks.interrupted && callbacks.interrupted())
      history.end = TrainEnd::interrupted;
    else if (options.time_limit > 0 && progress.seconds() >= options.time_limit)
      history.end = TrainEnd::time_limit;
  }
  history.seconds += progress.seconds();
}

}  // namespace attn
