// Lesson 09. How does attention know order?
//
// It does not: it compares each word with each, wherever they stand. "the dog bites the man" and "the man
// bites the dog" are one bag of words. Order has to be brought in, and there are five well-known ways:
//
//   learned      a table of vectors, one for each place, added to the words
//   sinusoidal   the same with a fixed table of sines and cosines
//   T5           a learned number for each distance, added to the scores
//   ALiBi        a fixed penalty for each step of distance, added to the scores
//   RoPE         queries and keys turned by an angle that grows with their place
//
// The first two say where a word *is*. The others say how far two words are *apart*.
#include <cmath>     // pow, sqrt
#include <complex>   // abs, conj, polar
#include <iterator>  // ssize

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/transformer.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

// 1. A bag of words

// Self-attention of some words (T, C), and the mean of what comes out: what a classifier would see.
Tensor summary(const Tensor& x) {
  const Tensor h = reshape(x, {1, 1, x.size(0), x.size(1)});
  return mean(scaled_dot_product_attention(h, h, h).output[0][0], 0);  // (C)
}

void bag_of_words(Lesson& lesson) {
  lesson.section("One bag of words");
  const Tensor the = tensor({0.1, 0.0, 0.1, 0.0}), dog = tensor({1.0, 0.2, 0.0, 0.5}),
               bites = tensor({0.0, 1.0, 0.3, 0.1}), man = tensor({0.9, 0.1, 0.8, 0.0});
  const Tensor one = stack({the, dog, bites, the, man}), other = stack({the, man, bites, the, dog});
  const double without = max_difference(summary(one), summary(other));
  const Tensor places = sinusoidal_table(5, 4);
  const double with = max_difference(summary(one + places), summary(other + places));
  lesson.say(
      "`the dog bites the man` and `the man bites the dog`, each through self-attention, and the outputs "
      "averaged:");
  lesson.claim(without < 1e-6, "without positions the two sentences differ by {:.1e}: who bites is lost",
               without);
  lesson.claim(with > 1e-3, "with a vector for each place added, they differ by {:.3f}", with);
}

// 2. The first idea, and why it fails

double cosine(const Tensor& a, const Tensor& b) {
  return sum(a * b).item() / std::sqrt(double(sum(a * a).item()) * sum(b * b).item());
}

void plain_integers(Lesson& lesson) {
  lesson.section("Why not plain integers?");
  lesson.say("The simplest mark of place 37 is the number 37. Added to a word, it soon drowns the word:");
  Rng rng(lesson.seed);
  const Tensor cat = normal({64}, rng), milk = normal({64}, rng);
  const Tensor table = sinusoidal_table(1001, 64);
  std::vector<std::vector<std::string>> rows;
  double last_integer = 0, last_sine = 0;
  for (const Index place : {0, 10, 100, 1000}) {
    last_integer = cosine(cat + real(place), milk + real(place));
    last_sine = cosine(cat + table[place], milk + table[place]);
    rows.push_back(
        {fmt::format("{}", place), fmt::format("{:.4f}", last_integer), fmt::format("{:.4f}", last_sine)});
  }
  lesson.table({"place", "cosine of cat and milk, integers added", "sines added (next section)"}, rows);
  lesson.claim(last_integer > 0.999 && last_sine < 0.9,
               "at place 1000, with integers added, two different words point the same way (cosine {:.4f}); "
               "with sines, which stay within ±1, the cosine is {:.2f}",
               last_integer, last_sine);
}

// 3. Sines and cosines

// The table without a single sine. Each pair of channels is the hand of a clock, a complex number of length
// 1; from one position to the next the hand of clock i turns by ω_i, a multiplication by e^(iω).
Tensor turn_clocks(Index length, Index C) {
  Tensor table = empty({length, C});
  for (Index clock = 0; clock < C / 2; ++clock) {
    const std::complex<double> step = std::polar(1.0, std::pow(10000.0, -2.0 * double(clock) / double(C)));
    std::complex<double> hand = 1;  // at position 0
    for (Index p = 0; p < length; ++p, hand *= step) {
      table(p, 2 * clock) = real(hand.imag());
      table(p, 2 * clock + 1) = real(hand.real());
    }
  }
  return table;
}

