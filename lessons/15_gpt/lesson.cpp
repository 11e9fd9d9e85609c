/// Your phone guesses the next word while you type. Do the same again and again, each time with what was just
/// guessed at the end of the text, and it writes. Can that be all? **GPT**, the *Generative Pre-trained
/// Transformer* (Radford et al., 2018), does nothing else: it reads a text and guesses what comes next. A
/// *token* is what it reads and writes at a time: here a single character, so that a model small enough to
/// train in front of you can write small stories.
///
/// Letters for sizes: B texts in a batch, T tokens in each, C channels (numbers per token), V the size of
/// the vocabulary.
#include <algorithm>  // find, max, min, minmax_element
#include <cmath>      // fabs, log
#include <iterator>   // ssize

#include "core/autograd.hpp"
#include "lessons/15_gpt/pictures.hpp"
#include "lessons/15_gpt/published.hpp"
#include "lessons/15_gpt/text.hpp"
#include "lessons/support/lesson.hpp"
#include "lessons/support/published.hpp"
#include "nn/decode.hpp"
#include "nn/text/characters.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

// The simplest model that writes: how often did b follow a? Counts start at 1: nothing is impossible.
Tensor count_pairs(const Text& text) {
  Tensor counts = ones({text.vocabulary.size(), text.vocabulary.size()});  // (V, V)
  for (Index t = 0; t + 1 < std::ssize(text.training); ++t)
    counts(text.training[t], text.training[t + 1]) += 1;
  return counts;
}

// loss = -1/n Σ log P(next | this)
double pair_loss_by_loops(const Tensor& counts, const std::vector<int>& text, Index n) {
  double loss = 0;
  for (Index t = 0; t < n; ++t) {
    double row = 0;
    for (Index v = 0; v < counts.size(1); ++v) row += counts(text[t], v);
    loss -= std::log(counts(text[t], text[t + 1]) / row);
  }
  return loss / double(n);
}

/// ## A text is its own teacher
///
/// Nobody has to label anything: in a text, each character is the answer to the question of what follows the
/// ones before it. Cut seven characters out of a text, `the cat`. At each of the first six the model is asked
/// for the next one: six exercises from one window, all at once, because the causal mask (lesson 07) hides
/// what would give the answers away. The target is the input shifted left by one. Say that a model gave the
/// true next character these probabilities P:
double own_teacher(Lesson& lesson, const Text& text) {
  const std::string word = "the cat";
  const std::vector<double> probabilities = {0.5, 0.5, 0.25, 0.125, 0.25, 0.5};
  std::vector<std::vector<std::string>> rows = {{"reads"}, {"is to write"}, {"P"}, {"−log P"}};
  std::vector<std::string> header = {"position"};
  double sum = 0;
  for (Index t = 0; t + 1 < std::ssize(word); ++t) {
    header.push_back(fmt::format("{}", t));
    rows[0].push_back(printable(word.substr(t, 1)));
    rows[1].push_back(printable(word.substr(t + 1, 1)));
    rows[2].push_back(fmt::format("{}", probabilities[t]));
    rows[3].push_back(fmt::format("{:.3f}", -std::log(probabilities[t])));
    sum -= std::log(probabilities[t]);
  }
  lesson.table(header, rows);
  lesson.say(
      "Its loss is the mean of the last row, the mean surprise: {:.3f} / 6 = {:.3f} nats per character.", sum,
      sum / 6);
  /// $$ loss = −1/T Σ_t log P(x_{t+1} | x_1 … x_t) $$
  lesson.say(
      "Our text: {} characters to learn from, {} kept back, {} different ones; with the special tokens of "
      "every vocabulary (lesson 05) V is {}. The simplest model counts which character follows which, and "
      "sees no further back than one (a bigram model). That is the one to beat:",
      grouped(std::ssize(text.training)), grouped(std::ssize(text.unseen)), text.characters(),
      text.vocabulary.size());
  const Tensor counts = count_pairs(text);
  const Index n = std::min<Index>(2000, std::ssize(text.unseen) - 1);
  const double by_loops = pair_loss_by_loops(counts, text.unseen, n);
  const Windows window = window_at(text.unseen, 0, n);
  const double by_tensors = cross_entropy(embedding(log(counts), window.reads), window.writes).item();
  lesson.claim(std::fabs(by_loops - by_tensors) < 1e-3,
               "the loss of the counts on unseen text is {:.3f} by loops and {:.3f} by cross_entropy",
               by_loops, by_tensors);
  return by_loops;
}

