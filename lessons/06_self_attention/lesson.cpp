// Lesson 06. How does a token find what matters to it?
//
// "The animal didn't cross the street because it was too tired." To know what `it` is, the word must
// look at the others and take something over from the one that fits. Attention is that look, made of
// three vectors a word:
//
//   query   what I look for          q = x W_Q
//   key     what I offer             k = x W_K
//   value   what I hand over         v = x W_V
//
// Every word compares its query with every key; the better they fit, the more of that word's value it takes.
// B batch, T own time, S source time, C channels, D = d_k the size of a query.
#include <algorithm>  // nth_element
#include <chrono>     // steady_clock
#include <cmath>      // exp, log, sqrt
#include <numeric>    // iota

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/rng.hpp"  // shuffle
#include "lessons/support/lesson.hpp"
#include "nn/attention.hpp"

using namespace attn;

namespace {

const std::vector<std::string> words = {"the", "cat", "drank", "milk", "because", "it"};

// Six words in three dimensions that we can name: is it an animal? a thing? an action? The last word, `it`,
// stands for something alive that was mentioned before, so we give it a little of `animal`.
Tensor six_words() {
  return tensor({{0.0, 0.1, 0.0},    // the
                 {1.0, 0.1, 0.1},    // cat
                 {0.1, 0.0, 1.0},    // drank
                 {0.0, 1.0, 0.1},    // milk
                 {0.1, 0.0, 0.2},    // because
                 {0.7, 0.2, 0.0}});  // it
}

// W_Q asks for animals, strongly; W_K offers what a word is; W_V hands over everything, twice as large, so
// that what was handed over can be told from what was there. In a model these three are learned.
Tensor w_query() { return tensor({{3, 0, 0}, {0, 1, 0}, {0, 0, 1}}); }
Tensor w_key() { return tensor({{2, 0, 0}, {0, 1, 0}, {0, 0, 1}}); }
Tensor w_value() { return tensor({{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}); }

// 1. Five steps, with loops

// y = x W for one word, which is a row: each column of W is one question put to x.
std::vector<double> project(const Tensor& x, Index word, const Tensor& w) {
  std::vector<double> y(std::size_t(w.size(1)), 0.0);
  for (Index j = 0; j < w.size(1); ++j)
    for (Index i = 0; i < w.size(0); ++i) y[j] += x(word, i) * w(i, j);
  return y;
}

// What word `asking` sees: the weights it gives to all words, and the mixture of values it takes with them.
struct Look {
  std::vector<double> scores, weights, output;
};

Look look_around(const Tensor& x, Index asking) {
  const Index T = x.size(0), D = 3;
  const std::vector<double> q = project(x, asking, w_query());
  Look look;
  for (Index j = 0; j < T; ++j) {  // 1. how well does my query fit each key?     s_j = q · k_j
    const std::vector<double> k = project(x, j, w_key());
    double score = 0;
    for (std::size_t d = 0; d < 3; ++d) score += q[d] * k[d];
    look.scores.push_back(score / std::sqrt(double(D)));  // 2. ÷ √d_k
  }
  // 3. Here a mask would hide words: lesson 07.
  double sum = 0;  // 4. softmax: positive, and they sum to 1           w_j = exp(s_j) / Σ exp(s)
  for (const double score : look.scores) sum += std::exp(score);
  for (const double score : look.scores) look.weights.push_back(std::exp(score) / sum);
  look.output.assign(3, 0.0);
  for (Index j = 0; j < T; ++j) {  // 5. take that share of every value                 o = Σ w_j v_j
    const std::vector<double> v = project(x, j, w_value());
    for (std::size_t d = 0; d < 3; ++d) look.output[d] += look.weights[j] * v[d];
  }
  return look;
}

// 2. The same with matrices

struct Attended {
  Tensor weights, output;  // (T, S), (T, D)
};

// Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V: all words ask at once, one matrix
// product does all comparisons.
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores = matmul(q, k, Transpose::second) / std::sqrt(real(q.size(-1)));  // (T, S)
  const Tensor weights = softmax(scores);                                               // (T, S)
  return {weights, matmul(weights, v)};                                                 // (T, D)
}

Attended self_attention(const Tensor& x) {
  return attend(matmul(x, w_query()), matmul(x, w_key()), matmul(x, w_value()));  // each (T, C) -> (T, D)
}

void five_steps(Lesson& lesson) {
  lesson.section("Six words, five steps");
  const Tensor x = six_words();
  lesson.say("Six words, each three numbers that we can name (a trained model has hundreds that we cannot):");
  lesson.numbers(x, words, {"animal", "thing", "action"}, 1);
  lesson.say(
      "The last word, `it`, wants to know what it stands for. Its query is compared with the key of each "
      "word, divided by √3, put through softmax:");
  const Look look = look_around(x, 5);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t j = 0; j < words.size(); ++j)
    rows.push_back({words[j], fmt::format("{:.3f}", look.scores[j]), fmt::format("{:.3f}", look.weights[j])});
  lesson.table({"it looks at", "score", "weight"}, rows);
  lesson.say(
      "It finds `cat`, and takes {:.0f}% of its new self from there: output ({:.2f}, {:.2f}, {:.2f}), "
      "mostly animal.",
      100 * look.weights[1], look.output[0], look.output[1], look.output[2]);