void sinusoids(Lesson& lesson) {
  lesson.section("Sines and cosines");
  lesson.equation("PE(p, 2i) = sin(p ω_i),   PE(p, 2i+1) = cos(p ω_i),   ω_i = 10000^(−2i/C)");
  lesson.say(
      "Each pair of channels is the hand of a clock. With 64 channels there are 32 clocks: the first turns "
      "once in {:.1f} places, the last once in {:.0f}. Low channels tell neighbours apart, high ones tell "
      "the beginning from the end.",
      2 * M_PI, 2 * M_PI * std::pow(10000.0, 62.0 / 64));
  const Index C = 64, length = 200;
  const Tensor table = sinusoidal_table(length, C);
  const double difference = max_difference(table, turn_clocks(length, C));
  lesson.claim(difference < 1e-5,
               "clocks that are turned on from row to row show the library's table: difference {:.1e}",
               difference);
  lesson.picture("sinusoids.png",
                 viz::heatmap(matrix_of(slice(table, 0, 0, 50)), {.title = "Sinusoidal positions",
                                                                  .x_title = "channel",
                                                                  .y_title = "position",
                                                                  .colors = viz::Colors::diverging,
                                                                  .low = -1,
                                                                  .high = 1}),
                 "Sinusoidal positions",
                 "Each row is one of 50 positions. On the left the colours change from row to row; on the "
                 "right are clocks that have hardly moved: sine still 0, cosine still 1.");
  lesson.say("Why these? Because sin a sin b + cos a cos b = cos(a − b), the product of two rows is");
  lesson.equation("⟨PE_m, PE_n⟩ = Σ_i cos(ω_i (m − n))");
  const Tensor products = matmul(table, table, Transpose::second);  // (length, length)
  double worst = 0, largest_elsewhere = 0;
  for (Index m = 0; m < length; ++m)
    for (Index n = 0; n < length; ++n) {
      worst = std::max(worst, std::fabs(double(products(m, n) - products(std::abs(m - n), 0))));
      if (m != n) largest_elsewhere = std::max(largest_elsewhere, double(products(m, n)));
    }
  lesson.claim(worst < 1e-4, "over all pairs of {} positions it depends on the distance alone, to {:.1e}",
               length, worst);
  lesson.claim(largest_elsewhere < products(0, 0) - 0.5,
               "and peaks where m = n: {:.1f} = C/2, elsewhere at most {:.1f}", products(0, 0),
               largest_elsewhere);
  std::vector<viz::Series> by_position, by_distance;
  for (const Index m : {20, 100, 180}) {
    viz::Series curve{.name = fmt::format("m = {}", m)};
    for (Index n = 0; n < length; ++n) curve.y.push_back(products(m, n)), curve.x.push_back(double(n));
    by_position.push_back(curve);
    for (double& n : curve.x) n -= double(m);
    by_distance.push_back(curve);
  }
  by_distance[1].dashed = by_distance[2].dashed = true;
  const viz::ChartOptions chart{
      .title = "against the position n", .x_title = "n", .y_title = "product", .y_low = 0, .width = 600};
  viz::ChartOptions moved = chart;
  moved.title = "against the distance n − m", moved.x_title = "n − m";
  lesson.picture("products.png",
                 viz::row({viz::line_chart(by_position, chart), viz::line_chart(by_distance, moved)},
                          {.title = "⟨PE_m, PE_n⟩ for three positions m"}),
                 "Dot products of sinusoidal positions",
                 "Left: three curves, each with its peak at n = m. Right: drawn against the distance they "
                 "are one curve. Near positions are the most alike.");
}

void adding_is_not_enough(Lesson& lesson) {
  lesson.section("Adding is not enough");
  lesson.say("The table is added to the words before queries and keys are made, so a score has four terms:");
  lesson.equation("(x + p)·(y + q) = x·y + x·q + p·y + p·q");
  lesson.say(
      "Of those that depend on places, p·q alone depends on the distance alone. Take `cat` and `drank` at "
      "places 3 and 5, and then, at the same distance, at 40 and 42:");
  Rng rng(lesson.seed + 3);
  const Index C = 64;
  const Tensor x = normal({C}, rng), y = normal({C}, rng), table = sinusoidal_table(64, C);
  std::vector<std::vector<std::string>> rows;
  const auto term = [&](const std::string& name, const Tensor& a, const Tensor& b, const Tensor& c,
                        const Tensor& d) {
    const double first = sum(a * b).item(), second = sum(c * d).item();
    rows.push_back({name, fmt::format("{:.2f}", first), fmt::format("{:.2f}", second)});
    return std::fabs(second - first);
  };
  term("x·y    word and word", x, y, x, y);
  const double cross = term("x·q    word and place", x, table[5], x, table[42]) +
                       term("p·y    place and word", table[3], y, table[40], y);
  const double places = term("p·q    place and place", table[3], table[5], table[40], table[42]);
  lesson.table({"term", "at 3 and 5", "at 40 and 42"}, rows);
  lesson.claim(places < 1e-4 && cross > 0.05,
               "moved together, p·q stays (to {:.0e}) but the two cross terms move by {:.2f}: the score "
               "knows where the words are, not only how far apart",
               places, cross);
}