/// ## Half a Transformer
///
/// The Transformer of lesson 11 has two halves. The *encoder* reads: each token sees all tokens. The
/// *decoder* writes: each token sees those before it, and through cross-attention what the encoder made of
/// the source. One can keep both halves or either:
///
/// | kept | a token sees | good at | examples |
/// |---|---|---|---|
/// | encoder | both sides | classifying, searching | BERT (lesson 16) |
/// | both | the source, the past | translating | Transformer, T5 (17) |
/// | decoder | the past | continuing a text | GPT, Llama |
///
/// A GPT has no source, so there is nothing to cross-attend to: what is left is a stack of masked
/// self-attention and feed-forward. In formulas, with E the embedding table (V, C), a row for each token, and
/// P the learned positions, a row for each position:
///
/// $$ h_0 = E[x] + P,   h_l = Block_l(h_{l−1}),   logits = LayerNorm(h_N) Eᵀ $$
///
/// Each block normalises first (pre-norm, lesson 10), x + f(LN(x)), so the sum x is never normalised on the
/// way up, and one more norm at the end has to do it. The table E is used at both ends: the score of a token
/// is the dot product of the last state with the token's row.
void half_a_transformer(Lesson& lesson, const Gpt& model, const Text& text) {
  lesson.picture(
      "families.png", families(), "Encoder, both, decoder",
      "Read upwards. Norms and residuals, which every box in a frame has around it, are left out. GPT "
      "is the right column of the Transformer without cross-attention; BERT is the left one.");
  const NoGrad no_grad;
  const Index T = model.config.max_length;
  const IntTensor tokens = window_at(text.unseen, 0, T).reads;  // (1, T)
  const Tensor embedded = model.token_embedding(tokens);        // (1, T, C)
  const Tensor states = model.stack(embedded);                  // (1, T, C)
  const Tensor logits = model(tokens);                          // (1, T, V)
  lesson.table({"step", "shape", "in this model"},
               {{"tokens x", "(B, T)", tokens.shape().str()},
                {"E[x], and + P", "(B, T, C)", embedded.shape().str()},
                {"after each block, and the norm", "(B, T, C)", states.shape().str()},
                {"logits", "(B, T, V)", logits.shape().str()}});
  const std::vector<real> squares = mean(states * states, 2).values();
  const auto [smallest, largest] = std::minmax_element(squares.begin(), squares.end());
  lesson.claim(
      *smallest > 0.95 && *largest < 1.05,
      "whatever the blocks have added up, after the last norm the mean square is 1 at every position: "
      "between {:.3f} and {:.3f}",
      *smallest, *largest);
  const int v = tokens(0, 0);
  const double product = sum(states[0][T - 1] * model.token_embedding.table[v]).item();
  lesson.claim(
      std::fabs(product - logits(0, T - 1, v)) < 1e-4,
      "the score of `{}` at the last position, {:.3f}, is the state there times its row of E: {:.3f}",
      printable(text.vocabulary.decode({v})), logits(0, T - 1, v), product);

  IntTensor changed(tokens.shape(), tokens.values());
  changed(0, T - 1) = changed(0, T - 1) == 4 ? 5 : 4;
  const Tensor others = model(changed);
  const double before = max_difference(slice(logits, 1, 0, T - 1), slice(others, 1, 0, T - 1));
  lesson.claim(before < 1e-6 && max_difference(logits, others) > 1e-4,
               "another last character changes nothing before it (by {:.0f}): no position sees the future",
               before);

  /// Why did this half win? Nearly all large language models since 2020 are decoders alone, for
  /// practical reasons:
  ///
  /// - every token of every text is an exercise, where BERT asks for 15% of them;
  /// - whatever can be written down can be asked for as a text to continue, so one model needs no head and no
  ///   new training for a new task (below: prompting);
  /// - what has been read is never read again: its keys and values are kept (the cache of lesson 14), where
  ///   an encoder would have to start over whenever the text grows;
  /// - one stack and one loss are easy to make larger.
  ///
  /// It did not win everywhere: trained by filling gaps and then on many tasks, models that see both sides of
  /// their input did better than decoders of the same cost (Wang et al., 2022).
}

