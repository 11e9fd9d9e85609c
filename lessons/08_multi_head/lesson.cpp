/// One attention gives one set of weights, so a token can ask one question. But a verb wants its subject
/// *and* its object, and what it gets from one look is their average, in which nobody can tell who was who.
/// So the channels are cut into H parts, and each part, a head, looks for itself:
///
/// $$ MultiHead(x) = Concat(head_1, …, head_H) W_O,   head_h = Attention(x W_(Q,h), x W_(K,h), x W_(V,h)) $$
///
/// Letters for sizes: B batch, T time, C channels, H heads, D = C / H the size of a head.
#include <cmath>     // exp, sqrt
#include <iterator>  // ssize

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/attention.hpp"
#include "nn/embedding.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

/// ## Two questions, one look
///
/// `cat drank milk`: the verb wants to know who drank, and what. Let the values be `cat` = (1, 0, 0) and
/// `milk` = (0, 0, 1). One head that looks at both takes their average:
void one_look(Lesson& lesson) {
  const Tensor cat = tensor({1, 0, 0}), milk = tensor({0, 0, 1});
  const Tensor drank = cat * real(0.5) + milk * real(0.5), reversed = milk * real(0.5) + cat * real(0.5);
  lesson.print("    cat drank milk:   0.5 cat + 0.5 milk = ({:.1f}, {:.1f}, {:.1f})", drank(0), drank(1),
               drank(2));
  lesson.print("    milk drank cat:   0.5 milk + 0.5 cat = ({:.1f}, {:.1f}, {:.1f})", reversed(0),
               reversed(1), reversed(2));
  const Tensor two = concat({cat, milk}), two_reversed = concat({milk, cat});  // (6): who, what
  const auto digits = [](const Tensor& x) {
    std::string text;
    for (const real value : x.values()) text += fmt::format("{}{:.0f}", text.empty() ? "" : ", ", value);
    return text;
  };
  lesson.claim(equal(drank, reversed) && !equal(two, two_reversed),
               "one head gives the same vector for both sentences; two heads, one for `who` and one for "
               "`what`, put side by side, give ({}) and ({})",
               digits(two), digits(two_reversed));
}

const std::vector<std::string> words = {"cat", "drank", "milk"};

// Three words, four channels: the first two belong to head 0, the others to head 1.
Tensor three_words() {
  return tensor({{1.0, 0.2, 0.1, 0.9},    // cat
                 {0.3, 1.0, 0.8, 0.1},    // drank
                 {0.1, 0.4, 1.0, 0.7}});  // milk
}

// One head with loops: it knows only its own D channels of q, k and v.
std::vector<double> one_head(const Tensor& x, Index head, Index D, Index query) {
  const Index T = x.size(0);
  std::vector<double> weights(T), output(D, 0.0);
  double sum = 0;
  for (Index j = 0; j < T; ++j) {
    double score = 0;
    for (Index d = 0; d < D; ++d) score += x(query, head * D + d) * x(j, head * D + d);
    sum += weights[j] = std::exp(score / std::sqrt(double(D)));
  }
  for (Index j = 0; j < T; ++j)
    for (Index d = 0; d < D; ++d) output[d] += weights[j] / sum * x(j, head * D + d);
  return output;
}

