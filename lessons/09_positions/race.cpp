#include "lessons/09_positions/race.hpp"

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "optim/trainer.hpp"

namespace attn {

Batch make_batch(Index B, Index T, std::uint64_t seed, Index marks_end) {
  Rng rng(seed);
  Batch batch{IntTensor({B, T}), IntTensor({B, T})};
  for (Index b = 0; b < B; ++b) {
    int last = 0;
    for (Index t = 0; t < T; ++t) {
      const int symbol = int(rng.below(symbols));
      const bool marked = t == 0 || (t < marks_end && rng.below(5) == 0);
      if (marked) last = symbol;
      batch.tokens(b, t) = symbol + (marked ? symbols : 0);
      batch.targets(b, t) = last;
    }
  }
  return batch;
}

LastMarked::LastMarked(const TransformerConfig& config, Rng rng)
    : tokens(2 * symbols, config.d_model, rng),
      stack(config, BlockKind::decoder_only, rng),
      output(config.d_model, symbols, rng) {}

LastMarked::LastMarked(Positions scheme, Index max_length, std::uint64_t seed)
    : LastMarked({.d_model = 32,
                  .heads = 4,
                  .decoder_layers = 2,
                  .d_ff = 64,
                  .dropout = 0,
                  .positions = scheme,
                  .max_length = max_length,
                  .pre_norm = true},
                 Rng(seed)) {}

LastMarked train_model(const Training& training, std::uint64_t seed) {
  LastMarked model(training.scheme, training.max_length, seed);
  Adam optimizer(parameters_of(model));
  const Index B = 32, steps = training.steps;
  train(
      optimizer,
      {.steps = steps,
       .schedule =
           {.kind = ScheduleKind::cosine, .peak = training.rate, .warmup = 20, .total = steps, .floor = 1e-4},
       .progress = false},
      {.loss = [&](Index number) {
        const Batch batch =
            make_batch(B, short_length, seed * 1000003 + std::uint64_t(number), training.marks_end);
        return StepLoss{cross_entropy(model(batch.tokens), batch.targets), B * short_length};
      }});
  return model;
}

double accuracy(const LastMarked& model, Index T, Index first, std::uint64_t seed, Index marks_end) {
  const NoGrad no_grad;
  const Index B = 1600 / T + 1;
  const Batch batch = make_batch(B, T, seed * 1000003 - 1, marks_end);
  const IntTensor answers = argmax(model(batch.tokens));
  Index right = 0, count = 0;
  for (Index b = 0; b < B; ++b)
    for (Index t = first; t < T; ++t) right += answers(b, t) == batch.targets(b, t), ++count;
  return 100 * double(right) / double(count);
}

}  // namespace attn