struct Start {
  double loss, echo;  // the mean probability that the next token is the one just read
};

Start start_of(const Gpt& model, const Text& text) {
  const NoGrad no_grad;
  const Windows windows = random_windows(text.unseen, 32, model.config.max_length, 12345);
  const Tensor logits = model(windows.reads), p = softmax(logits);  // (B, T, V)
  double echo = 0;
  for (Index i = 0; i < windows.reads.numel(); ++i)
    echo += p.data()[i * p.size(2) + windows.reads[i]] / double(windows.reads.numel());
  return {cross_entropy(logits, windows.writes).item(), echo};
}

/// ## The first loss is about log V
///
/// Before the first step a model knows nothing, so it should take all V tokens for about equally likely. Each
/// true one then gets P ≈ 1/V, and the loss is −log(1/V) = log V. GPT-2 (Radford et al., 2019) sees to that
/// by its initial weights: normal with standard deviation 0.02, so that all logits are small, and those that
/// add to the sum x smaller by 1/√(2N), because 2N of them add up in N blocks.
///
/// What happens otherwise? The Transformer of lesson 11 starts with rows of E of length about 1, and
/// multiplies them by √C so that they are as large as its sinusoids. In a new GPT that would make the last
/// state little else than the row of the token just read, brought to length √C by the norm. Its dot product
/// with that row is then about √C = 8, and with the others about 0:
void first_loss(Lesson& lesson, const Gpt& model, const Text& text) {
  TransformerConfig config = model.config;
  config.scale_embeddings = true;
  config.initialization = Initialization::xavier;
  Rng rng(lesson.seed);
  const Start ours = start_of(model, text), scaled = start_of(Gpt(config, rng), text);
  const double log_v = std::log(double(model.config.vocabulary));
  const auto row = [&](const char* name, const Start& start) {
    return std::vector<std::string>{name, fmt::format("{:.2f}", start.loss), fmt::format("{:.2f}", log_v),
                                    fmt::format("{:.0f}%", 100 * start.echo)};
  };
  lesson.table({"a new model", "first loss", "log V", "P(what it just read)"},
               {row("as GPT-2", ours), row("as lesson 11", scaled)});
  lesson.claim(
      std::fabs(ours.loss - log_v) < 0.1 && scaled.loss > log_v + 1,
      "the first loss is {:.3f}, and log {} = {:.3f}; a model that starts as an echo has to unlearn {:.1f} "
      "nats first",
      ours.loss, model.config.vocabulary, log_v, scaled.loss - log_v);

  /// So look at the first loss before anything else. Far above log V, the initial weights (or the loss) are
  /// wrong; far below it, the answer leaks into the input.
}

std::string continue_text(const Gpt& model, const Text& text, const std::string& prompt, Index length,
                          double temperature, std::uint64_t seed) {
  const std::vector<int> ids = text.vocabulary.encode(prompt);
  GptWriter writer(model);
  Rng rng(seed);
  const auto written = sample(writer, IntTensor({1, std::ssize(ids)}, ids),
                              {.end = -1, .max_length = length, .temperature = temperature}, rng);
  return text.vocabulary.decode(written[0]);
}

struct Sample {
  Index step;
  std::string written;
  double known;
};
struct Training {
  History history;
  std::vector<Sample> samples;
};

double unseen_loss(const Gpt& model, const Text& text) {
  const NoGrad no_grad;
  const Windows windows = random_windows(text.unseen, 32, model.config.max_length, 12345);
  return cross_entropy(model(windows.reads), windows.writes).item();
}

