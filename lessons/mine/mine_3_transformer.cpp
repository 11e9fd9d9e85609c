/// Everything that a Transformer needs in order to learn is now among your functions: the products and their
/// gradients, the embedding's gradient, sinusoids, scores, the masked softmax, heads, the norm, the layers of
/// encoder and decoder, the shift, the smoothed loss, clipping, the schedule and Adam. Put together they make
/// an encoder-decoder as in the paper, and it learns lesson 12's game: to write a row of letters backwards.
#include <cmath>  // exp

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/mine/milestone.hpp"
#include "lessons/mine/model.hpp"
#include "lessons/mine/training.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

constexpr int pad = 0, bos = 1, eos = 2, first_letter = 3;
constexpr Index letters = 10, V = first_letter + letters;
constexpr Index C = 32, warmup = 60;
constexpr double rate = 0.6;
constexpr real smoothing = real(0.1);

struct Game {
  Index length, rows, steps;
  std::uint64_t seed;
};

// Rows of fresh letters, and the same backwards with <eos> at the end. All are of one length, so nothing
// is padded.
struct GameBatch {
  IntTensor source, target, lengths;  // (B, S), (B, S + 1), (B)
};

GameBatch make_batch(const Game& game, Index B, Rng& rng) {
  const Index S = game.length;
  GameBatch batch{IntTensor({B, S}), IntTensor({B, S + 1}), IntTensor({B})};
  for (Index b = 0; b < B; ++b) {
    for (Index s = 0; s < S; ++s) batch.source(b, s) = int(first_letter + rng.below(letters));
    for (Index s = 0; s < S; ++s) batch.target(b, s) = batch.source(b, S - 1 - s);
    batch.target(b, S) = eos;
    batch.lengths[b] = int(S);
  }
  return batch;
}

// Post-norm as in the paper; the norms have no gain and bias, as in exercise 11.
Transformer make_model(const Game& game) {
  Rng rng(game.seed);
  Transformer model({.source_vocabulary = V,
                     .vocabulary = V,
                     .d_model = C,
                     .heads = 2,
                     .encoder_layers = 1,
                     .decoder_layers = 1,
                     .d_ff = 64,
                     .dropout = 0,
                     .share_embeddings = true},
                    rng);
  mine::freeze_norms(model);
  return model;
}

Tensor logits_of(const mine::Parts& parts, const Transformer& model, const IntTensor& source,
                 const IntTensor& reads, const IntTensor& lengths, mine::Maps* maps = nullptr) {
  const Tensor memory = mine::encode_by_layers(parts, model, source, lengths);
  return mine::decode_by_layers(parts, model, reads, memory, lengths, maps);
}

// The map of cross-attention, the mean of heads and examples, without the row of <eos>.
viz::Matrix cross_map(const mine::Parts& parts, const Transformer& model, const GameBatch& batch) {
  const NoGrad no_grad;
  mine::Maps maps;
  logits_of(parts, model, batch.source, parts.shift_targets(batch.target, bos), batch.lengths, &maps);
  const Index S = batch.source.shape()[1];
  viz::Matrix mean(S, S);
  for (const Tensor& weights : maps.cross)  // (1, H, T, S) for each sentence
    for (Index h = 0; h < weights.size(1); ++h)
      for (Index t = 0; t < S; ++t)
        for (Index s = 0; s < S; ++s)
          mean(t, s) += float(weights(0, h, t, s)) / float(weights.size(1) * std::ssize(maps.cross));
  return mean;
}

double on_anti_diagonal(const viz::Matrix& map) {
  double weight = 0;
  for (Index t = 0; t < map.rows; ++t) weight += map(t, map.cols - 1 - t) / double(map.rows);
  return weight;
}

// What it writes alone, letter by letter, by your write_greedily.
std::vector<int> reversed(const mine::Parts& parts, const Transformer& model, const GameBatch& batch,
                          Index b) {
  const NoGrad no_grad;
  const Index S = batch.source.shape()[1];
  const IntTensor lengths({1}, {int(S)});
  const IntTensor source({1, S}, {&batch.source(b, 0), &batch.source(b, 0) + S});
  const Tensor memory = mine::encode_by_layers(parts, model, source, lengths);
  const mine::Writer next = [&](const std::vector<int>& written) {
    const IntTensor reads({1, std::ssize(written)}, written);
    const Tensor logits = mine::decode_by_layers(parts, model, reads, memory, lengths);
    const real* last = logits.data() + (logits.size(1) - 1) * V;
    return std::vector<double>(last, last + V);
  };
  return parts.write_greedily(next, int(S) + 1);
}

std::string text_of(const int* tokens, Index count) {
  std::string text;
  for (Index i = 0; i < count; ++i)
    text += tokens[i] >= first_letter ? char('a' + tokens[i] - first_letter) : '?';
  return text;
}

// What can be seen while it learns, and what it writes in the end.
struct Shown {
  std::vector<std::pair<Index, viz::Matrix>> looks = {};           // step, map
  std::vector<std::pair<std::string, std::string>> examples = {};  // read, written
};