/// ## Split, attend, join
void split_attend_join(Lesson& lesson) {
  const Tensor x = three_words();
  const Index T = 3, H = 2, D = 2;
  /// Three words of four channels and two heads (queries, keys and values are the words themselves here, to
  /// keep it short). Head 0 has the first two channels, head 1 the others:
  lesson.numbers(x, words, {"head 0", "head 0", "head 1", "head 1"}, 1);
  /// $$ (B,T,C) → reshape (B,T,H,D) → swap T and H (B,H,T,D) → attend → back (B,T,C) → W_O $$
  const Tensor heads = split_heads(reshape(x, {1, T, 4}), H);  // (1, H, T, D)
  const AttentionResult result = scaled_dot_product_attention(heads, heads, heads);
  const Tensor joined = merge_heads(result.output);  // (1, T, C)
  double worst = 0;
  for (Index h = 0; h < H; ++h)
    for (Index i = 0; i < T; ++i) {
      const std::vector<double> by_hand = one_head(x, h, D, i);
      for (Index d = 0; d < D; ++d) worst = std::max(worst, std::fabs(by_hand[d] - joined(0, i, h * D + d)));
    }
  lesson.claim(worst < 1e-6, "loops over heads and one batched product agree: largest difference {:.1e}",
               worst);
  /// Each head has weights of its own. The row of `drank`:
  std::vector<std::vector<std::string>> rows;
  for (Index h = 0; h < H; ++h) {
    rows.push_back({fmt::format("head {}", h)});
    for (Index j = 0; j < T; ++j) rows.back().push_back(fmt::format("{:.3f}", result.weights(0, h, 1, j)));
  }
  lesson.table({"drank looks at", "cat", "drank", "milk"}, rows);
  // The mistake that everybody makes once: the numbers of a row lie side by side in memory, so reshaping
  // (T, C) to (H, T, D) cuts the *words* apart, not the channels.
  const Tensor reshaped = reshape(x, {1, H, T, D});
  /// Reshaped straight to (B,H,T,D), without the swap, the shape is right too. But see what head 0 would
  /// hold:
  lesson.numbers(concat({heads[0][0], reshaped[0][0]}, 1), {"row 0", "row 1", "row 2"},
                 {"right", "right", "reshaped", "reshaped"}, 1);
  lesson.claim(reshaped(0, 0, 1, 0) == x(0, 2),
               "only reshaped, row 1 of head 0 begins with {:.1f}: still `cat`, its third channel", x(0, 2));
  /// At the end comes W_O, a matrix (C, C). Until then the heads lie side by side and know nothing of each
  /// other; W_O is where what they found is put together.
}

/// ## What it costs: about one head
///
/// The paper has C = 512 channels and 8 heads of 64. Eight products of 64 numbers are as much work as one
/// of 512. Millions of operations for a sentence of T = 128 words:
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
               eight, 100 * (more - 1));
}

constexpr Index length = 10, symbols = 20, channels = 32;

// A row of symbols, one of which is marked. At every place two things are asked: which symbol stands one to
// the left, and which one is marked? The two lie in different places, so it takes two looks.
struct Batch {
  IntTensor symbols, left, marked;  // (B, T); the first place is not asked: nothing is on its left
  Tensor marks;                     // (B, T, 1): 1 at the marked place
  std::vector<Index> where;         // (B): the marked place
};

Batch make_batch(Index B, std::uint64_t seed) {
  Rng rng(seed);
  Batch batch{
      IntTensor({B, length}), IntTensor({B, length}), IntTensor({B, length}), zeros({B, length, 1}), {}};
  for (Index b = 0; b < B; ++b) {
    for (Index t = 0; t < length; ++t) batch.symbols(b, t) = int(rng.below(symbols));
    const Index mark = rng.below(length);
    batch.where.push_back(mark);
    batch.marks(b, mark, 0) = 1;
    for (Index t = 0; t < length; ++t) {
      batch.left(b, t) = t == 0 ? -100 : batch.symbols(b, t - 1);
      batch.marked(b, t) = t == 0 ? -100 : batch.symbols(b, mark);
    }
  }
  return batch;
}

// One layer of attention, restricted on purpose: queries and keys are made of the places alone (position and
// mark), values of the symbols alone, and no feed-forward network follows. So an average stays an average.
struct Layer {
  Index heads, kv_heads;
  Linear query, key, value, output;

  Layer(Index heads, Index kv_heads, Rng& rng)
      : heads(heads),
        kv_heads(kv_heads),
        query(channels, channels, rng),
        key(channels, kv_heads * channels / heads, rng),
        value(channels, kv_heads * channels / heads, rng),
        output(channels, channels, rng) {}
  Tensor operator()(const Tensor& places, const Tensor& states) const {  // (B, T, C), (B, T, C) -> (B, T, C)
    return output(
        attention(query(places), key(places), value(states), {.heads = heads, .kv_heads = kv_heads}));
  }
  Tensor weights(const Tensor& places) const {  // (B, H, T, T)
    const Tensor q = split_heads(query(places), heads), k = split_heads(key(places), kv_heads);
    return scaled_dot_product_attention(q, k, k).weights;
  }
  void parameters(ParameterList& list) const {
    list.add_layer("query", query), list.add_layer("key", key);
    list.add_layer("value", value), list.add_layer("output", output);
  }
};