Training train_gpt(Lesson& lesson, const Gpt& model, const Text& text) {
  const Index T = model.config.max_length, B = lesson.fast ? 8 : 16, steps = lesson.fast ? 500 : 1000;
  const std::vector<Index> stops = {0, steps / 16, steps / 4, steps};
  Training training;
  const auto take_sample = [&](Index step) {
    if (std::find(stops.begin(), stops.end(), step) == stops.end()) return;
    const std::string written =
        continue_text(model, text, text.prompt, lesson.fast ? 100 : 200, 0.5, lesson.seed);
    training.samples.push_back({step, written, known_words(written, text)});
  };
  take_sample(0);
  Adam optimizer(parameters_of(model), adamw());
  const std::uint64_t base = lesson.seed * 1000003;
  training.history = train(
      optimizer,
      {.steps = steps,
       .schedule = {.kind = ScheduleKind::cosine, .peak = 8e-3, .warmup = 20, .total = steps, .floor = 4e-4},
       .validate_every = std::max<Index>(1, steps / 12),
       .label = "GPT"},
      {.loss =
           [&](Index batch) {
             const Windows windows = random_windows(text.training, B, T, base + std::uint64_t(batch));
             return StepLoss{cross_entropy(model(windows.reads, {.training = true}), windows.writes), B * T};
           },
       .validate = [&] { return unseen_loss(model, text); },
       .after_step = [&](const TrainPoint& point) { take_sample(point.step); }});
  return training;
}

/// ## Sampled while it trains
///
/// Each training step takes a few random windows, the loss, its gradient, and one update. Now and then the
/// model writes: it gives a distribution over the next character, one is drawn from it (temperature 0.5,
/// lesson 14) and read back in as if it had been there all along, and so on. That is *autoregressive*
/// generation. A slash stands for the end of a line.
void training_with_samples(Lesson& lesson, const Gpt& model, const Text& text, double pair_loss) {
  const Training training = train_gpt(lesson, model, text);
  std::vector<viz::TokenRow> rows;
  for (const Sample& one : training.samples) {
    std::vector<viz::Token> words = {viz::Token(one_line(text.prompt), 0)};
    for (const auto& word : split_at_spaces(one.written)) words.emplace_back(std::string(word));
    rows.push_back({.name = "step " + grouped(one.step),
                    .detail = fmt::format("{:.0f}% known words", 100 * one.known),
                    .tokens = words,
                    .boxed = false});
    lesson.say("After {} steps: {}", grouped(one.step), one_line(text.prompt + one.written));
  }
  lesson.picture(
      "samples.png",
      viz::token_rows(rows, {.title = "The same prompt, continued as training goes on",
                             .legend = {{"given", 0}, {"written by the model", -1}}}),
      "Samples by step",
      "From top to bottom: all characters alike, then short words that are frequent, then sentences with "
      "mistakes, then stories. Known words are words of the training text.");

  std::vector<double> losses, steps, unseen;
  for (const TrainPoint& point : training.history.steps) losses.push_back(point.loss);
  for (const ValidationPoint& point : training.history.validations)
    steps.push_back(double(point.step)), unseen.push_back(point.loss);
  const viz::ChartOptions chart{
      .title = "Learning to guess the next character",
      .x_title = "step",
      .y_title = "cross-entropy (nats per character)",
      .y_low = 0,
      .y_guides = {{.at = pair_loss, .label = "counting pairs"},
                   {.at = std::log(double(model.config.vocabulary)), .label = "log V"}}};
  const std::vector<viz::Series> series = {{.name = "training", .y = losses, .smooth = 0.9},
                                           {.name = "unseen text", .y = unseen, .x = steps, .points = true}};
  lesson.line_chart(series, chart);
  lesson.picture(
      "loss.png", viz::line_chart(series, chart), "Loss of a character GPT",
      "It starts at log V and passes the line of the counts, all that can be known from one character back.");
  const double last = unseen.back();
  const double blind = std::log(double(text.characters()));
  lesson.claim(last < (text.is_own ? blind : (lesson.fast ? 0.9 : 0.5) * pair_loss),
               "on unseen text {:.2f} nats per character ({:.2f} bits), where counting pairs has {:.2f}",
               last, last / std::log(2.0), pair_loss);
  if (!text.is_own)
    lesson.claim(
        training.samples.back().known > (lesson.fast ? 0.3 : 0.8),
        "{:.0f}% of the words in its last sample are words of the training text; {:.0f}% were before "
        "training",
        100 * training.samples.back().known, 100 * training.samples.front().known);
}

