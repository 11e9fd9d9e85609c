#include "lessons/12_training/games.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // sort
#include <cmath>      // exp, log
#include <iterator>   // ssize
#include <numeric>    // accumulate

#include "core/autograd.hpp"
#include "lessons/support/lesson.hpp"  // matrix_of
#include "nn/decode.hpp"

namespace attn {

namespace {

std::string text_of(const int* tokens, Index count) {
  std::string text;
  for (Index i = 0; i < count && tokens[i] != eos; ++i)
    text += tokens[i] >= first_letter ? static_cast<char>('a' + tokens[i] - first_letter) : '?';
  return text;
}

// The letters a to h, each once: a row whose attention can be read.
GameBatch alphabet(Game game) {
  GameBatch batch{IntTensor({1, length}), IntTensor({1, length + 1})};
  for (Index s = 0; s < length; ++s) {
    batch.source(0, s) = int(first_letter + s);
    batch.target(0, game == Game::copy ? s : length - 1 - s) = int(first_letter + s);
  }
  batch.target(0, length) = eos;
  return batch;
}

// Cross-attention, the mean of its heads, for one row of letters.
viz::Matrix cross_attention(const Transformer& model, const GameBatch& row) {
  const NoGrad no_grad;
  AttentionMaps maps;
  model(row.source, shift_right(row.target, bos), {.maps = &maps});
  for (const AttentionMap& map : maps)
    if (map.name == "cross")
      return matrix_of(slice(mean(map.weights[0], 0), 0, 0, length));  // (T, S), no <eos>
  return {};
}

}  // namespace

Spread::Spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  median = values[values.size() / 2], low = values.front(), high = values.back();
}

std::string Spread::text(int decimals) const {
  return fmt::format("{:.{}f} [{:.{}f} {:.{}f}]", median, decimals, low, decimals, high, decimals);
}

GameBatch make_game(Game game, Index B, Rng& rng) {
  GameBatch batch{IntTensor({B, length}), IntTensor({B, length + 1})};
  for (Index b = 0; b < B; ++b) {
    for (Index s = 0; s < length; ++s) batch.source(b, s) = int(first_letter + rng.below(letters));
    for (Index s = 0; s < length; ++s)
      batch.target(b, s) = batch.source(b, game == Game::copy ? s : length - 1 - s);
    batch.target(b, length) = eos;
  }
  return batch;
}

Transformer make_model(Rng& rng, Index layers, real dropout) {
  return Transformer({.source_vocabulary = V,
                      .vocabulary = V,
                      .d_model = 32,
                      .heads = 2,
                      .encoder_layers = layers,
                      .decoder_layers = layers,
                      .d_ff = 64,
                      .dropout = dropout},
                     rng);
}

Tensor teach(const Transformer& model, const GameBatch& batch, const Context& context, real smoothing) {
  const Tensor logits = model(batch.source, shift_right(batch.target, bos), context);  // (B, T, V)
  return cross_entropy(logits, batch.target, {.smoothing = smoothing, .ignore = pad});
}

Exam examine(const Transformer& model, Game game, std::uint64_t seed) {
  const NoGrad no_grad;
  Rng rng(seed);
  const GameBatch test = make_game(game, 100, rng);
  Exam exam{};
  exam.perplexity = std::exp(teach(model, test).item());
  const IntTensor taught = argmax(model(test.source, shift_right(test.target, bos)));  // (B, T)
  TransformerWriter writer(model, test.source);
  const std::vector<std::vector<int>> alone =
      greedy(writer, {.start = bos, .end = eos, .max_length = length + 1});
  for (Index b = 0; b < 100; ++b) {
    const std::vector<int>& written = alone[b];
    Index right = 0;
    for (Index t = 0; t < length; ++t) {
      exam.letters_taught += double(taught(b, t) == test.target(b, t)) / double(length);
      right += t < std::ssize(written) && written[t] == test.target(b, t);
    }
    exam.letters_alone += double(right) / double(length);
    exam.rows_alone += right == length && std::ssize(written) == length;
    if (b < 3)
      exam.examples.emplace_back(text_of(&test.source(b, 0), length),
                                 text_of(written.data(), std::ssize(written)));
  }
  return exam;
}

