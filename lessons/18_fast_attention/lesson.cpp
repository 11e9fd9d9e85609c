/// Attention compares each token with each: T tokens, T² scores. Twice the text is four times the work, and,
/// if the matrix of weights is kept, four times the memory. Three answers, which can be combined:
///
/// | answer | how | what comes of it |
/// |---|---|---|
/// | tiles | never hold the matrix: read the keys in tiles, keep a running softmax | the same numbers |
/// | window | look only at the nearest w keys | T·w instead of T² |
/// | GQA | several query heads share one head of keys and values | a smaller cache |
///
/// Letters for sizes: B batch, T queries, S keys, H heads, D the size of a head, w the window.
#include <algorithm>   // max, min
#include <chrono>      // steady_clock
#include <cmath>       // exp, sqrt
#include <functional>  // function
#include <iterator>    // ssize
#include <limits>      // infinity

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/attention.hpp"

using namespace attn;

namespace {

// How many bytes are in use at the worst moment of `work`, beyond those in use before it.
double peak_bytes(const std::function<void()>& work) {
  const auto before = pool_statistics().bytes_in_use;
  reset_pool_peak();
  work();
  return double(pool_statistics().peak_bytes - before);
}

double seconds_of(const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

std::string size_text(double bytes) {
  if (bytes >= 1e12) return fmt::format("{:.1f} TB", bytes / 1e12);
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.1f} KB", bytes / 1e3);
}

// The plain way of lesson 06: scores, softmax, product, each a matrix of its own. q, k, v (B, T, H*D).
Tensor plain_attention(const Tensor& q, const Tensor& k, const Tensor& v, Index heads) {
  return merge_heads(
      scaled_dot_product_attention(split_heads(q, heads), split_heads(k, heads), split_heads(v, heads))
          .output);
}

/// ## The square
///
/// Every token looks at every token, so each head of each layer has a matrix of T × T weights. To train,
/// all of them are kept until the gradient comes back. For 12 layers of 12 heads, 4 bytes a weight:
void the_square(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  for (const double T : {1024.0, 8192.0, 65536.0})
    rows.push_back({fmt::format("{:.0f}", T), fmt::format("{:.0f} million", T * T / 1e6),
                    size_text(12 * 12 * T * T * 4)});
  lesson.table({"T", "weights of one head", "weights of the model"}, rows);

  /// And measured: one head of 32 channels, computed step by step. Every number of this library comes from a
  /// pool that counts, so the worst moment is known to the byte:
  const NoGrad no_grad;
  Rng rng(lesson.seed);
  rows.clear();
  double before = 0, growth = 0;
  for (const Index T : {128, 256, 512, 1024}) {
    const Tensor x = normal({1, T, 32}, rng);
    const double bytes = peak_bytes([&] { plain_attention(x, x, x, 1); });
    growth = before > 0 ? bytes / before : 0;
    rows.push_back({fmt::format("{}", T), size_text(double(x.numel()) * sizeof(real)), size_text(bytes),
                    before > 0 ? fmt::format("× {:.1f}", growth) : ""});
    before = bytes;
  }
  lesson.table({"T", "the input", "needed at the peak", "growth"}, rows);
  lesson.claim(growth > 3.3 && growth < 4.3, "twice the tokens need {:.1f} times the memory", growth);
}

// What is known of a part of one query's row: its largest score m, the sum ℓ of exp(score − m), and the
// values added up with these same factors, o. For no word at all: −∞, 0, 0.
struct Part {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0, output = 0;
};

Part read_tile(const std::vector<double>& scores, const std::vector<double>& values, Index begin, Index end) {
  Part tile{*std::max_element(scores.begin() + begin, scores.begin() + end)};
  for (Index j = begin; j < end; ++j) {
    const double share = std::exp(scores[j] - tile.largest);
    tile.sum += share;
    tile.output += share * values[j];
  }
  return tile;
}

// Each part was measured against its own maximum. Against the larger of the two, the other part is too large
// by exp(m − its own), and shrinks by that. Where there is nothing yet, exp(−∞) = 0: nothing to shrink.
Part merge(const Part& a, const Part& b, bool rescale = true) {
  const double largest = std::max(a.largest, b.largest);
  const double shrink_a = rescale ? std::exp(a.largest - largest) : 1.0,
               shrink_b = rescale ? std::exp(b.largest - largest) : 1.0;
  return {largest, a.sum * shrink_a + b.sum * shrink_b, a.output * shrink_a + b.output * shrink_b};
}

double in_tiles(const std::vector<double>& scores, const std::vector<double>& values, Index tile,
                bool rescale = true) {
  Part row;
  for (Index begin = 0; begin < std::ssize(scores); begin += tile)
    row = merge(row, read_tile(scores, values, begin, std::min(begin + tile, std::ssize(scores))), rescale);
  return row.output / row.sum;
}

// The softmax as it is written in books: three passes over a row that has to be there as a whole.
double whole_row(const std::vector<double>& scores, const std::vector<double>& values) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0, output = 0;
  for (const double score : scores) sum += std::exp(score - largest);
  for (Index j = 0; j < std::ssize(scores); ++j) output += std::exp(scores[j] - largest) / sum * values[j];
  return output;
}