// The mean loss at each position of the window: position 0 knows one character, the last one knows T.
std::vector<double> loss_by_position(const Gpt& model, const Text& text) {
  const NoGrad no_grad;
  const Index T = model.config.max_length, B = 512, V = model.config.vocabulary;
  const Windows windows = random_windows(text.unseen, B, T, 54321);
  const Tensor log_probabilities = log_softmax(model(windows.reads));  // (B, T, V)
  std::vector<double> losses(T, 0.0);
  for (Index b = 0; b < B; ++b)
    for (Index t = 0; t < T; ++t)
      losses[t] -= log_probabilities.data()[(b * T + t) * V + windows.writes(b, t)] / double(B);
  return losses;
}

/// ## What it looks at, by layer
///
/// Does it use more than the last few characters? The loss at each position of a window tells: at position 0
/// it has seen one character, at the last one T of them.
void what_it_looks_at(Lesson& lesson, const Gpt& model, const Text& text, double pair_loss) {
  const std::vector<double> losses = loss_by_position(model, text);
  const Index T = model.config.max_length;
  const double first = (losses[0] + losses[1]) / 2;
  double later = 0;
  for (Index t = T / 2; t < T; ++t) later += losses[t] / double(T - T / 2);
  lesson.picture(
      "loss_by_position.png",
      viz::line_chart({{.name = "unseen text", .y = losses, .points = true}},
                      {.title = "The more it has read, the better it guesses",
                       .x_title = "position in the window",
                       .y_title = "cross-entropy (nats)",
                       .y_low = 0,
                       .y_guides = {{.at = pair_loss, .label = "counting pairs"}}}),
      "Loss by position",
      "At position 0 it knows one character, like the counts (dashed), and does about as well. Each further "
      "character helps, most of all within the first ten.");
  lesson.claim(later < first,
               "{:.2f} nats at the first two positions, {:.2f} in the second half of the window", first,
               later);

  const NoGrad no_grad;
  AttentionMaps maps;
  const Index shown = 28;
  const IntTensor tokens = window_at(text.unseen, 0, shown).reads;
  model(tokens, {.maps = &maps});
  viz::HeatmapGrid grid{.columns = int(model.config.heads),
                        .options = {.title = "Attention by layer (rows) and head (columns)",
                                    .x_title = "keys: what it looks back at",
                                    .y_title = "queries: the character it has just read",
                                    .low = 0,
                                    .value_title = "weight"}};
  for (Index t = 0; t < shown; ++t) grid.options.row_labels.push_back(text.vocabulary.label(tokens(0, t)));
  grid.options.column_labels = grid.options.row_labels;
  std::vector<std::vector<std::string>> rows;
  double future = 0, sharpest = 0;
  std::string sharpest_name;
  for (const AttentionMap& map : maps)
    for (Index h = 0; h < model.config.heads; ++h) {
      double distance = 0, one_back = 0;
      for (Index i = 0; i < shown; ++i)
        for (Index j = 0; j < shown; ++j) {
          const double weight = map.weights(0, h, i, j);
          if (j > i) future = std::max(future, weight);
          distance += weight * double(i - j) / double(shown);
          if (j == i - 1) one_back += weight / double(shown - 1);
        }
      grid.names.push_back(fmt::format("layer {} head {}", map.layer + 1, h + 1));
      grid.maps.push_back(matrix_of(map.weights, {0, h}));
      rows.push_back({grid.names.back(), fmt::format("{:.1f}", distance), fmt::format("{:.2f}", one_back)});
      if (one_back > sharpest) sharpest = one_back, sharpest_name = grid.names.back();
    }
  lesson.say(
      "Every head has its own way of looking back. In the first {} characters of the unseen text: the mean "
      "distance, and the weight on the character before:",
      shown);
  lesson.table({"head", "characters back", "weight one back"}, rows);
  lesson.claim(future == 0, "no head gives any weight to a later character: largest {:.0f}", future);
  lesson.picture("attention.png", viz::heatmap_grid(grid), "Attention by layer",
                 "Nothing above the diagonal. Short vertical runs are characters in a row that all look back "
                 "at one position, often where a word begins.");
  grid.options.title = "One head in full";
  lesson.picture("attention_head.png", viz::open_heatmap(grid, sharpest_name),
                 fmt::format("One head in full: {}", sharpest_name),
                 fmt::format("Of all heads it gives most to the character before ({:.0f}%). Follow a row to "
                             "see what a character looks back at.",
                             100 * sharpest));
}

