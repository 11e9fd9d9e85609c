/// > The cat drank the milk because it was hungry.
///
/// Who was hungry? You did not hesitate: the cat. Put *sour* in place of *hungry*, and `it` is the milk. To
/// know what `it` means, the word has to look at the other words, find the one that fits, and take something
/// over from it. **Attention** is that look. It is the idea at the heart of every transformer, and this
/// lesson builds it from a lookup in a table.
///
/// One convention, here and in all lessons: a word is a row of numbers, its embedding (lesson 05), and a
/// layer multiplies it from the right, x W. T is the number of words that ask, S the number that are asked,
/// D (or d_k) the size of a query.
#include <algorithm>  // max, nth_element, sort
#include <cmath>      // exp, fabs, log, sqrt
#include <map>        // map
#include <numeric>    // accumulate, iota

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"  // set_thread_count
#include "core/rng.hpp"       // shuffle
#include "lessons/support/cpu_time.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/attention.hpp"
#include "optim/optimizer.hpp"

using namespace attn;

namespace {

using Words = std::vector<std::string>;
using Row = std::vector<double>;

double dot(const Row& a, const Row& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

Row softmax_of(const Row& scores) {
  Row weights;
  for (const double score : scores) weights.push_back(std::exp(score));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::string number(double value, int decimals = 2) { return fmt::format("{:.{}f}", value, decimals); }

std::string list_of(const Row& row, int decimals = 2) {
  std::string text;
  for (const double value : row) text += (text.empty() ? "" : ", ") + number(value, decimals);
  return "(" + text + ")";
}

/// ## A lookup that is never quite sure
///
/// You know a lookup that takes all or nothing: `std::map`. Ask it for a key that it has, and you get the
/// value; ask for one that it does not have, and you get nothing at all.
void soft_lookup(Lesson& lesson) {
  const std::map<std::string, int> kg{{"cat", 4}, {"dog", 20}, {"lion", 190}};
  lesson.print("    std::map<std::string, int> kg{{{{\"cat\", 4}}, {{\"dog\", 20}}, {{\"lion\", 190}}}};");
  lesson.print("    kg.find(\"kitten\") == kg.end()      {}", kg.find("kitten") == kg.end());

  /// But a kitten is nearly a cat. Let the keys be numbers that say what an animal is like, here (size,
  /// tameness), and compare: the dot product of two rows is large where they agree. *Softmax* (lesson 04)
  /// turns these scores into shares that sum to 1, and the answer is a mixture of all values, each with its
  /// share. The question is called the **query**. It is compared with the **keys**, and what is mixed are the
  /// **values**.
  const Words names = {"cat", "dog", "lion"};
  const std::vector<Row> keys = {{-2, 2}, {1, 2}, {2, -2}};
  const Row query = {-1.2, 0.8}, values = {4, 20, 190};
  Row scores;
  for (const Row& key : keys) scores.push_back(dot(query, key));
  const Row shares = softmax_of(scores);
  std::vector<std::vector<std::string>> rows;
  for (Index j = 0; j < 3; ++j)
    rows.push_back({names[j], list_of(keys[j], 0), number(scores[j]), number(shares[j], 3),
                    number(values[j], 0), number(shares[j] * values[j])});
  lesson.table({"kitten " + list_of(query, 1), "key", "query · key", "share", "value", "share × value"},
               rows);
  const double answer = dot(shares, values);
  lesson.claim(shares[0] > 0.9, "the soft lookup answers {:.1f} kg: the cat's share is {:.1f}%", answer,
               100 * shares[0]);

  /// That is attention. It never fails to answer, and a small change of the query or of a key changes the
  /// answer a little: there is a derivative, so queries, keys and values can be *learned*.
}

const Words sentence = {"the", "cat", "drank", "milk", "because", "it"};
constexpr Index it = 5, cat = 1;

// Is it an animal? A thing? An action? Does it stand for another word? A trained model has hundreds of such
// numbers, without names.
const Words features = {"animal", "thing", "action", "stands for"};
Tensor six_words() {
  return tensor({{0.0, 0.1, 0.0, 0.0},    // the
                 {1.0, 0.1, 0.1, 0.0},    // cat
                 {0.1, 0.0, 1.0, 0.0},    // drank
                 {0.0, 1.0, 0.1, 0.0},    // milk
                 {0.1, 0.0, 0.2, 0.0},    // because
                 {0.0, 0.0, 0.0, 1.0}});  // it
}

/// ## Every word asks
///
/// In a sentence every word may ask, and every word can be asked. The simplest way: each word is its own
/// query, its own key and its own value. That is *self-attention without weights*, softmax(x xᵀ) x. Six
/// words, each four numbers that we can name:
void without_weights(Lesson& lesson) {
  const Tensor x = six_words();
  lesson.numbers(x, sentence, features, 1);
  const Tensor scores = matmul(x, x, Transpose::second), weights = softmax(scores);  // (T, T)
  lesson.say("What `it` scores with each word, and what softmax makes of that:");
  std::vector<std::vector<std::string>> rows;
  for (Index j = 0; j < 6; ++j)
    rows.push_back({sentence[j], number(scores(it, j)), number(weights(it, j), 3)});
  lesson.table({"it looks at", "score", "weight"}, rows);
  lesson.claim(argmax(weights)[it] == it && max_difference(scores, transpose(scores)) == 0,
               "`it` finds only itself; and x xᵀ is symmetric, so `cat` scores with `drank` what `drank` "
               "scores with `cat`, {:.2f}",
               scores(cat, 2));

  /// Two things are wrong. All that a word can compare is what it *is*, and `it` has no way to say that it
  /// is *looking for an animal*. And the look is symmetric, while meaning is not: `it` needs `cat`, but
  /// `cat` does not need `it`. So each word gets three roles:
  ///
  /// | role | the question it answers | made by |
  /// |---|---|---|
  /// | query | what am I looking for? | q = x W_Q |
  /// | key | what can I be found by? | k = x W_K |
  /// | value | what do I hand over? | v = x W_V |
  ///
  /// The three matrices are the same for all words, and they are what a model learns.
}

// Chosen by hand, each (4, 3). Animals and things look for actions, actions for animals and things, and what
// stands for another word looks for animals. All are found by what they are, and hand that over.
Tensor w_query() { return tensor({{0, 0, 3}, {0, 0, 3}, {3, 3, 0}, {3, 0, 0}}); }
Tensor w_key() { return tensor({{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {0, 0, 0}}); }
Tensor w_value() { return tensor({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}}); }

// Row `word` of x times W: each column of W is one question put to the word.
Row project(const Tensor& x, Index word, const Tensor& w) {
  Row y(w.size(1));
  for (Index j = 0; j < w.size(1); ++j)
    for (Index i = 0; i < w.size(0); ++i) y[j] += x(word, i) * w(i, j);
  return y;
}

// All that happens when one word looks around.
struct Look {
  Row query, scores, weights, output;
  std::vector<Row> keys, values;
};

Look look_around(const Tensor& x, Index asking) {
  Look look;
  look.query = project(x, asking, w_query());
  for (Index j = 0; j < x.size(0); ++j) {
    look.keys.push_back(project(x, j, w_key()));
    look.values.push_back(project(x, j, w_value()));
    look.scores.push_back(dot(look.query, look.keys[j]) / std::sqrt(3.0));
  }
  look.weights = softmax_of(look.scores);
  look.output.assign(3, 0.0);
  for (Index j = 0; j < x.size(0); ++j)
    for (Index d = 0; d < 3; ++d) look.output[d] += look.weights[j] * look.values[j][d];
  return look;
}

viz::Image the_whole_way(const Look& look) {
  const auto map = [](const std::string& title, const Words& rows, double high, const auto& value) {
    viz::Matrix matrix(std::ssize(rows), 3);
    for (Index j = 0; j < matrix.rows; ++j)
      for (Index d = 0; d < 3; ++d) matrix(j, d) = float(value(j, d));
    return viz::heatmap(matrix, {.title = title,
                                 .row_labels = rows,
                                 .column_labels = {"animal", "thing", "action"},
                                 .low = 0,
                                 .high = high,
                                 .color_bar = false,
                                 .numbers = true});
  };
  const auto bars = [](const std::string& title, const Row& values) {
    return viz::bar_chart(sentence, values, {.title = title, .width = 330});
  };
  return viz::column({viz::row({map("query", {"it"}, 3, [&](Index, Index d) { return look.query[d]; }),
                                map("keys", sentence, 3, [&](Index j, Index d) { return look.keys[j][d]; }),
                                bars("scores q · k / √3", look.scores)},
                               {.between = {"q · k", "÷ √3 →"}}),
                      viz::row({bars("weights = softmax", look.weights),
                                map("weight × value", sentence, 1,
                                    [&](Index j, Index d) { return look.weights[j] * look.values[j][d]; }),
                                map("output", {"it"}, 1, [&](Index, Index d) { return look.output[d]; })},
                               {.between = {"× values →", "sum →"}})},
                     {.title = "How “it” looks around: one query, six keys, six values"});
}

/// ## One look, number by number
///
/// Here is one look in full, so that you can follow it with a calculator. In five steps, a word
///
/// 1. makes its query, and every word its key and its value: q = x W_Q, k = x W_K, v = x W_V;
/// 2. compares its query with every key: s_j = q · k_j;
/// 3. divides each score by √d_k, here √3 (we come to that below);
/// 4. turns the scores into weights by softmax: w_j = exp(s_j) / Σ exp(s);
/// 5. takes that share of every value: output = Σ w_j v_j.
///
/// (Often some words must not be seen. They are taken out between steps 3 and 4: a *mask*, lesson 07.)
///
/// Our matrices are chosen by hand (a model learns them, and you will see it happen below). Each is (4, 3): a
/// row for each number of a word, and in it the (animal, thing, action) of a query, a key or a value:
void one_look(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  for (Index i = 0; i < 4; ++i) {
    rows.push_back({features[i]});
    for (const Tensor& w : {w_query(), w_key(), w_value()})
      rows.back().push_back(list_of({w(i, 0), w(i, 1), w(i, 2)}, 0));
  }
  lesson.table({"", "W_Q", "W_K", "W_V"}, rows);

  /// W_Q turns what a word is into what it looks for: animals and things look for actions, actions look for
  /// animals and things, and a word that stands for another looks for an animal. W_K doubles what a word is,
  /// W_V hands it over unchanged; both drop the last number, so nobody finds `it`.
  const Look look = look_around(six_words(), it);
  lesson.say("The query of `it` is (0, 0, 0, 1) W_Q = {}. Then, for each word:", list_of(look.query, 0));
  rows.clear();
  for (Index j = 0; j < 6; ++j)
    rows.push_back({sentence[j], list_of(look.keys[j], 1), number(dot(look.query, look.keys[j])),
                    number(look.scores[j]), number(look.weights[j], 3), list_of(look.values[j], 1)});
  lesson.table({"it looks at", "key", "q · k", "÷ √3", "weight", "value"}, rows);
  lesson.say("The output, the sum of weight × value over the six words, is {}.", list_of(look.output));
  lesson.claim(look.weights[cat] > 0.8 && look.output[0] > 0.8,
               "`it` finds `cat` with weight {:.3f} and comes back as mostly animal", look.weights[cat]);
  lesson.picture("one_look.png", the_whole_way(look), "One look, from query to output",
                 "Above: the query meets six keys, and each gets a score. Below: the scores become shares, "
                 "each word's value counts with its share, and the column sums are what `it` takes away, "
                 "mostly what `cat` handed over.");
}

struct Attended {
  Tensor weights, output;  // (T, S), (T, D)
};

// Whatever the queries, keys and values are: this is the library's own function, for one head.
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto one_head = [](const Tensor& x) { return reshape(x, {1, 1, x.size(0), x.size(1)}); };
  const AttentionResult result = scaled_dot_product_attention(one_head(q), one_head(k), one_head(v));
  return {reshape(result.weights, {q.size(0), k.size(0)}), reshape(result.output, {q.size(0), v.size(1)})};
}

Attended self_attention(const Tensor& x) {
  return attend(matmul(x, w_query()), matmul(x, w_key()), matmul(x, w_value()));
}

/// ## All words at once
///
/// Stack the queries of all words into a matrix Q, a row for each word, and the keys and values into K and V.
/// Then Q Kᵀ holds every score at once (row i, column j: query i with key j), softmax works on each row, and
/// one more product mixes the values. The five steps are one line:
///
/// $$ Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V $$
void all_at_once(Lesson& lesson) {
  const Tensor x = six_words();
  const Attended all = self_attention(x);
  double worst = 0;
  for (Index i = 0; i < 6; ++i) {
    const Look by_hand = look_around(x, i);
    for (Index j = 0; j < 6; ++j) worst = std::max(worst, std::fabs(by_hand.weights[j] - all.weights(i, j)));
    for (Index d = 0; d < 3; ++d) worst = std::max(worst, std::fabs(by_hand.output[d] - all.output(i, d)));
  }
  lesson.claim(worst < 1e-5, "six looks with loops and the matrices agree: largest difference {:.1e}", worst);
  const Tensor scores = matmul(matmul(x, w_query()), matmul(x, w_key()), Transpose::second) *
                        real(1 / std::sqrt(3.0));  // (T, T)
  const viz::HeatmapOptions map{.title = "Who looks at whom",
                                .x_title = "keys: the word that is looked at",
                                .y_title = "queries: the word that asks",
                                .row_labels = sentence,
                                .column_labels = sentence,
                                .low = 0,
                                .high = 1,
                                .value_title = "weight",
                                .numbers = true,
                                .scores = matrix_of(scores)};
  lesson.heatmap(matrix_of(all.weights), map);
  lesson.picture("attention.png", viz::heatmap(matrix_of(all.weights), map), "Who looks at whom",
                 "Each row is a word that asks, and sums to 1. `it` looks at `cat`; `cat` and `milk` look at "
                 "`drank`, and `drank` looks back at both. `the` and `because` look for little, so they "
                 "spread their look over all words.");
}

// A small world to learn from. A word is 8 numbers: whether it is an animal, a thing, an action, `it`; and
// four more, at random, that make it itself.
struct World {
  Words animals = {"cat", "dog", "horse", "bird", "fox", "mouse"}, things = {"milk", "tea", "soup", "juice"};
  std::map<std::string, Row> vectors;

  explicit World(Rng& rng) {
    const auto add = [&](const std::string& word, Index kind) {
      Row row(8);
      if (kind >= 0) row[kind] = 1;
      for (Index i = 4; i < 8; ++i) row[i] = 0.5 * rng.normal();
      vectors[word] = row;
    };
    for (const std::string& word : animals) add(word, 0);
    for (const std::string& word : things) add(word, 1);
    add("drank", 2), add("liked", 2), add("it", 3), add("the", -1), add("because", -1), add("of", -1);
  }
};

struct Example {
  Words words;  // six, the last is `it`
  Index animal;
};

// "the cat drank milk because it", or the other way round: "milk of the cat because it".
Example make_example(const World& world, const Words& animals, Rng& rng) {
  const std::string animal = animals[rng.below(std::ssize(animals))],
                    thing = world.things[rng.below(std::ssize(world.things))],
                    action = rng.below(2) ? "drank" : "liked";
  if (rng.below(2)) return {{"the", animal, action, thing, "because", "it"}, 1};
  return {{thing, "of", "the", animal, "because", "it"}, 3};
}

Tensor vectors_of(const World& world, const Words& words) {  // (T, 8)
  std::vector<real> values;
  for (const std::string& word : words)
    for (const double value : world.vectors.at(word)) values.push_back(real(value));
  return from_values({std::ssize(words), 8}, values);
}

/// ## Learned in front of you
///
/// Nobody writes these matrices by hand. Let W_Q and W_K start as small random numbers and learn them from
/// examples. Each is a sentence of six words with one animal somewhere, such as `the dog liked soup because
/// it` or `tea of the bird because it`; words are rows of 8 numbers now. What `it` takes away should be the
/// vector of the animal, so the loss is the squared distance to that. Nothing says *where* to look: the
/// gradient has to find that out. In each step, attention, loss, `backward`, and one step of Adam:
void learn(Lesson& lesson) {
  Rng rng(lesson.seed);
  const World world(rng);
  const Words seen(world.animals.begin(), world.animals.begin() + 4),
      unseen(world.animals.begin() + 4, world.animals.end());
  ParameterList parameters;
  const Tensor wq = normal({8, 8}, rng, 0, real(0.1)).requires_grad(),
               wk = normal({8, 8}, rng, 0, real(0.1)).requires_grad();
  parameters.add("query", wq);
  parameters.add("key", wk);
  Adam adam(parameters);
  const auto look = [&](const Tensor& x) { return attend(matmul(x, wq), matmul(x, wk), x); };
  const auto weight_on_animal = [&](const Words& animals) {
    const NoGrad no_grad;
    Rng draw(123);
    double sum = 0;
    for (int i = 0; i < 50; ++i) {
      const Example example = make_example(world, animals, draw);
      sum += look(vectors_of(world, example.words)).weights(it, example.animal);
    }
    return sum / 50;
  };
  const Example shown{{"the", "cat", "drank", "milk", "because", "it"}, 1};
  std::vector<std::vector<std::string>> rows;
  std::vector<viz::Image> maps;
  const int steps = 300;
  for (int step = 0; step <= steps; ++step) {
    if (step == 0 || step == 30 || step == 100 || step == steps) {
      const NoGrad no_grad;
      const Tensor weights = look(vectors_of(world, shown.words)).weights;
      rows.push_back({fmt::format("{}", step)});
      for (Index j = 0; j < 6; ++j) rows.back().push_back(number(weights(it, j)));
      rows.back().push_back(number(weight_on_animal(seen)));
      rows.back().push_back(number(weight_on_animal(unseen)));
      maps.push_back(viz::heatmap(matrix_of(weights), {.title = fmt::format("step {}", step),
                                                       .x_title = "keys",
                                                       .y_title = "queries",
                                                       .row_labels = shown.words,
                                                       .column_labels = shown.words,
                                                       .low = 0,
                                                       .high = 1,
                                                       .value_title = "weight",
                                                       .color_bar = step == steps,
                                                       .cell = 28}));
    }
    if (step == steps) break;
    Tensor loss = scalar(0);
    for (int i = 0; i < 8; ++i) {
      const Example example = make_example(world, seen, rng);
      const Tensor x = vectors_of(world, example.words);
      const Tensor difference = look(x).output[it] - x[example.animal];
      loss = loss + sum(difference * difference) / real(8);
    }
    backward(loss);
    adam.step(0.02);  // and forgets the gradients
  }
  lesson.say(
      "Where `it` looks in `the cat drank milk because it`, and how much it gives to the animal on "
      "average over 50 sentences with animals it has seen in training, and with others:");
  lesson.table({"step", "the", "cat", "drank", "milk", "because", "it", "seen", "unseen"}, rows);
  const double on_seen = weight_on_animal(seen), on_unseen = weight_on_animal(unseen);
  lesson.claim(on_seen > 0.9 && on_unseen > 0.8,
               "after {} steps `it` gives {:.0f}% to the animal, wherever it stands, and {:.0f}% if it never "
               "met that animal: it has learned to look for animals, not for cats",
               steps, 100 * on_seen, 100 * on_unseen);
  lesson.picture("learned.png", viz::row(maps), "Attention while it is learned",
                 "The last row, `it`, starts uniform and ends on `cat`. The other rows were never asked for "
                 "anything, so what they do means nothing.");
}

// What a way of scoring does to softmax and to learning.
struct Spread {
  double keys;          // exp(entropy): how many keys a query looks at, as equal shares
  double mean, median;  // of the size of the gradient at the queries
  double top_tenth;     // the share of it that the tenth of the queries with the largest ones get
};

// Random queries and keys with d components of variance 1, and a random gradient at each weight.
Spread measure_spread(Index d, bool scaled, Rng rng, Index queries) {
  const Index S = 64;
  const Tensor q = normal({queries, d}, rng).requires_grad(), k = normal({S, d}, rng);
  const Tensor scores = matmul(q, k, Transpose::second) / (scaled ? std::sqrt(real(d)) : real(1));
  const Tensor weights = softmax(scores);  // (queries, S)
  const Tensor entropy = -sum(weights * log(weights + real(1e-30)), 1);
  backward(sum(weights * normal(weights.shape(), rng)));
  std::vector<real> sizes = sqrt(sum(q.grad() * q.grad(), 1)).values();
  std::sort(sizes.begin(), sizes.end());
  const double all = std::accumulate(sizes.begin(), sizes.end(), 0.0),
               largest = std::accumulate(sizes.end() - queries / 10, sizes.end(), 0.0);
  return {std::exp(mean(entropy).item()), all / double(queries), sizes[queries / 2], largest / all};
}

/// ## Why ÷ √d_k?
///
/// q · k is a sum of d_k products. If the components have variance 1, so has each product, and the sum has
/// variance d_k: its typical size is √d_k. Softmax of large scores gives nearly all to one key. What that
/// does to learning can be measured: random queries, 64 random keys, a random gradient at every weight, and
/// how much of it arrives at each query. How many keys does a query look at? The *entropy* of its weights w,
/// −Σ w log w, says how spread out they are, and exp(entropy) is that as a number of keys: 64 for a uniform
/// look, 1 for a single key. The last column is the share of the whole gradient that the tenth of the queries
/// with the largest gradients gets.
void why_scale(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  std::vector<double> sizes, keys, keys_scaled;
  Spread plain{}, scaled{};
  for (const Index d : {4, 16, 64, 256, 1024}) {
    const Index queries = lesson.fast ? 200 : 1000;
    plain = measure_spread(d, false, Rng(lesson.seed), queries);
    scaled = measure_spread(d, true, Rng(lesson.seed), queries);
    sizes.push_back(double(d));
    keys.push_back(plain.keys);
    keys_scaled.push_back(scaled.keys);
    for (const auto& [name, spread] : {std::pair("q·k", plain), std::pair("q·k / √d_k", scaled)})
      rows.push_back({fmt::format("{}, {}", d, name), number(spread.keys, 1), number(spread.mean),
                      fmt::format("{:.1g}", spread.median), fmt::format("{:.0f}%", 100 * spread.top_tenth)});
  }
  lesson.table({"d_k, score", "keys looked at", "gradient: mean", "median", "top tenth"}, rows);
  lesson.claim(keys.back() < 2 && keys_scaled.back() > 30,
               "at d_k = 1024 a query looks at {:.1f} of 64 keys without the division, and at {:.0f} with it",
               keys.back(), keys_scaled.back());
  lesson.claim(plain.top_tenth > 2 * scaled.top_tenth && plain.median < scaled.median,
               "without it a tenth of the queries gets {:.0f}% of the gradient, and the median query {:.0e}, "
               "{:.0f} times less than with it",
               100 * plain.top_tenth, plain.median, scaled.median / plain.median);

  /// So the division does not make gradients larger: on average they are larger *without* it, because a few
  /// queries that waver between two keys get huge ones. It spreads the gradient over all queries, in the same
  /// way for every d_k.
  lesson.picture(
      "keys_looked_at.png",
      viz::line_chart({{.name = "q·k", .y = keys, .x = sizes, .points = true},
                       {.name = "q·k / √d_k", .y = keys_scaled, .x = sizes, .points = true}},
                      {.title = "How many of 64 keys does a query look at?",
                       .x_title = "d_k",
                       .y_title = "exp(entropy) of its weights",
                       .x_scale = viz::Scale::log2,
                       .y_low = 0,
                       .y_guides = {{.at = 64, .label = "all alike"}}}),
      "How many keys a query looks at",
      "Without the division a large d_k leaves one key. With it the number of keys does not depend on d_k.");
}

/// ## Self-attention and cross-attention
///
/// Nothing says that queries and keys must come from the same words. In *self-attention* they do; in
/// *cross-attention* one sequence asks and another answers. In a translator the French words being written
/// ask (T = 2 queries here), and the English sentence answers (S = 6 keys and values):
void self_and_cross(Lesson& lesson) {
  const Tensor x = six_words(), queries = tensor({{0.1, 5, 0.1}, {5, 0.0, 0.1}});  // of lait and chat
  const Attended cross = attend(queries, matmul(x, w_key()), matmul(x, w_value()));
  lesson.numbers(cross.weights, {"lait", "chat"}, sentence);
  const IntTensor best = argmax(cross.weights);
  lesson.claim(best[0] == 3 && best[1] == cat,
               "the weights are (T, S) = {}; `lait` finds `milk`, and `chat` finds `cat`",
               cross.weights.shape().str());
}

/// ## A bag of words
///
/// Attention compares every word with every other, wherever they stand. Shuffle the words, and the outputs
/// are the same, shuffled in the same way: attention is *permutation-equivariant*. It cannot tell `dog bites
/// man` from `man bites dog`. Lesson 09 gives words their positions.
void order_does_not_matter(Lesson& lesson) {
  std::vector<int> order(sentence.size());
  std::iota(order.begin(), order.end(), 0);
  Rng rng(lesson.seed);
  shuffle(order, rng);
  const Tensor x = six_words();
  const double difference =
      max_difference(self_attention(take_rows(x, order)).output, take_rows(self_attention(x).output, order));
  lesson.claim(difference < 1e-6,
               "attention of the shuffled words is the shuffled attention: difference {:.1e}", difference);
}

/// ## Why not a recurrent network?
///
/// Before 2017 the usual answer was a *recurrent network*: a state that takes in one word after another. What
/// one word knows of another then has to travel through all words in between; in attention it takes one
/// step. For n words of d channels (kernel k, neighbourhood r):
///
/// | layer | operations | one after another | longest path |
/// |---|---|---|---|
/// | self-attention | n² d | 1 | 1 |
/// | recurrence | n d² | n | n |
/// | convolution | k n d² | 1 | n/k; dilated log_k n |
/// | restricted attention | r n d | 1 | n/r |
///
/// What does a long path do? Take the simplest recurrence, state = tanh(state W + x), with random weights
/// that are scaled to 0.9 so that the state neither dies nor explodes, and measure by its gradient how much
/// the last output depends on each of 128 words, as a share of what the word just before it has:
void why_not_recurrence(Lesson& lesson) {
  const Index d = 64;
  Rng rng(lesson.seed);
  const Tensor w = normal({d, d}, rng, 0, real(0.9) / std::sqrt(real(d)));
  const auto recur = [&](const Tensor& x) {  // (n, d) -> (1, d)
    Tensor state = zeros({1, d});
    for (Index t = 0; t < x.size(0); ++t) state = tanh(matmul(state, w) + slice(x, 0, t, t + 1));
    return state;
  };
  const auto influence = [&](const auto& last_output) {
    Tensor x = normal({128, d}, rng, 0, real(0.3)).requires_grad();
    backward(sum(last_output(x)));
    const Tensor size = sqrt(sum(x.grad() * x.grad(), 1));  // (128)
    Row shares;
    for (const Index place : {126, 119, 63, 0}) shares.push_back(size(place) / size(126));
    return shares;
  };
  const auto attention_of_last = [](const Tensor& x) { return slice(attend(x, x, x).output, 0, 127, 128); };
  const Row direct = influence(attention_of_last), handed_on = influence(recur);
  const auto row_of = [](const std::string& name, const Row& shares) {
    std::vector<std::string> row{name};
    for (const double share : shares) row.push_back(fmt::format("{:.1g}", share));
    return row;
  };
  lesson.table({"words in between", "0", "7", "63", "126"},
               {row_of("attention", direct), row_of("recurrence", handed_on)});
  lesson.claim(direct[3] > 0.05 && handed_on[3] < 1e-3,
               "attention reaches the first word as well as any other; handed on from word to word, next to "
               "nothing is left of it");

  /// A trained recurrence does better than a random one, and the gates of an LSTM (Hochreiter and
  /// Schmidhuber, 1997) were invented to keep more. But the path stays long, and its steps have to wait for
  /// each other. On the other side, attention compares all pairs: its work grows with n². What that costs
  /// one core here:
  const NoGrad no_grad;
  std::vector<std::vector<std::string>> rows;
  for (const Index n : {64, 256, 1024}) {
    const Tensor x = normal({n, d}, rng);
    const double attention_time = seconds_of([&] { attend(x, x, x); }),
                 recurrence_time = seconds_of([&] { recur(x); });
    // q·k and weight · v for each pair of words; state · w for each word. A multiply-add is two FLOP.
    const double attention_flop = 4 * double(n * n * d), recurrence_flop = 2 * double(n * d * d);
    rows.push_back({fmt::format("{}", n), number(1e-6 * attention_flop, 1),
                    viz::format_fixed(1e6 * attention_time, 0) + " µs",
                    number(1e-9 * attention_flop / attention_time, 1), number(1e-6 * recurrence_flop, 1),
                    viz::format_fixed(1e6 * recurrence_time, 0) + " µs",
                    number(1e-9 * recurrence_flop / recurrence_time, 1)});
  }
  lesson.table({"n", "attention: MFLOP", "time", "GFLOP/s", "recurrence: MFLOP", "time", "GFLOP/s"}, rows);

  /// Attention does more FLOP per second: two large products keep a processor busier than n small steps that
  /// wait for each other, and the more a machine can do at once, the more that counts. But n² wins in the
  /// end: for long texts a recurrence takes less time. What can be done about n² is lesson 18.
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "06_self_attention", .question = "How does a token find what matters to it?"},
      [](Lesson& lesson) {
        set_thread_count(1);  // so little work is not worth sharing, and the last table times this thread
        soft_lookup(lesson);
        without_weights(lesson);
        one_look(lesson);
        all_at_once(lesson);
        learn(lesson);
        why_scale(lesson);
        self_and_cross(lesson);
        order_does_not_matter(lesson);
        why_not_recurrence(lesson);
        /// ## Check yourself
        ///
        /// - **What is attention for?** It lets each word take information from the words that matter to it,
        ///   however far away they are, in one step.
        /// - **What goes in, what comes out?** Queries (T, D), keys (S, D) and values (S, E). The weights
        ///   are (T, S) and every row sums to 1; the output is (T, E), a mixture of values for each query.
        /// - **What goes wrong without √d_k?** For large d_k softmax gives nearly everything to one key, and
        ///   most queries get almost no gradient, so they cannot learn to look elsewhere.
        ///
        /// ## Read on
        ///
        /// - Bahdanau, Cho and Bengio, 2014: *Neural machine translation by jointly learning to align and
        ///   translate*. Where attention began, beside a recurrent network.
        /// - Vaswani et al., 2017: *Attention is all you need*, section 3.2. The formula of this lesson.
        /// - Jay Alammar, 2018: *The illustrated transformer*. The same in pictures.
        /// - The notebook `01_attention_by_hand`: you write the sentence and decide who asks for what.
        lesson.try_next(
            {{"In w_query, change the last row to 0, 3, 0.",
              "`it` looks for a thing, and finds `milk`: the cat was hungry, the milk was sour."},
             {"In six_words, make `milk` an animal as well (1.0 in the first column).",
              "`it` is torn between `cat` and `milk`: two weights of about the same size."},
             {"In learn, let steps be 30.",
              "The claim fails: an animal that it never met gets about two thirds of the weight."}});
      });
}