/// ## A softmax that reads its row once
///
/// The matrix is only a step on the way: what is wanted is a sum of values. Softmax seems to need the whole
/// row first (its maximum and its sum), but two parts of a row, each with a maximum m, a sum ℓ of exp(s −
/// m) and a sum o of exp(s − m) v of its own, can be merged into one:
///
/// $$ m = max(m_a, m_b) $$
///
/// $$ ℓ = ℓ_a exp(m_a − m) + ℓ_b exp(m_b − m) $$
///
/// $$ o = o_a exp(m_a − m) + o_b exp(m_b − m) $$
void online_softmax(Lesson& lesson) {
  const std::vector<std::string> words = {"the", "cat", "drank", "milk", "because", "it"};
  const std::vector<double> scores = {0.2, 2.4, 0.5, 1.1, 0.1, 3.0};
  const std::vector<double> alive = {0.0, 1.0, 0.1,
                                     0.0, 0.0, 0.2};  // one value a word, so that it can be followed
  lesson.say("`it` looks at six words, two at a time; each hands over one number, how alive it is:");
  std::vector<std::vector<std::string>> rows;
  Part row;
  for (Index begin = 0; begin < 6; begin += 2) {
    const double before = row.largest;
    const Part tile = read_tile(scores, alive, begin, begin + 2);
    row = merge(row, tile);
    rows.push_back({words[begin] + ", " + words[begin + 1],
                    fmt::format("{:.1f}, {:.1f}", scores[begin], scores[begin + 1]),
                    fmt::format("{:.1f}", row.largest), fmt::format("{:.3f}", std::exp(before - row.largest)),
                    fmt::format("{:.3f}", std::exp(tile.largest - row.largest)),
                    fmt::format("{:.3f}", row.sum), fmt::format("{:.3f}", row.output),
                    fmt::format("{:.3f}", row.output / row.sum)});
  }
  lesson.table({"tile", "scores", "m", "shrinks what was read", "and the tile", "ℓ", "o", "o / ℓ"}, rows);
  /// Before the first tile there is nothing to shrink. The second has no larger score: it shrinks itself, by
  /// exp(1.1 − 2.4). The third one has, so all that came before is multiplied by exp(2.4 − 3.0). At every
  /// moment o / ℓ is right for the words read so far.
  const double whole = whole_row(scores, alive), tiles = in_tiles(scores, alive, 2);
  lesson.claim(std::fabs(whole - tiles) < 1e-12, "the whole row gives {:.6f}, three tiles give {:.6f}", whole,
               tiles);
  const double forgotten = in_tiles(scores, alive, 2, false);
  lesson.claim(
      std::fabs(forgotten - whole) > 0.02,
      "without shrinking, every tile counts as if it had the largest score: {:.3f} instead of {:.3f}",
      forgotten, whole);
  std::vector<double> huge;
  for (const double score : scores) huge.push_back(1000 * score);
  lesson.claim(std::isfinite(in_tiles(huge, alive, 2)),
               "scores of 3,000 do no harm (`it` takes all, {:.1f}): exp never sees more than 0",
               in_tiles(huge, alive, 2));
}