/// ## Longer than its table of positions
///
/// The positions are a learned table of T rows. There is no row for position T, so a longer text cannot be
/// read at once. To write on, the model forgets the oldest part of the text and goes on with the newest.
void beyond_the_window(Lesson& lesson, const Gpt& model, const Text& text) {
  const Index T = model.config.max_length;
  bool refused = false;
  try {
    const NoGrad no_grad;
    model(window_at(text.unseen, 0, T + 1).reads);
  } catch (const Error& error) {
    refused = true;
    lesson.print("  {}", error.what());
  }
  const std::string written = continue_text(model, text, text.prompt, 2 * T, 0.5, lesson.seed + 1);
  Index count = 0;
  for ([[maybe_unused]] const Character& character : characters(written)) ++count;
  lesson.claim(refused && count == 2 * T, "{} characters at once are refused, and yet it wrote {}", T + 1,
               count);
  /// The same model at three temperatures (0 always takes the likeliest character):
  for (const double temperature : {0.0, 0.5, 1.0})
    lesson.print(
        "  {:.1f}   {}", temperature,
        one_line(text.prompt + continue_text(model, text, text.prompt, 56, temperature, lesson.seed)));
}

// The probability that the next character is one of `these`.
double probability_of(const Gpt& model, const Text& text, const std::string& prompt,
                      const std::string& these) {
  const NoGrad no_grad;
  std::vector<int> ids = text.vocabulary.encode(prompt);
  if (const Index extra = std::ssize(ids) - model.config.max_length; extra > 0)
    ids.erase(ids.begin(), ids.begin() + extra);
  const Tensor p = softmax(model(ids));  // (1, T, V)
  double sum = 0;
  for (const int id : text.vocabulary.encode(these)) sum += p(0, p.size(1) - 1, id);
  return sum;
}

/// ## A prompt is a question
///
/// What the model is given to continue is the **prompt**. It is more than a beginning: it decides what has to
/// come. Our stories have six girls and six boys, whose names all begin differently. So a prompt that ends in
/// `a girl named` asks, in effect, *what is a girl's name?* No weight changes for that: attention fetches
/// `girl` from the prompt, and the names are in the weights.
void prompting(Lesson& lesson, const Gpt& model, const Text& text) {
  const std::string girls = "ACEGLN", boys = "BDFHMO";  // Anna, Clara … and Ben, Daniel …
  const auto chance = [&](const std::string& prompt, const std::string& names) {
    return 100 * probability_of(model, text, prompt, names);
  };
  const std::string girl = "Once there was a girl named ", boy = "Once there was a boy named ";
  std::vector<std::vector<std::string>> rows;
  for (const std::string& prompt : {girl, boy})
    rows.push_back({prompt, fmt::format("{:.0f}%", chance(prompt, girls)),
                    fmt::format("{:.0f}%", chance(prompt, boys)),
                    continue_text(model, text, prompt, 18, 0, lesson.seed)});
  lesson.table({"prompt", "a girl's initial", "a boy's", "likeliest characters"}, rows);
  if (!lesson.fast)
    lesson.claim(chance(girl, girls) > chance(boy, girls),
                 "`girl` in place of `boy` raises the probability of a girl's name from {:.0f}% to {:.0f}%",
                 chance(boy, girls), chance(girl, girls));
  /// How clearly depends on the run: of the seeds 1 to 5, four learned a difference of more than 25 points,
  /// and one of 6.
  double same = 0;
  for (const char* name :
       {"Anna", "Ben", "Clara", "Daniel", "Emma", "Felix", "Grace", "Henry", "Lucy", "Max", "Nora", "Oscar"})
    same += chance(fmt::format("{} had a fox. One day ", name), std::string(name, 1)) / 12;
  lesson.say(
      "Other questions need more of a model. `Emma had a fox. One day` goes on with `Emma` in all stories: "
      "a name has to be copied from the sentence before. Ours gives the right one of twelve {:.0f}% on "
      "average, where guessing would give it 8%.",
      same);

  /// Large models carry this far. GPT-2 was asked to translate or to summarise by a text that makes a
  /// translation or a summary the likely continuation (*zero-shot*: no example). GPT-3 was given a few solved
  /// examples in the prompt and did a task that it had never been trained for (*few-shot*, or *in-context
  /// learning*). ChatGPT is such a model that was further trained on conversations and on what people prefer
  /// (Ouyang et al., 2022).
}

