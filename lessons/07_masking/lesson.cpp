/// How does a model learn to write? It reads a sentence, `the cat drank milk`, and at every position it
/// guesses the next word: after `the` comes `cat`, after `the cat` comes `drank`. In training the whole
/// sentence is there, so all these guesses are made at once. But attention looks everywhere (lesson 06). At
/// `cat` it can simply read the answer, `drank`, one position to the right. It would learn to copy, score
/// almost perfectly, and be lost as soon as it has to write, when the next word is not there yet.
///
/// So the future has to be hidden. A **mask** is a matrix of what may be seen: visible(i, j) is 1 if query i
/// may look at key j, and 0 if not. A *key* is hidden, never a query: hidden keys get no weight. There are
/// two masks that every model needs:
///
/// | mask | visible if | so that |
/// |---|---|---|
/// | causal | j <= i | no word sees the words after it |
/// | padding | j < length | no word sees the filler after a short sentence |
#include <cmath>       // exp, fabs, isnan, log, sqrt
#include <functional>  // function
#include <iterator>    // ssize
#include <limits>      // infinity

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/07_masking/letters.hpp"
#include "lessons/07_masking/pictures.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/transformer.hpp"

using namespace attn;

namespace {

const std::vector<std::string> words = {"the", "cat", "drank", "milk"};
constexpr Index cat = 1, drank = 2;

// How well each query fits each key: made up, so that every word is most curious about what comes next.
Tensor curious_scores() {
  return tensor({{0.5, 2.0, 0.1, 0.3},    // the
                 {0.2, 0.6, 2.5, 0.9},    // cat
                 {0.1, 1.0, 0.4, 2.2},    // drank
                 {0.3, 0.8, 1.2, 0.7}});  // milk
}

// w_j = exp(s_j) / Σ exp(s_m), where j and m run over the visible keys alone.
std::vector<double> share_out(const Tensor& scores, const Tensor& visible, Index query) {
  const Index S = scores.size(1);
  std::vector<double> weights(S, 0.0);
  double sum = 0;
  for (Index j = 0; j < S; ++j)
    if (visible(query, j) != 0) sum += std::exp(scores(query, j));
  for (Index j = 0; j < S; ++j)
    if (visible(query, j) != 0) weights[j] = std::exp(scores(query, j)) / sum;
  return weights;  // nothing visible: all 0
}

double difference_from_loops(const Tensor& scores, const Tensor& visible, const Tensor& weights) {
  double worst = 0;
  for (Index i = 0; i < scores.size(0); ++i) {
    const std::vector<double> by_hand = share_out(scores, visible, i);
    for (Index j = 0; j < scores.size(1); ++j) worst = std::max(worst, std::fabs(by_hand[j] - weights(i, j)));
  }
  return worst;
}

/// ## Hide first, then softmax
///
/// Four words, each of which has to guess the next one. The scores are made up so that each word is most
/// curious about the word after it. Softmax over all keys gives most of the attention of `cat` to the
/// answer, `drank`. With the causal mask softmax runs over the visible keys alone, `the` and `cat`. For each
/// key, exp(score) divided by the sum of those that count:
void hide_then_share(Lesson& lesson) {
  const Tensor scores = curious_scores();
  const Tensor visible = causal_mask(4);  // (T, T): 1 where j <= i
  const Tensor open = softmax(scores);
  const std::vector<double> honest = share_out(scores, visible, cat);
  std::vector<std::vector<std::string>> rows;
  double all = 0, seen = 0;
  for (Index j = 0; j < 4; ++j) {
    const double share = std::exp(scores(cat, j)), kept = visible(cat, j) * share;
    all += share, seen += kept;
    rows.push_back({words[j], fmt::format("{:.1f}", scores(cat, j)), fmt::format("{:.2f}", share),
                    fmt::format("{:.3f}", open(cat, j)), fmt::format("{:.2f}", kept),
                    fmt::format("{:.3f}", honest[j])});
  }
  rows.push_back({"sum", "", fmt::format("{:.2f}", all), "1.000", fmt::format("{:.2f}", seen), "1.000"});
  lesson.table({"cat looks at", "score", "exp(score)", "weight", "visible exp", "masked weight"}, rows);
  lesson.claim(
      open(cat, drank) > 0.5 && honest[drank] == 0,
      "without a mask `cat` gives {:.0f}% of its attention to `drank`, the word it has to guess; with "
      "it, {:.0f}%",
      100 * open(cat, drank), 100 * honest[drank]);

  /// Loops can skip a key; a matrix product cannot. So tensors do it with a number: add a **bias** of −∞ to
  /// each hidden score. Since exp(−∞) = 0, softmax itself leaves that key out, and the others sum to 1:
  ///
  /// $$ weights = softmax(scores + bias),   bias = 0 where visible, −∞ where hidden $$
  const Tensor weights = softmax(scores + bias_of(visible));  // (T, T)
  const double difference = difference_from_loops(scores, visible, weights);
  lesson.claim(difference < 1e-6,
               "loops that skip and −∞ before the softmax agree: largest difference {:.1e}", difference);
  const viz::HeatmapOptions map{.title = "weights",
                                .x_title = "keys",
                                .y_title = "queries",
                                .row_labels = words,
                                .column_labels = words,
                                .low = 0,
                                .high = 1,
                                .color_bar = false,
                                .numbers = true};
  lesson.heatmap(matrix_of(weights), map);
  lesson.picture(
      "masking.png", scores_to_weights(scores, visible, weights, map), "Scores, mask, weights",
      "The mask is a bias: 0 keeps a score, −∞ (grey) removes it. After the softmax the future, the "
      "upper right triangle, has no weight, and each row of what is left sums to 1. The first word "
      "sees only itself.");
}

/// ## Three ways that do not hide
///
/// The row of `cat` again, hidden in four ways. Only the first is right:
void three_ways_that_fail(Lesson& lesson) {
  const Tensor scores = curious_scores(), visible = causal_mask(4);
  const Tensor right = softmax(scores + bias_of(visible));
  const Tensor zeroed = softmax(scores * visible);
  const Tensor afterwards = softmax(scores) * visible;
  const Tensor transposed = softmax(scores + bias_of(transpose(visible)));
  const auto row_of = [](const std::string& name, const Tensor& w) {
    std::vector<std::string> row = {name};
    for (Index j = 0; j < 4; ++j) row.push_back(fmt::format("{:.3f}", w(cat, j)));
    row.push_back(fmt::format("{:.3f}", sum(w[cat]).item()));
    return row;
  };
  lesson.table({"", "the", "cat", "drank", "milk", "sum"},
               {row_of("−∞ before softmax", right), row_of("scores × 0", zeroed),
                row_of("weights × 0 after", afterwards), row_of("mask transposed", transposed)});
  lesson.claim(zeroed(cat, drank) > 0.1,
               "a score of 0 hides nothing: exp(0) = 1, and `drank` still gets a weight of {:.2f}",
               zeroed(cat, drank));
  lesson.claim(
      sum(afterwards[cat]).item() < 0.5,
      "masked after the softmax, the weights of `cat` sum to {:.2f} instead of 1: how much is missing "
      "tells how well the hidden words fit",
      sum(afterwards[cat]).item());
  lesson.claim(transposed(cat, 0) == 0 && transposed(cat, drank) > 0.5,
               "with rows and columns exchanged `cat` sees the future and not the past: {:.2f} on `drank`",
               transposed(cat, drank));
}

/// ## Padding: hide columns, not rows
///
/// A batch is one tensor, so its sentences must have one length: short ones are filled up with the special
/// token `<pad>`. Filler is not text, and no word may look at it: its *columns* are hidden, for every query.
/// Its rows stay. They compute something, but nobody reads it, and the loss leaves them out (lesson 12).
/// Here is `dogs bark` with two fillers. A key is visible if both masks allow it, and for 0 and 1 that is a
/// product:
void padding(Lesson& lesson) {
  const IntTensor lengths({2}, {4, 2});          // of a batch of two sentences; this is the second
  const Tensor keys = padding_mask(lengths, 4);  // (B, 1, 1, S): 1 for real keys
  const Tensor both = causal_mask(4) * keys;     // (B, 1, T, S): both must allow it
  const std::vector<std::string> short_words = {"dogs", "bark", "<pad>", "<pad>"};
  const viz::HeatmapOptions map{.title = "causal × padding",
                                .x_title = "keys",
                                .y_title = "queries",
                                .row_labels = short_words,
                                .column_labels = short_words,
                                .low = 0,
                                .high = 1,
                                .color_bar = false,
                                .numbers = true,
                                .decimals = 0,
                                .cell = 60};
  const Tensor all_rows = broadcast_to(slice(keys, 0, 1, 2), {1, 1, 4, 4});
  lesson.heatmap(matrix_of(both, {1, 0}), map);
  lesson.picture(
      "padding.png", both_masks(causal_mask(4), all_rows[0][0], both[1][0], map), "Causal, padding, both",
      "1 is visible, grey is hidden. Padding hides whole columns, the causal mask a triangle. What is "
      "left is allowed by both.");

  /// The test of a padding mask: put garbage into the filler, and see whether the words notice. Each filler
  /// becomes a row of +1000 and −1000 at random:
  Rng rng(lesson.seed);
  const Tensor x = normal({2, 4, 6}, rng);
  const Tensor garbage = from_values(x.shape(), x.values());
  for (Index t = 2; t < 4; ++t)
    for (Index c = 0; c < 6; ++c) garbage(1, t, c) = rng.below(2) ? 1000 : -1000;
  const auto attend = [](const Tensor& y, const Tensor& visible) {
    const Tensor h = reshape(y, {2, 1, 4, 6});  // (B, 1, T, D)
    return scaled_dot_product_attention(h, h, h, bias_of(visible)).output;
  };
  const auto moved_by = [&](const Tensor& visible) {
    return max_difference(slice(attend(x, visible)[1], 1, 0, 2), slice(attend(garbage, visible)[1], 1, 0, 2));
  };
  const double columns = moved_by(keys), rows = moved_by(transpose(keys));
  lesson.claim(
      columns < 1e-6 && rows > 100,
      "it moves the outputs of `dogs` and `bark` by {:.0f} if its columns are hidden, and by {:.0f} if its "
      "rows are hidden instead",
      columns, rows);
}

/// ## A row with nothing to see
///
/// Some programs put the filler at the front. Then the first query sees filler only: all its scores are −∞,
/// and softmax divides 0 by 0. That is NaN, *not a number*, and one NaN spoils every number computed from
/// it. A common way round is a large negative number in place of −∞; then the row looks at everything it
/// should not see. This library gives zeros: nothing visible, no weights. The row of the first filler, three
/// ways:
void nothing_to_see(Lesson& lesson) {
  Tensor visible = causal_mask(3);
  for (Index i = 0; i < 3; ++i) visible(i, 0) = 0;  // the first token is filler
  const std::vector<std::string> tokens = {"<pad>", "dogs", "bark"};
  const Tensor scores = tensor({{0.3, 0.1, 0.2}, {0.4, 0.9, 0.5}, {0.2, 0.7, 0.6}});
  const Tensor ours = softmax(scores + bias_of(visible)), large = softmax(scores + (visible - 1) * real(1e9));
  const real hidden = std::exp(-std::numeric_limits<real>::infinity()), by_formula = hidden / (3 * hidden);
  std::vector<std::vector<std::string>> rows = {
      {"exp(−∞) / (3 exp(−∞))"}, {"−1,000,000,000"}, {"this library"}};
  for (Index j = 0; j < 3; ++j) {
    rows[0].push_back(fmt::format("{}", std::isnan(by_formula) ? "NaN" : "a number"));
    rows[1].push_back(fmt::format("{:.2f}", large(0, j)));
    rows[2].push_back(fmt::format("{:.2f}", ours(0, j)));
  }
  lesson.table({"<pad> looks at", "<pad>", "dogs", "bark"}, rows);
  lesson.claim(std::isnan(by_formula) && large(0, 2) > 0.3 && sum(ours[0]).item() == 0,
               "the formula gives NaN; a large negative number gives {:.0f}% to `bark`, two positions in the "
               "future; zeros are safe",
               100 * large(0, 2));
}

Stack small_stack(std::uint64_t seed, Index layers) {
  Rng rng(seed);
  return Stack({.d_model = 16, .heads = 2, .decoder_layers = layers, .d_ff = 32, .dropout = 0},
               BlockKind::decoder_only, rng);
}

/// ## One pass equals T passes
///
/// When it writes, a model has only the beginning: the first pass reads one word, the second two, and so on.
/// With the mask, one pass over the whole sentence gives all these answers at once, since no word knows what
/// comes after it. So a sentence of T words is T training examples for the price of one. Let us try it on
/// two whole blocks (a *block* is attention and a small network for each token, lesson 10) and 12 tokens:
void one_pass(Lesson& lesson) {
  const NoGrad no_grad;
  const Stack stack = small_stack(lesson.seed, 2);
  Rng rng(lesson.seed + 1);
  const Index T = 12;
  const Tensor x = normal({1, T, 16}, rng);
  const Tensor together = stack(x);  // (1, T, C)
  double worst = 0;
  for (Index t = 1; t <= T; ++t) {
    const Tensor alone = stack(slice(x, 1, 0, t));  // (1, t, C): the future does not exist here
    worst = std::max(worst, max_difference(select(alone, 1, -1), select(together, 1, t - 1)));
  }
  lesson.claim(worst < 1e-4,
               "one masked pass and {} passes over ever longer beginnings: largest difference {:.1e}", T,
               worst);
}

// moved(i, t): how far output i moves when token t is replaced by another.
Tensor influence(const std::function<Tensor(const Tensor&)>& model, const Tensor& x, Rng& rng) {
  const NoGrad no_grad;
  const Index T = x.size(1), C = x.size(2);
  const Tensor before = model(x);  // (1, T, C)
  Tensor moved = zeros({T, T});
  for (Index t = 0; t < T; ++t) {
    const Tensor changed = from_values(x.shape(), x.values());
    for (Index c = 0; c < C; ++c) changed(0, t, c) = real(rng.normal());
    const Tensor after = model(changed);
    for (Index i = 0; i < T; ++i)
      for (Index c = 0; c < C; ++c)
        moved(i, t) = std::max(moved(i, t), std::fabs(after(0, i, c) - before(0, i, c)));
  }
  return moved;
}

double largest_leak(const Tensor& moved) {  // above the diagonal: an output that moved before its cause
  double leak = 0;
  for (Index i = 0; i < moved.size(0); ++i)
    for (Index t = i + 1; t < moved.size(1); ++t) leak = std::max(leak, double(moved(i, t)));
  return leak;
}

// `j <= i + 1` for `j <= i`: each token sees its successor.
Tensor leaky_mask(Index T) {
  const Tensor visible = zeros({T, T});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j <= std::min(i + 1, T - 1); ++j) visible(i, j) = 1;
  return visible;
}

