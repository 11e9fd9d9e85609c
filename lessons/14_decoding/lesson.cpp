// Lesson 14. How is a sentence chosen?
//
// A trained model does not write: it says how likely each word is to come next. Somebody has to choose, word
// by word, and each choice changes what comes after it. This lesson is about ways to choose: the likeliest
// word each time (greedy), the likeliest sentence as far as one can see (beam search), or a draw (sampling);
// and about not computing everything again for each word (the cache).
//
// T words written so far, V vocabulary.
#include <algorithm>  // max, min, sort
#include <chrono>     // steady_clock
#include <cmath>      // exp, log, pow
#include <iterator>   // ssize
#include <map>        // map
#include <numeric>    // accumulate, iota
#include <set>        // set

#include "core/autograd.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/decode.hpp"
#include "nn/text/batching.hpp"
#include "nn/text/toy_languages.hpp"
#include "nn/text/vocabulary.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

constexpr int bos = Vocabulary::bos, eos = Vocabulary::eos;

// 1. A language of five words

const std::vector<std::string> words = {"<pad>", "<bos>", "<eos>", "a", "the", "dog", "cat", "car"};

// What comes after a word, by hand. `a` is the likelier beginning, but after it nothing is likely.
std::map<int, double> after(int word) {
  if (word == bos) return {{3, 0.6}, {4, 0.4}};          // a, the
  if (word == 3) return {{5, 0.4}, {6, 0.3}, {7, 0.3}};  // a dog, a cat, a car
  if (word == 4) return {{5, 0.9}, {6, 0.1}};            // the dog, the cat
  return {{eos, 1.0}};
}

// The same as a Writer, which the library's decoders can ask: rows of newest words in, rows of logits out.
class TableWriter : public Writer {
 public:
  Index rows() const override { return rows_; }
  Tensor next(const IntTensor& tokens) override {  // (rows, 1) -> (rows, V)
    Tensor logits = full({rows_, std::ssize(words)}, real(-30));
    for (Index r = 0; r < rows_; ++r)
      for (const auto& [word, p] : after(tokens(r, 0))) logits(r, word) = real(std::log(p));
    return logits;
  }
  void reorder(const std::vector<int>& rows) override { rows_ = std::ssize(rows); }

 private:
  Index rows_ = 1;
};

std::string sentence_of(const std::vector<int>& tokens) {
  std::string text;
  for (const int token : tokens) text += (text.empty() ? "" : " ") + words[token];
  return text;
}

void a_wrong_first_word(Lesson& lesson) {
  lesson.section("A wrong first word");
  lesson.say(
      "A language of five words. A sentence begins with `a` (0.6) or `the` (0.4); after `a` come dog, cat or "
      "car (0.4, 0.3, 0.3), after `the` dog or cat (0.9, 0.1). All its sentences, by two loops:");
  std::vector<std::vector<std::string>> rows;
  std::string likeliest;
  double best = 0;
  for (const auto& [first, p] : after(bos))
    for (const auto& [second, q] : after(first)) {
      const std::string text = sentence_of({first, second});
      rows.push_back({text, fmt::format("{:.1f} · {:.1f}", p, q), fmt::format("{:.2f}", p * q),
                      fmt::format("{:.2f}", std::log(p) + std::log(q))});
      if (p * q > best) best = p * q, likeliest = text;
    }
  lesson.table({"sentence", "first · second word", "probability", "sum of log p"}, rows);
  TableWriter for_greedy, for_one, for_two;
  const std::vector<int> first_words = greedy(for_greedy, {.start = bos, .end = eos})[0];
  const std::string greedy_text = sentence_of(first_words);
  const Hypothesis one = beam_search(for_one, {.start = bos, .end = eos, .width = 1}).hypotheses[0];
  const Hypothesis two = beam_search(for_two, {.start = bos, .end = eos, .width = 2}).hypotheses[0];
  lesson.say(
      "Greedy takes the likeliest word each time. Beam search keeps the k best beginnings and goes on with "
      "each:");
  lesson.table(
      {"method", "writes", "probability"},
      {{"greedy", greedy_text,
        fmt::format("{:.2f}", after(bos).at(first_words[0]) * after(first_words[0]).at(first_words[1]))},
       {"beam of 1", sentence_of(one.tokens), fmt::format("{:.2f}", std::exp(one.log_probability))},
       {"beam of 2", sentence_of(two.tokens), fmt::format("{:.2f}", std::exp(two.log_probability))}});
  lesson.claim(greedy_text == "a dog" && sentence_of(two.tokens) == likeliest &&
                   std::fabs(std::exp(two.log_probability) - best) < 1e-4,
               "the likeliest sentence is `{}` ({:.2f}); two hypotheses find it, greedy has already said `a`",
               likeliest, best);
  lesson.claim(sentence_of(one.tokens) == greedy_text, "a beam of 1 is greedy");

  float product = 1;
  double sum = 0;
  for (int word = 0; word < 100; ++word) product *= 0.1f, sum += std::log(0.1);
  lesson.claim(product == 0 && std::fabs(sum + 230.26) < 0.01,
               "why sums of logarithms: 100 words of probability 0.1 multiply to {} in float; their "
               "logarithms sum to {:.1f}",
               product, sum);
}

