/// A Transformer with random weights writes nonsense, and no program tells it what to do better. Training
/// does that with examples, in a loop of four lines. Show the model a batch of sentences, measure how wrong
/// its guesses were, find out how each weight took part in that, and move each weight a little:
///
/// ```
/// Tensor logits = model(batch.source, shift_right(batch.target, bos));
/// Tensor loss = cross_entropy(logits, batch.target, {.ignore = pad});
/// backward(loss);
/// adam.step(schedule(step));  // and forget the gradients
/// ```
///
/// Each of these lines has a few tricks, without which training is slow or fails. The paper (Vaswani et al.,
/// 2017, section 5) needs a page for them; this lesson takes them one by one. It tries them on two games
/// whose answers everybody knows: copy a row of letters, and write it backwards.
///
/// Letters for sizes: B sentences in a batch, S words in a source and T in a target, V words in the
/// vocabulary.
#include "lessons/12_training/batches.hpp"
#include "lessons/12_training/games.hpp"
#include "lessons/12_training/pictures.hpp"

#include <algorithm>  // clamp, max, max_element, min, min_element, sort
#include <cmath>      // exp, fabs, log, lround, pow, sqrt
#include <iterator>   // ssize
#include <numeric>    // accumulate

#include "core/autograd.hpp"
#include "core/pool.hpp"

#include "lessons/support/figures.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/decode.hpp"
#include "nn/text/batching.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

constexpr int seeds = 5;  // of every race

/// ## What a guess costs
///
/// The target is `le chat dort` and one position of padding. At each position (rows) the decoder has read the
/// right words before it, whatever it would have written itself; that is called **teacher forcing**. It gives
/// each of V = 4 words (columns) a score:
void what_a_guess_costs(Lesson& lesson) {
  const std::vector<std::string> names = {"le", "chat", "dort", "(padding)"};
  const std::vector<int> targets = {1, 2, 3, pad};
  const Tensor logits = tensor({{0, 3, 1, 0}, {0, 1, 2, 0}, {0, 0, 2, 1}, {0, 9, 0, 0}});  // (T, V)
  lesson.numbers(logits, names, {"<pad>", "le", "chat", "dort"}, 0);
  /// Softmax makes probabilities of the scores, and the guess costs −log p of the right word (cross-entropy,
  /// lesson 04). For `le`: e³ / (1 + e³ + e + 1) = 0.81, which costs 0.21:
  const Tensor p = softmax(logits);
  std::vector<std::vector<std::string>> rows;
  for (Index t = 0; t < 3; ++t)
    rows.push_back({names[t], fmt::format("{:.3f}", p(t, targets[t])),
                    fmt::format("{:.3f}", -std::log(p(t, targets[t])))});
  lesson.table({"right word", "its p", "−log p"}, rows);
  const IntTensor wanted({4}, targets);
  const double plain = cross_entropy(logits, wanted, {.ignore = pad}).item();
  const double with_padding = cross_entropy(logits, wanted).item();
  lesson.claim(
      std::fabs(cross_entropy(slice(logits, 0, 0, 3), IntTensor({3}, {1, 2, 3})).item() - plain) < 1e-6,
      "the loss is the mean over the real words: {:.4f}. With the padding counted, where nobody cares "
      "what the model says, it would be {:.4f}",
      plain, with_padding);

  /// **Perplexity** is e^loss. It reads as a number of words: a model with perplexity 4 is as unsure as one
  /// that chooses among 4 equally likely words. A model that knows nothing has V, a perfect one has 1.
  const double ignorant = std::exp(cross_entropy(zeros({4, 4}), wanted, {.ignore = pad}).item());
  lesson.claim(std::fabs(ignorant - 4) < 1e-4,
               "perplexity {:.2f} for the scores above, {:.2f} for equal scores", std::exp(plain), ignorant);

  /// **Label smoothing** (Szegedy et al., 2015) asks for a little less than certainty. If the right word
  /// should have probability 1, the loss always falls when its score grows, so scores grow without end. The
  /// paper takes a share ε = 0.1 of the wanted probability and spreads it over all V words:
  ///
  /// $$ wanted = (1 − ε) one-hot + ε / V $$
  ///
  /// $$ loss = − Σ_v wanted(v) · log p(v) $$
  const auto cost = [](real right, real smoothing) {  // if the right word is that much above the others
    return cross_entropy(tensor({{0, right, 0, 0}}), IntTensor({1}, {1}), {.smoothing = smoothing}).item();
  };
  rows.clear();
  for (const real right : {real(2), std::log(real(37)), real(6), real(10)}) {
    const double certainty = std::exp(right) / (std::exp(right) + 3);
    rows.push_back({fmt::format("{:.1f}", right), fmt::format("{:.4f}", certainty),
                    fmt::format("{:.4f}", cost(right, 0)), fmt::format("{:.3f}", cost(right, real(0.1)))});
  }
  lesson.say("One word of V = 4, whose score is above the others by:");
  lesson.table({"above", "p", "loss, ε = 0", "loss, ε = 0.1"}, rows);
  const real best = std::log(real(0.925) / real(0.025));
  lesson.claim(
      cost(best, real(0.1)) < cost(best - 1, real(0.1)) &&
          cost(best, real(0.1)) < cost(best + 1, real(0.1)) && cost(10, 0) < cost(best, 0),
      "without smoothing more is always better; with ε = 0.1 the best guess is p = 1 − 0.1 + 0.1 / 4 "
      "= 0.925, and being surer costs more");
}