// The same with matrices, all queries at once: a tile is some columns of the scores, and every query has its
// own m and ℓ. q (T,D), k (S,D), v (S,E) -> (T,E)
Tensor tiled_attention(const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
  const Index T = q.size(0), S = k.size(0);
  Tensor largest = full({T, 1}, -std::numeric_limits<real>::infinity()), total = zeros({T, 1});
  Tensor out = zeros({T, v.size(1)});
  for (Index begin = 0; begin < S; begin += tile) {
    const Index end = std::min(begin + tile, S);  // the last tile may be short
    const Tensor scores =
        matmul(q, slice(k, 0, begin, end), Transpose::second) / std::sqrt(real(q.size(1)));  // (T, tile)
    const Tensor old = largest;
    largest = max(concat({old, scores}, 1), 1, true);                          // (T, 1)
    const Tensor shares = exp(scores - largest), shrink = exp(old - largest);  // (T, tile), (T, 1)
    total = total * shrink + sum(shares, 1, true);                             // (T, 1)
    out = out * shrink + matmul(shares, slice(v, 0, begin, end));              // (T, E)
  }
  return out / total;  // once, at the end
}

/// ## Attention in tiles
///
/// The same with vectors for values and for every query: the output itself is the running o. Queries T =
/// 33, keys S = 50, heads of 8; what is held besides the output is a tile of scores per query, not all
/// 1,650.
void tiles(Lesson& lesson) {
  const NoGrad no_grad;
  Rng rng(lesson.seed);
  const Tensor q = normal({33, 8}, rng), k = normal({50, 8}, rng), v = normal({50, 8}, rng);
  const Tensor whole =
      reshape(scaled_dot_product_attention(reshape(q, {1, 1, 33, 8}), reshape(k, {1, 1, 50, 8}),
                                           reshape(v, {1, 1, 50, 8}))
                  .output,
              {33, 8});
  std::vector<std::vector<std::string>> rows;
  double worst = 0;
  for (const Index tile : {1, 7, 16, 50}) {
    const double difference = max_difference(tiled_attention(q, k, v, tile), whole);
    worst = std::max(worst, difference);
    rows.push_back(
        {fmt::format("{}", tile), fmt::format("{}", 33 * tile), fmt::format("{:.0e}", difference)});
  }
  lesson.table({"tile", "scores held", "difference from the whole row"}, rows);
  lesson.claim(worst < 1e-5, "any tile gives the same numbers: largest difference {:.1e}", worst);
}

struct Cost {
  double forward_bytes, training_bytes, seconds;
};

Cost cost_of(const std::function<Tensor()>& forward) {
  Cost cost{};
  {
    const NoGrad no_grad;
    cost.forward_bytes = peak_bytes([&] { forward(); });
    cost.seconds = seconds_of([&] { forward(); });
  }
  cost.training_bytes = peak_bytes([&] { backward(sum(forward())); });
  return cost;
}

