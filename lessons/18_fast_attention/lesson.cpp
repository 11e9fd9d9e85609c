/// Paste a whole book into a chat, and the model becomes slow or expensive, or it refuses. Why? Attention
/// compares every token with every other: T tokens make T² scores. Twice the text is four times the work and,
/// if the matrix of weights is kept, four times the memory. Three answers, which can be combined:
///
/// | answer | how | what comes of it |
/// |---|---|---|
/// | tiles (FlashAttention) | read the keys in tiles, never hold the matrix | the same numbers |
/// | window | look only at the nearest w keys | T·w instead of T² |
/// | GQA | query heads share keys and values | a smaller cache |
///
/// Letters for sizes: B batch, T queries, S keys, H heads, D the size of a head, w the window.
#include <algorithm>   // max, min
#include <cmath>       // exp, fabs, log, pow, sqrt
#include <functional>  // function
#include <iterator>    // ssize
#include <limits>      // infinity
#include <numeric>     // accumulate

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"  // set_thread_count
#include "lessons/18_fast_attention/pictures.hpp"
#include "lessons/support/cpu_time.hpp"
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
/// Every token looks at every token, so each head of each layer has a matrix of T × T attention weights
/// (not parameters: they are computed anew for each text). To train, all of them are kept until the
/// gradient comes back. For a model with 12 layers of 12 heads, 4 bytes per weight:
void the_square(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  for (const double T : {1024.0, 8192.0, 65536.0})
    rows.push_back({viz::format_fixed(T, 0), viz::format_fixed(T * T / 1e6, 0) + " million",
                    size_text(12 * 12 * T * T * 4)});
  lesson.table({"T", "attention weights of one head", "bytes for all 144 heads"}, rows);

  /// And measured: one head of 32 channels, computed step by step as in lesson 06. All tensors of this
  /// library live in a pool that counts, so the worst moment is known to the byte:
  const NoGrad no_grad;
  Rng rng(lesson.seed);
  rows.clear();
  double before = 0, growth = 0;
  for (const Index T : {128, 256, 512, 1024}) {
    const Tensor x = normal({1, T, 32}, rng);
    const double bytes = peak_bytes([&] { plain_attention(x, x, x, 1); });
    growth = before > 0 ? bytes / before : 0;
    rows.push_back({grouped(T), size_text(double(x.numel()) * sizeof(real)), size_text(bytes),
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
/// The matrix is only a step on the way: what is wanted is a weighted sum of values. Softmax seems to need
/// the whole row first, its maximum and its sum. But it can be computed *online*, while the row is being
/// read (Milakov and Gimelshein, 2018). Two parts of a row, each with a maximum m, a sum ℓ of exp(s − m)
/// and a sum o of exp(s − m) v of its own, can be merged into one:
///
/// $$ m = max(m_a, m_b) $$
///
/// $$ ℓ = ℓ_a exp(m_a − m) + ℓ_b exp(m_b − m) $$
///
/// $$ o = o_a exp(m_a − m) + o_b exp(m_b − m) $$
void online_softmax(Lesson& lesson) {
  const std::vector<std::string> words = {"the", "cat", "drank", "milk", "because", "it"};
  const std::vector<double> scores = {0.2, 2.4, 0.5, 1.1, 0.1, 3.0};
  const std::vector<double> alive = {0.0, 1.0, 0.1, 0.0, 0.0, 0.2};  // one value per word
  lesson.say(
      "`it` looks at six words, two at a time; each hands over one number, how alive it is. `× before` is "
      "what all that was read before shrinks by, `× tile` what the new tile shrinks by:");
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
  lesson.table({"tile", "scores", "m", "× before", "× tile", "ℓ", "o", "o / ℓ"}, rows);
  /// Before the first tile there is nothing to shrink. The second has no larger score: it shrinks itself,
  /// by exp(1.1 − 2.4). The third one has, so all that came before is multiplied by exp(2.4 − 3.0). At
  /// every moment o / ℓ is right for the words read so far.
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
/// Now with vectors for values, and for all queries at once: the output itself is the running o. This is
/// the idea of **FlashAttention** (Dao et al., 2022). A block of queries and a block of keys are small
/// enough to stay in the fast memory next to the arithmetic (a processor's cache, a GPU's shared memory);
/// their scores are computed, used and forgotten there. For T = 33 queries, S = 50 keys and heads of 8, all
/// scores would be 1,650 numbers; held at a time are:
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
    rows.push_back({fmt::format("{}", tile), grouped(33 * tile), fmt::format("{:.0e}", difference)});
  }
  lesson.table({"tile", "scores held", "difference from the whole row"}, rows);
  lesson.claim(worst < 1e-5, "any tile gives the same numbers: largest difference {:.1e}", worst);
  lesson.picture(
      "tiles.png", tiles_picture(), "The tiles of FlashAttention",
      "Only the orange tile exists at this moment. Grey tiles are done: what is left of them are m, "
      "ℓ and o, one row for each query. The matrix Q Kᵀ is never written to memory.");
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
///
/// The op `attention` of core/ops.hpp does this at full speed, in tiles of 96 queries by 128 keys, each a
/// small matrix product. For training it keeps one number per query (m + log ℓ) and computes every tile again
/// on the way back: more arithmetic, far less memory. Measured with 4 heads of 32, memory at the worst
/// moment, processor time of one thread:
void against_length(Lesson& lesson) {
  const Index heads = 4, D = 32;
  Rng rng(lesson.seed);
  std::vector<Index> lengths = {128, 256, 512, 1024};
  if (!lesson.fast) lengths.push_back(2048);
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
    rows.push_back({grouped(T), size_text(a.forward_bytes), size_text(b.forward_bytes),
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
               grouped(lengths[last - 1]), grouped(lengths[last]), plain_growth, fused_growth);
  lesson.claim(plain_training[last] > 4 * fused_training[last], "at T = {} that is {:.0f} times less memory",
               grouped(lengths[last]), plain_training[last] / fused_training[last]);
  lesson.say(
      "No comparison was left out: {} times the tokens are {} times the comparisons, plain or in tiles. In "
      "time it was {:.0f} and {:.0f} times as much.",
      lengths[last] / lengths[0], (lengths[last] / lengths[0]) * (lengths[last] / lengths[0]),
      plain_time[last] / plain_time[0], fused_time[last] / fused_time[0]);

  /// For long texts tiles are faster all the same, because scores that stay in the cache need not travel to
  /// memory and back. GPUs, where arithmetic is fast and memory far away, are what FlashAttention was made
  /// for.
  std::vector<double> square;  // what grows exactly as T², through the last measurement
  for (const double T : T_axis) square.push_back(plain_time[last] * 2 * std::pow(T / T_axis[last], 2));
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
  const viz::Image time =
      viz::line_chart({{.name = "plain", .y = plain_time, .x = T_axis, .points = true},
                       {.name = "tiled", .y = fused_time, .x = T_axis, .points = true},
                       {.name = "T²", .y = square, .x = T_axis, .dashed = true, .color = 7}},
                      {.title = "Processor time, forward",
                       .x_title = "tokens T",
                       .y_title = "milliseconds",
                       .x_scale = viz::Scale::log2,
                       .y_scale = viz::Scale::log10,
                       .width = 560});
  lesson.picture(
      "against_length.png", viz::row({memory, time}), "Time and memory against T",
      "Both axes are logarithmic, so a slope is a power. In memory `plain` is twice as steep (T²) as `tiled` "
      "(T). In time both are about parallel to the dashed line, T².");
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
///
/// If most of what a word needs is near, look only there: query i sees key j if 0 ≤ i − j < w, itself and
/// the w − 1 tokens before it. That is no longer the same model, but it costs T·w. Mistral 7B (Jiang et
/// al., 2023) does this with w = 4,096. For T = 16, w = 4:
void windows(Lesson& lesson) {
  const Index T = 16, window = 4, layers = 4;
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
  /// Far tokens are not lost, only further away: what layer 1 has read, layer 2 passes on. Change token 0,
  /// and see which outputs move:
  std::vector<std::string> names = {"input"};
  for (Index layer = 1; layer <= layers; ++layer) names.push_back(fmt::format("layer {}", layer));
  lesson.heatmap(
      matrix_of(moved),
      {.title = "1: moved by token 0", .x_title = "position", .row_labels = names, .low = 0, .high = 1});
  lesson.claim(as_far_as_said,
               "after L layers a change has travelled exactly L·(w − 1) positions: {} after {}",
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
  lesson.picture(
      "window.png",
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
      "right: the staircase by which a change at token 0 still travels, w − 1 positions per layer.");

  const NoGrad no_grad;
  std::vector<std::vector<std::string>> rows;
  std::vector<Index> lengths = {512, 1024};
  if (!lesson.fast) lengths.insert(lengths.end(), {2048, 4096});
  for (const Index n : lengths) {
    const Tensor x = normal({1, n, 64}, rng);
    const double full = seconds_of([&] { attention(x, x, x, {.mask = {.causal = true}}); });
    const double near = seconds_of([&] { attention(x, x, x, {.mask = {.causal = true, .window = 128}}); });
    rows.push_back({viz::format_fixed(double(n), 0), fmt::format("{:.2f} ms", 1e3 * full),
                    fmt::format("{:.2f} ms", 1e3 * near)});
  }
  /// What it buys in time, with one head of 64 and a window of 128 (tiles outside of it are never
  /// computed):
  lesson.table({"time for T", "causal, all", "causal, window 128"}, rows);
}

/// ## Fewer keys and values
///
/// A model that writes keeps the keys and values of everything so far (the *cache* of lesson 14). For long
/// texts the cache, not the weights, fills the memory, and reading it takes most of the time of a step. In
/// *multi-query attention* (MQA; Shazeer, 2019) all query heads share one head of keys and values; in
/// *grouped-query attention* (GQA; Ainslie et al., 2023; Llama's) groups of query heads share one each:
///
/// $$ cache = 2 (keys and values) · layers · T · kv heads · D · bytes per number $$
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
    const double bytes = double(cache.numel() * Index(sizeof(real)));
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
      "of 32 layers with 32 heads of 128 after 8,192 tokens, 2 bytes per number (32, 8 and 1 kv heads):",
      heads, C / heads, written);
  lesson.table({"keys and values", "heads / kv heads", "this cache", "the large one"}, rows);
  lesson.claim(measured[0] == 4 * measured[1] && measured[0] == 8 * measured[2],
               "2 kv heads instead of 8 make the cache {:.0f} times smaller, 1 makes it {:.0f} times",
               measured[0] / measured[1], measured[0] / measured[2]);
  lesson.picture(
      "grouping.png", grouping_picture(), "MHA, GQA and MQA",
      "Eight query heads each time. Only keys and values are kept for later tokens, so the fewer of "
      "them, the smaller the cache.");

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
}

/// ## Further ways
///
/// **Sparse attention** chooses other cells of the square than a plain window. *Longformer* (Beltagy et
/// al., 2020) adds a few *global* tokens that see all and are seen by all; *BigBird* (Zaheer et al., 2020)
/// adds random cells as well, so that any two tokens are only a few steps apart:
void further_ways(Lesson& lesson) {
  const Index T = 32, near = 2, global = 2;
  Rng rng(lesson.seed);
  viz::Matrix window(T, T), longformer(T, T), bigbird(T, T);
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < T; ++j) {
      window(i, j) = std::abs(i - j) <= near;
      longformer(i, j) = window(i, j) != 0 || i < global || j < global;
      bigbird(i, j) = longformer(i, j) != 0 || rng.below(12) == 0;
    }
  const auto cells = [](const viz::Matrix& map) {
    return std::accumulate(map.values.begin(), map.values.end(), 0.0);
  };
  const auto map = [](const viz::Matrix& matrix, const std::string& title) {
    return viz::heatmap(matrix, {.title = title,
                                 .x_title = "keys",
                                 .y_title = "queries",
                                 .low = 0,
                                 .high = 1,
                                 .color_bar = false,
                                 .cell = 9});
  };
  lesson.table({"of 1,024 cells", "window", "Longformer", "BigBird"},
               {{"looked at", fmt::format("{:.0f}", cells(window)), fmt::format("{:.0f}", cells(longformer)),
                 fmt::format("{:.0f}", cells(bigbird))}});
  lesson.picture("sparse.png",
                 viz::row({map(window, "window"), map(longformer, "Longformer"), map(bigbird, "BigBird")}),
                 "Sparse attention",
                 "Yellow cells are computed. Rows and columns that are all yellow belong to global tokens.");

  /// **Linear attention** (Katharopoulos et al., 2020) leaves out the exponential. With scores φ(q) · φ(k),
  /// where φ is some positive function of each vector, the products can be computed in another order, and no
  /// T × T matrix appears at all:
  ///
  /// $$ (φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V)        T² D against T D² $$
  const NoGrad no_grad;
  const Index D = 16, long_T = 512;
  const auto positive = [](const Tensor& x) { return relu(x) + real(0.1); };
  const Tensor q = positive(normal({long_T, D}, rng)), k = positive(normal({long_T, D}, rng)),
               v = normal({long_T, D}, rng);
  const Tensor weights = matmul(q, k, Transpose::second);  // (T, T)
  const Tensor square = matmul(weights, v) / sum(weights, 1, true),
               linear = matmul(q, matmul(k, v, Transpose::first)) /
                        matmul(q, reshape(sum(k, 0), {D, 1}));  // nothing larger than (T, D)
  const double difference = max_difference(square, linear);
  lesson.claim(
      difference < 1e-4,
      "both orders agree (difference {:.0e}): {} multiply-adds for the scores of {} tokens, or {} for "
      "φ(K)ᵀ V",
      difference, viz::format_fixed(double(long_T * long_T * D), 0), long_T,
      viz::format_fixed(double(long_T * D * D), 0));

  /// What is lost is the exponential, with which a query can single out one key.
  ///
  /// **Paged attention** (Kwon et al., 2023; the program vLLM) changes no numbers, only where the cache
  /// lives. A server does not know how long an answer will get, and if it reserves room for the longest for
  /// every user, most of it stays empty. So the cache is cut into pages that are handed out as a text
  /// grows, as an operating system does with memory:
  const Index most = 2048, page = 16, users = 64;
  double tokens = 0, paged = 0;
  for (Index user = 0; user < users; ++user) {
    const Index length =
        1 + Index(double(most) * std::pow(rng.uniform(), 3.0));  // many short texts, a few long
    tokens += double(length);
    paged += double((length + page - 1) / page * page);
  }
  const double reserved = double(users * most);
  lesson.claim(
      paged < 1.1 * tokens && reserved > 2 * tokens,
      "{} users with texts of up to {} tokens: reserved room is {:.0f}% full, pages of {} tokens {:.0f}%",
      users, viz::format_fixed(double(most), 0), 100 * tokens / reserved, page, 100 * tokens / paged);

  /// ## What each buys
  ///
  /// | | the same numbers? | work | memory in training | cache |
  /// |---|---|---|---|---|
  /// | plain | yes | T² | T² | T · H |
  /// | tiles | yes | T² | T | T · H |
  /// | window w | no: sees less | T · w | T, in tiles | w · H |
  /// | GQA | no: fewer keys to learn | T² | T, in tiles | T · kv heads |
  /// | linear | no: no softmax | T · D | T | D² · H, whatever T |
  /// | pages | yes | T² | does not apply | T · H, none reserved |
  ///
  /// Tiles and pages change no result, so nearly all programs use them. The others change the model and
  /// have to be trained in; they are often combined, with a window in some layers only.
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "18_fast_attention", .question = "Why does length hurt, and what can be done?"},
      [](Lesson& lesson) {
        set_thread_count(1);  // so that the time of this thread is all the time there is
        the_square(lesson);
        online_softmax(lesson);
        tiles(lesson);
        against_length(lesson);
        windows(lesson);
        shared_heads(lesson);
        further_ways(lesson);
        /// ## Check yourself
        ///
        /// - **What is FlashAttention for?** It computes exactly the same attention without ever holding
        ///   the T × T matrix, so memory grows with T instead of T², and less time is spent moving numbers.
        /// - **What goes in, what comes out?** As in lesson 06: queries (T, D), keys and values (S, D),
        ///   output (T, D). Kept between tiles are m and ℓ (T) and o (T, D).
        /// - **What goes wrong** without the rescaling? Every tile was measured against a maximum of its
        ///   own; added up as they are, tiles with small scores count too much.
        ///
        /// ## Read on
        ///
        /// - Dao et al., 2022: *FlashAttention: fast and memory-efficient exact attention with
        ///   IO-awareness*.
        /// - Beltagy, Peters and Cohan, 2020: *Longformer: the long-document transformer*.
        /// - Ainslie et al., 2023: *GQA: training generalized multi-query transformer models from
        ///   multi-head checkpoints*.
        /// - Kwon et al., 2023: *Efficient memory management for large language model serving with
        ///   PagedAttention*.
        /// - The notebook `06_speed_of_light`: how near a training step comes to what the machine can do.
        lesson.try_next(
            {{"In tiled_attention, leave out both `* shrink`.",
              "The claim of `Attention in tiles` breaks for every tile but 50, where all keys come at once."},
             {"In windows, make the window 6.",
              "More comparisons, and a change travels 5 positions per layer: after 3 layers it is "
              "everywhere."},
             {"In against_length, make D 128 instead of 32.",
              "The tiled way needs four times the memory, for its output is four times as wide; the plain "
              "one hardly more at large T, for T × T does not know D."}});
      });
}
