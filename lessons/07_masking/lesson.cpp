/// A model that writes is trained to say the next word at every place of a sentence at once. But attention
/// looks everywhere, so at `cat` it could simply read the answer, `drank`, which stands one place to the
/// right. A mask is a matrix of what may be seen: visible(i, j) = 1 if query i may look at key j.
///
/// | mask | visible if | so that |
/// |---|---|---|
/// | causal | j <= i | nobody sees the future |
/// | padding | j < length | nobody sees the filler behind a short sentence |
///
/// What is hidden gets the score -∞ before the softmax: exp(-∞) = 0, no weight, and the rest sums to 1.
#include <cmath>       // exp, log
#include <functional>  // function
#include <iterator>    // ssize
#include <limits>      // infinity

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/transformer.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

const std::vector<std::string> words = {"the", "cat", "drank", "milk"};

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

/// ## Hide, then share out
void hide_then_share(Lesson& lesson) {
  const Tensor scores = curious_scores();
  const Tensor visible = causal_mask(4);  // (T, T): 1 where j <= i
  lesson.say(
      "Four words, each of which has to say the next one. Left alone, `cat` gives most of its attention to "
      "the answer, `drank`. So it may share its attention only among what came before, and itself:");
  const Tensor open = softmax(scores);
  const std::vector<double> honest = share_out(scores, visible, 1);
  std::vector<std::vector<std::string>> rows;
  for (Index j = 0; j < 4; ++j)
    rows.push_back({words[j], fmt::format("{:.1f}", scores(1, j)), fmt::format("{:.3f}", open(1, j)),
                    j <= 1 ? "yes" : "no", fmt::format("{:.3f}", honest[j])});
  lesson.table({"cat looks at", "score", "weight, no mask", "visible", "weight, masked"}, rows);

  /// With tensors nobody skips anything. The hidden scores become -∞, and softmax does the rest:
  ///
  /// $$ weights = softmax(scores + bias),   bias = 0 where visible, -∞ where not $$
  const Tensor weights = softmax(scores + bias_of(visible));  // (T, T)
  const double difference = difference_from_loops(scores, visible, weights);
  lesson.claim(difference < 1e-6,
               "loops that skip and -∞ before the softmax agree: largest difference {:.1e}", difference);
  const viz::HeatmapOptions map{.x_title = "keys",
                                .y_title = "queries",
                                .row_labels = words,
                                .column_labels = words,
                                .low = 0,
                                .numbers = true};
  viz::HeatmapOptions raw = map, seen = map, shared = map;
  raw.title = "scores", raw.decimals = 1;
  seen.title = "visible", seen.decimals = 0, seen.color_bar = false;
  shared.title = "weights", shared.high = 1;
  lesson.heatmap(matrix_of(weights), shared);
  lesson.picture("masking.png",
                 viz::row({viz::heatmap(matrix_of(scores), raw), viz::heatmap(matrix_of(visible), seen),
                           viz::heatmap(matrix_of(weights), shared)},
                          {.title = "From scores to weights", .between = {"hide by", "softmax →"}}),
                 "Scores, mask, weights",
                 "Look at the upper right triangle, the future: its weights are 0, and every row of what is "
                 "left still sums to 1. The first word sees only itself.");
}

/// ## Three ways that do not hide
void three_ways_that_fail(Lesson& lesson) {
  const Tensor scores = curious_scores(), visible = causal_mask(4);
  const Tensor right = softmax(scores + bias_of(visible));
  const Tensor zeroed = softmax(scores * visible);      // a score of 0 is not "nothing": exp(0) = 1
  const Tensor afterwards = softmax(scores) * visible;  // the hidden ones had their share already
  const Tensor rows_hidden = softmax(scores + bias_of(transpose(visible)));  // sees the future alone
  const auto row_of = [](const std::string& name, const Tensor& w) {
    std::vector<std::string> row = {name};
    for (Index j = 0; j < 4; ++j) row.push_back(fmt::format("{:.3f}", w(1, j)));
    row.push_back(fmt::format("{:.3f}", sum(w[1]).item()));
    return row;
  };
  /// The row of `cat` again, hidden in four ways. Only the first is right:
  lesson.table({"", "the", "cat", "drank", "milk", "sum"},
               {row_of("-∞ before the softmax", right), row_of("scores × 0", zeroed),
                row_of("weights × 0 after the softmax", afterwards), row_of("mask transposed", rows_hidden)});
  lesson.claim(zeroed(1, 2) > 0.1,
               "a score of 0 hides nothing: exp(0) = 1, and `drank` still gets a weight of {:.2f}",
               zeroed(1, 2));
  lesson.claim(sum(afterwards[1]).item() < 0.5,
               "masked after the softmax, the weights of `cat` sum to {:.2f}: the future took its share, and "
               "how much it took still tells about it",
               sum(afterwards[1]).item());
}

