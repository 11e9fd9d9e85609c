#include "lessons/08_multi_head/two_questions.hpp"

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "optim/trainer.hpp"

namespace attn {

Batch make_batch(Index B, std::uint64_t seed) {
  Rng rng(seed);
  Batch batch{
      IntTensor({B, length}), IntTensor({B, length}), IntTensor({B, length}), zeros({B, length, 1}), {}};
  for (Index b = 0; b < B; ++b) {
    for (Index t = 0; t < length; ++t) batch.symbols(b, t) = int(rng.below(symbols));
    const Index mark = rng.below(length);
    batch.where.push_back(mark);
    batch.marks(b, mark, 0) = 1;
    for (Index t = 0; t < length; ++t) {
      batch.left(b, t) = t == 0 ? -100 : batch.symbols(b, t - 1);
      batch.marked(b, t) = t == 0 ? -100 : batch.symbols(b, mark);
    }
  }
  return batch;
}

TwoQuestions train_model(const Setting& setting, std::uint64_t seed, Index steps) {
  Rng rng(seed);
  TwoQuestions model(setting.heads, setting.kv_heads, setting.depth, rng);
  Adam optimizer(parameters_of(model));
  const std::uint64_t base = seed * 1000003;  // each seed has its own batches
  train(optimizer,
        {.steps = steps,
         .schedule = {.kind = ScheduleKind::cosine, .peak = setting.rate, .warmup = 20, .total = steps},
         .progress = false},
        {.loss = [&](Index number) {
          const Batch batch = make_batch(32, base + std::uint64_t(number));
          const TwoQuestions::Answers answers = model(batch);
          return StepLoss{
              cross_entropy(answers.left, batch.left) + cross_entropy(answers.marked, batch.marked),
              32 * length};
        }});
  return model;
}

double accuracy(const TwoQuestions& model, std::uint64_t seed) {
  const NoGrad no_grad;
  const Batch batch = make_batch(100, seed * 1000003 - 1);
  const TwoQuestions::Answers answers = model(batch);
  const IntTensor left = argmax(answers.left), marked = argmax(answers.marked);
  Index right = 0;
  for (Index b = 0; b < 100; ++b)
    for (Index t = 1; t < length; ++t)
      right += left(b, t) == batch.left(b, t) && marked(b, t) == batch.marked(b, t);
  return double(right) / (100 * (length - 1));
}

std::vector<Habits> habits(const TwoQuestions& model, std::uint64_t seed) {
  const NoGrad no_grad;
  const Batch batch = make_batch(100, seed * 1000003 - 1);
  const Tensor weights = model.layers[0].weights(model.places(batch));  // (B, H, T, T)
  std::vector<Habits> all;
  for (Index h = 0; h < weights.size(1); ++h) {
    Habits habit{0, 0};
    double count = 0;
    for (Index b = 0; b < 100; ++b)
      for (Index t = 1; t < length; ++t) {
        const Index mark = batch.where[b];
        if (mark == t - 1) continue;  // there the two questions have one answer
        habit.left += weights(b, h, t, t - 1), habit.marked += weights(b, h, t, mark), ++count;
      }
    all.push_back({habit.left / count, habit.marked / count});
  }
  return all;
}

}  // namespace attn