void learn(const mine::Parts& parts, const Game& game, mine::Trained& result, Shown* shown) {
  const Transformer model = make_model(game);
  mine::Trainer trainer(parts, parameters_of(model),
                        {.rate = rate, .warmup = warmup, .d_model = C, .clip = 1});
  trainer.show_progress("your transformer learns", game.steps);
  Rng data(game.seed + 1), fresh(game.seed + 2);
  const GameBatch probe = make_batch(game, 8, fresh);
  if (shown) shown->looks.emplace_back(0, cross_map(parts, model, probe));
  for (Index step = 1; step <= game.steps; ++step) {
    const GameBatch batch = make_batch(game, game.rows, data);
    const Tensor logits =
        logits_of(parts, model, batch.source, parts.shift_targets(batch.target, bos), batch.lengths);
    result.losses.push_back(trainer.step(mine::sentence_loss(parts, logits, batch.target, smoothing)));
    for (const Index part : {8, 4, 2, 1})
      if (shown && step == game.steps / part) shown->looks.emplace_back(step, cross_map(parts, model, probe));
  }
  result.map = cross_map(parts, model, probe);
  constexpr Index tests = 100;
  const GameBatch test = make_batch(game, tests, fresh);
  for (Index b = 0; b < tests; ++b) {
    const std::vector<int> written = reversed(parts, model, test, b);
    const std::vector<int> wanted(&test.target(b, 0), &test.target(b, 0) + game.length);
    result.score += double(written == wanted) / double(tests);
    if (shown && b < 3)
      shown->examples.emplace_back(text_of(&test.source(b, 0), game.length),
                                   text_of(written.data(), std::ssize(written)));
  }
}

// The same model, the same batches, by the library: its first losses.
std::vector<double> library_losses(const Game& game, Index steps) {
  const Transformer model = make_model(game);
  Adam adam(parameters_of(model), paper_adam());
  Rng data(game.seed + 1);
  const History history = train(
      adam,
      {.steps = steps,
       .schedule = {.kind = ScheduleKind::noam, .peak = rate, .warmup = warmup, .d_model = C},
       .progress = false},
      {.loss = [&](Index) {
        const GameBatch batch = make_batch(game, game.rows, data);
        const Tensor logits = model(batch.source, shift_right(batch.target, bos));
        return StepLoss{cross_entropy(logits, batch.target, {.smoothing = smoothing, .ignore = pad}), 0};
      }});
  std::vector<double> losses;
  for (const TrainPoint& point : history.steps) losses.push_back(point.loss);
  return losses;
}

/// ## Backwards, by your own Transformer
///
/// One layer each, two heads, 32 channels. Fresh letters at every step: nothing can be learned by heart. Your
/// encoder_layer and decoder_layer call what the exercise gave you as `look`, `feed` and `normalise`; here
/// these three are made of your own functions, too.
void reverse_by_parts(Lesson& lesson, const mine::Parts& parts, const mine::Mistaken& mistakes) {
  const Game game = lesson.fast ? Game{4, 12, 150, lesson.seed} : Game{7, 24, 700, lesson.seed};
  mine::Trained yours;
  Shown shown;
  learn(parts, game, yours, &shown);
  const std::vector<double> ours = library_losses(game, 10);

  /// Three rows that it has never seen, and what it writes by itself:
  for (const auto& example : shown.examples) lesson.print("  {} -> {}", example.first, example.second);
  lesson.claim(mine::worst_relative(ours, yours.losses) < 1e-4,
               "the first ten losses are the library's: largest relative difference {:.0e}",
               mine::worst_relative(ours, yours.losses));
  lesson.claim(
      yours.score > (lesson.fast ? 0.3 : 0.99),
      "{:.0f} of 100 unseen rows are written backwards without a mistake; the loss fell from {:.2f} to "
      "{:.2f}",
      100 * yours.score, yours.losses.front(), yours.last_loss());

  /// ## The anti-diagonal
  ///
  /// To write letter t, the decoder has to look at the letter as far from the end. Nobody told it: your
  /// gradients did.
  viz::HeatmapGrid grid{.columns = 3};
  for (const auto& [step, map] : shown.looks) {
    grid.names.push_back(fmt::format("step {}", step));
    grid.maps.push_back(map);
  }
  grid.options = {.title = "Your cross-attention while it learns to reverse",
                  .x_title = "keys: position in the source",
                  .y_title = "queries: position being written",
                  .low = 0,
                  .high = 1,
                  .value_title = "weight"};
  lesson.heatmap(
      yours.map,
      {.title = "after the last step", .x_title = "source", .y_title = "written", .low = 0, .high = 1});
  lesson.picture(
      "anti_diagonal.png", viz::heatmap_grid(grid), "The anti-diagonal appears",
      "Every row is a position being written, and sums to 1. At step 0 it is nearly uniform; then the "
      "weight moves to the letter that has to be written.");
  const double before = on_anti_diagonal(shown.looks.front().second), after = on_anti_diagonal(yours.map);
  lesson.claim(after > (lesson.fast ? 1.3 : 3) * before,
               "the weight on the right letter went from {:.2f} to {:.2f}", before, after);

  lesson.picture("losses.png",
                 viz::line_chart({{.name = "by your parts", .y = yours.losses, .smooth = 0.9}},
                                 {.title = "Your Transformer learns to reverse",
                                  .x_title = "step",
                                  .y_title = "loss, label-smoothed",
                                  .y_low = 0}),
                 "Your loss", "With a smoothing of 0.1 even a perfect model has a loss of about 0.5.");

  for (const auto& mistaken : mistakes) {
    const mine::Trained broken =
        mine::run_mistaken([&](mine::Trained& result) { learn(*mistaken, game, result, nullptr); });
    mine::show_mistake(lesson, *mistaken, yours, broken,
                       {.score = "of unseen rows right",
                        .map_title = "cross-attention",
                        .x_title = "source",
                        .y_title = "written"});
  }
  /// ## What your parts cost
  mine::show_times(lesson, parts);
}

}  // namespace

int main(int argc, char** argv) {
  return mine::run_milestone(argc, argv, 3, "Does your transformer learn?", reverse_by_parts);
}