// 4. A number on the scores

void biases(Lesson& lesson) {
  lesson.section("A bias on the scores: T5 and ALiBi");
  lesson.say(
      "If only distance should count, say so directly, where two words meet: add a number to their score, "
      "inside the softmax. ALiBi's is fixed: −m·|i − j|, where the slope m of head h is 2^(−8h/H) for h = 1 "
      "… H. With H = 8:");
  const Index H = 8;
  std::vector<std::vector<std::string>> slopes = {{"slope"}};
  double worst = 0;
  for (Index h = 1; h <= H; ++h) {
    const double slope = std::pow(2.0, -8.0 * double(h) / H);
    slopes[0].push_back(fmt::format("{:.4f}", slope));
    worst = std::max(worst, std::fabs(slope - alibi_slopes(H)[h - 1]));
  }
  lesson.table({"head", "1", "2", "3", "4", "5", "6", "7", "8"}, slopes);
  lesson.claim(worst < 1e-7,
               "the library has the same. A point of score is lost every {:.0f} steps in the first head, "
               "which hardly sees beyond its neighbours, and every {:.0f} steps in the last",
               1 / alibi_slopes(H).front(), 1 / alibi_slopes(H).back());
  lesson.say(
      "T5's is learned, one number for each head and *bucket* of distances: near distances have a bucket "
      "each, far ones share, wider and wider, up to 128; all beyond share the last. If both directions are "
      "visible, 32 buckets are 16 for each direction, of which 8 hold one distance each and 8 grow "
      "logarithmically. If only the past is visible, it gets all 32, 16 and 16 (the future is hidden anyway; "
      "it falls into bucket 0):");
  std::vector<std::vector<std::string>> rows(2);
  rows[0] = {"both directions"}, rows[1] = {"past only"};
  std::vector<std::string> header = {"key − query"};
  for (const Index distance : {0, -1, -7, -8, -16, -32, -64, -128, -1000, 1, 8}) {
    header.push_back(fmt::format("{}", distance));
    rows[0].push_back(fmt::format("{}", t5_bucket(distance, true)));
    rows[1].push_back(fmt::format("{}", t5_bucket(distance, false)));
  }
  lesson.table(header, rows);
  lesson.claim(t5_bucket(-128, true) == 15 && t5_bucket(-100000, true) == 15 && t5_bucket(1, true) == 17,
               "a key 128 back and one 100,000 back share bucket {}; for keys to the right 16 is added", 15);
  lesson.say(
      "T5 has one such table for all layers and leaves out ÷√d_k. Neither bias belongs in cross-attention: "
      "how far an English word is from a French one means nothing.");
  const Index T = 40;
  const Tensor alibi = alibi_bias(H, T, T);
  viz::Matrix buckets(T, T);
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < T; ++j) buckets(i, j) = float(t5_bucket(j - i, true));
  lesson.picture("biases.png",
                 viz::row({viz::heatmap(matrix_of(alibi, {1}), {.title = "ALiBi, head 2 of 8",
                                                                .x_title = "key",
                                                                .y_title = "query",
                                                                .value_title = "added to the score"}),
                           viz::heatmap(buckets, {.title = "T5's buckets",
                                                  .x_title = "key",
                                                  .y_title = "query",
                                                  .value_title = "bucket: one learned number each"})}),
                 "Bias maps of ALiBi and T5",
                 "Along each diagonal the colour stays: only distance counts. T5's stripes get wider with "
                 "distance, and the two sides have buckets of their own.");
}

// 5. Turning instead of adding

// Two channels (a, b) as the complex number a + ib: a turn by θ is a multiplication by e^(iθ).
using Pair = std::complex<double>;
Pair turn(Pair x, double angle) { return x * std::polar(1.0, angle); }
double dot(Pair x, Pair y) { return (std::conj(x) * y).real(); }