struct TwoQuestions {
  Embedding symbol;
  Tensor position, mark;  // (T, C), (C)
  std::vector<Layer> layers;
  Linear left, marked;

  TwoQuestions(Index heads, Index kv_heads, int depth, Rng& rng)
      : symbol(symbols, channels, rng),
        position(normal({length, channels}, rng).requires_grad()),
        mark(normal({channels}, rng).requires_grad()),
        left(channels, symbols, rng),
        marked(channels, symbols, rng) {
    for (int i = 0; i < depth; ++i) layers.emplace_back(heads, kv_heads, rng);
  }
  struct Answers {
    Tensor left, marked;  // (B, T, V)
  };
  Tensor places(const Batch& batch) const { return position + batch.marks * mark; }  // (B, T, C)
  Answers operator()(const Batch& batch) const {
    Tensor x = symbol(batch.symbols);  // (B, T, C)
    for (const Layer& layer : layers) x = x + layer(places(batch), x);
    return {left(x), marked(x)};
  }
  void parameters(ParameterList& list) const {
    list.add_layer("symbol", symbol), list.add("position", position), list.add("mark", mark);
    list.add_layers("layer", layers), list.add_layer("left", left), list.add_layer("marked", marked);
  }
};

// The share of places at which both answers are right.
double accuracy(const TwoQuestions& model, std::uint64_t seed) {
  const NoGrad no_grad;
  const Batch batch = make_batch(100, seed);
  const TwoQuestions::Answers answers = model(batch);
  const IntTensor left = argmax(answers.left), marked = argmax(answers.marked);
  Index right = 0;
  for (Index b = 0; b < 100; ++b)
    for (Index t = 1; t < length; ++t)
      right += left(b, t) == batch.left(b, t) && marked(b, t) == batch.marked(b, t);
  return double(right) / (100 * (length - 1));
}

struct Setting {
  Index heads, kv_heads;
  int depth;
  std::string name;
};

TwoQuestions train_model(const Setting& setting, Lesson& lesson) {
  Rng rng(lesson.seed);
  TwoQuestions model(setting.heads, setting.kv_heads, setting.depth, rng);
  Adam optimizer(parameters_of(model));
  const std::uint64_t base = lesson.seed * 1000003;
  const Index steps = lesson.fast ? 300 : 800;
  train(optimizer,
        {.steps = steps,
         .schedule = {.kind = ScheduleKind::cosine, .peak = 3e-3, .warmup = 20, .total = steps},
         .label = setting.name},
        {.loss = [&](Index number) {
          const Batch batch = make_batch(32, base + std::uint64_t(number));
          const TwoQuestions::Answers answers = model(batch);
          return StepLoss{
              cross_entropy(answers.left, batch.left) + cross_entropy(answers.marked, batch.marked),
              32 * length};
        }});
  return model;
}

// How much of its weight each head gives to the token on the left, and to the marked one.
struct Habits {
  double left, marked;
};
std::vector<Habits> habits(const TwoQuestions& model, std::uint64_t seed) {
  const NoGrad no_grad;
  const Batch batch = make_batch(100, seed);
  const Tensor weights = model.layers[0].weights(model.places(batch));  // (B, H, T, T)
  std::vector<Habits> all;
  for (Index h = 0; h < weights.size(1); ++h) {
    Habits habit{0, 0};
    double count = 0;
    for (Index b = 0; b < 100; ++b)
      for (Index t = 1; t < length; ++t) {
        const Index mark = batch.where[b];
        if (mark == t - 1) continue;  // there the two questions have one answer
        habit.left += weights(b, h, t, t - 1), habit.marked += weights(b, h, t, mark), ++count;
      }
    all.push_back({habit.left / count, habit.marked / count});
  }
  return all;
}

