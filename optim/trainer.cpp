#include "optim/trainer.hpp"

#include <algorithm>  // min_element
#include <cmath>      // isfinite, sqrt
#include <numeric>    // accumulate
#include <optional>   // optional
#include <sstream>    // istringstream

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/leaf_hook.hpp"
#include "core/ops.hpp"
#include "optim/progress.hpp"
#include "optim/shards.hpp"

namespace attn {
namespace {

// How many validations have passed since the best one.
Index since_best(const std::vector<ValidationPoint>& validations) {
  const auto better = [](const ValidationPoint& a, const ValidationPoint& b) { return a.loss < b.loss; };
  return validations.end() - 1 - std::min_element(validations.begin(), validations.end(), better);
}

// One number of the batch, and of each of its shards.
struct Measured {
  double loss = 0;
  Index tokens = 0;
};

// The gradients of one batch, or the mean of several.
Measured whole_batches(Index step, const TrainOptions& options, const TrainCallbacks& callbacks) {
  Measured all;
  for (Index i = 0; i < options.accumulate; ++i) {
    const StepLoss part = callbacks.loss((step - 1) * options.accumulate + i);
    // The gradients of several batches add up; scaling each loss makes the sum their mean.
    backward(options.accumulate == 1 ? part.loss : part.loss / real(options.accumulate));
    all.loss += part.loss.item() / double(options.accumulate);
    all.tokens += part.tokens;
  }
  return all;
}

// The gradients of one batch, whose shards the ranks share. Each loss is the mean over its shard, and the
// weights make their sum the mean over the batch.
Measured in_shards(Index step, ShardSum& sum, const Optimizer& optimizer, const TrainOptions& options,
                   const TrainCallbacks& callbacks) {
  const ParameterBlock& block = optimizer.block;
  std::vector<Measured> shards(options.shards);
  for (Index shard = sum.mine().begin; shard < sum.mine().end; ++shard) {
    const StepLoss part = callbacks.shard_loss(step - 1, shard);
    // The gradients of the last shard set out as they become complete, while backward goes on.
    const bool last = shard + 1 == sum.mine().end;
    std::optional<LeafHook> hook;
    if (last) sum.add(shard, block.gradient_memory());
    if (last && options.group->size() > 1)
      hook.emplace([&](const Tensor& parameter) { sum.complete(block.range_of(parameter)); });
    if (part.loss) {
      backward(part.loss * real(part.weight));
      shards[shard] = {part.weight * part.loss.item(), part.tokens};
    }
    real* gradients = block.gradients();  // those that were not reached are 0 now
    if (!last) sum.add(shard, gradients);
    block.zero_grad();
  }
  sum.finish(block.given_gradients(), !optimizer.has_part_only());

  std::vector<Range> shards_of_ranks;
  for (Index rank = 0; rank < options.group->size(); ++rank)
    shards_of_ranks.push_back(shards_of(options.shards, rank, options.group->size()));
  options.group->all_gather(shards.data(), shards_of_ranks);
  Measured all;
  for (const Measured& shard : shards) all.loss += shard.loss, all.tokens += shard.tokens;
  return all;
}

// If each rank has only its part of the gradient: the same sums of squares, added in the same order.
double norm_of_parts(const ParameterBlock& block, const ShardSum& sum, Group& group) {
  std::vector<Range> chunks;
  for (const Range& part : sum.parts())
    chunks.push_back({part.begin / norm_chunk, (part.end + norm_chunk - 1) / norm_chunk});
  std::vector<double> squares(chunks.back().end);
  const Range& own = chunks[group.rank()];
  for (Index chunk = own.begin; chunk < own.end; ++chunk) squares[chunk] = block.squares(chunk);
  group.all_gather(squares.data(), chunks);
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
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
  Group& group = *options.group;
  ShardSum sum(group, options.shards, optimizer.block.size());
  const bool sharded = options.shards > 1, part_only = optimizer.has_part_only();
  if (sharded && (options.accumulate > 1 || !callbacks.shard_loss))
    fail("train: shards need a shard_loss, and no accumulation");
  Progress progress(options.label, options.steps, options.progress && group.is_root());
  const Index first_step = optimizer.steps + 1;
  Index tokens = 0;
  double smooth_loss = 0;
  history.end = TrainEnd::finished;

  while (history.end == TrainEnd::finished && optimizer.steps < options.steps) {
    const Index step = optimizer.steps + 1;
    const Measured batch = sharded ? in_shards(step, sum, optimizer, options, callbacks)
                                   : whole_batches(step, options, callbacks);
    const double loss = batch.loss;
    tokens += batch.tokens;
    const double norm =
        part_only ? norm_of_parts(optimizer.block, sum, group) : optimizer.block.gradient_norm();
    if (!std::isfinite(norm)) fail("train: the gradient is not finite at step {} (loss {})", step, loss);
    const double learning_rate = options.schedule(step);
    optimizer.step(learning_rate, clip_scale(norm, options.clip));
    if (part_only) group.all_gather(optimizer.block.values(), sum.parts());
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
      double validation = group.is_root() ? callbacks.validate() : 0;
      group.broadcast(validation);
      history.validations.push_back({step, validation});
      if (options.patience > 0 && since_best(history.validations) >= options.patience)
        history.end = TrainEnd::early_stop;
    }
    if (callbacks.after_step) callbacks.after_step(point);
    if (history.end != TrainEnd::finished) break;
    if (callbacks.interrupted && callbacks.interrupted())
      history.end = TrainEnd::interrupted;
    else if (options.time_limit > 0 && progress.seconds() >= options.time_limit)
      history.end = TrainEnd::time_limit;
    history.end = TrainEnd(int(group.largest(double(history.end))));  // whoever wants to end, ends all
  }
  history.seconds += progress.seconds();
}

}  // namespace attn