/// ## Padding: hide columns, not rows
///
/// Sentences of a batch are filled up to one length. The filler is not text, so nobody may look at it: its
/// *columns* are hidden, for every query. Its rows stay; what they compute is read by nobody. Here `dogs
/// bark` with two fillers; a key is visible if both masks, the causal one and the padding one, allow it:
void padding(Lesson& lesson) {
  const IntTensor lengths({2}, {4, 2});
  const Tensor keys = padding_mask(lengths, 4);  // (B, 1, 1, S): 1 for real keys
  const Tensor both = causal_mask(4) * keys;     // (B, 1, T, S): both must allow it
  const std::vector<std::string> short_words = {"dogs", "bark", "<pad>", "<pad>"};
  const viz::HeatmapOptions map{.x_title = "keys",
                                .y_title = "queries",
                                .row_labels = short_words,
                                .column_labels = short_words,
                                .low = 0,
                                .high = 1,
                                .color_bar = false,
                                .numbers = true,
                                .decimals = 0};
  viz::HeatmapOptions causal = map, padded = map, joined = map;
  causal.title = "causal", padded.title = "padding", joined.title = "both";
  const Tensor all_rows = broadcast_to(slice(keys, 0, 1, 2), {1, 1, 4, 4});
  lesson.heatmap(matrix_of(both, {1, 0}), joined);
  lesson.picture("padding.png",
                 viz::row({viz::heatmap(matrix_of(causal_mask(4)), causal),
                           viz::heatmap(matrix_of(all_rows, {0, 0}), padded),
                           viz::heatmap(matrix_of(both, {1, 0}), joined)},
                          {.title = "What may be seen", .between = {"and", "="}}),
                 "Causal, padding, both",
                 "1 is visible. Padding hides whole columns, the causal mask a triangle; what is left must "
                 "be allowed by both.");

  /// The test of a padding mask: put garbage into the filler, and see whether the words move.
  Rng rng(lesson.seed);
  const Tensor x = normal({2, 4, 6}, rng);
  Tensor garbage = from_values(x.shape(), x.values());
  for (Index t = 2; t < 4; ++t)
    for (Index c = 0; c < 6; ++c) garbage(1, t, c) = 1000;
  const auto attend = [](const Tensor& y, const Tensor& visible) {
    const Tensor h = reshape(y, {2, 1, 4, 6});  // (B, 1, T, D)
    return scaled_dot_product_attention(h, h, h, bias_of(visible)).output;
  };
  const auto moved_by = [&](const Tensor& visible) {
    return max_difference(slice(attend(x, visible)[1], 1, 0, 2), slice(attend(garbage, visible)[1], 1, 0, 2));
  };
  const double columns = moved_by(keys), rows = moved_by(transpose(keys));
  lesson.claim(columns < 1e-6 && rows > 0.1,
               "1000 in every filler moves the two words by {:.1e} if its columns are hidden, and by {:.0f} "
               "if its rows are hidden instead",
               columns, rows);

  /// ## A row with nothing to see
  ///
  /// If the filler stands at the front, the first query sees filler only. A row of nothing but -∞ would be
  /// 0/0 = NaN, and one NaN spoils every number after it. Here such a row gives zeros: nothing to see,
  /// nothing seen.
  Tensor visible = causal_mask(3);
  for (Index i = 0; i < 3; ++i) visible(i, 0) = 0;  // the first token is filler
  const Tensor weights = softmax(zeros({3, 3}) + bias_of(visible));
  lesson.numbers(weights, {"<pad>", "dogs", "bark"}, {"<pad>", "dogs", "bark"});
  const real naive = std::exp(-std::numeric_limits<real>::infinity()) / real(0);
  lesson.claim(std::isnan(naive) && sum(weights[0]).item() == 0,
               "0/0 would be NaN; the row of the first filler sums to {:.0f}", sum(weights[0]).item());
}

