#include "lessons/07_masking/letters.hpp"

#include <cmath>  // log

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "nn/transformer.hpp"
#include "optim/trainer.hpp"

namespace attn {

double honest_floor() {
  const double likely = 0.5 + 0.5 / symbols, other = 0.5 / symbols;
  return -likely * std::log(likely) - (symbols - 1) * other * std::log(other);
}

namespace {

// B rows of T letters: a letter is followed by the next one of the alphabet or, every other time, by any
// letter at all. No honest model can be sure.
IntTensor half_random_text(Index B, Index T, std::uint64_t seed) {
  Rng rng(seed);
  IntTensor text({B, T});
  for (Index b = 0; b < B; ++b)
    for (Index t = 0; t < T; ++t)
      text(b, t) = int(t == 0 || rng.below(2) ? rng.below(symbols) : (text(b, t - 1) + 1) % symbols);
  return text;
}

// One attention between an embedding and an output layer. Positions (lesson 09) tell it who stands where.
struct TinyModel {
  Embedding letters;
  PositionScheme positions;
  MultiHeadAttention attention;
  Linear output;

  TinyModel(const TransformerConfig& config, Rng& rng)
      : letters(symbols, config.d_model, rng),
        positions(config, false, rng),
        attention(config, rng),
        output(config.d_model, symbols, rng) {}
  // text (B, T), what may be seen (T, T) -> logits (B, T, V) for the letter after each
  Tensor operator()(const IntTensor& text, const Tensor& visible) const {
    const Tensor x = positions.add_to(letters(text));  // (B, T, C)
    return output(x + attention(x, {.mask = {.bias = bias_of(visible)}}));
  }
  void parameters(ParameterList& list) const {
    list.add_layer("letters", letters), list.add_layer("attention", attention),
        list.add_layer("output", output);
  }
};

// The letters 0 … T-1 go in, the letters 1 … T are to be guessed: the mean loss from position `first` on.
Tensor loss_of(const TinyModel& model, const IntTensor& text, const Tensor& visible, Index first = 0) {
  const Index B = text.shape()[0], T = text.shape()[1] - 1;
  IntTensor in({B, T}), target({B, T});
  for (Index b = 0; b < B; ++b)
    for (Index t = 0; t < T; ++t) in(b, t) = text(b, t), target(b, t) = t < first ? -100 : text(b, t + 1);
  return cross_entropy(model(in, visible), target);  // leaves out the targets of -100
}

}  // namespace

Trained train_with(const Tensor& visible, std::uint64_t seed, Index steps) {
  Rng rng(seed);
  const TinyModel model({.d_model = 32, .heads = 2, .dropout = 0}, rng);
  Adam optimizer(parameters_of(model));
  const Index T = visible.size(0);
  const std::uint64_t base = seed * 1000003;
  const History history =
      train(optimizer, {.steps = steps, .schedule = {.peak = 1e-2, .warmup = 20}, .progress = false},
            {.loss = [&](Index batch) {
              return StepLoss{
                  loss_of(model, half_random_text(16, T + 1, base + std::uint64_t(batch)), visible), 16 * T};
            }});
  const NoGrad no_grad;
  const IntTensor unseen = half_random_text(1000, T + 1, base - 1);
  Trained trained{{},
                  loss_of(model, unseen, visible).item(),
                  loss_of(model, unseen, visible, T - 1).item(),
                  loss_of(model, unseen, causal_mask(T)).item()};
  for (const TrainPoint& point : history.steps) trained.curve.push_back(point.loss);
  return trained;
}

}  // namespace attn