/// ## How large a step?
///
/// A step of Adam (lesson 04) moves each weight by about the **learning rate**. A **schedule** changes it
/// while training goes on. First comes the **warm-up**: Adam divides each gradient by its usual size, which
/// it does not know yet, so the first steps are taken with small rates (what happens without is measured
/// below). Later the rate falls, because near the lowest point large steps overshoot. The paper's schedule,
/// for step s = 1, 2, …:
///
/// $$ lr(s) = d_model^−½ · min(s^−½, s · warmup^−1.5) $$
void learning_rates(Lesson& lesson) {
  const Schedule paper{.kind = ScheduleKind::noam, .peak = 1, .warmup = 4000, .d_model = 512};
  std::vector<std::vector<std::string>> rows;
  for (const Index step : {1, 1000, 4000, 16000, 64000})
    rows.push_back({grouped(step), fmt::format("{:.2e}", paper(step)),
                    grouped(std::lround(paper(step) / paper(1))),
                    fmt::format("{:.2f}", paper(step) / paper(4000))});
  lesson.table({"step", "learning rate", "times that of step 1", "times the highest"}, rows);
  const double straight = paper(1000) / paper(1), half = paper(16000) / paper(4000);
  lesson.claim(std::fabs(straight - 1000) < 1e-6 && std::fabs(half - 0.5) < 1e-9 &&
                   paper(4000) > paper(3999) && paper(4000) > paper(4001),
               "up in a straight line until step 4,000, to {:.1e}, then down as 1/√s: four times the steps, "
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
  lesson.picture(
      "schedules.png", viz::line_chart(curves, chart), "Learning-rate schedules",
      "All warm up. They differ in how they come down. The paper's and the constant one need not know "
      "when training will end; most models since 2018 use the cosine or the straight line.");
}

/// ## Clipping
///
/// Now and then a batch gives a gradient that is far too long, and one such step can throw all weights far
/// off. **Clipping by the global norm** (Pascanu, Mikolov and Bengio, 2013) makes it shorter: all
/// parameters by the same factor, so that it still points the same way. Two tensors, one with gradient (3,
/// 4), one with (12); together their norm is √(9 + 16 + 144) = 13:
void clipping(Lesson& lesson) {
  const double norm = std::sqrt(3.0 * 3 + 4 * 4 + 12 * 12), scale = clip_scale(norm, 1);
  lesson.table({"", "(3, 4)", "(12)", "12 : 3 becomes"},
               {{"clipped together to 1", fmt::format("({:.3f}, {:.3f})", 3 * scale, 4 * scale),
                 fmt::format("({:.3f})", 12 * scale), "4.0"},
                {"each alone (wrong)", "(0.600, 0.800)", "(1.000)", fmt::format("{:.1f}", 1 / 0.6)}});
  lesson.claim(
      std::fabs(norm - 13) < 1e-12 && std::fabs(scale - 1.0 / 13) < 1e-12 && clip_scale(0.5, 1) == 1,
      "the global norm is {:.0f}, so the factor is 1/{:.0f}; a gradient shorter than the limit is left "
      "alone",
      norm, norm);
}

/// ## Batching by tokens
///
/// A batch is a rectangle (B, T): shorter sentences are filled up with padding to the longest. Take
/// sentences as they come, and much of the work is padding. So translators sort sentences by length, cut
/// the sorted list into batches of a fixed number of *tokens* rather than sentences, and shuffle the
/// batches. The paper's hold about 25,000 source and 25,000 target tokens. Here are 4,000 sentences of
/// random length, 3 to 50 words:
void batching(Lesson& lesson) {
  Rng rng(lesson.seed);
  std::vector<std::vector<int>> sentences = random_sentences(4000, rng);
  const auto lengths_of = [&](const std::vector<std::vector<Index>>& plan) {
    Batches batches;
    for (const std::vector<Index>& rows : plan) {
      batches.emplace_back();
      for (const Index row : rows) batches.back().push_back(std::ssize(sentences[row]));
    }
    return batches;
  };
  std::vector<std::vector<Index>> as_they_come(sentences.size() / 16);
  for (Index i = 0; i < std::ssize(sentences); ++i) as_they_come[i / 16].push_back(i);
  const Batches random = lengths_of(as_they_come),
                sorted =
                    lengths_of(plan_batches(sentences, {.sentences = 0, .tokens = 256, .seed = lesson.seed}));
  const Padding before = padding_of(random), after = padding_of(sorted);
  const auto row = [](const std::string& name, const Batches& batches, const Padding& padding) {
    return std::vector<std::string>{name, grouped(std::ssize(batches)),
                                    fmt::format("{:.0f} to {:.0f}", padding.smallest, padding.largest),
                                    fmt::format("{:.1f}%", 100 * padding.share)};
  };
  lesson.table({"", "batches", "words per batch", "padding"},
               {row("16 sentences, in random order", random, before),
                row("similar lengths, at most 256 tokens", sorted, after)});
  lesson.claim(before.share > 0.3 && after.share < 0.05,
               "in random order {:.0f}% of what is computed is padding; batched by tokens, {:.1f}%",
               100 * before.share, 100 * after.share);
  Batches by_length = sorted;
  std::sort(by_length.begin(), by_length.end(), [](const auto& a, const auto& b) { return a[0] > b[0]; });
  const Index some = std::ssize(by_length) / 8;  // long sentences, middling ones, short ones
  lesson.picture(
      "batches.png",
      draw_batches({random[0], random[1]}, {by_length[some], by_length[4 * some], by_length[7 * some]}),
      "Batches with little padding",
      "A line is a sentence. On the left one long sentence makes everybody wait; on the right "
      "sentences of a batch are equally long, and short ones come in larger batches.");
}

// The gradient of the mean loss over several batches, of all parameters in a row. Each batch counts with its
// weight; backward adds to what is there (lesson 02).
std::vector<real> gradient_of(const Transformer& model, const std::vector<GameBatch>& batches,
                              const std::vector<real>& weights) {
  const ParameterList list = parameters_of(model);
  list.zero_grad();
  for (Index i = 0; i < std::ssize(batches); ++i) backward(teach(model, batches[i]) * weights[i]);
  std::vector<real> gradient;
  for (const Parameter& parameter : list) {
    const std::vector<real> values = parameter.tensor.grad().values();
    gradient.insert(gradient.end(), values.begin(), values.end());
  }
  return gradient;
}

// How far a is from b, relative to the length of b.
double distance(const std::vector<real>& a, const std::vector<real>& b) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) apart += std::pow(a[i] - b[i], 2), size += std::pow(b[i], 2);
  return std::sqrt(apart / size);
}