  lesson.section("The same, all words at once");
  lesson.equation("Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V");
  const Attended all = self_attention(x);
  double worst = 0;
  for (Index i = 0; i < 6; ++i) {
    const Look by_hand = look_around(x, i);
    for (Index j = 0; j < 6; ++j) worst = std::max(worst, std::fabs(by_hand.weights[j] - all.weights(i, j)));
    for (Index d = 0; d < 3; ++d) worst = std::max(worst, std::fabs(by_hand.output[d] - all.output(i, d)));
  }
  lesson.claim(worst < 1e-5, "the loops and the three matrix products agree: largest difference {:.1e}",
               worst);
  const viz::HeatmapOptions map{.title = "Who looks at whom",
                                .x_title = "keys: the word that is looked at",
                                .y_title = "queries: the word that asks",
                                .row_labels = words,
                                .column_labels = words,
                                .low = 0,
                                .value_title = "weight",
                                .numbers = true};
  lesson.heatmap(matrix_of(all.weights), map);
  lesson.picture("attention.png", viz::heatmap(matrix_of(all.weights), map), "Who looks at whom",
                 "Each row is a word that asks and sums to 1. Read the last row: `it` looks at `cat`.");
}

// 3. Why divide by √d_k?

struct Spread {
  double variance, entropy, entropy_scaled, gradient, gradient_scaled;
};

// Random queries and keys with d components of variance 1: how large is q·k, and what does softmax make
// of 64 of them?
Spread measure_spread(Index d, Rng& rng, Index queries) {
  const Index S = 64;
  const Tensor q = normal({queries, d}, rng), k = normal({S, d}, rng);
  const Tensor products = matmul(q, k, Transpose::second);  // (queries, S)
  const auto look_at = [&](const Tensor& raw, double& entropy, double& gradient) {
    Tensor scores = raw.detach();
    scores.requires_grad();
    const Tensor weights = softmax(scores);
    entropy = -sum(weights * log(weights + real(1e-30))).item() / double(queries);
    // The gradient that reaches the scores of a typical query, for random wishes of size 1 on the weights.
    Rng wishes(7);
    backward(sum(weights * normal(weights.shape(), wishes)));
    const Tensor squares = sum(scores.grad() * scores.grad(), 1);  // (queries)
    std::vector<real> norms = squares.values();
    std::nth_element(norms.begin(), norms.begin() + queries / 2, norms.end());
    gradient = std::sqrt(norms[queries / 2]);
  };
  Spread spread{};
  spread.variance = mean(products * products).item();
  look_at(products, spread.entropy, spread.gradient);
  look_at(products / std::sqrt(real(d)), spread.entropy_scaled, spread.gradient_scaled);
  return spread;
}