// 2. A translator that is not quite sure

struct Translator {
  std::unique_ptr<WordVocabulary> english, french;
  std::unique_ptr<Transformer> model;
  std::vector<Pair> test;
};

Translator train_translator(Lesson& lesson) {
  lesson.section("A translator that is not quite sure");
  const std::vector<Pair> pairs = english_french().generate(3000, lesson.seed, Grammar::Part::training);
  Translator t;
  t.test = english_french().generate(30, lesson.seed + 1, Grammar::Part::training);
  t.english = std::make_unique<WordVocabulary>(WordVocabulary::learn(source_lines(pairs)));
  t.french = std::make_unique<WordVocabulary>(WordVocabulary::learn(target_lines(pairs)));
  Rng rng(lesson.seed), noise(lesson.seed + 2);
  t.model = std::make_unique<Transformer>(TransformerConfig{.source_vocabulary = t.english->size(),
                                                            .vocabulary = t.french->size(),
                                                            .d_model = 64,
                                                            .heads = 4,
                                                            .encoder_layers = 1,
                                                            .decoder_layers = 1,
                                                            .d_ff = 128,
                                                            .dropout = real(0.05),
                                                            .pre_norm = true},
                                          rng);
  const std::vector<EncodedPair> encoded = encode_pairs(pairs, *t.english, *t.french);
  std::vector<std::vector<Index>> plan;
  const Index steps = lesson.fast ? 150 : 450;
  for (std::uint64_t epoch = 0; std::ssize(plan) < steps; ++epoch)
    for (const std::vector<Index>& rows :
         plan_batches(encoded, {.sentences = 32, .seed = lesson.seed + epoch}))
      plan.push_back(rows);
  lesson.say(
      "English to French from the grammar of lesson 13, {} words of French, one layer on each side, {} "
      "steps: stopped early, so that it still hesitates.",
      t.french->size(), steps);
  Adam adam(parameters_of(*t.model), paper_adam());
  const Context training{.training = true, .rng = &noise};
  const History history =
      train(adam, {.steps = steps, .schedule = {.peak = 3e-3, .warmup = 20}, .label = "English to French"},
            {.loss = [&](Index step) {
              const Batch batch = make_batch(encoded, plan[step]);
              const Tensor logits = (*t.model)(batch.source, batch.decoder_input, training);
              return StepLoss{
                  cross_entropy(logits, batch.targets, {.smoothing = real(0.1), .ignore = Vocabulary::pad}),
                  batch.targets.numel()};
            }});
  lesson.claim(history.steps.back().loss < history.steps.front().loss, "its loss fell from {:.1f} to {:.2f}",
               history.steps.front().loss, history.steps.back().loss);
  return t;
}

std::vector<int> source_of(const Translator& t, const std::string& text) {
  std::vector<int> ids = t.english->encode(text);
  ids.push_back(eos);
  return ids;
}

// The sum of log p over the words and the end, as the model sees a given translation.
double log_probability(const Translator& t, const std::vector<int>& source, std::vector<int> tokens) {
  TransformerWriter writer(*t.model, source);
  double total = 0;
  int newest = bos;
  tokens.push_back(eos);
  for (const int token : tokens) {
    total += log_softmax(writer.next({{1, 1}, {newest}}))(0, token);
    newest = token;
  }
  return total;
}

// 3. Beam search on real sentences

constexpr Index longest = 24;