// E, P, N blocks of 4 attention matrices and 2 of the feed-forward network with their biases and 2 norms, and
// the last norm.
Index gpt_parameters(Index vocabulary, Index T, Index C, Index layers) {
  return vocabulary * C + T * C + layers * (12 * C * C + 13 * C) + 2 * C;
}

/// ## From GPT-1 to GPT-3, and to Llama
///
/// Count what a GPT learns: V C for the embedding, T C for the positions, and in each block 4 C² for
/// attention and 8 C² for the feed-forward network (C → 4C → C), plus 13 C of biases and norms:
///
/// $$ V C + T C + N (12 C² + 13 C) + 2 C $$
void sizes(Lesson& lesson, const Gpt& model, const Text& text) {
  const TransformerConfig& own = model.config;
  const Index counted = gpt_parameters(own.vocabulary, own.max_length, own.d_model, own.decoder_layers),
              gpt2 = gpt_parameters(50257, 1024, 768, 12);
  lesson.claim(counted == parameters_of(model).count() && gpt2 == 124439808,
               "the formula gives {} for our model, which is what it holds, and {} for the smallest GPT-2",
               grouped(counted), grouped(gpt2));
  const auto row = [](const char* name, const char* year, Index N, Index C, Index heads, Index T, Index V,
                      const char* data) {
    const Index count = gpt_parameters(V, T, C, N);
    return std::vector<std::string>{name,
                                    year,
                                    fmt::format("{}", N),
                                    grouped(C),
                                    fmt::format("{}", heads),
                                    grouped(T),
                                    count < 1000000 ? grouped(count)
                                    : count < 1000000000
                                        ? fmt::format("{:.0f} million", 1e-6 * double(count))
                                        : fmt::format("{:.1f} billion", 1e-9 * double(count)),
                                    data};
  };
  lesson.table({"model", "year", "N", "C", "heads", "T", "parameters", "trained on"},
               {row("ours", "", own.decoder_layers, own.d_model, own.heads, own.max_length, own.vocabulary,
                    "small stories"),
                row("GPT-1", "2018", 12, 768, 12, 512, 40478, "7,000 books"),
                row("GPT-2", "2019", 48, 1600, 25, 1024, 50257, "40 GB of web pages"),
                row("GPT-3", "2020", 96, 12288, 96, 2048, 50257, "300 billion tokens")});

  /// The recipe stayed: same blocks, more of them, more text. (GPT-1 still had its norms after each
  /// sublayer.) What has changed since is the inside of the block. Llama (Touvron et al., 2023) and most open
  /// models after it have replaced nearly all of its parts, and each is a setting of the library:
  ///
  /// | part | GPT-2 | Llama |
  /// |---|---|---|
  /// | norm | LayerNorm | RMSNorm (Zhang and Sennrich, 2019) |
  /// | positions | learned table | RoPE (Su et al., 2021) |
  /// | feed-forward | GELU | SwiGLU (Shazeer, 2020) |
  /// | keys and values | for each head | for groups: GQA (Ainslie et al., 2023) |
  /// | biases | yes | no |
  ///
  /// (GQA came with the larger models of Llama 2.) Lesson 19 makes these changes one at a time, and
  /// measures each.
  TransformerConfig config = own;
  config.norm = NormKind::rms;
  config.positions = Positions::rope;
  config.feed_forward = {.activation = Activation::silu, .gated = true};
  config.d_ff = 8 * config.d_model / 3;  // three matrices instead of two: as many numbers as before
  config.kv_heads = 2;
  config.bias = false;
  Rng rng(lesson.seed);
  const Gpt llama(config, rng);
  const NoGrad no_grad;
  const Index longer = 2 * own.max_length;
  const Tensor logits = llama(window_at(text.unseen, 0, longer).reads);
  lesson.claim(
      logits.size(1) == longer && parameters_of(llama).count() < counted,
      "with these settings the same class is a Llama of {} parameters, and reads {} characters at once: "
      "there is no table of positions to run out of",
      grouped(parameters_of(llama).count()), longer);

  /// Whether a model is *good* at positions that it never saw in training is another question (lesson 09).
}

}  // namespace