/// ## The leak detector
///
/// A mask that lets something through is a *leak*. It throws no error, and the numbers look fine, even better
/// than fine. But it can be measured: replace token t, run the model again, and see which outputs move.
/// Outputs before t must not. The same two blocks, once with the right mask and once with a common slip, `j
/// <= i + 1`, by which each token sees its successor:
void leak_detector(Lesson& lesson) {
  const Index T = 8;
  const Stack stack = small_stack(lesson.seed, 2);
  Rng rng(lesson.seed + 2);
  const Tensor x = normal({1, T, 16}, rng);
  const auto model_with = [&](const Tensor& visible) {
    return [&stack, visible](const Tensor& y) {
      Tensor h = y;
      for (const Block& block : stack.blocks) h = block(h, {.mask = {.bias = bias_of(visible)}});
      return h;
    };
  };
  const auto right = model_with(causal_mask(T)), wrong = model_with(leaky_mask(T));
  const Tensor honest = influence(right, x, rng), leaky = influence(wrong, x, rng);
  lesson.claim(largest_leak(honest) < 1e-6, "right mask: outputs before the change move by {:.0f}",
               largest_leak(honest));
  lesson.claim(largest_leak(leaky) > 1e-3, "`j <= i + 1`: outputs before the change move by up to {:.2f}",
               largest_leak(leaky));
  lesson.claim(leaky(0, 2) > 1e-5 && leaky(0, 3) < 1e-6,
               "and a leak reaches further with depth: after two blocks token 2 moves output 0 by {:.3f}, "
               "by way of output 1; token 3 does not yet",
               leaky(0, 2));
  std::vector<std::string> tokens;
  for (Index t = 0; t < T; ++t) tokens.push_back(fmt::format("{}", t));
  viz::HeatmapOptions map{.title = "right mask",
                          .x_title = "token that was replaced",
                          .y_title = "output that moved",
                          .row_labels = tokens,
                          .column_labels = tokens,
                          .low = -7,
                          .high = 0,
                          .value_title = "moved by (power of ten)"};
  viz::HeatmapOptions leak = map;
  leak.title = "sees its successor";
  const auto powers = [](const Tensor& moved) {
    return matrix_of(log(moved + real(1e-7)) / real(std::log(10.0)));
  };
  lesson.heatmap(matrix_of(leaky), {.title = "Moved by, if each token sees its successor",
                                    .x_title = map.x_title,
                                    .y_title = map.y_title,
                                    .row_labels = tokens,
                                    .column_labels = tokens,
                                    .low = 0,
                                    .high = 1,
                                    .numbers = true});
  lesson.picture("leak.png",
                 viz::row({viz::heatmap(powers(honest), map), viz::heatmap(powers(leaky), leak)},
                          {.title = "Replace a token: which outputs move?"}),
                 "The leak detector",
                 "Above the diagonal lies the future. Left: nothing there moves. Right: two diagonals of it "
                 "shine through, one for each block.");

  /// The gradient tells the same without any replacement: if output i does not depend on token t, the
  /// derivative of the one with respect to the other is exactly 0. One `backward` from output 2 alone:
  const auto gradient_at = [&](const std::function<Tensor(const Tensor&)>& model, Index token) {
    const Tensor input = from_values(x.shape(), x.values()).requires_grad();
    Rng directions(lesson.seed);
    backward(sum(select(model(input), 1, 2) * normal({1, 16}, directions)));
    const Tensor slopes = select(input.grad(), 1, token);
    return std::sqrt(double(sum(slopes * slopes).item()));
  };
  lesson.claim(
      gradient_at(right, 2) > 0 && gradient_at(right, 3) == 0 && gradient_at(wrong, 3) > 0,
      "the gradient of output 2 at token 3 is {:.0f} with the right mask and has length {:.1f} with the leak",
      gradient_at(right, 3), gradient_at(wrong, 3));
}