BeamResult beams(const Translator& t, const std::vector<int>& source, Index width, double alpha) {
  TransformerWriter writer(*t.model, source);
  return beam_search(
      writer, {.start = bos, .end = eos, .max_length = longest, .width = width, .length_penalty = alpha});
}

void draw_tree(Lesson& lesson, const Translator& t) {
  // The shortest test sentence on which a beam of 3 and greedy differ; else the shortest.
  constexpr Index width = 3;
  std::vector<Pair> order = t.test;
  std::stable_sort(order.begin(), order.end(),
                   [](const Pair& a, const Pair& b) { return a.source.size() < b.source.size(); });
  const Pair* chosen = &order.front();
  std::vector<int> by_greedy;
  for (const Pair& pair : order) {
    TransformerWriter writer(*t.model, source_of(t, pair.source));
    const std::vector<int> first = greedy(writer, {.start = bos, .end = eos, .max_length = longest})[0];
    if (beams(t, source_of(t, pair.source), width, 0.6).hypotheses[0].tokens != first) {
      chosen = &pair;
      by_greedy = first;
      break;
    }
  }
  const std::vector<int> source = source_of(t, chosen->source);
  const BeamResult result = beams(t, source, width, 0.6);
  std::vector<bool> on_best(result.tree.size(), false);
  for (Index at = result.hypotheses[0].node; at >= 0; at = result.tree[at].parent) on_best[at] = true;
  // Of what was dropped, only the best after each word is drawn: the tree stays readable.
  std::vector<viz::TreeNode> nodes;
  std::vector<int> number(result.tree.size(), -1), dropped(result.tree.size(), 0);
  Index deepest = 0;
  for (Index i = 0; i < std::ssize(result.tree); ++i) {
    const BeamNode& node = result.tree[i];
    const Index parent = std::max<Index>(node.parent, 0);
    if (!node.kept && dropped[parent]++ > 0) continue;
    number[i] = int(nodes.size());
    deepest = std::max(deepest, node.depth);
    nodes.push_back({.label = t.french->label(node.token),
                     .detail = node.parent < 0 ? "" : fmt::format("{:.2f}", node.log_probability),
                     .parent = node.parent < 0 ? -1 : number[parent],
                     .branch = on_best[i]  ? viz::Branch::best
                               : node.kept ? viz::Branch::kept
                                           : viz::Branch::pruned});
  }
  std::vector<std::string> steps = {"start"};
  for (Index depth = 1; depth <= deepest; ++depth) steps.push_back(fmt::format("word {}", depth));
  lesson.say("`{}`, a beam of {}. Its hypotheses, best first:", chosen->source, width);
  std::vector<std::vector<std::string>> rows;
  for (const Hypothesis& hypothesis : result.hypotheses)
    rows.push_back({t.french->decode(hypothesis.tokens), fmt::format("{:.2f}", hypothesis.log_probability),
                    fmt::format("{:.2f}", hypothesis.score)});
  lesson.table({"hypothesis", "log P", "log P / penalty"}, rows);
  if (!by_greedy.empty())
    lesson.say("Greedy writes `{}` (log P {:.2f}).", t.french->decode(by_greedy),
               log_probability(t, source, by_greedy));
  lesson.picture(
      "beam_tree.png",
      viz::tree(nodes, {.title = fmt::format("A beam of {}: {}", width, chosen->source), .steps = steps}),
      "The beam tree",
      "Each number is the log-probability of the whole beginning: it can only fall. At each step three are "
      "kept. Follow the green path: greedy would have taken the best branch at every fork.");
}