void draw_heads(Lesson& lesson, const TwoQuestions& model, const std::string& file, const std::string& title,
                const std::string& caption) {
  const NoGrad no_grad;
  const Batch batch = make_batch(1, 12);
  std::vector<std::string> places;
  for (Index t = 0; t < length; ++t)
    places.push_back(
        fmt::format("{}{}", static_cast<char>('a' + batch.symbols(0, t)), t == batch.where[0] ? "*" : ""));
  viz::HeatmapGrid grid{.columns = int(model.layers[0].heads),
                        .options = {.title = title,
                                    .x_title = "keys",
                                    .y_title = "queries",
                                    .row_labels = places,
                                    .column_labels = places,
                                    .low = 0,
                                    .high = 1,
                                    .value_title = "weight"}};
  for (Index layer = 0; layer < std::ssize(model.layers); ++layer) {
    const Tensor weights = model.layers[layer].weights(model.places(batch));
    for (Index h = 0; h < weights.size(1); ++h) {
      grid.names.push_back(fmt::format("layer {} head {}", layer + 1, h + 1));
      grid.maps.push_back(matrix_of(weights, {0, h}));
    }
  }
  if (grid.maps.size() > 2) return lesson.picture(file, viz::heatmap_grid(grid), title, caption);
  std::vector<viz::Image> large;
  for (Index h = 0; h < std::ssize(grid.maps); ++h) {
    viz::HeatmapOptions options = grid.options;
    options.title = grid.names[h], options.cell = 36;
    large.push_back(viz::heatmap(grid.maps[h], options));
    lesson.heatmap(grid.maps[h], options);
  }
  lesson.picture(file, viz::row(large, {.title = title}), title, caption);
}

/// ## A task that needs two relations
void two_relations(Lesson& lesson) {
  lesson.say(
      "A row of {} symbols, one of them marked. At each place two questions are asked at once: which symbol "
      "is one to the left, and which one is marked? Both answers must be right. The model is one attention "
      "of {} channels, in one head or in several, restricted on purpose: where to look is decided by the "
      "places, what is taken over is made of the symbols, and nothing but linear maps follows. (A whole "
      "Transformer could help itself: its values can carry their places, a feed-forward network can untangle "
      "a mixture, a second layer can ask the second question. Here we want to see what a single look can "
      "do.)",
      length, channels);
  std::vector<Setting> settings = {{1, 1, 1, "1 head"}, {2, 2, 1, "2 heads"}, {4, 4, 1, "4 heads"}};
  if (!lesson.fast) {
    settings.push_back({8, 8, 1, "8 heads"});
    settings.push_back({4, 1, 1, "4 heads, 1 key/value head"});
    settings.push_back({4, 4, 2, "4 heads, 2 layers"});
  }
  const std::uint64_t unseen = lesson.seed * 1000003 - 1;
  std::vector<double> scores;
  std::vector<std::string> names;
  std::vector<Habits> of_two;
  std::vector<std::vector<std::string>> rows;
  for (const Setting& setting : settings) {
    const TwoQuestions model = train_model(setting, lesson);
    scores.push_back(accuracy(model, unseen));
    names.push_back(setting.name);
    rows.push_back({setting.name, fmt::format("{:.1f}%", 100 * scores.back())});
    if (setting.heads == 2) {
      of_two = habits(model, unseen);
      draw_heads(
          lesson, model, "two_heads.png", "Who does what",
          "One head is a stripe beside the diagonal: the token on the left. The other is a column: the token "
          "with the star, whoever asks. (The first row is never asked: nothing is on its left.)");
    }
    if (setting.depth == 2 || (lesson.fast && setting.heads == 4))
      draw_heads(
          lesson, model, "heads.png", "All heads, layers × heads",
          "A row of maps for each layer, a column for each head. With heads to spare several do the same "
          "work: stripes (the token on the left) and columns (the marked one) appear more than once.");
  }
  lesson.table({"model", "both answers right"}, rows);
  lesson.claim(scores[0] < 0.8,
               "one head, restricted like this, has both right at {:.0f}% of the places: out of one mixture "
               "two linear maps cannot read which symbol stood where",
               100 * scores[0]);
  lesson.claim(scores[1] > 0.9 && scores[1] > scores[0] + 0.15, "two heads have both right at {:.0f}%",
               100 * scores[1]);
  const Index looks_left = of_two[0].left > of_two[1].left ? 0 : 1;
  const Habits &left = of_two[looks_left], &marked = of_two[1 - looks_left];
  lesson.claim(left.left > left.marked && marked.marked > marked.left,
               "they share the work: head {} gives {:.0f}% of its weight to the left and {:.0f}% to the "
               "mark, head {} gives {:.0f}% and {:.0f}%",
               looks_left + 1, 100 * left.left, 100 * left.marked, 2 - looks_left, 100 * marked.left,
               100 * marked.marked);
  std::vector<double> percent;
  for (const double score : scores) percent.push_back(100 * score);
  lesson.picture(
      "accuracy.png",
      viz::bar_chart(names, percent,
                     {.title = "Both answers right", .value_title = "% of places", .unit = "%", .high = 100}),
      "Accuracy against heads",
      "One look is not enough. From two heads on the task is solved, and more heads bring nothing here.");
}