int main(int argc, char** argv) {
  if (asks_for_weights(argc, argv)) return continue_text(argc, argv);
  std::string path;
  return run_lesson(
      argc, argv,
      {.name = "15_gpt",
       .question = "Can a model that only guesses the next character write a story?",
       .add_options =
           [&](Options& options) {
             options.add("--text", &path,
                         {.value = "FILE", .help = "learn from this text instead of the stories"});
             options.add_text(
                 "With --weights DIR it runs a published GPT-2 or Llama instead: see "
                 "15_gpt --weights DIR --help.");
           }},
      [&](Lesson& lesson) {
        const Text text = load_text(path, lesson.fast ? 400 : 3000, lesson.seed);
        const double pair_loss = own_teacher(lesson, text);
        Rng rng(lesson.seed);
        const Gpt model(gpt_config({.vocabulary = text.vocabulary.size(),
                                    .d_model = 64,
                                    .heads = 4,
                                    .layers = 2,
                                    .max_length = lesson.fast ? 32 : 64}),
                        rng);
        half_a_transformer(lesson, model, text);
        first_loss(lesson, model, text);
        training_with_samples(lesson, model, text, pair_loss);
        what_it_looks_at(lesson, model, text, pair_loss);
        beyond_the_window(lesson, model, text);
        if (!text.is_own) prompting(lesson, model, text);
        sizes(lesson, model, text);
        /// ## Check yourself
        ///
        /// - **What is a GPT for?** To continue a text. Every task that can be written as a text to continue,
        ///   a prompt, is then a task for it.
        /// - **What goes in, what comes out?** Tokens (B, T), no more than there are positions. Logits (B, T,
        ///   V): at position t, scores for the token at t + 1. To write, only the last row is needed.
        /// - **What goes wrong without the causal mask, and with careless initial weights?** Without the mask
        ///   the loss falls to nearly 0, because each position sees its own answer, and the model cannot
        ///   write. With large initial weights the first loss lies far above log V.
        ///
        /// ## Read on
        ///
        /// - Radford et al., 2018: *Improving language understanding by generative pre-training*; and 2019:
        ///   *Language models are unsupervised multitask learners*. GPT-1 and GPT-2.
        /// - Brown et al., 2020: *Language models are few-shot learners*. GPT-3 and prompting.
        /// - Touvron et al., 2023: *LLaMA: open and efficient foundation language models*.
        /// - Andrej Karpathy, 2023: *Let's build GPT: from scratch, in code, spelled out*. A video of
        ///   two hours.
        /// - The notebook `05_temperature`: a GPT that writes at every temperature.
        lesson.try_next(
            {{"Run it with --text and a book of yours.",
              "It learns that book's letters, then its short words, then its way of speaking."},
             {"In window_at, let writes begin at `first` instead of `first + 1`.",
              "The loss falls to 0: it copies what it reads. Samples repeat the last character of the "
              "prompt, a blank, for ever, and claims fail."},
             {"In main, set .layers to 1.",
              "The loss ends higher: one layer can look back, but cannot combine what it found."}});
      });
}