void beam_on_sentences(Lesson& lesson, const Translator& t) {
  lesson.section("Beam search");
  lesson.equation("score = log P / ((5 + length) / 6)^α         log P = Σ log p(word | words before)");
  lesson.say(
      "Each further word can only lower log P, so short sentences have an advantage. The divisor grows with "
      "the length and takes it away, the more so the larger α is. Two hypotheses by hand, `yes <eos>` (2 "
      "words, log P = -2.0) and `yes , the dog runs . <eos>` (7 words, log P = -2.6). How far may the log P "
      "of the long one fall before the short one wins?");
  const std::vector<double> alphas = {0, 0.6, 2};
  std::vector<std::vector<std::string>> rows;
  std::vector<double> lowest;
  for (const double alpha : alphas) {
    const double ratio = std::pow((5.0 + 7) / (5 + 2), alpha);  // of the two divisors: the 6 cancels
    lowest.push_back(-2.0 * ratio);
    rows.push_back({fmt::format("{:.1f}", alpha), fmt::format("{:.2f}", ratio),
                    fmt::format("{:.2f}", lowest.back()), lowest.back() < -2.6 ? "long" : "short"});
  }
  lesson.table({"α", "divisor of the long one / of the short one", "log P may fall to", "wins"}, rows);
  lesson.claim(lowest[0] > -2.6 && lowest[1] < -2.6 && lowest[2] < -2.6,
               "without the divisor the short one wins, with α = 0.6 (the paper's) the long one");
  lesson.say("Now the translator:");
  const Index count = lesson.fast ? 8 : 30;
  Index same_as_greedy = 0, at_least_as_likely = 0;
  double sum_greedy = 0, sum_beam = 0;
  std::vector<double> lengths(3, 0.0);
  for (Index i = 0; i < count; ++i) {
    const std::vector<int> source = source_of(t, t.test[i].source);
    TransformerWriter writer(*t.model, source);
    const std::vector<int> first = greedy(writer, {.start = bos, .end = eos, .max_length = longest})[0];
    same_as_greedy += beams(t, source, 1, 0.6).hypotheses[0].tokens == first;
    for (Index a = 0; a < std::ssize(alphas); ++a) {
      const Hypothesis best = beams(t, source, 4, alphas[a]).hypotheses[0];
      lengths[a] += double(best.tokens.size()) / double(count);
      if (a > 0) continue;
      const double by_greedy = log_probability(t, source, first);
      at_least_as_likely += best.log_probability > by_greedy - 1e-3;
      sum_greedy += by_greedy / double(count), sum_beam += best.log_probability / double(count);
    }
  }
  lesson.claim(same_as_greedy >= count - 1, "a beam of 1 writes what greedy writes: {} of {} sentences",
               same_as_greedy, count);
  lesson.claim(at_least_as_likely >= count / 2 && sum_beam >= sum_greedy - 1e-3,
               "a beam of 4 finds sentences that the model likes at least as well in {} of {} (mean log P "
               "{:.2f}, greedy {:.2f})",
               at_least_as_likely, count, sum_beam, sum_greedy);
  lesson.claim(
      lengths[0] <= lengths[1] + 1e-9 && lengths[1] <= lengths[2] + 1e-9,
      "a larger α chooses no shorter sentences: {:.2f}, {:.2f} and {:.2f} words on average (this model "
      "mostly knows when to end)",
      lengths[0], lengths[1], lengths[2]);
  draw_tree(lesson, t);
}

// 4. Drawing lots

