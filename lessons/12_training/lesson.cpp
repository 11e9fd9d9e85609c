// Lesson 12. How is it taught?
//
// A Transformer guesses the next word, at every place at once. Teaching it is a loop of four lines: show a
// batch, measure how wrong the guesses were, find out how each weight took part in that, move each weight a
// little. This lesson is about those four lines, on two games whose answers everybody knows: copy a row of
// letters, and write it backwards.
//
// B batch, T target time, S source time, V vocabulary.
#include <algorithm>  // max, min, min_element
#include <cmath>      // exp, fabs, log, sqrt
#include <iterator>   // ssize

#include "core/autograd.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/decode.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

constexpr int pad = 0, bos = 1, eos = 2, first_letter = 3;
constexpr Index letters = 8, V = first_letter + letters, length = 8;

// 1. What a guess costs

void what_a_guess_costs(Lesson& lesson) {
  lesson.section("What a guess costs");
  lesson.say(
      "The target is `le chat dort` and one place of padding. The model's scores at each place (rows) for "
      "each of V = 4 words (columns):");
  const std::vector<int> targets = {1, 2, 3, pad};
  const Tensor logits = tensor({{0, 3, 1, 0}, {0, 1, 2, 0}, {0, 0, 2, 1}, {0, 9, 0, 0}});  // (T, V)
  lesson.numbers(logits, {"le", "chat", "dort", "(padding)"}, {"<pad>", "le", "chat", "dort"}, 0);
  lesson.equation(
      "loss = mean over real places of  − Σ_v wanted(v) · log p(v),    wanted = (1 − ε) one-hot + ε / V");
  const IntTensor wanted({4}, targets);
  const double plain = cross_entropy(logits, wanted, {.ignore = pad}).item();
  const double smoothed = cross_entropy(logits, wanted, {.smoothing = real(0.1), .ignore = pad}).item();
  const double with_padding = cross_entropy(logits, wanted).item();
  lesson.table({"counted how", "loss", "perplexity e^loss"},
               {{"ε = 0", fmt::format("{:.4f}", plain), fmt::format("{:.2f}", std::exp(plain))},
                {"ε = 0.1, label smoothing", fmt::format("{:.4f}", smoothed), ""},
                {"ε = 0, padding counted (wrong)", fmt::format("{:.4f}", with_padding),
                 fmt::format("{:.2f}", std::exp(with_padding))}});
  const Tensor guesses = slice(logits, 0, 0, 3);  // without the padding
  double any_word = 0;  // the cost if each of the V words in turn were the right one
  for (const int v : {0, 1, 2, 3}) any_word += cross_entropy(guesses, IntTensor({3}, {v, v, v})).item() / 4;
  lesson.claim(std::fabs(cross_entropy(guesses, IntTensor({3}, {1, 2, 3})).item() - plain) < 1e-6,
               "a place that does not count might as well not be there: without its row, {:.4f} again",
               plain);
  lesson.claim(std::fabs(0.9 * plain + 0.1 * any_word - smoothed) < 1e-5,
               "smoothing mixes two costs: 0.9 · {:.4f} for the right words and 0.1 · {:.4f}, the mean over "
               "all words as if each were right",
               plain, any_word);
  lesson.say(
      "Perplexity is the loss made readable: among how many equally likely words does the model hesitate? "
      "One that knows nothing hesitates among all V, one that knows everything has 1. The padding, where "
      "nobody cares what the model says, would spoil the mean.");
  const double ignorant = std::exp(cross_entropy(zeros({4, 4}), wanted, {.ignore = pad}).item());
  lesson.claim(std::fabs(ignorant - 4) < 1e-4, "equal scores for 4 words: perplexity {:.2f}", ignorant);
  lesson.say(
      "And why smooth the target? Without smoothing the loss always falls if the right score grows, so "
      "scores grow without end. With it there is a best guess, p = wanted, and being surer costs more:");
  const auto cost = [](real right) {  // of a guess whose right word is that much above the others
    return cross_entropy(tensor({{0, right, 0, 0}}), IntTensor({1}, {1}), {.smoothing = real(0.1)}).item();
  };
  const real best = std::log(real(0.925) / real(0.025));  // p = 0.925, the others 0.025
  lesson.claim(cost(best) < cost(best - 1) && cost(best) < cost(best + 1) && cost(10) > 2 * cost(best),
               "ε = 0.1, V = 4: p = 0.925 costs {:.3f}, p = 0.9999 costs {:.3f}", cost(best), cost(10));
}