void why_scale(Lesson& lesson) {
  lesson.section("Why ÷ √d_k?");
  lesson.say(
      "q·k is a sum of d_k products. If the components have variance 1, each product has variance 1, and so "
      "the sum has variance d_k. Large scores make softmax choose one key and nothing else: its entropy "
      "(how many keys it really looks at) goes to 0, and so does its gradient, so it cannot learn to choose "
      "otherwise. Measured, 64 keys:");
  Rng rng(lesson.seed);
  std::vector<std::vector<std::string>> rows;
  std::vector<double> sizes, variance, entropy, entropy_scaled;
  Spread last{};
  for (const Index d : {2, 4, 8, 16, 32, 64, 128, 256, 512}) {
    last = measure_spread(d, rng, lesson.fast ? 64 : 512);
    sizes.push_back(double(d));
    variance.push_back(last.variance);
    entropy.push_back(last.entropy);
    entropy_scaled.push_back(last.entropy_scaled);
    rows.push_back({fmt::format("{}", d), fmt::format("{:.1f}", last.variance),
                    fmt::format("{:.2f}", last.entropy), fmt::format("{:.2f}", last.entropy_scaled),
                    fmt::format("{:.3f}", last.gradient), fmt::format("{:.3f}", last.gradient_scaled)});
  }
  lesson.table({"d_k", "variance of q·k", "entropy", "entropy, ÷√d_k", "gradient", "gradient, ÷√d_k"}, rows);
  const double growth = variance.back() / variance[3];  // from 16 to 512: 32 times as many terms
  lesson.claim(growth > 24 && growth < 42,
               "from d_k = 16 to 512, 32 times more, the variance grows {:.1f} times", growth);
  lesson.claim(
      entropy.back() < 0.6 && entropy_scaled.back() > 3,
      "at d_k = 512 the entropy is {:.2f} without scaling and {:.2f} with it (64 equal weights have {:.2f})",
      entropy.back(), entropy_scaled.back(), std::log(64.0));
  lesson.claim(last.gradient_scaled > 2 * last.gradient,
               "and the gradient that a typical query gets is {:.1f} times larger with it",
               last.gradient_scaled / last.gradient);
  lesson.picture(
      "entropy.png",
      viz::line_chart({{.name = "without scaling", .y = entropy, .x = sizes, .points = true},
                       {.name = "÷ √d_k", .y = entropy_scaled, .x = sizes, .points = true}},
                      {.title = "How many keys does softmax look at?",
                       .x_title = "d_k",
                       .y_title = "entropy of the weights (nats)",
                       .x_scale = viz::Scale::log2,
                       .y_low = 0,
                       .y_guides = {{.at = std::log(64.0), .label = "64 keys, all alike"}}}),
      "Entropy against d_k",
      "Without the division the curve falls to 0: one key takes all. With it, d_k does not matter.");
}

// 4. What attention is, and what it is not

void self_and_cross(Lesson& lesson) {
  lesson.section("Self-attention and cross-attention");
  lesson.say(
      "Nothing says that queries and keys must come from the same words. In a translator, the French word "
      "being written asks (T = 2 queries), the English sentence answers (S = 6 keys and values):");
  const Tensor x = six_words(), french = tensor({{0.1, 0.9, 0.1}, {0.9, 0.0, 0.1}});  // lait, chat
  const Attended cross = attend(matmul(french, w_query()), matmul(x, w_key()), matmul(x, w_value()));
  lesson.numbers(cross.weights, {"lait", "chat"}, words);
  lesson.claim(argmax(cross.weights)[1] == 1, "weights are (T, S) = {}, and `chat` finds `cat`",
               cross.weights.shape().str());
}

void order_does_not_matter(Lesson& lesson) {
  lesson.section("A bag of words");
  lesson.say(
      "Attention compares each with each, wherever they stand. Shuffle the words, and the outputs are the "
      "same, shuffled: it is permutation-equivariant. `dog bites man` and `man bites dog` are one to it. "
      "Lesson 09 gives it positions.");
  std::vector<int> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  Rng rng(lesson.seed);
  shuffle(order, rng);
  const Tensor x = six_words();
  const double difference =
      max_difference(self_attention(take_rows(x, order)).output, take_rows(self_attention(x).output, order));
  lesson.claim(difference < 1e-6,
               "attention of the shuffled words is the shuffled attention: difference {:.1e}", difference);
}

// 5. Why not a recurrent network?