Course learn(Game game, Index steps, std::uint64_t seed) {
  Rng rng(seed);
  const Transformer model = make_model(rng, 1, real(0.05));
  Adam adam(parameters_of(model), paper_adam());
  Rng data(seed + 2), noise(seed + 3);
  const GameBatch probe = make_game(game, 16, data), row = alphabet(game);
  const Context training{.training = true, .rng = &noise};
  Course course{};
  {
    const NoGrad no_grad;
    course.perplexity_before = std::exp(teach(model, probe).item());
  }
  course.maps.push_back({0, cross_attention(model, row)});
  const History history =
      train(adam,
            {.steps = steps,
             .schedule = {.kind = ScheduleKind::noam, .peak = 0.4, .warmup = 60, .d_model = 32},
             .clip = 1,
             .progress = false},
            {.loss =
                 [&](Index) {
                   const GameBatch batch = make_game(game, 32, data);  // fresh letters each time
                   return StepLoss{teach(model, batch, training, real(0.1)), batch.target.numel()};
                 },
             .after_step =
                 [&](const TrainPoint& point) {
                   for (const Index part : {16, 8, 4, 2, 1})
                     if (point.step == steps / part)
                       course.maps.push_back({point.step, cross_attention(model, row)});
                   if (point.step == steps / 4) course.early = examine(model, game, seed + 5);
                 }});
  course.losses = losses_of(history);
  course.end = examine(model, game, seed + 5);
  return course;
}

std::vector<double> losses_of(const History& history) {
  std::vector<double> losses;
  for (const TrainPoint& point : history.steps) losses.push_back(point.loss);
  return losses;
}

double steps_to(double limit, const std::vector<double>& losses) {
  double sum = 0;
  for (Index i = 0; i < std::ssize(losses); ++i) {
    sum += losses[i] - (i >= 10 ? losses[i - 10] : 0);
    if (i >= 9 && sum / 10 < limit) return double(i + 1);
  }
  return double(losses.size());
}

double on_anti_diagonal(const viz::Matrix& weights) {
  double sum = 0;
  for (Index t = 0; t < length; ++t) sum += weights(t, length - 1 - t) / double(length);
  return sum;
}

double smoothed_floor(double smoothing) {
  const double other = smoothing / double(V), right = 1 - smoothing + other;
  return -right * std::log(right) - double(V - 1) * other * std::log(other);
}

std::vector<double> losses_with(Index warmup, double rate, Index steps, std::uint64_t seed) {
  Rng rng(seed), data(seed + 4);
  const Transformer model({.source_vocabulary = V,
                           .vocabulary = V,
                           .d_model = 16,
                           .heads = 2,
                           .encoder_layers = 3,
                           .decoder_layers = 3,
                           .d_ff = 32,
                           .dropout = 0},
                          rng);
  Adam adam(parameters_of(model), paper_adam());
  return losses_of(train(
      adam, {.steps = steps, .schedule = {.peak = rate, .warmup = warmup}, .clip = 0, .progress = false},
      {.loss = [&](Index) {
        const GameBatch batch = make_game(Game::copy, 16, data);
        return StepLoss{teach(model, batch), batch.target.numel()};
      }}));
}

double mean_of_last(const std::vector<double>& losses, Index count) {
  return std::accumulate(losses.end() - count, losses.end(), 0.0) / double(count);
}

viz::Series median_losses(const std::string& name, const std::vector<std::vector<double>>& runs) {
  viz::Series series{.name = name};
  for (std::size_t step = 0; step < runs[0].size(); ++step) {
    std::vector<double> at_step;
    for (const std::vector<double>& run : runs) at_step.push_back(run[step]);
    series.y.push_back(Spread(at_step).median);
  }
  return series;
}

}  // namespace attn
