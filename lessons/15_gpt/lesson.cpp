/// GPT is the decoder of the Transformer alone: no encoder, no cross-attention, blocks with a
/// causal mask. It has one task, at every place of a text: what comes next? The text is its own
/// teacher, nobody labels anything.
///
///     h_0 = embedding(x) + positions          (B, T, C)
///     h_l = Block_l(h_{l-1})                  each token sees itself and what came before
///     logits = LayerNorm(h_N) Eᵀ              (B, T, V), E the embedding once more
///
/// Letters for sizes: B batch, T time, C channels, V vocabulary (here: the characters that occur).
#include <algorithm>  // find, max, min, minmax_element
#include <cmath>      // log
#include <iterator>   // ssize
#include <set>        // set

#include "core/autograd.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/decode.hpp"
#include "nn/text/characters.hpp"
#include "nn/text/toy_languages.hpp"
#include "nn/text/vocabulary.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

// The text, cut into characters: the last tenth is kept back, to be guessed but never learned from.
struct Text {
  CharacterVocabulary vocabulary;
  std::vector<int> training, unseen;
  std::string training_text;
  std::string prompt;                                         // how samples begin
  bool is_own;                                                // the learner's file, of which we know nothing
  Index characters() const { return vocabulary.size() - 4; }  // without <pad>, <bos>, <eos>, <unk>
};

std::string read_text(const std::string& path) {
  const std::string text = read_file(path);
  if (const std::size_t bad = first_invalid_byte(text); bad != std::string::npos)
    fail("--text {}: byte {} is not UTF-8; save the file as UTF-8 text", path, bad);
  if (text.size() < 2000)
    fail("--text {}: {} bytes are too few to learn from; give at least 2000", path, text.size());
  return text;
}

Text load_text(const Lesson& lesson, const std::string& path) {
  std::string all;
  if (path.empty())
    for (const std::string& story : small_stories(lesson.fast ? 400 : 3000, lesson.seed)) all += story + "\n";
  else
    all = read_text(path);
  Text text{CharacterVocabulary::learn({all}), {}, {}, {}, "Anna had a ", !path.empty()};
  const std::vector<int> ids = text.vocabulary.encode(all);
  const auto cut = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() * 9 / 10);
  text.training.assign(ids.begin(), cut);
  text.unseen.assign(cut, ids.end());
  text.training_text = text.vocabulary.decode(text.training);
  if (text.is_own) text.prompt = text.vocabulary.decode({text.unseen.begin(), text.unseen.begin() + 10});
  return text;
}

// Windows of T + 1 characters: the model reads the first T and has to write the last T.
struct Windows {
  IntTensor reads, writes;  // (B, T): writes(b, t) = reads(b, t + 1), and one character more
};

// One window has T lessons.
Windows window_at(const std::vector<int>& text, Index start, Index T) {
  const auto first = text.begin() + start;
  return {IntTensor({1, T}, {first, first + T}), IntTensor({1, T}, {first + 1, first + 1 + T})};
}

// A batch: B of them from anywhere in the text.
Windows random_windows(const std::vector<int>& text, Index B, Index T, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<int> reads, writes;
  for (Index b = 0; b < B; ++b) {
    const Windows one = window_at(text, rng.below(std::ssize(text) - T), T);
    reads.insert(reads.end(), one.reads.data(), one.reads.data() + T);
    writes.insert(writes.end(), one.writes.data(), one.writes.data() + T);
  }
  return {IntTensor({B, T}, reads), IntTensor({B, T}, writes)};
}

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

double own_teacher(Lesson& lesson, const Text& text) {
  /// ## A text is its own teacher
  ///
  /// Cut seven characters out of a text. At each of the first six the model is asked for the next one: six
  /// lessons from one window, all at once, because the causal mask (lesson 07) hides what would give the
  /// answer away.
  const std::string word = "the cat";
  std::vector<std::vector<std::string>> rows(2);
  rows[0] = {"reads"}, rows[1] = {"writes"};
  std::vector<std::string> header = {"place"};
  for (Index t = 0; t + 1 < std::ssize(word); ++t) {
    header.push_back(fmt::format("{}", t));
    rows[0].push_back(printable(word.substr(t, 1)));
    rows[1].push_back(printable(word.substr(t + 1, 1)));
  }
  lesson.table(header, rows);
  /// The target is the input, one place further. The loss is the mean surprise:
  ///
  /// $$ loss = −1/T Σ log P(x_{t+1} | x_1 … x_t) $$
  lesson.say(
      "Text here: {} characters to learn from, {} kept back, {} different ones. The simplest model counts "
      "which character follows which, and sees no further back than one:",
      text.training.size(), text.unseen.size(), text.characters());
  const Tensor counts = count_pairs(text);
  const Index n = std::min<Index>(2000, std::ssize(text.unseen) - 1);
  const double by_loops = pair_loss_by_loops(counts, text.unseen, n);
  const Windows window = window_at(text.unseen, 0, n);
  const double by_tensors = cross_entropy(embedding(log(counts), window.reads), window.writes).item();
  lesson.claim(std::fabs(by_loops - by_tensors) < 1e-3,
               "the counts' loss on unseen text is {:.3f} by loops and {:.3f} by cross_entropy; guessing "
               "blindly costs log {} = {:.3f}",
               by_loops, by_tensors, text.characters(), std::log(double(text.characters())));
  return by_loops;
}