Stack small_stack(std::uint64_t seed, Index layers) {
  Rng rng(seed);
  return Stack({.d_model = 16, .heads = 2, .decoder_layers = layers, .d_ff = 32, .dropout = 0},
               BlockKind::decoder_only, rng);
}

/// ## One pass equals T passes
///
/// When it writes, a model has only the beginning: pass 1 reads one word, pass 2 two words, and so on. With
/// the mask, one pass over the whole sentence gives all these answers at once, so a sentence of T words is
/// T training examples for the price of one. Tried on two whole blocks (attention and a small network for
/// each token, see lesson 10) and 12 tokens:
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
    for (Index j = 0; j < T; ++j) visible(i, j) = j <= i + 1;
  return visible;
}

/// ## The leak detector
///
/// A leak throws no error; the numbers look fine, even better than fine. But it can be felt: replace token
/// t, and see which outputs move. Outputs before t must not. The same two blocks, once with the right mask
/// and once with the most common slip, `j <= i + 1`, by which each token sees its successor:
void leak_detector(Lesson& lesson) {
  const Index T = 8;
  const Stack stack = small_stack(lesson.seed, 2);
  Rng rng(lesson.seed + 2);
  const Tensor x = normal({1, T, 16}, rng);
  const auto run = [&](const Tensor& visible) {
    return influence(
        [&](const Tensor& y) {
          Tensor h = y;
          for (const Block& block : stack.blocks) h = block(h, {.mask = {.bias = bias_of(visible)}});
          return h;
        },
        x, rng);
  };
  const Tensor honest = run(causal_mask(T)), leaky = run(leaky_mask(T));
  lesson.claim(largest_leak(honest) < 1e-6, "right mask: outputs before the change move by {:.1e}",
               largest_leak(honest));
  lesson.claim(largest_leak(leaky) > 1e-3, "`j <= i + 1`: outputs before the change move by {:.2f}",
               largest_leak(leaky));
  lesson.claim(leaky(0, 2) > 1e-5 && leaky(0, 3) < 1e-6,
               "and it reaches further with depth: after two blocks token 2 moves output 0 by {:.3f}, "
               "through output 1; token 3 does not yet",
               leaky(0, 2));
  viz::HeatmapOptions map{.title = "right mask",
                          .x_title = "token that was replaced",
                          .y_title = "output that moved",
                          .low = -7,
                          .high = 0,
                          .value_title = "moved by (power of ten)"};
  viz::HeatmapOptions leak = map;
  leak.title = "sees its successor";
  const auto powers = [](const Tensor& moved) {
    return matrix_of(log(moved + real(1e-7)) / real(std::log(10.0)));
  };
  lesson.heatmap(powers(leaky), leak);
  lesson.picture("leak.png",
                 viz::row({viz::heatmap(powers(honest), map), viz::heatmap(powers(leaky), leak)},
                          {.title = "Replace a token: which outputs move?"}),
                 "The leak detector",
                 "Above the diagonal lies the future. Left: nothing there moves. Right: two diagonals of it "
                 "shine through, one for each block.");
}

constexpr int symbols = 8;

// A text that can be half foreseen: a letter is followed by the next one of the alphabet, or, every other
// time, by any letter at all. No honest model can be sure.
IntTensor half_random_text(Index B, Index T, std::uint64_t seed) {
  Rng rng(seed);
  IntTensor text({B, T});
  for (Index b = 0; b < B; ++b)
    for (Index t = 0; t < T; ++t)
      text(b, t) = int(t == 0 || rng.below(2) ? rng.below(symbols) : (text(b, t - 1) + 1) % symbols);
  return text;
}