double seconds_of(const std::function<void()>& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void why_not_recurrence(Lesson& lesson) {
  lesson.section("Why not a recurrent network?");
  lesson.say(
      "What a word knows of another has to travel. In a recurrent network it passes through every word in "
      "between, one after the other; in attention it takes one step. For n words of d channels (kernel k, "
      "neighbourhood r):");
  lesson.table({"layer", "operations", "one after another", "longest path"},
               {{"self-attention", "n² d", "1", "1"},
                {"recurrence", "n d²", "n", "n"},
                {"convolution", "k n d²", "1", "n/k; dilated log_k n"},
                {"restricted attention", "r n d", "1", "n/r"}});
  const Index d = 64;
  Rng rng(lesson.seed);
  const Tensor w = normal({d, d}, rng, 0, real(0.9) / std::sqrt(real(d)));
  const auto recur = [&](const Tensor& x) {  // (n, d) -> (1, d)
    Tensor state = zeros({1, d});
    for (Index t = 0; t < x.size(0); ++t)
      state = tanh(matmul(state, w) + slice(x, 0, t, t + 1));  // each needs the one before
    return state;
  };

  lesson.say(
      "What the path does: how much does the last output change with each of 128 words? Measured by its "
      "gradient (lesson 02), as a share of what the word just before the last one has:");
  const auto influence = [&](const auto& last_output) {
    Tensor x = normal({128, d}, rng, 0, real(0.3)).requires_grad();
    backward(sum(last_output(x)));
    const Tensor size = sqrt(sum(x.grad() * x.grad(), 1));  // (128)
    return std::vector<double>{size(126) / size(126), size(119) / size(126), size(63) / size(126),
                               size(0) / size(126)};
  };
  const std::vector<double> direct = influence(
                                [](const Tensor&x) { return slice(attend(x, x, x).output, 0, 127, 128); }),
                            handed_on = influence(recur);
  const auto row_of = [](const std::string& name, const std::vector<double>& shares) {
    return std::vector<std::string>{name, fmt::format("{:.1g}", shares[0]), fmt::format("{:.1g}", shares[1]),
                                    fmt::format("{:.1g}", shares[2]), fmt::format("{:.1g}", shares[3])};
  };
  lesson.table({"words in between", "0", "7", "63", "126"},
               {row_of("attention", direct), row_of("recurrence", handed_on)});
  lesson.claim(direct[3] > 0.05 && handed_on[3] < 1e-3,
               "attention reaches the first word as well as any other; handed on from word to word, next to "
               "nothing is left of it");

  const NoGrad no_grad;
  std::vector<std::vector<std::string>> rows;
  double first_attention = 0, first_recurrence = 0, attention_growth = 0, recurrence_growth = 0;
  for (const Index n : {128, 256, 512, 1024}) {
    const Tensor x = normal({n, d}, rng);
    const double attention_time = seconds_of([&] { attend(x, x, x); }),
                 recurrence_time = seconds_of([&] { recur(x); });
    if (n == 128) first_attention = attention_time, first_recurrence = recurrence_time;
    attention_growth = attention_time / first_attention;
    recurrence_growth = recurrence_time / first_recurrence;
    // q·k and weight · v for each pair of words; state · w for each word. A multiply-add is two FLOP.
    rows.push_back({fmt::format("{}", n), fmt::format("{:.1f}", 4e-6 * double(n * n * d)),
                    fmt::format("{:.0f} µs", 1e6 * attention_time),
                    fmt::format("{:.1f}", 2e-6 * double(n * d * d)),
                    fmt::format("{:.0f} µs", 1e6 * recurrence_time)});
  }
  lesson.say("And what they cost, counted and timed here, d = {}:", d);
  lesson.table({"n", "attention, MFLOP", "time", "recurrence, MFLOP", "time"}, rows);
  lesson.say(
      "Eight times the words are 64 times the work for attention (n²) and 8 times for recurrence (n); in "
      "time it was {:.0f} and {:.0f}. Recurrence does less, but in n small steps that wait for each other, "
      "where attention does two large products. What n² means for long texts is lesson 18.",
      attention_growth, recurrence_growth);
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "06_self_attention", .question = "How does a token find what matters to it?"},
      [](Lesson& lesson) {
        five_steps(lesson);
        why_scale(lesson);
        self_and_cross(lesson);
        order_does_not_matter(lesson);
        why_not_recurrence(lesson);
        lesson.try_next({{"In w_query, change the 3 to 0.",
                          "`it` no longer asks for animals: its row becomes nearly even."},
                         {"In six_words, make `milk` an animal as well (1.0 in the first column).",
                          "`it` is torn between `cat` and `milk`: two weights of about the same size."},
                         {"In attend, leave out the division by √d_k.",
                          "The loops disagree, and the map gets sharper; with d_k = 512 it would be all or "
                          "nothing."}});
      });
}
