// A training run for tests: a small encoder-decoder with dropout and Adam. A step decides its batch.
#pragma once

#include "optim/shards.hpp"
#include "optim/trainer.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {

struct SmallRun {
  Rng rng;
  Transformer model;
  Adam optimizer;

  // `zero`: a group that divides the optimizer's state.
  explicit SmallRun(std::uint64_t seed = 1, real dropout = real(0.1), const Group* zero = nullptr)
      : rng(seed), model(settings(dropout), rng), optimizer(parameters_of(model), adamw(), part(zero)) {}

  std::optional<Range> part(const Group* zero) const {
    if (!zero) return {};
    return part_of(parameters_of(model).count(), zero->rank(), zero->size());
  }

  static TransformerConfig settings(real dropout) {
    TransformerConfig config = small_config();
    config.dropout = dropout;
    config.positions = Positions::rope;
    return config;
  }

  Tensor loss(Index batch, Index sentences = 4) {
    const IntTensor source = random_ids({sentences, 5}, 9, std::uint64_t(batch)),
                    target = random_ids({sentences, 4}, 7, std::uint64_t(batch) + 1000);
    return cross_entropy(model(source, shift_right(target, 1), {.training = true, .rng = &rng}), target);
  }

  History train_to(Index steps, const std::function<void(const TrainPoint&)>& after_step = nullptr) {
    return train(optimizer, {.steps = steps, .schedule = {.peak = 1e-2}, .progress = false},
                 {.loss =
                      [this](Index batch) {
                        return StepLoss{loss(batch), 16};
                      },
                  .after_step = after_step});
  }

  std::vector<real> values() const {
    return {optimizer.block.values(), optimizer.block.values() + optimizer.block.size()};
  }
};

}  // namespace attn