void rotary(Lesson& lesson) {
  lesson.section("RoPE: turn, do not add");
  lesson.say(
      "Can a query know its place so that its product with a key knows the distance only? Take two channels "
      "as a vector in the plane and turn it by an angle θ for each step: q at place m by mθ, k at place n by "
      "nθ. For the matrix R(α) that turns by α, R(α)ᵀ = R(−α), and two turns add up, so");
  lesson.equation("(R(mθ) q)·(R(nθ) k) = qᵀ R(mθ)ᵀ R(nθ) k = q · R((n − m)θ) k");
  const Pair q{1, 0.2}, k{0.4, 0.9};
  std::vector<std::vector<std::string>> rows;
  double worst = 0;
  const double reference = dot(turn(q, 0.5 * 0), turn(k, 0.5 * 3));
  for (const int m : {0, 1, 10, 500}) {
    const double product = dot(turn(q, 0.5 * m), turn(k, 0.5 * (m + 3)));
    worst = std::max(worst, std::fabs(product - reference));
    rows.push_back({fmt::format("{}", m), fmt::format("{}", m + 3), fmt::format("{:.6f}", product),
                    fmt::format("{:.3f}", std::sqrt(dot(turn(q, 0.5 * m), turn(q, 0.5 * m))))});
  }
  lesson.table({"query at", "key at", "product", "length of q"}, rows);
  lesson.claim(worst < 1e-9, "three places apart, the product is {:.3f} wherever the two stand", reference);

  const NoGrad no_grad;
  Rng rng(lesson.seed + 5);
  const Index D = 64;
  const Tensor query = normal({1, 1, D}, rng), key = normal({1, 1, D}, rng);
  const auto score = [&](Index m, Index n) {  // pairs (2i, 2i+1) turned by m ω_i
    return double(sum(rope(query, 1, m) * rope(key, 1, n)).item());
  };
  const double moved = std::fabs(score(2, 9) - score(302, 309)),
               farther = std::fabs(score(2, 9) - score(2, 30));
  lesson.claim(moved < 1e-3 && farther > 1e-2,
               "the same with 64 channels, 32 pairs that turn with the clocks ω_i from above: 300 places "
               "further on the score moves by {:.0e}; another distance changes it by {:.1f}",
               moved, farther);
  lesson.say(
      "Only queries and keys are turned, never values: what is handed over should not depend on where it "
      "stood. And there is a bound on the score that falls with distance: a number that depends on the words "
      "alone, times the mean length of the partial sums of Σ e^(i·distance·ω), which shrinks as the clocks "
      "come to disagree. With 64 clocks, as in a head of 128 channels:");
  viz::Numbers bound;
  for (int distance = 0; distance <= 250; ++distance) {
    std::complex<double> partial = 0;
    double total = 0;
    for (Index i = 0; i < D; ++i) {  // 64 pairs, as in a head of 128
      partial += std::polar(1.0, distance * std::pow(10000.0, -double(i) / D));
      total += std::abs(partial);
    }
    bound.push_back(total / D);
  }
  lesson.claim(bound[250] < 0.5 * bound[0], "the bound falls from {:.1f} at distance 0 to {:.1f} at 250",
               bound[0], bound[250]);
  lesson.picture("rope_decay.png",
                 viz::line_chart({{.name = "bound", .y = bound}},
                                 {.title = "RoPE: the bound on a score falls with distance",
                                  .x_title = "distance",
                                  .y_title = "mean length of the partial sums",
                                  .y_low = 0}),
                 "RoPE's decay",
                 "Not in a straight line, but down: steeply over the first 20 places, then slowly. It bounds "
                 "the score; a single score may go up and down below it.");
}

// 6. Train short, test long

constexpr int symbols = 6;

// Symbols, some of them marked. At each place: which symbol was the last to be marked? The marks are content,
// "the last" is order. Token = symbol, or symbol + 6 if it is marked; the first one always is.
struct Batch {
  IntTensor tokens, targets;  // (B, T)
};
Batch make_batch(Index B, Index T, std::uint64_t seed) {
  Rng rng(seed);
  Batch batch{IntTensor({B, T}), IntTensor({B, T})};
  for (Index b = 0; b < B; ++b) {
    int last = 0;
    for (Index t = 0; t < T; ++t) {
      const int symbol = int(rng.below(symbols));
      const bool marked = t == 0 || rng.below(5) == 0;
      if (marked) last = symbol;
      batch.tokens(b, t) = symbol + (marked ? symbols : 0);
      batch.targets(b, t) = last;
    }
  }
  return batch;
}

struct LastMarked {
  Embedding tokens;
  Stack stack;
  Linear output;