GameBatch rows_of(const GameBatch& batch, Index first, Index count) {
  const auto rows = [&](const IntTensor& all) {
    const Index width = all.shape()[1];
    IntTensor part({count, width});
    for (Index i = 0; i < count * width; ++i) part[i] = all[first * width + i];
    return part;
  };
  return {rows(batch.source), rows(batch.target)};
}

/// ## Gradient accumulation
///
/// 25,000 tokens at once may not fit into memory. They need not: the gradient of a mean is the mean of the
/// gradients. So run several small batches, let `backward` add up their gradients, and only then take a
/// step. In memory are the intermediate results of one small batch at a time. A batch of 32 rows of
/// letters, whole and as four parts of 8, on a model that we will train below:
void accumulation(Lesson& lesson) {
  Rng rng(lesson.seed), data(lesson.seed + 1);
  const Transformer model = make_model(rng);
  const auto compare = [&](const GameBatch& whole) {
    std::vector<GameBatch> parts;
    std::vector<real> by_words;
    const auto words_in = [](const GameBatch& batch) {
      Index words = 0;
      for (Index i = 0; i < batch.target.numel(); ++i) words += batch.target[i] != pad;
      return words;
    };
    for (Index i = 0; i < 4; ++i) {
      parts.push_back(rows_of(whole, 8 * i, 8));
      by_words.push_back(real(words_in(parts.back())) / real(words_in(whole)));
    }
    const std::vector<real> at_once = gradient_of(model, {whole}, {1});
    return std::pair(distance(gradient_of(model, parts, std::vector<real>(4, real(0.25))), at_once),
                     distance(gradient_of(model, parts, by_words), at_once));
  };
  GameBatch batch = make_game(Game::reverse, 32, data);
  const auto [plain, plain_by_words] = compare(batch);
  // Now the first half is short: only two words and then padding.
  for (Index b = 0; b < 16; ++b)
    for (Index t = 2; t <= length; ++t) batch.target(b, t) = pad;
  const auto [uneven, uneven_by_words] = compare(batch);
  const auto percent = [](double share) { return fmt::format("{:.5f}%", 100 * share); };
  lesson.say("How far the gradient of the parts is from that of the whole, relative to its length:");
  lesson.table({"", "rows equally long", "half of them short"},
               {{"each part counts 1/4", percent(plain), percent(uneven)},
                {"each part counts by its words", percent(plain_by_words), percent(uneven_by_words)}});
  lesson.claim(
      plain < 1e-4 && uneven_by_words < 1e-4 && uneven > 0.01,
      "the same gradient, up to rounding, if each part counts by its number of words; a mean of means "
      "is {:.0f}% off when the parts differ in length as they do here",
      100 * uneven);
  const auto peak = [&](const std::vector<GameBatch>& batches) {
    reset_pool_peak();
    gradient_of(model, batches, std::vector<real>(batches.size(), real(0.25)));
    return double(pool_statistics().peak_bytes) / 1e6;
  };
  std::vector<GameBatch> parts;
  for (Index i = 0; i < 4; ++i) parts.push_back(rows_of(batch, 8 * i, 8));
  const double whole = peak({batch}), in_parts = peak(parts);
  lesson.claim(in_parts < 0.5 * whole,
               "memory at its peak: {:.1f} MB for the batch at once, {:.1f} MB in parts", whole, in_parts);
}