// The entropy of the next letter: below this no loss can honestly go.
double honest_floor() {
  const double likely = 0.5 + 0.5 / symbols, other = 0.5 / symbols;
  return -likely * std::log(likely) - (symbols - 1) * other * std::log(other);
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

// The letters 0 … T-1 go in, the letters 1 … T are to be said.
Tensor loss_of(const TinyModel& model, const IntTensor& text, const Tensor& visible) {
  const Index B = text.shape()[0], T = text.shape()[1] - 1;
  IntTensor in({B, T}), target({B, T});
  for (Index b = 0; b < B; ++b)
    for (Index t = 0; t < T; ++t) in(b, t) = text(b, t), target(b, t) = text(b, t + 1);
  return cross_entropy(model(in, visible), target);
}

struct Trained {
  std::vector<double> curve;
  double training_loss, writing_loss;  // on new text: with its own mask, and without a future
};

Trained train_with(const Tensor& visible, const std::string& label, Lesson& lesson) {
  Rng rng(lesson.seed);
  const TinyModel model({.d_model = 32, .heads = 2, .dropout = 0}, rng);
  Adam optimizer(parameters_of(model));
  const Index T = visible.size(0), steps = lesson.fast ? 200 : 600;
  const std::uint64_t base = lesson.seed * 1000003;
  const History history =
      train(optimizer, {.steps = steps, .schedule = {.peak = 1e-2, .warmup = 20}, .label = label},
            {.loss = [&](Index batch) {
              return StepLoss{
                  loss_of(model, half_random_text(16, T + 1, base + std::uint64_t(batch)), visible), 16 * T};
            }});
  const NoGrad no_grad;
  const IntTensor unseen = half_random_text(128, T + 1, base - 1);
  Trained trained{{}, loss_of(model, unseen, visible).item(), loss_of(model, unseen, causal_mask(T)).item()};
  for (const TrainPoint& point : history.steps) trained.curve.push_back(point.loss);
  return trained;
}

/// ## What a leak does to training
void train_the_leak(Lesson& lesson) {
  const double floor = honest_floor(), blind = std::log(double(symbols));
  lesson.say(
      "A text of {} letters: after each comes the next one of the alphabet or, every other time on average, "
      "any letter at all. Who knows this rule, but not the future, has a cross-entropy of {:.3f} a letter: "
      "the floor. Blind guessing costs log {} = {:.3f}. The same model is trained with the right mask and "
      "with the leaking one, then tested on new text: with the mask of its training, and as it will be used, "
      "when the future is not there to be seen:",
      symbols, floor, symbols, blind);
  const Index T = 16;
  const Trained honest = train_with(causal_mask(T), "right mask", lesson);
  const Trained leaky = train_with(leaky_mask(T), "leaking mask", lesson);
  lesson.table(
      {"mask in training", "loss, same mask", "loss, no future"},
      {{"right", fmt::format("{:.3f}", honest.training_loss), fmt::format("{:.3f}", honest.writing_loss)},
       {"leaking", fmt::format("{:.3f}", leaky.training_loss), fmt::format("{:.3f}", leaky.writing_loss)}});
  lesson.claim(
      leaky.training_loss < 0.6 * floor,
      "the leaking model reports {:.3f}, far below the floor of {:.3f}: falsely good, and on new text, too",
      leaky.training_loss, floor);
  lesson.claim(honest.training_loss > floor - 0.1 && honest.training_loss < blind,
               "the honest one ends at {:.3f}, near the floor", honest.training_loss);
  lesson.claim(leaky.writing_loss > honest.writing_loss + 0.3,
               "when the future is really missing, the leaking model pays {:.2f} and the honest one {:.2f}",
               leaky.writing_loss, honest.writing_loss);
  /// So: a loss that is too good to be true is the first sign of a leak. Run the detector.
  viz::Numbers steps;
  for (Index i = 1; i <= std::ssize(honest.curve); ++i) steps.push_back(double(i));
  lesson.picture(
      "false_loss.png",
      viz::line_chart(
          {{.name = "right mask", .y = honest.curve, .x = steps, .smooth = 0.7},
           {.name = "each token sees its successor", .y = leaky.curve, .x = steps, .smooth = 0.7},
           {.name = "the floor", .y = viz::Numbers(steps.size(), floor), .x = steps, .dashed = true}},
          {.title = "A falsely perfect loss",
           .x_title = "step",
           .y_title = "cross-entropy of a letter",
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
        one_pass(lesson);
        leak_detector(lesson);
        train_the_leak(lesson);
        lesson.try_next(
            {{"In leaky_mask, write `j <= i` for `j <= i + 1`.",
              "The claims about the leak fail: the detector finds none, and both models stop at the floor."},
             {"In leak_detector, make three blocks of the two (small_stack(lesson.seed, 3)).",
              "Three diagonals of the future shine through, and the claim that output 0 does not know token "
              "3 fails."},
             {"In half_random_text, draw every letter at random (write `true` for `t == 0 || rng.below(2)`).",
              "The honest model can do no better than blind guessing, 2.08 (so the claim about the floor "
              "fails); the leaking one is still near 0."}});
      });
}