void drawing_lots(Lesson& lesson, const Translator& t) {
  lesson.section("Drawing lots");
  lesson.say(
      "For stories or answers one does not want the same sentence each time. The next word is drawn, after "
      "the distribution was made sharper or flatter (temperature τ: logits / τ), and cut: to the k likeliest "
      "(top-k), or to the fewest that together reach p (top-p). Five words with probabilities 0.4, 0.3, "
      "0.15, 0.1, 0.05:");
  struct Setting {
    std::string name;
    double temperature;
    Index k;
    double p;
    Index stay;  // of the five words, counted by hand
  };
  const std::vector<Setting> settings = {{"as it is", 1, 0, 1, 5},
                                         {"τ = 0.5", 0.5, 0, 1, 5},
                                         {"τ = 2", 2, 0, 1, 5},
                                         {"top-k, k = 2", 1, 2, 1, 2},
                                         {"top-p, p = 0.8", 1, 0, 0.8, 3}};
  const std::vector<double> p = {0.4, 0.3, 0.15, 0.1, 0.05};
  std::vector<real> logits;
  for (const double value : p) logits.push_back(real(std::log(value)));
  double worst = 0;
  std::vector<std::vector<std::string>> rows;
  for (const Setting& s : settings) {
    std::vector<double> by_hand;  // exp(log p / τ) = p^(1/τ): τ = 0.5 squares, τ = 2 takes the root
    for (Index i = 0; i < s.stay; ++i) by_hand.push_back(std::pow(p[i], 1 / s.temperature));
    const double sum = std::accumulate(by_hand.begin(), by_hand.end(), 0.0);
    by_hand.resize(5, 0.0);
    const std::vector<double> library =
        sampling_distribution(logits.data(), 5, {.temperature = s.temperature, .top_k = s.k, .top_p = s.p});
    rows.push_back({s.name});
    for (Index i = 0; i < 5; ++i) {
      worst = std::max(worst, std::fabs(by_hand[i] / sum - library[i]));
      rows.back().push_back(fmt::format("{:.3f}", library[i]));
    }
  }
  lesson.table({"setting", "A", "B", "C", "D", "E"}, rows);
  lesson.claim(
      worst < 1e-5,
      "all five by hand: τ raises each p to the power 1/τ, a cut keeps the first 2 or 3; then each is "
      "divided by the sum");
  lesson.say(
      "Top-p 0.8 keeps three words: two reach only 0.7, and the one that crosses 0.8 belongs to them.");

  // The model's own doubt: the place in the test sentences where its guess is most spread out.
  double largest = -1;
  std::vector<real> doubt;
  std::string where;
  for (Index i = 0; i < 8; ++i) {
    const std::vector<int> source = source_of(t, t.test[i].source);
    TransformerWriter asking(*t.model, source);
    std::vector<int> written = t.french->encode(t.test[i].target);
    int newest = bos;
    for (Index at = 0; at < std::ssize(written); ++at) {
      const Tensor scores = asking.next({{1, 1}, {newest}});  // (1, V)
      const Tensor q = softmax(scores);
      const double entropy = -sum(q * log(q + real(1e-30))).item();
      if (entropy > largest) {
        largest = entropy;
        doubt = scores.values();
        where = t.test[i].source + " → " + t.french->decode({written.begin(), written.begin() + at}) + " …";
      }
      newest = written[at];
    }
  }
  std::vector<Index> order(doubt.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return doubt[a] > doubt[b]; });
  order.resize(8);
  std::vector<std::string> names;
  for (const Index i : order) names.push_back(t.french->label(int(i)));
  std::vector<viz::BarSeries> bars;
  std::vector<double> entropies;
  for (const Setting& s : settings) {
    const std::vector<double> d = sampling_distribution(
        doubt.data(), std::ssize(doubt), {.temperature = s.temperature, .top_k = s.k, .top_p = s.p});
    bars.push_back({.name = s.name});
    for (const Index i : order) bars.back().values.push_back(d[i]);
    double entropy = 0;
    for (const double value : d)
      if (value > 0) entropy -= value * std::log(value);
    entropies.push_back(entropy);
  }
  lesson.picture(
      "distributions.png",
      viz::grouped_bar_chart(names, bars,
                             {.title = "The next word under each setting",
                              .value_title = "probability",
                              .vertical = true,
                              .numbers = false,
                              .width = 900}),
      "One guess, five settings",
      fmt::format("τ = 0.5 raises what is high and lowers the rest, τ = 2 levels it; top-k and top-p cut the "
                  "tail off and share it out. The place where the model hesitates most: {}",
                  where));
  lesson.claim(entropies[1] < entropies[0] && entropies[0] < entropies[2],
               "e^entropy, the number of words in play: {:.1f} at τ = 0.5, {:.1f} as it is, {:.1f} at τ = 2",
               std::exp(entropies[1]), std::exp(entropies[0]), std::exp(entropies[2]));

  const Index draws = 20;
  const std::vector<std::vector<int>> repeated(draws, source_of(t, t.test[0].source));
  lesson.say("`{}`, translated {} times:", t.test[0].source, draws);
  std::vector<std::vector<std::string>> samples;
  Index at_zero = 0;
  for (const double temperature : {0.0, 0.5, 1.0, 2.0}) {
    TransformerWriter writer(*t.model, pad_batch(repeated));
    Rng rng(lesson.seed + 9);
    std::set<std::string> distinct;
    std::string first;
    for (const std::vector<int>& tokens :
         sample(writer, {{draws, 1}, std::vector<int>(draws, bos)},
                {.end = eos, .max_length = longest, .temperature = temperature}, rng)) {
      if (distinct.empty()) first = t.french->decode(tokens);
      distinct.insert(t.french->decode(tokens));
    }
    if (temperature == 0) at_zero = distinct.size();
    samples.push_back(
        {fmt::format("{:.1f}", temperature), fmt::format("{}", distinct.size()), viz::shorten(first, 420)});
  }
  lesson.table({"τ", "different sentences", "the first"}, samples);
  lesson.claim(at_zero == 1, "at τ = 0 sampling is greedy: always the same sentence");
}