/// ## Time and memory against length
void against_length(Lesson& lesson) {
  const Index heads = 4, D = 32;
  lesson.say(
      "The op `attention` of core/ops.hpp is this idea at full speed: tiles of 96 queries by 128 keys that "
      "stay in the processor's cache, each a small matrix product. For training it keeps one number a query "
      "(m + log ℓ) and computes every tile again on the way back: more arithmetic, far less memory. {} heads "
      "of {}:",
      heads, D);
  Rng rng(lesson.seed);
  std::vector<Index> lengths = {128, 256, 512};
  if (!lesson.fast) lengths.insert(lengths.end(), {1024, 2048});
  std::vector<std::vector<std::string>> rows;
  std::vector<double> T_axis, plain_bytes, fused_bytes, plain_training, fused_training, plain_time,
      fused_time;
  double difference = 0, gradient_difference = 0;
  for (const Index T : lengths) {
    const auto leaf = [&] { return normal({1, T, heads * D}, rng).requires_grad(); };
    const Tensor q = leaf(), k = leaf(), v = leaf();
    const auto plain = [&] { return plain_attention(q, k, v, heads); };
    const auto fused = [&] { return attention(q, k, v, {.heads = heads}); };
    const auto forget = [&] { q.zero_grad(), k.zero_grad(), v.zero_grad(); };
    const Cost a = cost_of(plain);
    const Tensor gradient = q.grad() + real(0);  // a copy, before the other way computes it, too
    forget();
    const Cost b = cost_of(fused);
    gradient_difference = std::max(gradient_difference, max_difference(gradient, q.grad()));
    difference = std::max(difference, max_difference(plain(), fused()));
    T_axis.push_back(double(T));
    plain_bytes.push_back(a.forward_bytes / 1e6), fused_bytes.push_back(b.forward_bytes / 1e6);
    plain_training.push_back(a.training_bytes / 1e6), fused_training.push_back(b.training_bytes / 1e6);
    plain_time.push_back(1e3 * a.seconds), fused_time.push_back(1e3 * b.seconds);
    rows.push_back({fmt::format("{}", T), size_text(a.forward_bytes), size_text(b.forward_bytes),
                    size_text(a.training_bytes), size_text(b.training_bytes),
                    fmt::format("{:.1f} ms", 1e3 * a.seconds), fmt::format("{:.1f} ms", 1e3 * b.seconds)});
  }
  lesson.table({"T", "plain", "tiled", "plain, training", "tiled, training", "time, plain", "time, tiled"},
               rows);
  lesson.claim(difference < 1e-4 && gradient_difference < 1e-3,
               "the same numbers: outputs differ by {:.0e} at most, gradients by {:.0e}", difference,
               gradient_difference);
  const Index last = std::ssize(T_axis) - 1;
  const double plain_growth = plain_training[last] / plain_training[last - 1],
               fused_growth = fused_training[last] / fused_training[last - 1];
  lesson.claim(plain_growth > 3 && fused_growth < 2.6,
               "from T = {} to {} a training step needs {:.1f} times the memory plain, {:.1f} times in tiles",
               lengths[last - 1], lengths[last], plain_growth, fused_growth);
  lesson.claim(plain_training[last] > 4 * fused_training[last], "at T = {} that is {:.0f} times less memory",
               lengths[last], plain_training[last] / fused_training[last]);
  /// The time still grows with T²: no comparison was left out. It is shorter for long texts, because scores
  /// that stay in the processor's cache need not travel to memory and back.
  const viz::Image memory = viz::line_chart({{.name = "plain", .y = plain_bytes, .x = T_axis, .points = true},
                                             {.name = "tiled", .y = fused_bytes, .x = T_axis, .points = true},
                                             {.name = "plain, training",
                                              .y = plain_training,
                                              .x = T_axis,
                                              .points = true,
                                              .dashed = true,
                                              .color = 0},
                                             {.name = "tiled, training",
                                              .y = fused_training,
                                              .x = T_axis,
                                              .points = true,
                                              .dashed = true,
                                              .color = 1}},
                                            {.title = "Memory",
                                             .x_title = "tokens T",
                                             .y_title = "megabytes at the peak",
                                             .x_scale = viz::Scale::log2,
                                             .y_scale = viz::Scale::log10,
                                             .width = 560});
  const viz::Image time = viz::line_chart({{.name = "plain", .y = plain_time, .x = T_axis, .points = true},
                                           {.name = "tiled", .y = fused_time, .x = T_axis, .points = true}},
                                          {.title = "Time, forward",
                                           .x_title = "tokens T",
                                           .y_title = "milliseconds",
                                           .x_scale = viz::Scale::log2,
                                           .y_scale = viz::Scale::log10,
                                           .width = 560});
  lesson.picture(
      "against_length.png", viz::row({memory, time}), "Time and memory against T",
      "Both axes are logarithmic, so a slope is a power: in memory `plain` is twice as steep (T²) as `tiled` "
      "(T); in time both are T², and `tiled` is lower where T is large.");
}

// Which outputs move when token 0 changes, after each of `layers` layers of causal attention in a window.
Tensor reach(Index T, Index window, Index layers, Rng& rng) {
  const NoGrad no_grad;
  const Tensor x = normal({1, T, 8}, rng, 0, real(0.3)), nudge = zeros({1, T, 8});
  for (Index c = 0; c < 8; ++c) nudge(0, 0, c) = 1;
  Tensor a = x, b = x + nudge, moved = zeros({layers + 1, T});
  for (Index layer = 0; layer <= layers; ++layer) {
    for (Index t = 0; t < T; ++t)
      moved(layer, t) = max_difference(slice(a, 1, t, t + 1), slice(b, 1, t, t + 1)) > 0 ? 1 : 0;
    const AttentionOptions near{.mask = {.causal = true, .window = window}};
    a = (a + attention(a, a, a, near)) / 2;  // halved, so that it stays as large as it was
    b = (b + attention(b, b, b, near)) / 2;
  }
  return moved;
}