/// ## First, learn one batch by heart
///
/// Before you train anything for long, give the model eight rows to reverse, again and again. A model that
/// cannot learn even these by heart has a bug, and you know within a second.
void overfit_one_batch(Lesson& lesson) {
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
  const std::vector<double> losses = losses_of(history);
  lesson.line_chart({{.name = "loss on the one batch", .y = losses}},
                    {.title = "Learning eight examples by heart", .x_title = "step", .y_low = 0});
  lesson.claim(losses.front() > 1.5 && losses.back() < 0.3,
               "the loss falls from {:.2f} to {:.3f}: perplexity {:.1f} to {:.2f}", losses.front(),
               losses.back(), std::exp(losses.front()), std::exp(losses.back()));
}

// Five runs of a game: the same measure of each.
template <class Measure>
Spread spread_of(const std::vector<Course>& runs, const Measure& measure) {
  std::vector<double> values;
  for (const Course& run : runs) values.push_back(measure(run));
  return Spread(values);
}

/// ## Copy, and reverse
///
/// Now the two games, with fresh rows of 8 letters at every step, so that nothing can be learned by heart.
/// The recipe is the paper's with smaller numbers: Adam with β = 0.9 and 0.98 and ε = 1e-9, the same schedule
/// with a warm-up of 60 steps, label smoothing 0.1, dropout 0.05 where the paper has 0.1, one layer on each
/// side; and gradients are clipped at 1. Each game is learned five times, with different random numbers. The
/// table has the median, the smallest and the largest:
void copy_and_reverse(Lesson& lesson) {
  const Index steps = lesson.fast ? 160 : 400;
  const int runs = lesson.fast ? 2 : seeds;
  std::vector<Course> copy, reverse;
  for (int i = 0; i < runs; ++i) {
    const std::uint64_t seed = std::uint64_t(seeds) * lesson.seed + std::uint64_t(i);
    copy.push_back(learn(Game::copy, steps, seed));
    reverse.push_back(learn(Game::reverse, steps, seed));
  }
  const double limit = 1;
  const auto until = [&](const Course& run) { return steps_to(limit, run.losses); };
  const auto row = [&](const std::string& name, const std::vector<Course>& game) {
    return std::vector<std::string>{
        name, spread_of(game, [](const Course& run) { return run.perplexity_before; }).text(0),
        spread_of(game, [](const Course& run) { return run.end.perplexity; }).text(),
        spread_of(game, until).text(0),
        spread_of(game, [](const Course& run) { return run.end.rows_alone; }).text(0)};
  };
  lesson.table({"game", "perplexity before", "after", "steps until loss < 1", "rows right, of 100"},
               {row("copy", copy), row("reverse", reverse)});
  /// Perplexity starts above 11, the number of words: random weights are not undecided, they prefer some
  /// words for no reason. The rows of the last column were never seen in training, and a row is right if all
  /// 8 letters are. Three of them, and what the model writes:
  for (const auto& example : reverse[0].end.examples)
    lesson.print("  {} -> {}", example.first, example.second);
  const double floor = smoothed_floor(0.1);
  double lowest = 1e9;
  std::vector<std::vector<double>> copied, reversed;
  for (const Course& run : copy) copied.push_back(run.losses);
  for (const Course& run : reverse) reversed.push_back(run.losses);
  for (const auto* game : {&copied, &reversed})
    for (const std::vector<double>& losses : *game)
      lowest = std::min(lowest, *std::min_element(losses.begin(), losses.end()));
  const Spread for_copy = spread_of(copy, until), for_reverse = spread_of(reverse, until);
  lesson.claim(
      lowest > floor - 1e-3,
      "no loss of any step is below {:.3f}, the entropy of a target smoothed by 0.1 over {} words (the "
      "lowest is {:.3f}): with label smoothing even a perfect model has a loss",
      floor, V, lowest);
  if (lesson.fast)
    lesson.claim(reverse[0].end.perplexity < reverse[0].perplexity_before &&
                     copy[0].end.perplexity < copy[0].perplexity_before,
                 "the few steps of --fast lower both perplexities; the games need more of them");
  else
    lesson.claim(
        spread_of(copy, [](const Course& run) { return run.end.rows_alone; }).low > 90 &&
            spread_of(reverse, [](const Course& run) { return run.end.rows_alone; }).low > 90 &&
            for_reverse.median < 1.5 * for_copy.median && for_copy.median < 1.5 * for_reverse.median,
        "both games are learned in every run, and in about as many steps, {:.0f} and {:.0f}: attention "
        "finds a letter at the other end as easily as one in the same position",
        for_copy.median, for_reverse.median);
  lesson.picture("losses.png",
                 viz::line_chart({median_losses("copy", copied),
                                  median_losses("reverse", reversed),
                                  {.name = "entropy of the smoothed target",
                                   .y = viz::Numbers(std::size_t(steps), floor),
                                   .dashed = true,
                                   .color = 3}},
                                 {.title = fmt::format("Two games, the median of {} runs each", runs),
                                  .x_title = "step",
                                  .y_title = "loss, label-smoothed",
                                  .y_low = 0}),
                 "Two games, two losses",
                 "Copying and reversing take about as long. With label smoothing no model can get below the "
                 "dashed line.");

  /// ## Attention turns around
  ///
  /// To write `abcdefgh` backwards, the decoder has to look at `h` first, then at `g`. Nobody tells it: the
  /// gradient of the loss does. The cross-attention for this row while the first of the five models learns:
  std::vector<std::vector<std::string>> rows;
  for (const LetterMap& map : reverse[0].maps)
    rows.push_back({fmt::format("{}", map.step), fmt::format("{:.2f}", on_anti_diagonal(map.weights))});
  lesson.table({"step", "weight on the letter to write"}, rows);
  const std::string source = "abcdefgh", target = "hgfedcba";
  std::vector<std::string> source_letters, target_letters;
  for (const char letter : source) source_letters.emplace_back(1, letter);
  for (const char letter : target) target_letters.emplace_back(1, letter);
  const LetterMap &before = reverse[0].maps.front(), &after = reverse[0].maps.back();
  lesson.heatmap(after.weights, {.title = fmt::format("step {}", after.step),
                                 .x_title = "letter that is read",
                                 .y_title = "letter to write",
                                 .row_labels = target_letters,
                                 .column_labels = source_letters,
                                 .low = 0,
                                 .high = 1});
  lesson.picture(
      "anti_diagonal.png", draw_letter_maps(reverse[0].maps, source, target),
      "Attention turns into the anti-diagonal",
      "Rows are the letters to write, in order. At step 0 no row prefers its letter. Then a line appears "
      "that runs against the reading direction: `h` looks at `h`, and `h` is the last letter of the "
      "source.");
  MapsFigure while_it_learns{target_letters, source_letters, {{"step", {}, true}}, {}, reverse[0].losses};
  for (const LetterMap& map : reverse[0].maps) {
    while_it_learns.choices[0].values.push_back(fmt::format("{}", map.step));
    while_it_learns.maps.push_back(map.weights);
  }
  lesson.data("maps", maps_figure(while_it_learns));
  const double start = on_anti_diagonal(before.weights), end = on_anti_diagonal(after.weights);
  lesson.claim(lesson.fast ? end > start : end > 0.5,
               "the weight on the letter to write went from {:.2f} (uniform: {:.2f}) to {:.2f}", start,
               1.0 / double(length), end);

  /// ## Teacher forcing and free running
  ///
  /// In training the decoder reads the right words, so all positions are computed in one pass. When it
  /// writes by itself (*free running*) it reads its own words, one pass for each, and a wrong word stays in
  /// its input. A training loss is always of the first kind. Letters right out of 100, median and range of
  /// the runs:
  const auto letters_right = [&](const std::string& name, const std::vector<Course>& game,
                                 Exam Course::*when) {
    return std::vector<std::string>{
        name, spread_of(game, [&](const Course& run) { return (run.*when).letters_taught; }).text(0),
        spread_of(game, [&](const Course& run) { return (run.*when).letters_alone; }).text(0)};
  };
  lesson.table({"", "teacher forcing", "free running"},
               {letters_right(fmt::format("copy, step {}", steps / 4), copy, &Course::early),
                letters_right(fmt::format("reverse, step {}", steps / 4), reverse, &Course::early),
                letters_right(fmt::format("copy, step {}", steps), copy, &Course::end),
                letters_right(fmt::format("reverse, step {}", steps), reverse, &Course::end)});
  if (!lesson.fast) {
    const auto median = [&](double Exam::*what) {
      return spread_of(reverse, [&](const Course& run) { return run.early.*what; }).median;
    };
    lesson.claim(
        median(&Exam::letters_taught) > median(&Exam::letters_alone),
        "a half-trained model does worse when it reads its own letters: {:.0f} right instead of {:.0f}",
        median(&Exam::letters_alone), median(&Exam::letters_taught));
  }
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
      "given the same words to read, one pass over {} positions and {} passes of one position give the "
      "same scores",
      length + 1, length + 1);
}