/// ## Half a Transformer
///
/// GPT keeps the decoder and drops the encoder: with nobody to translate, there is nothing to cross-attend
/// to. Each block normalises first (pre-norm, lesson 10): x + f(LN(x)). So the sum x itself is never
/// normalised on the way up, and one more norm at the end has to do it before the logits.
///
/// $$ logits = LayerNorm(Block_2(Block_1(E[x] + P))) Eᵀ $$
void part_by_part(Lesson& lesson, const Gpt& model, const Text& text) {
  const NoGrad no_grad;
  const Index T = model.config.max_length;
  const IntTensor tokens = window_at(text.unseen, 0, T).reads;
  const Tensor logits = model(tokens);                               // (1, T, V)
  const Tensor states = model.stack(model.token_embedding(tokens));  // (1, T, C)
  const std::vector<real> squares = mean(states * states, 2).values();
  const auto [smallest, largest] = std::minmax_element(squares.begin(), squares.end());
  lesson.claim(
      *smallest > 0.99 && *largest < 1.01,
      "whatever the blocks have added up, after the last norm the mean square is 1 at every position: "
      "between {:.4f} and {:.4f}",
      *smallest, *largest);
  // A score is a product with a row of E: how much is this state like the embedding of `v`?
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
  lesson.claim(before < 1e-5 && max_difference(logits, others) > 1e-3,
               "another last character changes nothing before it (by {:.0e}): no place sees the future",
               before);

  const std::vector<PartCount> parts = count_by_part(parameters_of(model), 1);
  std::vector<std::vector<std::string>> rows;
  for (const PartCount& part : parts) rows.push_back({part.part, fmt::format("{}", part.count)});
  rows.push_back({"all", fmt::format("{}", parameters_of(model).count())});
  lesson.table({"part", "numbers to learn"}, rows);
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

// A text on one line, to be printed; a word without end is cut.
std::string one_line(const std::string& text) {
  std::string line, short_words;
  for (const char c : text) line += c == '\n' ? std::string(" / ") : std::string(1, c);
  for (const std::string_view word : split_at_spaces(line)) {
    if (!short_words.empty()) short_words += ' ';
    short_words += viz::shorten(word, 400);
  }
  return short_words;
}

// How many of the words that it wrote does the training text have? (The last may be cut off.)
double known_words(const std::string& written, const Text& text) {
  const std::vector<std::string> known = split_words(text.training_text), words = split_words(written);
  const std::set<std::string> set(known.begin(), known.end());
  double right = 0;
  const Index whole = words.size() > 1 ? std::ssize(words) - 1 : std::ssize(words);
  for (Index i = 0; i < whole; ++i) right += set.count(words[i]) ? 1 : 0;
  return whole ? right / double(whole) : 0;
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
  const Index T = model.config.max_length, B = lesson.fast ? 8 : 16, steps = lesson.fast ? 600 : 2000;
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
       .schedule = {.kind = ScheduleKind::cosine, .peak = 4e-3, .warmup = 20, .total = steps, .floor = 2e-4},
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
void training_with_samples(Lesson& lesson, const Gpt& model, const Text& text, double pair_loss) {
  lesson.say(
      "At each step: a few random windows, the loss, its gradient, one update. Now and then it continues "
      "`{}`, drawing each character from its own distribution (temperature 0.5, lesson 14) and reading it "
      "back in as if it had been there all along. (A slash stands for the end of a line.)",
      one_line(text.prompt));
  const Training training = train_gpt(lesson, model, text);
  std::vector<viz::TokenRow> rows;
  for (const Sample& one : training.samples) {
    std::vector<viz::Token> words = {viz::Token(one_line(text.prompt), 0)};
    for (const auto& word : split_at_spaces(one.written)) words.emplace_back(std::string(word));
    rows.push_back({.name = fmt::format("step {}", one.step),
                    .detail = fmt::format("{:.0f}% known words", 100 * one.known),
                    .tokens = words,
                    .boxed = false});
    lesson.say("After {} steps: {}", one.step, one_line(text.prompt + one.written));
  }
  lesson.picture(
      "samples.png",
      viz::token_rows(rows, {.title = "The same prompt, continued as training goes on",
                             .legend = {{"given", 0}, {"written by the model", -1}}}),
      "Samples by step",
      "From top to bottom: nonsense, then short words that are frequent, then sentences with mistakes, then "
      "stories. Known words are words of the training text.");

  std::vector<double> losses, steps, unseen;
  for (const TrainPoint& point : training.history.steps) losses.push_back(point.loss);
  for (const ValidationPoint& point : training.history.validations)
    steps.push_back(double(point.step)), unseen.push_back(point.loss);
  const viz::ChartOptions chart{.title = "Learning to guess the next character",
                                .x_title = "step",
                                .y_title = "cross-entropy (nats per character)",
                                .y_low = 0,
                                .y_guides = {{.at = pair_loss, .label = "counting pairs"}}};
  const std::vector<viz::Series> series = {{.name = "training", .y = losses, .smooth = 0.9},
                                           {.name = "unseen text", .y = unseen, .x = steps, .points = true}};
  lesson.line_chart(series, chart);
  lesson.picture("loss.png", viz::line_chart(series, chart), "Loss of a character GPT",
                 "It passes the dashed line, which is all that can be known from one character back.");
  const double last = unseen.back();
  const double blind = std::log(double(text.characters()));
  lesson.claim(last < (text.is_own ? blind : (lesson.fast ? 0.9 : 0.5) * pair_loss),
               "on unseen text {:.2f} nats a character ({:.2f} bits), where counting pairs has {:.2f}", last,
               last / std::log(2.0), pair_loss);
  if (!text.is_own)
    lesson.claim(
        training.samples.back().known > (lesson.fast ? 0.3 : 0.8),
        "{:.0f}% of the words in its last sample are words of the training text; {:.0f}% were before "
        "training",
        100 * training.samples.back().known, 100 * training.samples.front().known);
}

// The mean loss at each place of the window: place 0 knows one character, the last one knows T.
std::vector<double> loss_by_place(const Gpt& model, const Text& text) {
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
void what_it_looks_at(Lesson& lesson, const Gpt& model, const Text& text, double pair_loss) {
  const std::vector<double> losses = loss_by_place(model, text);
  const Index T = model.config.max_length;
  const double first = (losses[0] + losses[1]) / 2;
  double later = 0;
  for (Index t = T / 2; t < T; ++t) later += losses[t] / double(T - T / 2);
  lesson.say(
      "Does it use more than the last characters? The loss at each place of a window tells: at place 0 it "
      "has seen one character, at place {} it has seen {}.",
      T - 1, T);
  lesson.picture(
      "loss_by_place.png",
      viz::line_chart({{.name = "unseen text", .y = losses, .points = true}},
                      {.title = "The more it has read, the better it guesses",
                       .x_title = "place in the window",
                       .y_title = "cross-entropy (nats)",
                       .y_low = 0,
                       .y_guides = {{.at = pair_loss, .label = "counting pairs"}}}),
      "Loss by place",
      "At place 0 it knows one character, like the counts (dashed), and does about as well. Each further "
      "character helps, most of all within the first ten.");
  lesson.claim(later < first, "{:.2f} nats at the first two places, {:.2f} in the second half of the window",
               first, later);

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
                 "at one place, often at where a word begins.");
  lesson.picture("attention_head.png", viz::open_heatmap(grid, sharpest_name),
                 fmt::format("One head in full: {}", sharpest_name),
                 fmt::format("Of all heads it gives most to the character before ({:.0f}%). Follow a row to "
                             "see what a character looks back at.",
                             100 * sharpest));
}

/// ## Longer than its table of positions
void beyond_the_window(Lesson& lesson, const Gpt& model, const Text& text) {
  const Index T = model.config.max_length;
  lesson.say(
      "The positions are a learned table with {} rows. There is no row for position {}: a longer text cannot "
      "be read at once. To write on, the model forgets the oldest part and goes on with the newest.",
      T, T);
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
        one_line(text.prompt + continue_text(model, text, text.prompt, 70, temperature, lesson.seed)));
}

}  // namespace

int main(int argc, char** argv) {
  std::string path;
  return run_lesson(
      argc, argv,
      {.name = "15_gpt",
       .question = "Can a model that only guesses the next character write a story?",
       .add_options =
           [&](Options& options) {
             options.add("--text", &path,
                         {.value = "FILE", .help = "learn from this text instead of the stories"});
           }},
      [&](Lesson& lesson) {
        const Text text = load_text(lesson, path);
        const double pair_loss = own_teacher(lesson, text);
        Rng rng(lesson.seed);
        const Gpt model(gpt_config({.vocabulary = text.vocabulary.size(),
                                    .d_model = 64,
                                    .heads = 4,
                                    .layers = 2,
                                    .max_length = lesson.fast ? 32 : 64}),
                        rng);
        part_by_part(lesson, model, text);
        training_with_samples(lesson, model, text, pair_loss);
        what_it_looks_at(lesson, model, text, pair_loss);
        beyond_the_window(lesson, model, text);
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