// The same number of several runs: their mean, the smallest and the largest.
struct Range {
  double mean = 0, low = std::numeric_limits<double>::infinity(), high = -low;

  Range(const std::vector<Trained>& runs, double Trained::*number) {
    for (const Trained& run : runs) {
      mean += run.*number / double(runs.size());
      low = std::min(low, run.*number), high = std::max(high, run.*number);
    }
  }
  std::string text() const { return fmt::format("{:.3f} ({:.3f} to {:.3f})", mean, low, high); }
};

/// ## What a leak does to training
void train_the_leak(Lesson& lesson) {
  const double floor = honest_floor(), blind = std::log(double(symbols));
  lesson.say(
      "A text of {} letters: half of the time a letter is followed by the next one of the alphabet, "
      "otherwise by any letter at all. A model that knows this rule, but not the future, has a cross-entropy "
      "of {:.3f} nats per letter (nats, because the logarithm is the natural one). No honest model can do "
      "better: that is the floor. Blind guessing costs log {} = {:.3f}. The same model is trained on rows of "
      "16 letters with the right mask and with the leaking one, five times each with different seeds. Then "
      "it meets new text, first with the mask of its training, then as it will be used, when the future is "
      "not there to be seen (mean, and smallest to largest of five):",
      symbols, floor, symbols, blind);
  const Index T = 16, steps = lesson.fast ? 200 : 600;
  std::vector<Trained> honest, leaky;
  for (std::uint64_t run = 0; run < 5; ++run) {
    honest.push_back(train_with(causal_mask(T), lesson.seed + run, steps));
    leaky.push_back(train_with(leaky_mask(T), lesson.seed + run, steps));
  }
  const Range honest_loss(honest, &Trained::as_trained), honest_use(honest, &Trained::no_future),
      leaky_loss(leaky, &Trained::as_trained), leaky_use(leaky, &Trained::no_future),
      leaky_last(leaky, &Trained::last_position);
  lesson.table(
      {"mask in training", "loss, same mask", "loss, no future"},
      {{"right", honest_loss.text(), honest_use.text()}, {"leaking", leaky_loss.text(), leaky_use.text()}});
  lesson.claim(
      leaky_loss.high < 0.2 * floor,
      "the leaking model reports {:.3f}, far below the floor of {:.3f}: falsely good, and on new text, "
      "too",
      leaky_loss.mean, floor);
  lesson.claim(leaky_last.low > 0.9 * floor && leaky_last.mean / double(T) > 0.5 * leaky_loss.mean,
               "it is not 0 because the last of the {} letters has no successor to copy: there the loss is "
               "{:.2f}, an honest one, and a sixteenth of that is {:.3f}",
               T, leaky_last.mean, leaky_last.mean / double(T));
  lesson.claim(honest_loss.low > floor - 0.1 && honest_loss.high < floor + 0.2,
               "the honest one ends at {:.3f}, near the floor", honest_loss.mean);
  lesson.claim(
      leaky_use.low > blind && leaky_use.low > honest_use.high,
      "when the future is really missing, the honest model pays {:.2f} and the leaking one {:.2f}: worse "
      "than blind guessing",
      honest_use.mean, leaky_use.mean);

  /// So a loss that is too good to be true is the first sign of a leak. Run the detector.
  viz::Numbers numbers;
  for (Index i = 1; i <= steps; ++i) numbers.push_back(double(i));
  lesson.picture(
      "false_loss.png",
      viz::line_chart(
          {{.name = "right mask", .y = honest[0].curve, .x = numbers, .smooth = 0.7},
           {.name = "each token sees its successor", .y = leaky[0].curve, .x = numbers, .smooth = 0.7},
           {.name = "the floor", .y = viz::Numbers(numbers.size(), floor), .x = numbers, .dashed = true}},
          {.title = "A falsely perfect loss",
           .x_title = "step",
           .y_title = "cross-entropy per letter (nats)",
           .x_scale = viz::Scale::log10,
           .y_low = 0,
           .y_guides = {{.at = blind, .label = "blind guessing"}}}),
      "Training with and without the leak",
      "The honest curve comes down to the floor and stays there. The other falls through it: it copies the "
      "answer.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "07_masking", .question = "How is the future hidden?"}, [](Lesson& lesson) {
        hide_then_share(lesson);
        three_ways_that_fail(lesson);
        padding(lesson);
        nothing_to_see(lesson);
        one_pass(lesson);
        leak_detector(lesson);
        train_the_leak(lesson);
        /// ## Which model hides what
        ///
        /// | attention of | hidden |
        /// |---|---|
        /// | an encoder, as in BERT (lesson 16) | padding |
        /// | a decoder, as in GPT (15) | padding and the future |
        /// | a decoder that looks at the encoder (11) | the padding of the source |
        /// | a prefix language model (17) | padding, and the future after the prefix |
        /// | a sliding window, as in Mistral (18) | also what is too far back |
        ///
        /// In other libraries, look up what `true` means before you pass a mask. In PyTorch's
        /// `scaled_dot_product_attention` it marks a key that takes part; in its `MultiheadAttention` it
        /// marks a key that is hidden.
        ///
        /// ## Check yourself
        ///
        /// - **What is a mask for?** It keeps a query from looking at keys that it must not use: words it is
        ///   still to guess, and filler that is not text.
        /// - **What goes in, and where?** A bias of 0 and −∞, (T, S) or (B, 1, T, S), added to the scores
        ///   *before* the softmax. Rows are queries, columns are keys; the weights of each row sum to 1 over
        ///   the visible keys.
        /// - **What goes wrong without the causal mask?** The model copies the next word from its input. The
        ///   training loss is almost perfect, and the model is useless when it has to write.
        ///
        /// ## Read on
        ///
        /// - Vaswani et al., 2017: *Attention is all you need*, section 3.2.3. Three uses of attention, and
        ///   −∞ in the decoder's.
        /// - Rush, 2018: *The annotated transformer*. The same in a few lines of PyTorch, with a picture of
        ///   the mask.
        /// - Karpathy, 2019: *A recipe for training neural networks*. "Use backprop to chart dependencies"
        ///   is the leak detector by gradients.
        /// - Raffel et al., 2020: *Exploring the limits of transfer learning with a unified text-to-text
        ///   transformer* (T5), section 3.2.1. Which attention pattern suits which task.
        lesson.try_next(
            {{"In leaky_mask, write `i` for `i + 1`.",
              "The claims about the leak fail: the detector finds none, and both models stop at the floor."},
             {"In leak_detector, make three blocks of the two (small_stack(lesson.seed, 3)).",
              "Three diagonals of the future shine through, and the claim that output 0 does not know token "
              "3 fails."},
             {"In half_random_text (letters.cpp), draw every letter at random (write `true` for `t == 0 || "
              "rng.below(2)`).",
              "The honest model can do no better than blind guessing, 2.08 (so the claim about the floor "
              "fails); the leaking one is still near 0."}});
      });
}
