#include "optim/trainer.hpp"

#include <cmath>  // isfinite

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"
#include "optim/progress.hpp"

namespace attn {

History train(Optimizer& optimizer, const TrainOptions& options, const TrainCallbacks& callbacks) {
  if (options.accumulate < 1) fail("train: {} batches for one update", options.accumulate);
  History history;
  Progress progress(options.label, options.steps, options.progress);
  Index tokens = 0, without_gain = 0;
  double best = INFINITY, smooth_loss = 0;

  while (optimizer.steps < options.steps) {
    const Index step = optimizer.steps + 1;
    double loss = 0;
    for (Index i = 0; i < options.accumulate; ++i) {
      const StepLoss part = callbacks.loss((step - 1) * options.accumulate + i);
      // Gradients of several batches add up; scaling each loss makes the sum their mean.
      backward(options.accumulate == 1 ? part.loss : part.loss / static_cast<real>(options.accumulate));
      loss += part.loss.item() / static_cast<double>(options.accumulate);
      tokens += part.tokens;
    }
    const double norm = optimizer.block.gradient_norm();
    if (!std::isfinite(norm)) fail("train: the gradient is not finite at step {} (loss {})", step, loss);
    const double learning_rate = options.schedule(step);
    optimizer.step(learning_rate, clip_scale(norm, options.clip));
    history.steps.push_back({step, loss, learning_rate, norm});

    smooth_loss = history.steps.size() == 1 ? loss : 0.95 * smooth_loss + 0.05 * loss;
    std::string details = fmt::format("loss {:.4f}  lr {:.2e}", smooth_loss, learning_rate);
    if (tokens) details += fmt::format("  {:.0f} tokens/s", static_cast<double>(tokens) / progress.seconds());
    if (!history.validations.empty())
      details += fmt::format("  validation {:.4f}", history.validations.back().loss);
    progress.update(step, details);

    if (callbacks.after_step) callbacks.after_step(step);
    if (callbacks.validate && options.validate_every > 0 && step % options.validate_every == 0) {
      const NoGrad no_grad;
      const double validation = callbacks.validate();
      history.validations.push_back({step, validation});
      without_gain = validation < best ? 0 : without_gain + 1;
      best = std::min(best, validation);
      if (options.patience > 0 && without_gain >= options.patience) {
        history.end = TrainEnd::early_stop;
        break;
      }
    }
    if (callbacks.interrupted && callbacks.interrupted()) {
      history.end = TrainEnd::interrupted;
      break;
    }
    if (options.time_limit > 0 && progress.seconds() >= options.time_limit) {
      history.end = TrainEnd::time_limit;
      break;
    }
  }
  history.seconds = progress.seconds();
  return history;
}

}  // namespace attn