/// ## A sliding window
void windows(Lesson& lesson) {
  const Index T = 16, window = 4, layers = 4;
  lesson.say(
      "If most of what a word needs is near, look only there: query i sees key j if 0 ≤ i − j < w, itself "
      "and the w − 1 tokens before it. That is not the same model any more, but its cost is T·w. For T = {}, "
      "w = {}:",
      T, window);
  const auto visible = [&](Index w) {
    Tensor map = mask_bias({.causal = true, .window = w}, 1, T, T);  // (1, 1, T, T): 0 or -inf
    for (Index i = 0; i < map.numel(); ++i) map.data()[i] = map.data()[i] == 0 ? 1 : 0;
    return reshape(map, {T, T});
  };
  const Tensor causal = visible(0), narrow = visible(window);
  const Index all_pairs = Index(sum(causal).item()), pairs = Index(sum(narrow).item());
  lesson.claim(all_pairs == T * (T + 1) / 2 && pairs == T * window - window * (window - 1) / 2,
               "{} comparisons become {}: T·w less the corner at the start where there is no past", all_pairs,
               pairs);
  lesson.claim(equal(visible(T), causal),
               "a window as long as the text hides nothing: w = T is plain attention");

  Rng rng(lesson.seed);
  const Tensor moved = reach(T, window, layers, rng);
  bool as_far_as_said = true;
  for (Index layer = 0; layer <= layers; ++layer)
    for (Index t = 0; t < T; ++t)
      as_far_as_said = as_far_as_said && (moved(layer, t) != 0) == (t <= layer * (window - 1));
  /// Far tokens are not lost, only further away: layer 1 hands on what layer 2 passes further. Token 0 is
  /// changed; which outputs move?
  std::vector<std::string> names = {"input"};
  for (Index layer = 1; layer <= layers; ++layer) names.push_back(fmt::format("layer {}", layer));
  lesson.heatmap(matrix_of(moved), {.title = "moved by token 0", .row_labels = names, .low = 0, .high = 1});
  lesson.claim(as_far_as_said, "after L layers a change has come exactly L·(w − 1) places far: {} after {}",
               std::min(layers * (window - 1), T - 1), layers);
  const auto map = [&](const Tensor& matrix, const std::string& title) {
    return viz::heatmap(matrix_of(matrix), {.title = title,
                                            .x_title = "keys",
                                            .y_title = "queries",
                                            .low = 0,
                                            .high = 1,
                                            .color_bar = false,
                                            .cell = 16});
  };
  lesson.picture("window.png",
                 viz::row({map(causal, "causal"), map(narrow, fmt::format("window of {}", window)),
                           viz::heatmap(matrix_of(moved), {.title = "moved by token 0",
                                                           .x_title = "position",
                                                           .row_labels = names,
                                                           .low = 0,
                                                           .high = 1,
                                                           .color_bar = false,
                                                           .cell = 16})}),
                 "A sliding window",
                 "Yellow is seen. Left and middle: what each query sees, T²/2 cells against a band of T·w; "
                 "right: the staircase by which a change at token 0 still travels, w − 1 places a layer.");

  const NoGrad no_grad;
  std::vector<std::vector<std::string>> rows;
  std::vector<Index> lengths = {512, 1024};
  if (!lesson.fast) lengths.insert(lengths.end(), {2048, 4096});
  for (const Index n : lengths) {
    const Tensor x = normal({1, n, 64}, rng);
    const double full = seconds_of([&] { attention(x, x, x, {.mask = {.causal = true}}); });
    const double near = seconds_of([&] { attention(x, x, x, {.mask = {.causal = true, .window = 128}}); });
    rows.push_back(
        {fmt::format("{}", n), fmt::format("{:.2f} ms", 1e3 * full), fmt::format("{:.2f} ms", 1e3 * near)});
  }
  /// What it buys in time, one head of 64, a window of 128 (tiles outside of it are never computed):
  lesson.table({"T", "causal, all", "causal, window 128"}, rows);
}