/// ## With and without warm-up
///
/// In its first step Adam knows one gradient and divides it by its own size. So every weight moves by the
/// whole learning rate, in the direction that one batch happened to suggest, and in a deep post-norm stack
/// (lesson 10) these moves add up. Is warm-up worth its steps? A model of 3 + 3 layers learns to copy with
/// several rates, once at the full rate from step 1, once with a rate that rises over the first 100 steps
/// and is then the same. The loss at the end, median and range of the runs; guessing among 8 letters has
/// log 8 = 2.08:
void warm_up(Lesson& lesson) {
  const Index steps = 300, rising = 100;
  const int runs = lesson.fast ? 3 : seeds;
  const std::vector<double> rates =
      lesson.fast ? std::vector<double>{0.008} : std::vector<double>{0.002, 0.004, 0.008, 0.016};
  const double shown = 0.008;
  std::vector<std::vector<std::string>> rows;
  std::vector<viz::Series> curves, ends(2), single(2);
  std::vector<double> cold, warm;  // the medians at each rate
  for (const double rate : rates) {
    rows.push_back({fmt::format("{}", rate)});
    for (const Index warmup : {Index(0), rising}) {
      const std::string name = warmup ? "with warm-up" : "without warm-up";
      std::vector<std::vector<double>> losses;
      std::vector<double> last;
      for (int i = 0; i < runs; ++i) {
        losses.push_back(
            losses_with(warmup, rate, steps, std::uint64_t(seeds) * lesson.seed + std::uint64_t(i)));
        last.push_back(mean_of_last(losses.back(), 20));
        viz::Series& points = single[warmup > 0];
        points.x.push_back(1000 * rate), points.y.push_back(last.back());
      }
      const Spread end(last);
      rows.back().push_back(end.text());
      (warmup ? warm : cold).push_back(end.median);
      viz::Series& valley = ends[warmup > 0];
      valley.name = name, valley.x.push_back(1000 * rate), valley.y.push_back(end.median);
      if (rate == shown) curves.push_back(median_losses(name, losses));
    }
  }
  lesson.table({"learning rate", "without warm-up", "with warm-up"}, rows);
  const Index high = lesson.fast ? 0 : 2;
  lesson.claim(
      warm[high] < 0.9 * cold[high],
      "at a rate of {} the loss is {:.2f} without warm-up and {:.2f} with it, although both are trained "
      "alike from step 100 on",
      shown, cold[high], warm[high]);
  if (!lesson.fast) {
    const Index best_cold = std::min_element(cold.begin(), cold.end()) - cold.begin(),
                best_warm = std::min_element(warm.begin(), warm.end()) - warm.begin();
    lesson.claim(best_warm >= best_cold,
                 "each at its best rate: {:.2f} at {} without, {:.2f} at {} with. Small rates do not need a "
                 "warm-up; what it buys is a higher rate",
                 cold[best_cold], rates[best_cold], warm[best_warm], rates[best_warm]);
  }
  for (int i = 0; i < 2; ++i) single[i].line = false, single[i].points = true, single[i].color = i;
  lesson.picture("warm_up.png", draw_warm_up(curves, {ends[0], ends[1], single[0], single[1]}),
                 "Loss with and without warm-up",
                 "Left: at a high rate the first steps do damage that hundreds of later ones do not repair. "
                 "Right: with small rates it makes little difference; with warm-up the best rate is higher.");
}