// 2. The learning rate

void learning_rates(Lesson& lesson) {
  lesson.section("How large a step?");
  lesson.equation("lr(s) = d_model^−½ · min(s^−½, s · warmup^−1.5)          steps count from 1");
  const Schedule paper{.kind = ScheduleKind::noam, .peak = 1, .warmup = 4000, .d_model = 512};
  std::vector<std::vector<std::string>> rows;
  for (const Index step : {1, 1000, 4000, 16000, 64000})
    rows.push_back({fmt::format("{}", step), fmt::format("{:.2e}", paper(step)),
                    fmt::format("{:.0f}", paper(step) / paper(1)),
                    fmt::format("{:.2f}", paper(step) / paper(4000))});
  lesson.table({"step", "learning rate", "times that of step 1", "times the highest"}, rows);
  const double straight = paper(1000) / paper(1), half = paper(16000) / paper(4000);
  lesson.claim(std::fabs(straight - 1000) < 1e-6 && std::fabs(half - 0.5) < 1e-9 &&
                   paper(4000) > paper(3999) && paper(4000) > paper(4001),
               "up in a straight line until step 4000, to {:.1e}, then down as 1/√s: four times the steps, "
               "half the rate",
               paper(4000));
  const Index total = 20000;
  std::vector<double> steps;
  std::vector<viz::Series> curves = {
      {.name = "the paper's"}, {.name = "cosine"}, {.name = "linear"}, {.name = "constant"}};
  const double peak = paper(4000);
  const std::vector<Schedule> schedules = {
      paper,
      {.kind = ScheduleKind::cosine, .peak = peak, .warmup = 2000, .total = total},
      {.kind = ScheduleKind::linear, .peak = peak, .warmup = 2000, .total = total},
      {.kind = ScheduleKind::constant, .peak = peak, .warmup = 2000}};
  for (Index step = 1; step <= total; step += 100) {
    steps.push_back(double(step));
    for (Index i = 0; i < std::ssize(curves); ++i) curves[i].y.push_back(1e4 * schedules[i](step));
  }
  for (viz::Series& curve : curves) curve.x = steps;
  const viz::ChartOptions chart{
      .title = "Learning-rate schedules", .x_title = "step", .y_title = "learning rate · 10⁴", .y_low = 0};
  lesson.picture("schedules.png", viz::line_chart(curves, chart), "Learning-rate schedules",
                 "All warm up (why is shown at the end of this lesson). They differ in how they come down; "
                 "only the paper's and the constant one need not know when training will end.");
}

// 3. Clipping

void clipping(Lesson& lesson) {
  lesson.section("Clipping");
  lesson.say(
      "Now and then a batch gives a gradient far too large. It is made shorter, all parameters by the same "
      "factor, so that it still points the same way. Two tensors, one with gradient (3, 4), one with (12):");
  const double norm = std::sqrt(3.0 * 3 + 4 * 4 + 12 * 12), scale = clip_scale(norm, 1);
  lesson.table({"", "(3, 4)", "(12)", "ratio of 12 to 3"},
               {{"clipped together to 1", fmt::format("({:.3f}, {:.3f})", 3 * scale, 4 * scale),
                 fmt::format("({:.3f})", 12 * scale), "4.0"},
                {"each alone (wrong)", "(0.600, 0.800)", "(1.000)", fmt::format("{:.1f}", 1 / 0.6)}});
  lesson.claim(std::fabs(norm - 13) < 1e-12 && std::fabs(scale - 1.0 / 13) < 1e-12 && clip_scale(0.5, 1) == 1,
               "the global norm is {:.0f}, the factor 1/13; a gradient shorter than the limit is left alone",
               norm);
}

// 4. A game, a model, a batch