/// ## Fewer keys and values
///
/// A model that writes keeps the keys and values of everything so far (the cache of lesson 14). For long
/// texts the cache, not the weights, fills the memory, and reading it is the time of a step. In
/// grouped-query attention (GQA) several query heads share one head of keys and values; in multi-query
/// attention (MQA) all do:
///
/// $$ cache = 2 (keys and values) · layers · T · kv heads · D · bytes a number $$
void shared_heads(Lesson& lesson) {
  const NoGrad no_grad;
  const Index heads = 8, C = 64, written = 100;
  std::vector<std::vector<std::string>> rows;
  std::vector<double> measured;
  for (const Index kv_heads : {8, 2, 1}) {
    Rng rng(lesson.seed);
    const MultiHeadAttention layer({.d_model = C, .heads = heads, .kv_heads = kv_heads}, rng);
    KeyValueCache cache;
    for (Index t = 0; t < written; ++t) {  // a token at a time, as when writing
      const Tensor x = normal({1, 1, C}, rng);
      layer(x, {.mask = {.causal = true}, .cache = &cache});
    }
    const double bytes = double((cache.keys.numel() + cache.values.numel()) * Index(sizeof(real)));
    measured.push_back(bytes);
    const double large = 2.0 * 32 * 8192 * 4 * double(kv_heads) * 128 * 2;  // 32 heads: 4 for each of ours
    rows.push_back({kv_heads == 8   ? "each its own"
                    : kv_heads == 1 ? "MQA, one for all"
                                    : "GQA, one for four",
                    fmt::format("{} / {}", heads, kv_heads), size_text(bytes),
                    kv_heads == 1 ? size_text(large / 4) : size_text(large)});
  }
  lesson.say(
      "Measured here: one layer of {} heads of {} after {} tokens. Beside it, by the same formula, a model "
      "of 32 layers with 32 heads of 128 after 8,192 tokens, 2 bytes a number (32, 8 and 1 kv heads):",
      heads, C / heads, written);
  lesson.table({"keys and values", "heads / kv heads", "this cache", "the large one"}, rows);
  lesson.claim(measured[0] == 4 * measured[1] && measured[0] == 8 * measured[2],
               "2 kv heads instead of 8 make the cache {:.0f} times smaller, 1 makes it {:.0f} times",
               measured[0] / measured[1], measured[0] / measured[2]);
  lesson.picture("cache.png",
                 viz::bar_chart({"8 kv heads", "2 (GQA)", "1 (MQA)"},
                                {measured[0] / 1e3, measured[1] / 1e3, measured[2] / 1e3},
                                {.title = "The cache of one layer after 100 tokens", .value_title = "KB"}),
                 "What sharing keys and values saves",
                 "Eight query heads each time; only what is remembered shrinks.");

  Rng rng(lesson.seed);
  const Tensor q = normal({1, 17, C}, rng), k = normal({1, 17, 16}, rng), v = normal({1, 17, 16}, rng);
  const Index D = C / heads;
  std::vector<Tensor> groups;  // each is MQA: four query heads, and the one head that they share
  for (const Index g : {0, 1})
    groups.push_back(attention(slice(q, 2, g * 4 * D, (g + 1) * 4 * D), slice(k, 2, g * D, (g + 1) * D),
                               slice(v, 2, g * D, (g + 1) * D), {.heads = 4, .kv_heads = 1}));
  const double difference =
      max_difference(attention(q, k, v, {.heads = 8, .kv_heads = 2}), concat(groups, 2));
  lesson.claim(difference < 1e-5,
               "GQA is MQA, group by group: two groups of four query heads give the same, difference {:.0e}",
               difference);

  /// ## What each buys
  lesson.table({"", "the same numbers?", "work", "memory in training", "cache"},
               {{"plain", "yes", "T²", "T²", "T · H"},
                {"tiles", "yes", "T²", "T", "T · H"},
                {"window w", "no: sees less", "T · w", "T, in tiles", "w · H"},
                {"GQA", "no: fewer keys to learn", "T²", "T, in tiles", "T · kv heads"}});
  /// Tiles cost nothing in quality, so everybody uses them. A window and GQA change the model and have to be
  /// trained in; they are often used together, the window in some layers only.
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "18_fast_attention", .question = "Why does length hurt, and what can be done?"},
      [](Lesson& lesson) {
        the_square(lesson);
        online_softmax(lesson);
        tiles(lesson);
        against_length(lesson);
        windows(lesson);
        shared_heads(lesson);
        lesson.try_next(
            {{"In tiled_attention, leave out both `* shrink`.",
              "The claim of `Attention in tiles` breaks for every tile but 50, where all keys come at once."},
             {"In windows, make the window 6.",
              "More comparisons, and a change travels 5 places a layer: after 3 layers it is everywhere."},
             {"In against_length, make D 128 instead of 32.",
              "The tiled way needs four times the memory, for its output is four times as wide; the plain "
              "one hardly more at large T, for T × T does not know D."}});
      });
}