// 5. The cache

void the_cache(Lesson& lesson, const Translator& t) {
  lesson.section("The cache");
  lesson.say(
      "To write word T + 1, the decoder needs the keys and values of all words before it. They do not change "
      "any more (nothing looks ahead), so they are kept: each step then computes one word instead of T + 1. "
      "Positions must go on counting: the first new word behind T cached ones stands at place T.");
  Index same = 0;
  const Index count = lesson.fast ? 5 : 20;
  for (Index i = 0; i < count; ++i) {
    const std::vector<int> source = source_of(t, t.test[i].source);
    TransformerWriter cached(*t.model, source), plain(*t.model, source, {.cached = false});
    const DecodeOptions options{.start = bos, .end = eos, .max_length = longest};
    same += greedy(cached, options) == greedy(plain, options);
  }
  lesson.claim(same == count, "with and without the cache the same words: {} of {} sentences", same, count);

  const Index T = lesson.fast ? 96 : 256, window = 16;
  const std::vector<int> source = source_of(t, t.test[0].source);
  TransformerWriter cached(*t.model, source), plain(*t.model, source, {.cached = false});
  Rng rng(lesson.seed);
  double worst = 0, total_cached = 0, total_plain = 0;
  std::vector<double> places, with, without;
  const auto timed = [](TransformerWriter& writer, int token, Tensor& logits) {
    const auto start = std::chrono::steady_clock::now();
    logits = writer.next({{1, 1}, {token}});
    return 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (Index at = 0; at < T; at += window) {
    double best_cached = 1e9, best_plain = 1e9;  // of a window: what else runs on the machine only adds
    for (Index i = 0; i < window; ++i) {
      const int token = int(4 + rng.below(t.french->size() - 4));
      Tensor a, b;
      best_cached = std::min(best_cached, timed(cached, token, a));
      best_plain = std::min(best_plain, timed(plain, token, b));
      worst = std::max(worst, max_difference(a, b));
    }
    places.push_back(double(at + 1));
    with.push_back(best_cached), without.push_back(best_plain);
    total_cached += best_cached, total_plain += best_plain;
  }
  lesson.claim(worst < 1e-2, "over {} words the scores agree, too: largest difference {:.0e}", T, worst);
  const auto micro = [](double time) { return fmt::format("{:.0f} µs", time); };
  lesson.table({"time for a word", fmt::format("among the first {}", window),
                fmt::format("among the last {}", window)},
               {{"without cache", micro(without.front()), micro(without.back())},
                {"with cache", micro(with.front()), micro(with.back())}});
  lesson.claim(total_plain > 1.5 * total_cached, "and the cache is faster, the more so the longer the text");
  lesson.picture(
      "cache.png",
      viz::line_chart({{.name = "without cache", .y = without, .x = places, .points = true},
                       {.name = "with cache", .y = with, .x = places, .points = true}},
                      {.title = "Time for one more word",
                       .x_title = "words written",
                       .y_title = "microseconds",
                       .y_low = 0}),
      "Time per word with and without cache",
      "Without the cache each word costs more than the one before; with it the line is nearly level.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "14_decoding", .question = "How is a sentence chosen?"}, [](Lesson& lesson) {
        a_wrong_first_word(lesson);
        const Translator translator = train_translator(lesson);
        const NoGrad no_grad;
        beam_on_sentences(lesson, translator);
        drawing_lots(lesson, translator);
        the_cache(lesson, translator);
        lesson.try_next(
            {{"In after, let `the` be followed by dog and cat with 0.5 each.",
              "The likeliest sentence is now `a dog` (0.24 against 0.20). Greedy finds it, and a beam of 2 "
              "has nothing to add."},
             {"In draw_tree, set width to 5.",
              "The tree gets bushier, and more hypotheses reach the end; the chosen sentence is mostly the "
              "same."},
             {"In drawing_lots, give top-p 0.6 instead of 0.8 (the number before the 3).",
              "Two words reach 0.6, so the third has to go: 3, counted by hand, is wrong now, and a claim "
              "fails."}});
      });
}