/// ## Fewer key and value heads: MQA and GQA
///
/// When a model writes, it keeps the keys and values of all tokens so far (lesson 14). Query heads can
/// share them: in grouped-query attention (GQA) the heads of a group look at the same keys and take from
/// the same values; in multi-query attention (MQA) all heads are one group. With G groups, head h uses
/// key/value head h / (H / G), rounded down. What has to be kept for 1,000 tokens by 6 layers of 512
/// channels and 8 query heads, at 4 bytes a number:
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
    const double bytes = double(cache.keys.numel() + cache.values.numel()) / 10 * 1000 * 6 * 4;
    const std::string kind = kv_heads == 8 ? "multi-head" : kv_heads == 1 ? "MQA" : "GQA";
    sizes.push_back(bytes / 1e6);
    names.push_back(fmt::format("{}: {} of 8", kind, kv_heads));
    rows.push_back({kind, fmt::format("{}", kv_heads), fmt::format("{:.1f} MB", bytes / 1e6),
                    fmt::format("{}", parameters_of(attention).count())});
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

  // GQA is multi-head attention in which the heads of a group have the same keys and values.
  Rng rng(lesson.seed + 1);
  const Index H = 4, G = 2, D = 8, T = 5;
  const Tensor q = normal({1, T, H * D}, rng), k = normal({1, T, G * D}, rng), v = normal({1, T, G * D}, rng);
  const auto repeat = [&](const Tensor& x) {  // head 0, 0, 1, 1
    const std::vector<Tensor> heads = split(x, D, 2);
    return concat({heads[0], heads[0], heads[1], heads[1]}, 2);
  };
  const Tensor grouped = attention(q, k, v, {.heads = H, .kv_heads = G});
  const Tensor repeated = attention(q, repeat(k), repeat(v), {.heads = H});
  lesson.claim(
      max_difference(grouped, repeated) < 1e-5,
      "GQA equals multi-head attention with every key/value head repeated for its group: difference {:.1e}",
      max_difference(grouped, repeated));
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "08_multi_head", .question = "Why look in several ways?"}, [](Lesson& lesson) {
        one_look(lesson);
        split_attend_join(lesson);
        price(lesson);
        two_relations(lesson);
        fewer_keys(lesson);
        lesson.try_next(
            {{"In two_relations, give the first setting two layers: {1, 1, 2, \"1 head\"}.",
              "Two looks one after the other do what two heads do at once: its accuracy jumps, and the "
              "claims that set one head against two fail."},
             {"In make_batch, ask for the marked symbol twice (batch.left as batch.marked).",
              "One look is enough now: one head is as good as two, and the claims about them fail."},
             {"In fewer_keys, repeat the heads as 0, 1, 0, 1 in `repeat`.",
              "The last claim fails: head h belongs to group h / 2, not h % 2."}});
      });
}
