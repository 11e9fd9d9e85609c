/// > The cat drank the milk.
///
/// Ask the verb: who drank? And what? `drank` has two questions, but attention (lesson 06) gives it one row
/// of weights, and they sum to 1. If it looks at both words, it gets a mixture: the more of one, the less of
/// the other. **Multi-head attention** is the way out. It looks several times at once, each time with other
/// queries, keys and values, and puts the answers side by side. Each of these looks is called a **head**.
///
/// Letters for sizes, here and in all lessons: B sentences in a batch, T words in a sentence, C channels
/// (numbers per word), H heads, and D = C / H, the numbers per word that one head hands over.
#include <algorithm>  // max, min_element
#include <cmath>      // exp, fabs, sqrt
#include <iterator>   // ssize

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/08_multi_head/pictures.hpp"
#include "lessons/08_multi_head/two_questions.hpp"
#include "lessons/support/lesson.hpp"
#include "optim/progress.hpp"

using namespace attn;

namespace {

using Row = std::vector<double>;

std::string list_of(const Row& row, int decimals) {
  std::string text;
  for (const double value : row) text += fmt::format("{}{:.{}f}", text.empty() ? "" : ", ", value, decimals);
  return "(" + text + ")";
}

/// ## Two questions, one look
///
/// Let the values be `cat` = (1, 0) and `milk` = (0, 1), and suppose that `drank` has found both its subject
/// and its object. What does it take away? One head can divide its attention evenly or unevenly; two heads
/// take one word each, and their answers stand side by side:
void one_look(Lesson& lesson) {
  const Row cat = {1, 0}, milk = {0, 1};
  const auto mixed = [](double share, const Row& who, const Row& what) {
    return Row{share * who[0] + (1 - share) * what[0], share * who[1] + (1 - share) * what[1]};
  };
  const auto beside = [](Row who, const Row& what) {
    who.insert(who.end(), what.begin(), what.end());
    return who;
  };
  lesson.table(
      {"", "cat drank milk", "milk drank cat"},
      {{"one head: 0.5 who + 0.5 what", list_of(mixed(0.5, cat, milk), 1), list_of(mixed(0.5, milk, cat), 1)},
       {"one head: 0.8 who + 0.2 what", list_of(mixed(0.8, cat, milk), 1), list_of(mixed(0.8, milk, cat), 1)},
       {"two heads: who, what", list_of(beside(cat, milk), 1), list_of(beside(milk, cat), 1)}});
  lesson.claim(
      mixed(0.5, cat, milk) == mixed(0.5, milk, cat) && mixed(0.8, cat, milk)[1] < 0.25,
      "with equal weights the two sentences look the same; with unequal ones they differ, but {:.1f} is all "
      "that is left of the object. Two heads keep both answers whole",
      mixed(0.8, cat, milk)[1]);
}

const std::vector<std::string> words = {"cat", "drank", "milk"},
                               features = {"action", "food", "thing", "animal"};
constexpr Index drank = 1;

Tensor three_words() {                    // (T, C)
  return tensor({{0.0, 0.1, 0.0, 1.0},    // cat
                 {1.0, 0.0, 0.0, 0.1},    // drank
                 {0.1, 1.0, 0.6, 0.0}});  // milk
}

// The matrices of one head, each (C, D): a row for every channel, so every head reads them all.
struct HeadWeights {
  Tensor query, key, value;
};
HeadWeights head_weights(Index head) {
  const Tensor query = tensor({{3, 0}, {0, 3}, {0, 0}, {0, 3}}),
               value = tensor({{0, 0}, {1, 0}, {0, 0}, {0, 1}});
  const Tensor who = tensor({{0, 2}, {0, 0}, {0, 0}, {2, 0}}),
               what = tensor({{0, 2}, {2, 0}, {0, 0}, {0, 0}});
  return {query, head == 0 ? who : what, value};
}

// Row `word` of x times w.
Row project(const Tensor& x, Index word, const Tensor& w) {
  Row y(w.size(1));
  for (Index d = 0; d < w.size(1); ++d)
    for (Index c = 0; c < w.size(0); ++c) y[d] += x(word, c) * w(c, d);
  return y;
}

// One look of one word in one head, with loops: lesson 06 with the matrices of that head.
struct Look {
  Row scores, weights, output;
};
Look look_of(const Tensor& x, const HeadWeights& w, Index asking) {
  const Index T = x.size(0), D = w.query.size(1);
  const Row query = project(x, asking, w.query);
  Look look{Row(T), Row(T), Row(D)};
  double sum = 0;
  for (Index j = 0; j < T; ++j) {
    const Row key = project(x, j, w.key);
    for (Index d = 0; d < D; ++d) look.scores[j] += query[d] * key[d] / std::sqrt(double(D));
    sum += look.weights[j] = std::exp(look.scores[j]);
  }
  for (Index j = 0; j < T; ++j) {
    look.weights[j] /= sum;
    const Row value = project(x, j, w.value);
    for (Index d = 0; d < D; ++d) look.output[d] += look.weights[j] * value[d];
  }
  return look;
}

// How much each head (row) depends on each channel of its input (column): the size of the gradient.
Tensor influence(const MultiHeadAttention& layer, Index T, Index C, Rng& rng) {
  const Index H = layer.heads, D = C / H;
  Tensor sizes = zeros({H, C});
  for (Index h = 0; h < H; ++h) {
    const Tensor x = normal({1, T, C}, rng).requires_grad();
    const Tensor heads = attention(layer.query(x), layer.key(x), layer.value(x), {.heads = H});
    const Tensor one = slice(heads, 2, h * D, (h + 1) * D);  // (1, T, D)
    backward(sum(one * normal(one.shape(), rng)));
    for (Index c = 0; c < C; ++c)
      for (Index t = 0; t < T; ++t) sizes(h, c) += std::fabs(x.grad()(0, t, c)) / real(T);
  }
  return sizes;
}

/// ## Each head reads all channels
///
/// A head has three matrices of its own. Each of them reads *all* C channels of a word and makes D numbers
/// of them:
///
/// $$ head_h = Attention(x W_Q,h , x W_K,h , x W_V,h),   each W is (C, D) $$
///
/// Three words of C = 4 channels that we can name:
void each_reads_all(Lesson& lesson) {
  const Tensor x = three_words();
  lesson.numbers(x, words, features, 1);

  /// Two heads of D = 2, with matrices chosen by hand: a row for each channel, so here are both heads whole.
  /// In both, an action asks with the first number of its query, (3, 0) in W_Q, and food and animals with the
  /// second, (0, 3). In both, a word hands over how much food and how much animal it is. The heads differ in
  /// W_K, that is, in what can be found: head 1 asks **who**, and finds animals; head 2 asks **what**, and
  /// finds food.
  std::vector<std::vector<std::string>> rows;
  for (Index c = 0; c < 4; ++c) {
    rows.push_back({features[c]});
    for (const Index head : {0, 1})
      for (const Tensor& w : {head_weights(head).query, head_weights(head).key, head_weights(head).value})
        rows.back().push_back(list_of({w(c, 0), w(c, 1)}, 0));
  }
  lesson.table({"channel", "W_Q,1", "W_K,1", "W_V,1", "W_Q,2", "W_K,2", "W_V,2"}, rows);
  lesson.say("What `drank` finds in each head, with the steps of lesson 06 (scores q · k / √2, softmax):");
  const Look who = look_of(x, head_weights(0), drank), what = look_of(x, head_weights(1), drank);
  rows.clear();
  for (Index j = 0; j < 3; ++j)
    rows.push_back({words[j], fmt::format("{:.2f}", who.scores[j]), fmt::format("{:.3f}", who.weights[j]),
                    fmt::format("{:.2f}", what.scores[j]), fmt::format("{:.3f}", what.weights[j])});
  lesson.table({"drank looks at", "head 1: score", "weight", "head 2: score", "weight"}, rows);
  lesson.claim(
      who.weights[0] > 0.9 && what.weights[2] > 0.9,
      "head 1 finds `cat` by `animal`, the last channel, and hands over (food, animal) = {}; head 2 finds "
      "`milk` and hands over {}",
      list_of(who.output, 2), list_of(what.output, 2));

  /// A common misunderstanding is that head 1 gets the first channels of a word and head 2 the next ones. It
  /// would then be blind to `animal`. Measure it on a fresh layer with random matrices, C = 8 and H = 2: how
  /// much does each head depend on each channel of its input (the mean size of the gradient)?
  Rng rng(lesson.seed);
  const Tensor sizes =
      influence(MultiHeadAttention({.d_model = 8, .heads = 2, .dropout = 0}, rng), 6, 8, rng);
  lesson.numbers(sizes, {"head 1", "head 2"}, {"1", "2", "3", "4", "5", "6", "7", "8"});
  const std::vector<real> all = sizes.values();
  const real smallest = *std::min_element(all.begin(), all.end());
  lesson.claim(smallest > 0.01,
               "every head depends on every channel; the smallest of the {} numbers is {:.2f}", sizes.numel(),
               smallest);
}

Tensor beside(const Tensor HeadWeights::*matrix) {  // (C, C): [W_1 | W_2]
  return concat({head_weights(0).*matrix, head_weights(1).*matrix}, 1);
}

// A row for each number that the heads hand over, a column for each channel of the output.
const std::vector<std::string> handed_over = {"who: food", "who: animal", "what: food", "what: animal"};
Tensor w_output() { return tensor({{0.0, 0, 0, 0}, {0.5, 0, 0, 1}, {0.5, 1, 0, 0}, {0.0, 0, 0, 0}}); }

/// ## All heads in one product
///
/// Why does everybody say that channels are *split* into heads? Because of the way it is computed. Put the
/// matrices of all heads side by side: W_Q = [W_Q,1 | … | W_Q,H] is (C, C), and one product x W_Q makes the
/// queries of all heads at once, those of head 1 in the first D columns, those of head 2 in the next. It is
/// the columns of the *result* that are split, after every head has read everything. The heads attend, each
/// on its own; what they hand over is put side by side again (*concatenated*), and a last matrix W_O mixes
/// it:
///
/// $$ MultiHead(x) = Concat(head_1, …, head_H) W_O $$
///
/// | step | shape |
/// |---|---|
/// | x | (B, T, C) |
/// | x W_Q, x W_K, x W_V | (B, T, C) each |
/// | split: reshape, then swap T and H | (B, T, H, D) → (B, H, T, D) |
/// | attend: weights | (B, H, T, T) |
/// | attend: weights · values | (B, H, T, D) |
/// | concatenate: swap back, reshape | (B, T, H, D) → (B, T, C) |
/// | × W_O | (B, T, C) |
///
/// Until W_O the heads know nothing of each other; here their answers meet. Ours writes `animal` if an
/// animal did it, `food` if it was done to food, and makes `action` of both together:
void split_attend_join(Lesson& lesson) {
  const Tensor x = three_words();
  const Index T = 3, H = 2, D = 2;
  lesson.numbers(w_output(), handed_over, features, 1);
  const auto split = [&](const Tensor HeadWeights::*matrix) {  // (1, H, T, D)
    return split_heads(reshape(matmul(x, beside(matrix)), {1, T, H * D}), H);
  };
  const Tensor q = split(&HeadWeights::query), k = split(&HeadWeights::key), v = split(&HeadWeights::value);
  const AttentionResult attended = scaled_dot_product_attention(q, k, v);
  const Tensor joined = merge_heads(attended.output)[0], output = matmul(joined, w_output());  // (T, C)
  double worst = 0;
  for (Index h = 0; h < H; ++h)
    for (Index i = 0; i < T; ++i) {
      const Row by_hand = look_of(x, head_weights(h), i).output;
      for (Index d = 0; d < D; ++d) worst = std::max(worst, std::fabs(by_hand[d] - joined(i, h * D + d)));
    }
  const auto row_of = [](const Tensor& matrix) {
    return list_of({matrix(drank, 0), matrix(drank, 1), matrix(drank, 2), matrix(drank, 3)}, 2);
  };
  lesson.say("For `drank`, Concat(head_1, head_2) = {}, and times W_O that is {}.", row_of(joined),
             row_of(output));
  lesson.claim(worst < 1e-6, "loops over heads and one batched product agree: largest difference {:.1e}",
               worst);
  lesson.claim(
      output(drank, 1) > 0.9 && output(drank, 3) > 0.9,
      "both answers arrive: `food` is {:.2f} and `animal` {:.2f}, each as large as if it had been the only "
      "question",
      output(drank, 1), output(drank, 3));
  std::vector<HeadNumbers> heads;
  for (Index h = 0; h < H; ++h)
    heads.push_back({q[0][h], k[0][h], v[0][h], attended.weights[0][h], attended.output[0][h]});
  lesson.picture(
      "split_and_join.png", split_and_join(words, x, heads, joined, w_output(), output),
      "Split into heads and back",
      "All of x goes into every head. The heads' outputs stand side by side, and W_O mixes them: follow the "
      "middle row, `drank`.");

  /// A mistake that everybody makes once is to *reshape* (B, T, C) straight to (B, H, T, D), without the
  /// swap. The shape is right. But the numbers of a row lie side by side in memory, so this cuts the words
  /// apart instead of the columns. With numbers that tell where they come from (21 is channel 1 of word 2),
  /// head 1 should hold channels 1 and 2 of every word:
  const Tensor numbered = tensor({{11, 12, 13, 14}, {21, 22, 23, 24}, {31, 32, 33, 34}});
  const Tensor right = split_heads(reshape(numbered, {1, T, 4}), H),
               reshaped = reshape(numbered, {1, H, T, D});
  lesson.numbers(concat({right[0][0], reshaped[0][0]}, 1), {"word 1", "word 2", "word 3"},
                 {"right", "right", "reshaped", "reshaped"}, 0);
  lesson.claim(
      reshaped(0, 0, 1, 0) == 13 && right(0, 0, 1, 0) == 21,
      "only reshaped, the second row of head 1 begins with {:.0f}: that is still word 1, its third channel",
      reshaped(0, 0, 1, 0));
}

/// ## What it costs: about one head
///
/// The paper has C = 512 channels and 8 heads of 64. Eight products of 64 numbers are as much work as one of
/// 512: nothing is added but seven softmaxes. Millions of operations for a sentence of T = 128 words:
void price(Lesson& lesson) {
  const Index T = 128, C = 512;
  const auto projections = [&] { return 4.0 * 2 * T * C * C; };                     // W_Q, W_K, W_V, W_O
  const auto looking = [&](Index H) { return 2.0 * H * (2.0 * T * T * (C / H)); };  // Q Kᵀ and weights V
  const auto softmaxes = [&](Index H) { return 5.0 * H * T * T; };  // maximum, difference, exp, sum, division
  std::vector<std::vector<std::string>> rows;
  for (const Index H : {1, 8})
    rows.push_back({fmt::format("{} × {}", H, C / H), fmt::format("{:.1f}", projections() / 1e6),
                    fmt::format("{:.1f}", looking(H) / 1e6), fmt::format("{:.1f}", softmaxes(H) / 1e6),
                    fmt::format("{:.1f}", (projections() + looking(H) + softmaxes(H)) / 1e6)});
  lesson.table({"heads", "W_Q, W_K, W_V, W_O", "Q Kᵀ and × V", "softmax", "all"}, rows);
  const double more =
      (projections() + looking(8) + softmaxes(8)) / (projections() + looking(1) + softmaxes(1));
  Rng rng(lesson.seed);
  const Index one = parameters_of(MultiHeadAttention({.heads = 1}, rng)).count();
  const Index eight = parameters_of(MultiHeadAttention({.heads = 8}, rng)).count();
  lesson.claim(one == eight && more < 1.01,
               "both have {} parameters, and eight heads cost {:.1f}% more: eight softmaxes instead of one",
               viz::format_fixed(double(eight), 0), 100 * (more - 1));
}

// The attention maps of a model on one row of symbols, drawn with its letters; the marked one has a star.
viz::Image draw_heads(const TwoQuestions& model, Lesson& lesson, int cell) {
  const NoGrad no_grad;
  const Batch batch = make_batch(1, 12);
  std::vector<std::string> tokens;
  for (Index t = 0; t < length; ++t)
    tokens.push_back(
        fmt::format("{}{}", static_cast<char>('a' + batch.symbols(0, t)), t == batch.where[0] ? "*" : ""));
  std::vector<std::vector<viz::Matrix>> layers;
  for (const Layer& layer : model.layers) {
    const Tensor weights = layer.weights(model.places(batch));  // (1, H, T, T)
    layers.emplace_back();
    for (Index h = 0; h < weights.size(1); ++h) layers.back().push_back(matrix_of(weights, {0, h}));
  }
  if (layers[0].size() == 2)
    for (Index h = 0; h < 2; ++h)
      lesson.heatmap(layers[0][h], {.title = fmt::format("head {}", h + 1),
                                    .x_title = "keys",
                                    .y_title = "queries",
                                    .row_labels = tokens,
                                    .column_labels = tokens,
                                    .low = 0,
                                    .high = 1});
  return head_grid(layers, tokens, cell);
}

/// ## A task that needs two looks
void two_relations(Lesson& lesson) {
  lesson.say(
      "Does it matter when matrices are learned? Take rows of {} symbols (of {} kinds), one of them marked. "
      "At each position two questions are asked at once: which symbol is one to the left, and which one is "
      "marked? Both answers must be right. The model is one attention with C = {} channels, restricted on "
      "purpose: queries and keys are made of where a token stands and whether it is marked, values of its "
      "symbol, and only linear maps read the answers from the result. (A whole transformer could help "
      "itself: a feed-forward network can untangle a mixture, and a second layer can ask the second "
      "question. Here we want to see what a single look can do.)",
      length, symbols, channels);

  /// Each model is trained several times with different seeds, at the learning rate that is best for it.
  /// The mean, with the worst and the best in brackets:
  std::vector<Race> races = {{"1 head", {1, 1, 1, 3e-3}},     {"2 heads", {2, 2, 1, 3e-3}},
                             {"4 heads", {4, 4, 1, 3e-3}},    {"8 heads", {8, 8, 1, 3e-3}},
                             {"32 heads", {32, 32, 1, 6e-2}}, {"4 heads, 1 key/value head", {4, 1, 1, 3e-3}}};
  const Index steps = 300;
  const std::uint64_t seeds = lesson.fast ? 1 : 5;
  std::vector<std::vector<std::string>> rows;
  std::vector<TwoQuestions> with_two_heads;
  Progress progress("two questions", std::ssize(races) * Index(seeds));
  for (Race& race : races) {
    for (std::uint64_t seed = lesson.seed; seed < lesson.seed + seeds; ++seed) {
      const TwoQuestions model = train_model(race.setting, seed, steps);
      race.right.push_back(100 * accuracy(model, seed));
      if (race.setting.heads == 2) with_two_heads.push_back(model);
      progress.update(std::ssize(rows) * Index(seeds) + std::ssize(race.right), race.name);
    }
    rows.push_back({race.name, fmt::format("{}", channels / race.setting.heads),
                    fmt::format("{:.0f}% ({:.0f} to {:.0f}%)", race.mean(), race.low(), race.high())});
  }
  progress.clear();
  lesson.table({"model", "D", "both right"}, rows);
  const Race &one = races[0], &two = races[1], &thin = races[4];
  lesson.claim(one.high() < 60 && two.low() > 95,
               "one head has both answers right at {:.0f}% of the positions, two heads at {:.0f}%",
               one.mean(), two.mean());

  /// Longer training would not help. Say that what one head takes away is 0.6 of the left symbol and 0.4 of
  /// the marked one. A linear map can answer with the larger part. But one that scores the smaller part
  /// above the larger, whichever two symbols they are, scores symbols still higher that are not there at
  /// all.
  lesson.claim(
      thin.high() < two.low(),
      "more heads bring nothing here, and 32 heads of a single number are a little worse, {:.0f}%: with D = "
      "1 a score is q times k, so a query can only point at the largest or at the smallest key",
      thin.mean());
  viz::Series each{.name = "one training", .line = false, .points = true},
      mean{.name = "mean", .points = true};
  for (Index i = 0; i < 5; ++i) {
    mean.x.push_back(double(races[i].setting.heads)), mean.y.push_back(races[i].mean());
    for (const double right : races[i].right) each.x.push_back(mean.x.back()), each.y.push_back(right);
  }
  lesson.picture("accuracy.png",
                 viz::line_chart({mean, each}, {.title = "Both answers right, against the number of heads",
                                                .x_title = "heads H (each has D = 32 / H numbers)",
                                                .y_title = "% of positions",
                                                .x_scale = viz::Scale::log2,
                                                .y_low = 0,
                                                .y_high = 100}),
                 "Accuracy against heads",
                 "One look is not enough, two are. All these models have the same number of parameters.");

  /// Who does what? The map of each of the two heads, on one row of symbols. The marked one has a star:
  const std::vector<Habits> of_two = habits(with_two_heads[0], lesson.seed);
  lesson.picture(
      "two_heads.png", draw_heads(with_two_heads[0], lesson, 36), "Who does what",
      "One head is a stripe beside the diagonal: the token on the left. The other is a column: the token "
      "with the star, whatever the query. (The first row is never asked: nothing is on its left.)");
  bool shared = true;
  for (Index i = 0; i < Index(seeds); ++i) {
    const std::vector<Habits> heads = habits(with_two_heads[i], lesson.seed + std::uint64_t(i));
    shared = shared && (heads[0].left > heads[0].marked) != (heads[1].left > heads[1].marked);
  }
  const Index left = of_two[0].left > of_two[1].left ? 0 : 1, marked = 1 - left;
  lesson.claim(shared,
               "nobody told them, but in each training they share the work. Here head {} gives {:.0f}% of "
               "its weight to the left and {:.0f}% to the mark, head {} gives {:.0f}% and {:.0f}%",
               left + 1, 100 * of_two[left].left, 100 * of_two[left].marked, marked + 1,
               100 * of_two[marked].left, 100 * of_two[marked].marked);
  lesson.picture("heads.png", draw_heads(train_model({4, 4, 2, 3e-3}, lesson.seed, steps), lesson, 18),
                 "All heads, layers × heads",
                 "A larger model, two layers of four heads: a row of maps for each layer, a column for each "
                 "head. With heads to spare several do the same work: stripes (the token on the left) and "
                 "columns (the marked one) appear more than once.");
}

/// ## Fewer key and value heads: MQA and GQA
///
/// When a model writes, it keeps the keys and values of all tokens so far, so that none is computed twice:
/// the *key/value cache* (lesson 14). Every new token reads all of it, so its size decides how fast a model
/// writes and how long a text it can hold. Noam Shazeer (2019) therefore let all query heads share one head
/// of keys and values: **multi-query attention** (MQA). Ainslie et al. (2023) took the middle way,
/// **grouped-query attention** (GQA): the query heads form G groups, and the heads of a group share keys and
/// values. The first H / G query heads use the first key/value head, the next H / G the second, and so on.
///
/// | model | query heads | key/value heads |
/// |---|---|---|
/// | Transformer (Vaswani et al. 2017) | 8 | 8 |
/// | PaLM 540B (Chowdhery et al. 2022) | 48 | 1: MQA |
/// | Falcon 7B (Almazrouei et al. 2023) | 71 | 1: MQA |
/// | Llama 2 70B (Touvron et al. 2023) | 64 | 8: GQA |
/// | Mistral 7B (Jiang et al. 2023) | 32 | 8: GQA |
///
/// What has to be kept for 1,000 tokens by 6 layers of 512 channels and 8 query heads, at 4 bytes per
/// number:
void fewer_keys(Lesson& lesson) {
  const NoGrad no_grad;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> names;
  std::vector<double> sizes;
  for (const Index kv_heads : {8, 4, 2, 1}) {
    Rng rng(lesson.seed);
    const MultiHeadAttention attention({.heads = 8, .kv_heads = kv_heads, .dropout = 0}, rng);
    KeyValueCache cache;
    const Tensor x = normal({1, 10, 512}, rng);
    attention(x, {.cache = &cache});
    const double bytes = double(cache.numel()) / 10 * 1000 * 6 * 4;
    const std::string kind = kv_heads == 8 ? "multi-head" : kv_heads == 1 ? "MQA" : "GQA";
    sizes.push_back(bytes / 1e6);
    names.push_back(fmt::format("{}: {} of 8", kind, kv_heads));
    rows.push_back({kind, fmt::format("{}", kv_heads), fmt::format("{:.1f} MB", bytes / 1e6),
                    viz::format_fixed(double(parameters_of(attention).count()), 0)});
  }
  lesson.table({"", "key/value heads", "cache", "parameters of a layer"}, rows);
  lesson.claim(std::fabs(sizes[0] / sizes[3] - 8) < 1e-6 && std::fabs(sizes[0] / sizes[2] - 4) < 1e-6,
               "two key/value heads instead of eight need a quarter of the cache, one needs an eighth: "
               "{:.1f} instead of {:.1f} MB",
               sizes[3], sizes[0]);
  lesson.picture("cache.png",
                 viz::bar_chart(names, sizes,
                                {.title = "Keys and values to keep, by key/value heads",
                                 .value_title = "MB for 1,000 tokens",
                                 .unit = " MB",
                                 .colors = {-1, 0, 0, 1},
                                 .high = 30}),
                 "The cache that GQA and MQA save",
                 "Half as many key/value heads, half the cache. The number of query heads, and with it the "
                 "number of looks, is 8 in all four.");

  /// GQA is nothing but multi-head attention in which the heads of a group have the same keys and values:
  Rng rng(lesson.seed + 1);
  const Index H = 4, G = 2, D = 8, T = 5;
  const Tensor q = normal({1, T, H * D}, rng), k = normal({1, T, G * D}, rng), v = normal({1, T, G * D}, rng);
  const auto repeat = [&](const Tensor& x) {  // heads 1, 1, 2, 2
    const std::vector<Tensor> heads = split(x, D, 2);
    return concat({heads[0], heads[0], heads[1], heads[1]}, 2);
  };
  const Tensor grouped = attention(q, k, v, {.heads = H, .kv_heads = G});
  const Tensor repeated = attention(q, repeat(k), repeat(v), {.heads = H});
  lesson.claim(
      max_difference(grouped, repeated) < 1e-5,
      "4 query heads with 2 key/value heads equal 4 heads with each of the two repeated for its group: "
      "difference {:.1g}",
      max_difference(grouped, repeated));
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "08_multi_head", .question = "Why look in several ways?"}, [](Lesson& lesson) {
        one_look(lesson);
        each_reads_all(lesson);
        split_attend_join(lesson);
        price(lesson);
        two_relations(lesson);
        fewer_keys(lesson);
        /// ## Check yourself
        ///
        /// - **What are several heads for?** One row of weights can answer one question. Each head has its
        ///   own queries, keys and values, so a token can ask H questions in one step and keep the answers
        ///   apart.
        /// - **What goes in, what comes out?** x (B, T, C) in, (B, T, C) out. In between H heads of D = C /
        ///   H: queries, keys and values (B, H, T, D), weights (B, H, T, T). Each head reads all C channels;
        ///   W_O (C, C) mixes what the heads found.
        /// - **What goes wrong with a single head?** What it finds in two places arrives as one mixture.
        ///   What goes wrong without W_O? The answers stay side by side, and each head can write to its own
        ///   D channels only.
        ///
        /// ## Read on
        ///
        /// - Vaswani et al., 2017: *Attention is all you need*, section 3.2.2, and the rows (A) of table 3:
        ///   one head is worse, too many are worse as well.
        /// - Voita et al., 2019: *Analyzing multi-head self-attention: specialized heads do the heavy
        ///   lifting, the rest can be pruned*.
        /// - Shazeer, 2019: *Fast transformer decoding: one write-head is all you need*. MQA.
        /// - Ainslie et al., 2023: *GQA: training generalized multi-query transformer models from multi-head
        ///   checkpoints*.
        /// - The notebook `04_what_heads_learn`: switch off the heads of a translator, one by one.
        lesson.try_next(
            {{"In two_relations, give the first model two layers: {1, 1, 2, 3e-3}.",
              "Two looks one after the other do what two heads do at once: its accuracy jumps, and the claim "
              "that sets one head against two fails."},
             {"In make_batch (two_questions.cpp), ask for the marked symbol twice: write mark for t - 1.",
              "One look is enough now: one head is as good as two, and the claims about them fail."},
             {"In fewer_keys, let `repeat` join heads[0], heads[1], heads[0], heads[1].",
              "The last claim fails: neighbouring query heads form a group."}});
      });
}