enum class Game { copy, reverse };

struct GameBatch {
  IntTensor source, target;  // (B, S), (B, T): T = S + 1, the target ends with <eos>
};

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

std::string text_of(const int* tokens, Index count) {
  std::string text;
  for (Index i = 0; i < count && tokens[i] != eos; ++i)
    text += tokens[i] >= first_letter ? static_cast<char>('a' + tokens[i] - first_letter) : '?';
  return text;
}

Transformer make_model(Rng& rng, Index layers = 1, real dropout = 0) {
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

// Teacher forcing: whatever the model would have written, at place t it reads the right words up to there.
Tensor teach(const Transformer& model, const GameBatch& batch, const Context& context = {},
             real smoothing = 0) {
  const Tensor logits = model(batch.source, shift_right(batch.target, bos), context);  // (B, T, V)
  return cross_entropy(logits, batch.target, {.smoothing = smoothing, .ignore = pad});
}

void overfit_one_batch(Lesson& lesson) {
  lesson.section("First, learn one batch by heart");
  lesson.say(
      "Two games from here on: copy a row of letters, or write it backwards. Before anything long is "
      "trained: eight rows to reverse, again and again. A model that cannot learn even these by heart has a "
      "bug, and it shows within a second.");
  Rng rng(lesson.seed);
  const Transformer model = make_model(rng);
  Rng data(lesson.seed + 1);
  const GameBatch batch = make_game(Game::reverse, 8, data);
  Adam adam(parameters_of(model), paper_adam());
  const History history = train(
      adam, {.steps = lesson.fast ? 80 : 150, .schedule = {.peak = 5e-3, .warmup = 10}, .progress = false},
      {.loss = [&](Index) {
        return StepLoss{teach(model, batch), batch.target.numel()};
      }});
  std::vector<double> losses;
  for (const TrainPoint& point : history.steps) losses.push_back(point.loss);
  lesson.line_chart({{.name = "loss on the one batch", .y = losses}},
                    {.title = "Learning eight examples by heart", .x_title = "step", .y_low = 0});
  lesson.claim(losses.front() > 1.5 && losses.back() < 0.3,
               "the loss falls from {:.2f} to {:.3f}: perplexity {:.1f} to {:.2f}", losses.front(),
               losses.back(), std::exp(losses.front()), std::exp(losses.back()));
}

// 5. Copy and reverse

struct Look {
  Index step;
  Tensor map;      // (T, S): cross-attention, averaged over heads and examples
  double on_path;  // share of the weight on the letter that is to be written
};

Look look_at(const Transformer& model, const GameBatch& probe, Game game, Index step) {
  const NoGrad no_grad;
  AttentionMaps maps;
  model(probe.source, shift_right(probe.target, bos), {.maps = &maps});
  for (const AttentionMap& map : maps)
    if (map.name == "cross") {
      const Tensor mean_map =
          slice(mean(mean(map.weights, 0), 0), 0, 0, length);  // (B,H,T,S) -> (T,S), no <eos>
      double on_path = 0;
      for (Index t = 0; t < length; ++t)
        on_path += mean_map(t, game == Game::copy ? t : length - 1 - t) / double(length);
      return {step, mean_map, on_path};
    }
  return {};
}

struct Lessons {
  History history;
  std::vector<Look> looks;
  double letters_taught, letters_alone, rows_alone, perplexity_before, perplexity_after;
  std::vector<std::pair<std::string, std::string>> examples;  // source, written
};

// Letters right when the right ones are read before each (as in training), and when the model reads its own.
void examine(const Transformer& model, Game game, Rng& data, Lessons& result) {
  const NoGrad no_grad;
  const GameBatch test = make_game(game, 100, data);
  result.perplexity_after = std::exp(teach(model, test).item());
  const IntTensor taught = argmax(model(test.source, shift_right(test.target, bos)));  // (B, T)
  TransformerWriter writer(model, test.source);
  const std::vector<std::vector<int>> alone =
      greedy(writer, {.start = bos, .end = eos, .max_length = length + 1});
  Index right_taught = 0, right_alone = 0, rows = 0;
  for (Index b = 0; b < 100; ++b) {
    const std::vector<int>& written = alone[b];
    Index right = 0;
    for (Index t = 0; t < length; ++t) {
      right_taught += taught[b * (length + 1) + t] == test.target(b, t);
      right += t < std::ssize(written) && written[t] == test.target(b, t);
    }
    right_alone += right;
    rows += right == length && std::ssize(written) == length;
    if (b < 3)
      result.examples.emplace_back(text_of(&test.source(b, 0), length),
                                   text_of(written.data(), std::ssize(written)));
  }
  result.letters_taught = double(right_taught) / double(100 * length);
  result.letters_alone = double(right_alone) / double(100 * length);
  result.rows_alone = double(rows) / 100;
}

Lessons learn(Lesson& lesson, Game game, Index steps) {
  Rng rng(lesson.seed);
  const Transformer model = make_model(rng, 1, real(0.05));
  Adam adam(parameters_of(model), paper_adam());
  Rng data(lesson.seed + 2), noise(lesson.seed + 3);
  const GameBatch probe = make_game(game, 16, data);
  const Context training{.training = true, .rng = &noise};
  Lessons result{};
  {
    const NoGrad no_grad;
    result.perplexity_before = std::exp(teach(model, probe).item());
  }
  result.looks.push_back(look_at(model, probe, game, 0));
  result.history =
      train(adam,
            {.steps = steps,
             .schedule = {.kind = ScheduleKind::noam, .peak = 0.4, .warmup = 60, .d_model = 32},
             .clip = 1,
             .label = game == Game::copy ? "learning to copy" : "learning to reverse"},
            {.loss =
                 [&](Index) {
                   const GameBatch batch = make_game(game, 32, data);  // fresh letters each time
                   return StepLoss{teach(model, batch, training, real(0.1)), batch.target.numel()};
                 },
             .after_step =
                 [&](const TrainPoint& point) {
                   for (const Index part : {16, 8, 4, 2, 1})
                     if (point.step == steps / part)
                       result.looks.push_back(look_at(model, probe, game, point.step));
                 }});
  examine(model, game, data, result);
  return result;
}

std::vector<double> losses_of(const History& history) {
  std::vector<double> losses;
  for (const TrainPoint& point : history.steps) losses.push_back(point.loss);
  return losses;
}

// The loss of a model that is certain and right, with smoothed targets: their entropy.
double smoothed_floor(double smoothing) {
  const double other = smoothing / double(V), right = 1 - smoothing + other;
  return -right * std::log(right) - double(V - 1) * other * std::log(other);
}

void copy_and_reverse(Lesson& lesson) {
  lesson.section("Copy, and reverse");
  lesson.say(
      "Now fresh rows of {} letters at every step, so that nothing can be learned by heart. As in the paper: "
      "Adam with β = 0.9 and 0.98 and ε = 1e-9, its schedule (warm-up of 60 steps), label smoothing 0.1, "
      "dropout (0.05); and gradients clipped at 1. One layer each, {} parameters. `taught`: the decoder "
      "reads the right letters before each place, as in training; `alone`: it reads what it has written "
      "itself:",
      length, [] {
        Rng rng(1);
        return parameters_of(make_model(rng)).count();
      }());
  const Index steps = lesson.fast ? 160 : 800;
  const Lessons copy = learn(lesson, Game::copy, steps), reverse = learn(lesson, Game::reverse, steps);
  const auto percent = [](double share) { return fmt::format("{:.0f}%", 100 * share); };
  const auto row = [&](const std::string& name, const Lessons& run) {
    return std::vector<std::string>{name,
                                    fmt::format("{:.1f}", run.perplexity_before),
                                    fmt::format("{:.2f}", run.perplexity_after),
                                    percent(run.letters_taught),
                                    percent(run.letters_alone),
                                    percent(run.rows_alone)};
  };
  lesson.table({"game", "perplexity before", "after", "letters right, taught", "letters right, alone",
                "whole rows, alone"},
               {row("copy", copy), row("reverse", reverse)});
  lesson.say("Three rows that it has never seen, and what it writes alone:");
  for (const auto& example : reverse.examples) lesson.print("  {} -> {}", example.first, example.second);
  const double floor = smoothed_floor(0.1);
  const std::vector<double> copied = losses_of(copy.history), reversed = losses_of(reverse.history);
  const auto chart = [&](const std::string& title, const std::vector<double>& losses) {
    return viz::line_chart(
        {{.name = "loss", .y = losses, .smooth = 0.8},
         {.name = "entropy of the smoothed target", .y = viz::Numbers(losses.size(), floor), .dashed = true}},
        {.title = title,
         .x_title = "step",
         .y_title = "loss, label-smoothed",
         .y_low = 0,
         .y_high = 4,
         .width = 540});
  };
  lesson.picture("losses.png",
                 viz::row({chart("Learning to copy", copied), chart("Learning to reverse", reversed)}),
                 "Two games, two losses",
                 "The same curve twice: where a letter is to be found makes no difference to attention, so "
                 "that reversing is no harder than copying. With label smoothing even a perfect model has a "
                 "loss: the dashed line.");
  const double lowest = std::min(*std::min_element(copied.begin(), copied.end()),
                                 *std::min_element(reversed.begin(), reversed.end()));
  lesson.claim(lowest > floor - 1e-3,
               "the lowest loss of any step is {:.3f}; none can be below {:.3f}, the entropy of a target "
               "smoothed by 0.1 over {} words",
               lowest, floor, V);
  if (lesson.fast)
    lesson.claim(reverse.perplexity_after < reverse.perplexity_before &&
                     copy.perplexity_after < copy.perplexity_before,
                 "the few steps of --fast lower both perplexities; the games need more of them");
  else
    lesson.claim(
        copy.rows_alone > 0.9 && reverse.rows_alone > 0.9,
        "both games are learned: {} of 100 rows never seen before are copied, {} reversed, without a mistake",
        100 * copy.rows_alone, 100 * reverse.rows_alone);

  lesson.section("Attention turns around");
  lesson.say(
      "To write letter t of the reversed row, the decoder has to look at letter {} − t of the source. Nobody "
      "tells it: the loss does. The cross-attention while it learns (rows: the place that is written; "
      "columns: the source letter that is looked at; mean of heads and of 16 examples):",
      length - 1);
  viz::HeatmapGrid grid{.columns = 3};
  std::vector<std::vector<std::string>> rows;
  for (const Look& look : reverse.looks) {
    grid.names.push_back(fmt::format("step {}", look.step));
    grid.maps.push_back(matrix_of(look.map));
    rows.push_back({fmt::format("{}", look.step), fmt::format("{:.2f}", look.on_path)});
  }
  grid.options = {.title = "Cross-attention while it learns to reverse",
                  .x_title = "keys: place in the source",
                  .y_title = "queries: place that is written",
                  .low = 0,
                  .high = 1,
                  .value_title = "weight"};
  lesson.table({"step", "weight on the anti-diagonal"}, rows);
  lesson.heatmap(matrix_of(reverse.looks.back().map), {.title = fmt::format("step {}", steps),
                                                       .x_title = "source",
                                                       .y_title = "written",
                                                       .low = 0,
                                                       .high = 1});
  lesson.picture("anti_diagonal.png", viz::heatmap_grid(grid), "Attention turns into the anti-diagonal",
                 "At step 0 every row is even. Then a line appears that runs against the reading direction: "
                 "the last letter of the source is written first.");
  const double before = reverse.looks.front().on_path, after = reverse.looks.back().on_path;
  lesson.claim(lesson.fast ? after > before : after > 0.5,
               "the weight on the right letter went from {:.2f} (even: {:.2f}) to {:.2f}", before,
               1.0 / double(length), after);

  lesson.section("Taught, and alone");
  lesson.say(
      "In training the decoder reads the right words, all places in one pass: teacher forcing. Alone it "
      "reads what it has written itself, one pass for each word, and a mistake stays in its way. The table "
      "above measures both; a training loss is always of the first kind.");
}

void one_pass_or_many(Lesson& lesson) {
  Rng rng(lesson.seed), data(lesson.seed + 5);
  const Transformer model = make_model(rng);
  const GameBatch batch = make_game(Game::reverse, 4, data);
  const NoGrad no_grad;
  const IntTensor reads = shift_right(batch.target, bos);
  const Tensor at_once = model(batch.source, reads);  // (B, T, V)
  TransformerWriter writer(model, batch.source);
  double worst = 0;
  for (Index t = 0; t <= length; ++t) {
    IntTensor newest({4, 1});
    for (Index b = 0; b < 4; ++b) newest(b, 0) = reads(b, t);
    worst = std::max(worst, max_difference(writer.next(newest), select(at_once, 1, t)));
  }
  lesson.claim(
      worst < 1e-4,
      "given the same words, one pass over {} places and {} passes of one place give the same scores",
      length + 1, length + 1);
}

// 6. Warm-up

History run_with(Lesson& lesson, Index warmup, Index steps) {
  Rng rng(lesson.seed);
  const Transformer model = make_model(rng, 3);
  Adam adam(parameters_of(model), paper_adam());
  Rng data(lesson.seed + 4);
  return train(adam,
               {.steps = steps,
                .schedule = {.peak = 7e-3, .warmup = warmup},
                .clip = 0,
                .label = warmup ? "with warm-up" : "without warm-up"},
               {.loss = [&](Index) {
                 const GameBatch batch = make_game(Game::copy, 16, data);
                 return StepLoss{teach(model, batch), batch.target.numel()};
               }});
}

void warm_up(Lesson& lesson) {
  lesson.section("With and without warm-up");
  lesson.say(
      "Adam divides each gradient by its usual size, which at first it does not know: the first steps move "
      "every weight by the whole learning rate, in whatever direction the first batch says. A deeper "
      "post-norm model (3 + 3 layers) learns to copy, with a high rate (0.007): once at full height from "
      "step 1, once raised over the first 100 steps. Model, batches and all later rates are the same:");
  const Index steps = lesson.fast ? 120 : 300;
  const std::vector<double> cold = losses_of(run_with(lesson, 0, steps));
  const std::vector<double> warm = losses_of(run_with(lesson, 100, steps));
  const auto end = [](const std::vector<double>& losses) {
    double sum = 0;
    for (Index i = std::ssize(losses) - 20; i < std::ssize(losses); ++i) sum += losses[i] / 20;
    return sum;
  };
  lesson.picture(
      "warm_up.png",
      viz::line_chart({{.name = "without warm-up", .y = cold, .smooth = 0.8},
                       {.name = "with warm-up", .y = warm, .smooth = 0.8}},
                      {.title = "The first steps decide",
                       .x_title = "step",
                       .y_title = "loss",
                       .y_low = 0,
                       .x_guides = {{.at = 100, .label = "from here on equal rates"}},
                       .y_guides = {{.at = std::log(double(letters)), .label = "guessing"}}}),
      "Loss with and without warm-up",
      "Without warm-up the loss stays higher to the end, although from step 100 on both are trained alike: "
      "the first steps have done the damage.");
  lesson.claim(end(warm) < end(cold),
               "after {} steps the loss is {:.2f} without warm-up and {:.2f} with it (guessing among 8 "
               "letters: {:.2f})",
               steps, end(cold), end(warm), std::log(double(letters)));
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv, {.name = "12_training", .question = "How is it taught?"}, [](Lesson& lesson) {
    what_a_guess_costs(lesson);
    learning_rates(lesson);
    clipping(lesson);
    overfit_one_batch(lesson);
    copy_and_reverse(lesson);
    one_pass_or_many(lesson);
    warm_up(lesson);
    lesson.try_next({{"In teach, read batch.target instead of shift_right(batch.target, bos).",
                      "The loss falls at once, and alone the model writes nonsense: it has learned to copy "
                      "what it reads. Four claims fail."},
                     {"In learn, set the smoothing to 0.",
                      "The loss goes towards 0 instead of the dashed line; the claim about the floor fails."},
                     {"In make_model, set .positions = Positions::none.",
                      "Copying and reversing become impossible, and their claims fail: without positions all "
                      "places of the source are alike."}});
  });
}