std::string power(double value) {  // 9.5e17
  std::string text = fmt::format("{:.1e}", value);
  text.erase(text.find('+'), text[text.find('+') + 1] == '0' ? 2 : 1);
  return text;
}

/// ## What does training cost?
///
/// **Compute.** In the forward pass each weight of a matrix is multiplied with one number of each token and
/// added to a sum: 2 floating-point operations (FLOP) per weight and token. The backward pass computes two
/// such products, one for the gradient of the input and one for that of the weight: 4 more. So for N
/// parameters and D tokens (Kaplan et al., 2020)
///
/// $$ FLOP = 6 N D $$
///
/// The products of queries and keys come on top, but they are few as long as sentences are short.
///
/// **Memory.** In 32-bit numbers a parameter takes 4 bytes, its gradient 4, and Adam's two averages 8: 16
/// bytes. The intermediate results that `backward` needs come on top, and they grow with the batch.
void cost(Lesson& lesson) {
  Rng rng(lesson.seed), data(lesson.seed + 1);
  const Transformer small = make_model(rng);
  const ParameterList list = parameters_of(small);
  Index in_matrices = 0;
  for (const Parameter& parameter : list)
    if (parameter.tensor.rank() == 2) in_matrices += parameter.tensor.numel();
  lesson.claim(
      double(in_matrices) > 0.9 * double(list.count()),
      "of the {} parameters of our small model {} are in matrices; biases, gains and embeddings that "
      "are looked up are where the formula is off",
      grouped(list.count()), grouped(in_matrices));
  std::vector<std::vector<std::string>> rows;
  std::vector<double> peaks;
  for (const Index B : {16, 32, 64}) {
    const GameBatch batch = make_game(Game::reverse, B, data);
    reset_pool_peak();
    const std::int64_t before = pool_statistics().bytes_in_use;
    gradient_of(small, {batch}, {1});
    peaks.push_back(double(pool_statistics().peak_bytes - before) / 1e6);
    rows.push_back({fmt::format("{}", B), fmt::format("{:.2f} MB", 16e-6 * double(list.count())),
                    fmt::format("{:.2f} MB", peaks.back())});
  }
  lesson.table({"rows in the batch", "parameters, gradients, Adam", "intermediate results, measured"}, rows);
  lesson.claim(
      peaks[2] > 3 * peaks[0] && peaks[2] < 5 * peaks[0],
      "four times the batch takes {:.1f} times the memory for intermediate results, and these are most "
      "of it",
      peaks[2] / peaks[0]);

  /// **The paper's budget.** The base model was trained for 100,000 steps of about 25,000 source and 25,000
  /// target tokens, on 8 P100 GPUs, in 12 hours. Apart from the shared embedding, each of its 63 million
  /// parameters works on one side only, source or target, so D is 25,000 × 100,000:
  struct Run {
    std::string name;
    double parameters, tokens;
  };
  const Run base{"Transformer base (2017)", 63082496, 25e3 * 100e3};
  const auto flop = [](const Run& run) { return 6 * run.parameters * run.tokens; };
  const double gpus = 8 * 12 * 3600 * 9.5e12;
  rows.clear();
  for (const Run& run : {Run{"this lesson, one game", double(list.count()), 400.0 * 32 * double(length + 1)},
                         base, Run{"GPT-3 (2020)", 175e9, 300e9}, Run{"Chinchilla (2022)", 70e9, 1.4e12}})
    rows.push_back({run.name, power(run.parameters), power(run.tokens), power(flop(run)),
                    run.parameters > 1e9 ? grouped(std::lround(16e-9 * run.parameters)) + " GB"
                                         : fmt::format("{:.1g} GB", 16e-9 * run.parameters)});
  lesson.table({"model", "N", "D", "6 N D", "16 N bytes"}, rows);
  lesson.claim(flop(base) > 0.2 * gpus && flop(base) < 0.4 * gpus,
               "the paper counts 3.3e18 FLOP: 8 GPUs × 12 hours × 9.5e12 per second = {}. That is what the "
               "machines could have done; 6 N D = {}, or {:.0f}% of it, is what the model needed",
               power(gpus), power(flop(base)), 100 * flop(base) / gpus);
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv, {.name = "12_training", .question = "How is it taught?"}, [](Lesson& lesson) {
    what_a_guess_costs(lesson);
    learning_rates(lesson);
    clipping(lesson);
    batching(lesson);
    accumulation(lesson);
    overfit_one_batch(lesson);
    copy_and_reverse(lesson);
    one_pass_or_many(lesson);
    warm_up(lesson);
    cost(lesson);
    /// ## Check yourself
    ///
    /// - **What is a training step for?** It moves all weights a little in the direction that lowers the mean
    ///   cost of a batch of guesses: forward, loss, backward, step.
    /// - **What goes in?** Source words (B, S), target words (B, T) and the same shifted right, which the
    ///   decoder reads. Scores (B, T, V) come out, and one number, the mean loss over the real words.
    /// - **What goes wrong without the tricks?** Without a mask in the loss, padding counts as words. Without
    ///   warm-up a high rate does damage at once. Without clipping one bad batch can throw the
    ///   weights far off. With batches in random order much of the work is padding, here more than half.
    ///
    /// ## Read on
    ///
    /// - Vaswani et al., 2017: *Attention is all you need*, sections 5 and 6.
    /// - Kingma and Ba, 2014: *Adam: a method for stochastic optimization*.
    /// - Kaplan et al., 2020: *Scaling laws for neural language models*. Where 6 N D comes from.
    /// - Hoffmann et al., 2022: *Training compute-optimal large language models*. How many tokens a model of
    ///   some size should see (Chinchilla).
    /// - The notebooks `03_training_dynamics`, on rates, warm-up and depth, and `06_speed_of_light`, on
    ///   what a training step costs on your machine.
    lesson.try_next(
        {{"In games.cpp, in teach, read batch.target instead of shift_right(batch.target, bos).",
          "The loss falls within ten steps, and the model that writes alone gets about one letter in eight "
          "right: it has learned to copy what it reads. Five claims fail."},
         {"In games.cpp, in learn, set the smoothing to 0.",
          "The loss falls to about 0.02, far below the dashed line. The claim about it fails."},
         {"In games.cpp, in make_model, set .positions = Positions::none.",
          "Neither game is learned, and attention never finds the anti-diagonal: without positions a letter "
          "at the end looks like one at the beginning. Two claims fail."}});
  });
}