  LastMarked(const TransformerConfig& config, Rng& rng)
      : tokens(2 * symbols, config.d_model, rng),
        stack(config, BlockKind::decoder_only, rng),
        output(config.d_model, symbols, rng) {}
  Tensor operator()(const IntTensor& ids) const {  // (B, T) -> (B, T, symbols)
    return output(stack(tokens(ids)));
  }
  void parameters(ParameterList& list) const {
    list.add_layer("tokens", tokens), list.add_layer("stack", stack), list.add_layer("output", output);
  }
};

// The share of right answers in the last quarter of rows of length T.
double accuracy(const LastMarked& model, Index T, std::uint64_t seed) {
  const NoGrad no_grad;
  const Index B = 1600 / T + 1;
  const Batch batch = make_batch(B, T, seed);
  const IntTensor answers = argmax(model(batch.tokens));
  Index right = 0, count = 0;
  for (Index b = 0; b < B; ++b)
    for (Index t = T - T / 4; t < T; ++t) right += answers(b, t) == batch.targets(b, t), ++count;
  return double(right) / double(count);
}

void short_and_long(Lesson& lesson) {
  lesson.section("Train short, test long");
  const Index short_length = 16, steps = lesson.fast ? 60 : 500;
  const std::vector<Index> lengths =
      lesson.fast ? std::vector<Index>{16, 64} : std::vector<Index>{16, 24, 32, 64, 128};
  lesson.say(
      "One task for all: symbols, about every fifth of them marked; at each place say which symbol was the "
      "last to be marked. Marks are content, \"the last\" is order. The same model with each scheme (T5's, "
      "too, with ÷√d_k, so that nothing but the positions differs; T5 itself leaves it out), and with none. "
      "Trained on rows of {} tokens, tested on up to {}: right answers in the last quarter of each row, "
      "where guessing gives {:.0f}%. (The learned table has rows for all places, but those beyond {} are "
      "never trained.)",
      short_length, lengths.back(), 100.0 / symbols, short_length);
  const std::vector<Positions> schemes = {Positions::none, Positions::learned, Positions::sinusoidal,
                                          Positions::t5,   Positions::alibi,   Positions::rope};
  std::vector<viz::Series> series;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<double>> results;
  std::vector<std::string> header = {"scheme"};
  for (const Index T : lengths) header.push_back(fmt::format("{} tokens", T));
  const std::uint64_t base = lesson.seed * 1000003;
  Tensor t5_learned;  // (T, T): mean of the heads
  double first_loss = 0, last_loss = 0;
  for (const Positions scheme : schemes) {
    Rng rng(lesson.seed);
    const LastMarked model({.d_model = 32,
                            .heads = 4,
                            .decoder_layers = 2,
                            .d_ff = 64,
                            .dropout = 0,
                            .positions = scheme,
                            .max_length = lengths.back(),
                            .pre_norm = true},
                           rng);
    Adam optimizer(parameters_of(model));
    const History history =
        train(optimizer,
              {.steps = steps,
               .schedule =
                   {.kind = ScheduleKind::cosine, .peak = 1e-2, .warmup = 20, .total = steps, .floor = 1e-4},
               .label = name_of(scheme)},
              {.loss = [&](Index number) {
                const Batch batch = make_batch(32, short_length, base + std::uint64_t(number));
                return StepLoss{cross_entropy(model(batch.tokens), batch.targets), 32 * short_length};
              }});
    if (scheme == Positions::alibi)
      first_loss = history.steps.front().loss, last_loss = history.steps.back().loss;
    if (scheme == Positions::t5) t5_learned = mean(model.stack.positions.bias(24, 24).detach(), 0);
    rows.push_back({name_of(scheme)});
    results.emplace_back();
    viz::Series line{.name = name_of(scheme), .points = true};
    for (const Index T : lengths) {
      results.back().push_back(accuracy(model, T, base - 1));
      rows.back().push_back(fmt::format("{:.0f}%", 100 * results.back().back()));
      line.y.push_back(100 * results.back().back());
      line.x.push_back(double(T));
    }
    series.push_back(line);
  }
  lesson.table(header, rows);
  const std::vector<double>&learned = results[1], &alibi = results[4];
  lesson.claim(last_loss < 0.8 * first_loss, "they learn: ALiBi's loss fell from {:.2f} to {:.2f}",
               first_loss, last_loss);
  if (!lesson.fast) {
    double worst_short = 1;
    for (Index i = 1; i < std::ssize(results); ++i) worst_short = std::min(worst_short, results[i].front());
    lesson.claim(worst_short > 0.9, "at the length of training all five solve it: at least {:.0f}% right",
                 100 * worst_short);
    lesson.claim(learned.back() < learned.front() - 0.2,
                 "the learned table ends where training ended: {:.0f}% at {} tokens, {:.0f}% at {}",
                 100 * learned.front(), short_length, 100 * learned.back(), lengths.back());
    lesson.claim(alibi.back() > alibi.front() - 0.1 && alibi.back() > learned.back() + 0.2,
                 "ALiBi, which knows distance only, goes on: {:.0f}% and {:.0f}%", 100 * alibi.front(),
                 100 * alibi.back());
  }
  lesson.picture(
      "extrapolation.png",
      viz::line_chart(series, {.title = fmt::format("Trained on {} tokens, tested on more", short_length),
                               .x_title = "tokens in a row",
                               .y_title = "% right in the last quarter",
                               .x_scale = viz::Scale::log2,
                               .y_low = 0,
                               .y_high = 100}),
      "Extrapolation of five position schemes",
      "All start at the top left. Learned and sinusoidal fall at once, for every place beyond those of "
      "training is new. Look at ALiBi: it does not fall, for a far key only counts ever less.");
  lesson.say(
      "Two things to notice. `none` is not lost: with a causal mask the first token sees one key and the "
      "tenth sees ten, so that a second layer can tell where it is. And T5 and RoPE, too, have to be shown "
      "long rows once: what they do with distances that they never met is luck. ALiBi's calm comes from a "
      "fixed opinion, that near is better; here that is true.");
  if (!lesson.fast) {
    const auto mean_at = [&](Index from, Index to) {  // the bias of keys that many places back
      double sum = 0;
      for (Index distance = from; distance <= to; ++distance) sum += t5_learned(23, 23 - distance);
      return sum / double(to - from + 1);
    };
    lesson.claim(mean_at(1, 4) > mean_at(8, 15),
                 "T5 has learned that near is better, too: its bias is {:.2f} for keys 1 to 4 back and "
                 "{:.2f} for keys 8 to 15 back",
                 mean_at(1, 4), mean_at(8, 15));
  }
  viz::HeatmapOptions map{.title = "T5, learned",
                          .x_title = "key",
                          .y_title = "query",
                          .value_title = "added to the score",
                          .faded = viz::Matrix(24, 24)};
  for (Index i = 0; i < 24; ++i)
    for (Index j = i + 1; j < 24; ++j) map.faded(i, j) = 1;
  viz::HeatmapOptions fixed = map;
  fixed.title = "ALiBi, fixed";
  lesson.picture("t5_learned.png",
                 viz::row({viz::heatmap(matrix_of(t5_learned), map),
                           viz::heatmap(matrix_of(mean(alibi_bias(4, 24, 24), 0)), fixed)},
                          {.title = "Mean of the heads"}),
                 "What T5 learned",
                 "Pale: the future, which is hidden. T5 found by itself what ALiBi was given: near is "
                 "better. But look at the lower left corner: such distances never came up in training, and "
                 "their numbers are still the random ones of the start.");

  // Without an entry in the table there is no place at all.
  Rng rng(lesson.seed);
  const LastMarked ends({.d_model = 32,
                         .heads = 4,
                         .decoder_layers = 1,
                         .d_ff = 64,
                         .positions = Positions::learned,
                         .max_length = short_length},
                        rng);
  std::string message;
  try {
    ends(make_batch(1, short_length + 1, 1).tokens);
  } catch (const Error& error) {
    message = error.what();
  }
  lesson.claim(!message.empty(), "and a table of {} rows refuses token {}: \"{}\"", short_length,
               short_length + 1, message);
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "09_positions", .question = "How does attention know order?"}, [](Lesson& lesson) {
        bag_of_words(lesson);
        plain_integers(lesson);
        sinusoids(lesson);
        adding_is_not_enough(lesson);
        biases(lesson);
        rotary(lesson);
        short_and_long(lesson);
        lesson.try_next(
            {{"In turn_clocks, write −1.0 for −2.0 in the exponent.",
              "All clocks but the first turn faster, and the claim about the library's table fails."},
             {"In rotary, turn the key the other way: turn(k, −0.5 * (m + 3)).",
              "The product now depends on m + n: each row of the table differs, and the claim fails."},
             {"In short_and_long, train on rows of 32 tokens (short_length).",
              "The learned table holds up to 32 now and falls beyond: every fall moves to the right."}});
      });
}
