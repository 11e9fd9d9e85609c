/// A trained model does not write. It only says how likely each word is to come next; somebody has to choose,
/// word by word, and each choice changes what comes after it. Whoever uses a language model sets the knobs of
/// this lesson (*temperature*, *top-p*, *beam*), often without knowing what they do. Here you see each one
/// work: the likeliest word each time (**greedy**), the likeliest sentence as far as one can see (**beam
/// search**), or a draw (**sampling**); and how not to compute everything again for each word (the
/// **key/value cache**).
///
/// Letters for sizes: T words written so far, V words in the vocabulary.
#include <algorithm>  // max, min, sort
#include <chrono>     // steady_clock
#include <cmath>      // exp, fabs, log, pow
#include <iterator>   // ssize
#include <map>        // map
#include <numeric>    // accumulate, iota
#include <set>        // set
#include <string>     // string

#include "core/autograd.hpp"
#include "lessons/14_decoding/model.hpp"
#include "lessons/14_decoding/pictures.hpp"
#include "lessons/support/figures.hpp"
#include "nn/text/batching.hpp"

using namespace attn;

namespace {

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

/// ## A wrong first word
///
/// A language of five words. A sentence begins with `a` (0.6) or `the` (0.4); after `a` come dog, cat or car
/// (0.4, 0.3, 0.3), after `the` dog or cat (0.9, 0.1). All its sentences, by two loops:
void a_wrong_first_word(Lesson& lesson) {
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
  /// *Greedy* takes the likeliest word each time. *Beam search* keeps the k best beginnings, called
  /// hypotheses, and extends each of them:
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

/// ## A translator that is not quite sure
///
/// To see the methods differ, we need a model that hesitates: English to French from the grammar of lesson
/// 13, one layer on each side, stopped after a few hundred steps. It learns with label smoothing 0.1 (lesson
/// 12), as the paper's does. A second one, the same but without smoothing, will be useful later.
void two_translators(Lesson& lesson, const Translator& smoothed, const Translator& plain) {
  const auto share_of_right_words = [](const Translator& t) {
    std::vector<Index> rows(t.test.size());
    std::iota(rows.begin(), rows.end(), 0);
    const Batch batch = make_batch(encode_pairs(t.test, *t.english, *t.french), rows);
    const IntTensor said = argmax((*t.model)(batch.source, batch.decoder_input));  // (B, T)
    Index right = 0, words = 0;
    for (Index i = 0; i < said.numel(); ++i)
      if (batch.targets.values()[i] != pad) ++words, right += said.values()[i] == batch.targets.values()[i];
    return 100.0 * double(right) / double(words);
  };
  const double with = share_of_right_words(smoothed), without = share_of_right_words(plain);
  lesson.claim(with > 40 && with < 100,
               "of {} words of French, its first guess for the next one is right {:.0f}% of the time "
               "(without smoothing {:.0f}%)",
               smoothed.french->size(), with, without);
}

/// ## Beam search
///
/// $$ log P = Σ log p(word | words before) $$
///
/// $$ score = log P / ((5 + length) / 6)^α $$
///
/// Each further word can only lower log P, so short sentences have an advantage. The *length penalty* (Wu et
/// al., 2016) divides it away, the more so the larger α is. Two hypotheses by hand, `yes <eos>` (2 words, log
/// P = −2.0) and `yes , the dog runs . <eos>` (7 words, log P = −2.6). How far may the log P of the long one
/// fall before the short one wins?
void beam_by_hand(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  std::vector<double> lowest;
  for (const double alpha : {0.0, 0.6, 2.0}) {
    const double ratio = std::pow((5.0 + 7) / (5 + 2), alpha);  // of the two divisors: the 6 cancels
    lowest.push_back(-2.0 * ratio);
    rows.push_back({fmt::format("{:.1f}", alpha), fmt::format("{:.2f}", ratio),
                    fmt::format("{:.2f}", lowest.back()), lowest.back() < -2.6 ? "long" : "short"});
  }
  lesson.table({"α", "divisor, long / short", "log P may fall to", "wins"}, rows);
  lesson.claim(lowest[0] > -2.6 && lowest[1] < -2.6 && lowest[2] < -2.6,
               "without the divisor the short one wins, with α = 0.6 (the paper's) the long one");
}

// The shortest test sentence on which a beam and greedy differ; if there is none, the shortest.
const Pair& where_they_differ(const Translator& t, Index width, std::vector<Pair>& order) {
  order = t.test;
  std::stable_sort(order.begin(), order.end(),
                   [](const Pair& a, const Pair& b) { return a.source.size() < b.source.size(); });
  for (const Pair& pair : order) {
    const std::vector<int> source = source_of(t, pair.source);
    if (beams(t, source, width, 0.6).hypotheses[0].tokens != greedy_of(t, source)) return pair;
  }
  return order.front();
}

/// Now the translator, on a sentence over which greedy and a beam of 3 disagree. The beam never considers
/// <pad> and <bos>, which no sentence has: the model gives them a little probability, too, and they would
/// take up places in the beam.
void beam_on_a_sentence(Lesson& lesson, const Translator& t) {
  constexpr Index width = 3;
  std::vector<Pair> order;
  const Pair& chosen = where_they_differ(t, width, order);
  const std::vector<int> source = source_of(t, chosen.source), by_greedy = greedy_of(t, source);
  const BeamResult result = beams(t, source, width, 0.6);
  const auto row_of = [&](const std::string& name, const std::vector<int>& tokens, double log_p,
                          double score) {
    return std::vector<std::string>{name, t.french->decode(tokens), fmt::format("{:.2f}", log_p),
                                    fmt::format("{:.2f}", score)};
  };
  std::vector<std::vector<std::string>> rows;
  for (const Hypothesis& h : result.hypotheses)
    rows.push_back(row_of(fmt::format("beam, {}", rows.size() + 1), h.tokens, h.log_probability, h.score));
  const double greedy_log_p = log_probability(t, source, by_greedy),
               greedy_score = greedy_log_p / std::pow((5.0 + double(by_greedy.size()) + 1) / 6, 0.6);
  rows.push_back(row_of("greedy", by_greedy, greedy_log_p, greedy_score));
  lesson.say("`{}`, in French `{}`:", chosen.source, chosen.target);
  lesson.table({"", "hypothesis", "log P", "log P / penalty"}, rows);
  const Hypothesis& best = result.hypotheses[0];
  if (best.tokens == by_greedy)
    lesson.say("Here they agree, as on all the other test sentences.");
  else if (greedy_log_p > best.log_probability)
    lesson.say(
        "Greedy's sentence is the *likelier* one: log P {:.2f} against {:.2f}. The beam prefers its own only "
        "because of the length penalty: divided by it, {:.2f} is better than {:.2f}.",
        greedy_log_p, best.log_probability, best.score, greedy_score);
  else
    lesson.say("The beam's sentence is the likelier one, too: log P {:.2f}, against {:.2f} for greedy's.",
               best.log_probability, greedy_log_p);
  lesson.picture(
      "beam_tree.png",
      beam_tree(
          result, [&](int token) { return t.french->label(token); },
          fmt::format("A beam of {}: {}", width, chosen.source)),
      "The beam tree",
      "Each number is the log-probability of the whole beginning: it can only fall. At each step three are "
      "kept, and the others (grey) are dropped for good. Green is the path that was chosen at the end.");
  lesson.data("beam",
              beam_figure(chosen.source, result, width, [&](int token) { return t.french->label(token); }));
}

/// ## Likeliest is not best
///
/// A wider beam finds sentences that the model finds likelier. Are they better translations? Here α is 0, so
/// nothing but log P counts. *Right* are sentences that equal the expected one:
void likeliest_is_not_best(Lesson& lesson, const Translator& t) {
  const Index count = lesson.fast ? 8 : 30;
  struct Total {
    double log_p = 0;
    Index right = 0, words = 0;
  };
  const auto measure = [&](Index width, double alpha) {
    Total total;
    for (Index i = 0; i < count; ++i) {
      const Hypothesis best = beams(t, source_of(t, t.test[i].source), width, alpha).hypotheses[0];
      total.log_p += best.log_probability / double(count);
      total.right += t.french->decode(best.tokens) == t.test[i].target;
      total.words += std::ssize(best.tokens);
    }
    return total;
  };
  std::vector<std::vector<std::string>> rows;
  std::vector<Total> totals;
  for (const Index width : {1, 2, 4, 10}) {
    totals.push_back(measure(width, 0));
    rows.push_back({fmt::format("{}", width), fmt::format("{:.2f}", totals.back().log_p),
                    fmt::format("{} of {}", totals.back().right, count),
                    fmt::format("{:.2f}", double(totals.back().words) / double(count))});
  }
  lesson.table({"beam", "mean log P", "right", "words per sentence"}, rows);
  Index same_as_greedy = 0;
  for (Index i = 0; i < count; ++i) {
    const std::vector<int> source = source_of(t, t.test[i].source);
    same_as_greedy += beams(t, source, 1, 0.6).hypotheses[0].tokens == greedy_of(t, source);
  }
  lesson.claim(same_as_greedy >= count - 1, "a beam of 1 writes what greedy writes: {} of {} sentences",
               same_as_greedy, count);
  lesson.claim(totals[3].log_p >= totals[0].log_p - 1e-3,
               "from a beam of 1 to one of 10 the mean log P goes from {:.2f} to {:.2f}, and the sentences "
               "that are right from {} to {}",
               totals[0].log_p, totals[3].log_p, totals[0].right, totals[3].right);
  const double longer = double(measure(4, 2).words), as_they_are = double(totals[2].words);
  lesson.claim(longer >= as_they_are,
               "the length penalty lengthens: with a beam of 4, {:.2f} words at α = 0 and {:.2f} at α = 2",
               as_they_are / double(count), longer / double(count));

  /// More probability is not the same as more truth. Stahlberg and Byrne (2019) searched good translation
  /// models exhaustively: for more than half of the sentences the likeliest translation of all was the empty
  /// one. A narrow beam and a length penalty hide that. And where many continuations are good, as in a story,
  /// the likeliest text is dull and soon repeats itself (Holtzman et al., 2020). There one samples.
}

const std::vector<Setting> settings = {{"as it is", {}, 0, 5},
                                       {"τ = 0.5", {.temperature = 0.5}, 0, 5},
                                       {"τ = 2", {.temperature = 2}, 0, 5},
                                       {"top-k, k = 2", {.top_k = 2}, 0, 2},
                                       {"top-p, p = 0.8", {.top_p = 0.8}, 0, 3},
                                       {"min-p, m = 0.15", {}, 0.15, 4}};

/// ## Sampling
///
/// For stories or answers one does not want the same text each time. So the next word is drawn at random,
/// from a distribution that was first reshaped. Each method does one thing to it:
///
/// | method | what it does | from |
/// |---|---|---|
/// | temperature τ | divides the logits by τ: below 1 sharper, above 1 flatter | statistical physics |
/// | top-k | keeps the k likeliest words | Fan et al., 2018 |
/// | top-p, or *nucleus* | keeps the fewest words that together reach p | Holtzman et al., 2020 |
/// | min-p | keeps words at least m times as likely as the likeliest | Nguyen et al., 2024 |
/// | repetition penalty | lowers the logits of words that were already written | Keskar et al., 2019 |
///
/// What is kept is divided by its sum, so that it is a distribution again. Five words with probabilities 0.4,
/// 0.3, 0.15, 0.1, 0.05:
void five_words(Lesson& lesson) {
  const std::vector<double> p = {0.4, 0.3, 0.15, 0.1, 0.05};
  std::vector<real> logits;
  for (const double value : p) logits.push_back(real(std::log(value)));
  double worst = 0;
  std::vector<std::vector<std::string>> rows;
  for (const Setting& s : settings) {
    std::vector<double> by_hand;  // exp(log p / τ) = p^(1/τ): τ = 0.5 squares, τ = 2 takes the root
    for (Index i = 0; i < s.stay; ++i) by_hand.push_back(std::pow(p[i], 1 / s.options.temperature));
    const double sum = std::accumulate(by_hand.begin(), by_hand.end(), 0.0);
    by_hand.resize(5, 0.0);
    const std::vector<double> library = reshaped(logits, s);
    rows.push_back({s.name});
    for (Index i = 0; i < 5; ++i) {
      worst = std::max(worst, std::fabs(by_hand[i] / sum - library[i]));
      rows.back().push_back(fmt::format("{:.3f}", library[i]));
    }
  }
  lesson.table({"setting", "A", "B", "C", "D", "E"}, rows);
  lesson.claim(worst < 1e-5,
               "all six by hand: τ raises each p to the power 1/τ, a cut keeps the first 2, 3 or 4; then "
               "each is divided by the sum");
  /// Top-p 0.8 keeps three words: two reach only 0.7, and the one that crosses 0.8 belongs to them. Min-p
  /// 0.15 asks for at least 0.15 · 0.4 = 0.06, which four words have. Where the model is sure, top-p and
  /// min-p keep one word, where it hesitates, many; top-k always keeps k.
}

/// The same at a real choice of the translator without smoothing. Of all positions in some test sentences it
/// is the one that comes closest to six words with at least 5% each and nothing for the others. *Words in
/// play* is e^entropy: 6 for six equally likely words.
void one_guess(Lesson& lesson, const Translator& t) {
  Guess chosen;
  double nearest = 1e9;
  for (const Guess& guess : guesses(t, std::ssize(t.test))) {
    double candidates = 0, others = 0;
    for (const double p : reshaped(guess.logits, {})) p < 0.05 ? others += p : ++candidates;
    if (const double off = std::fabs(candidates - 6) + 10 * others; off < nearest)
      nearest = off, chosen = guess;
  }
  constexpr Index shown = 7;
  std::vector<Index> order(chosen.logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return chosen.logits[a] > chosen.logits[b]; });
  std::vector<std::string> names;
  for (Index i = 0; i < shown; ++i) names.push_back(t.french->label(int(order[i])));
  names.push_back(fmt::format("{} others", order.size() - shown));
  std::vector<NamedDistribution> panels;
  std::vector<double> in_play;
  for (const Setting& s : settings) {
    const std::vector<double> p = reshaped(chosen.logits, s);
    in_play.push_back(words_in_play(p));
    panels.push_back({fmt::format("{}: {:.1f} words in play", s.name, in_play.back()), {}});
    double others = 1;
    for (Index i = 0; i < shown; ++i)
      panels.back().probabilities.push_back(p[order[i]]), others -= p[order[i]];
    panels.back().probabilities.push_back(others < 1e-9 ? 0 : others);
  }
  lesson.picture("distributions.png",
                 small_multiples(names, panels, "The next word, six ways: " + chosen.where),
                 "One guess, six settings",
                 "τ = 0.5 raises what is high and lowers the rest; τ = 2 gives a share to the many words "
                 "that are wrong. Top-k, top-p and min-p cut words off and leave the rest in proportion.");
  lesson.data("sampling", sampling_figure(chosen.where, chosen.logits,
                                          [&](int token) { return t.french->label(token); }));
  lesson.claim(in_play[1] < in_play[0] && in_play[0] < in_play[2] && in_play[4] <= in_play[0],
               "words in play: {:.1f} at τ = 0.5, {:.1f} as it is, {:.1f} at τ = 2; top-p 0.8 leaves {:.1f}",
               in_play[1], in_play[0], in_play[2], in_play[4]);
}

/// ## Why τ = 1 writes nonsense
///
/// One sentence, translated 20 times at each setting. *Right* is how many equal the expected translation:
void sample_sentences(Lesson& lesson, const Translator& smoothed, const Translator& plain) {
  const Index draws = 20;
  const Pair& sentence = smoothed.test[0];
  lesson.say("`{}`, in French `{}`:", sentence.source, sentence.target);
  std::vector<std::vector<std::string>> rows;
  Index at_zero = 0;
  const auto add_row = [&](const std::string& name, const Translator& t, SampleOptions options) {
    TransformerWriter writer(*t.model,
                             pad_batch(std::vector<std::vector<int>>(draws, source_of(t, sentence.source))));
    Rng rng(lesson.seed + 9);
    options.max_length = longest;
    std::set<std::string> distinct;
    Index right = 0;
    std::string first;
    for (const std::vector<int>& tokens :
         sample(writer, {{draws, 1}, std::vector<int>(draws, bos)}, options, rng)) {
      const std::string text = t.french->decode(tokens);
      if (distinct.empty()) first = text;
      distinct.insert(text), right += text == sentence.target;
    }
    rows.push_back(
        {name, fmt::format("{}", distinct.size()), fmt::format("{}", right), viz::shorten(first, 330)});
    return std::ssize(distinct);
  };
  at_zero = add_row("τ = 0", smoothed, {.temperature = 0});
  add_row("τ = 0.5", smoothed, {.temperature = 0.5});
  add_row("τ = 1", smoothed, {});
  add_row("τ = 1, top-p 0.8", smoothed, {.top_p = 0.8});
  add_row("τ = 2", smoothed, {.temperature = 2});
  add_row("not smoothed, τ = 1", plain, {});
  lesson.table({"setting", "different", "right", "the first"}, rows);
  lesson.claim(at_zero == 1, "at τ = 0 sampling is greedy: always the same sentence");

  /// At τ = 1 the model speaks as it was trained to, so why the nonsense? Because of label smoothing. It was
  /// taught to give a tenth of the probability to all words of the vocabulary alike, and it does. The tenth
  /// is spread over hundreds of words, so no single one matters to greedy or beam; but a draw finds one of
  /// them at about every tenth word. Measured, beside the model that was trained without smoothing:
  const Index sentences = lesson.fast ? 8 : 30;
  const Tail with = tail_of(smoothed, sentences), without = tail_of(plain, sentences);
  const auto percent = [](double share) { return fmt::format("{:.1f}%", 100 * share); };
  lesson.table({"trained with", "outside the five likeliest words", "sentences with no word from there"},
               {{"smoothing 0.1", percent(with.mass), percent(with.clean_sentences)},
                {"no smoothing", percent(without.mass), percent(without.clean_sentences)}});
  lesson.claim(with.mass > without.mass,
               "smoothing puts {:.1f} times as much probability outside the five likeliest words",
               with.mass / without.mass);
  /// So models that will be sampled from, such as GPT, are trained without it, and the tail that remains is
  /// cut off by top-p or min-p. A repetition penalty mends another fault: text at low temperature that goes
  /// round in circles.
}

/// ## The cache
///
/// To write word T + 1, the decoder needs the keys and values of all words before it (lesson 06). They do not
/// change any more, because no word looks ahead (lesson 07). So they are kept in a **key/value cache**: each
/// step then computes one row instead of T + 1. Positions must go on counting: the first new word after T
/// cached ones is at position T.
void the_cache(Lesson& lesson, const Translator& t) {
  lesson.picture(
      "cache_rows.png", cache_rows({"<bos>", "Le", "chat", "dort"}), "What a cache keeps",
      "Without a cache, step 4 computes the keys and values of four words, three of them for the "
      "fourth, third and second time. With it, each row is computed once and kept (grey). The work "
      "for T words falls from T (T + 1) / 2 rows to T.");
  lesson.data("cache", cache_figure({"<bos>", "Le", "chat", "noir", "dort", "."}, 1, 64));
  Index same = 0;
  const Index count = lesson.fast ? 5 : 20;
  for (Index i = 0; i < count; ++i) {
    const std::vector<int> source = source_of(t, t.test[i].source);
    TransformerWriter cached(*t.model, source), plain(*t.model, source, {.cached = false});
    const DecodeOptions options{.start = bos, .end = eos, .max_length = longest};
    same += greedy(cached, options) == greedy(plain, options);
  }
  lesson.claim(same == count, "with and without the cache the same words: {} of {} sentences", same, count);

  const Index T = lesson.fast ? 96 : 256, window = 16;  // more words than any sentence has, to see the trend
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
  lesson.say("The {} words together take {:.1f} ms without the cache and {:.1f} ms with it.", T,
             1e-3 * double(window) * total_plain, 1e-3 * double(window) * total_cached);
  lesson.picture("cache.png",
                 viz::line_chart({{.name = "without cache", .y = without, .x = places, .points = true},
                                  {.name = "with cache", .y = with, .x = places, .points = true}},
                                 {.title = "Time for one more word",
                                  .x_title = "words written",
                                  .y_title = "microseconds",
                                  .y_low = 0}),
                 "Time per word with and without cache",
                 "Without the cache each word costs more than the one before; with it the line rises only a "
                 "little, because one row still meets all keys.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "14_decoding", .question = "How is a sentence chosen?"}, [](Lesson& lesson) {
        a_wrong_first_word(lesson);
        const Translator smoothed = train_translator(lesson, 0.1), plain = train_translator(lesson, 0);
        const NoGrad no_grad;
        two_translators(lesson, smoothed, plain);
        beam_by_hand(lesson);
        beam_on_a_sentence(lesson, smoothed);
        likeliest_is_not_best(lesson, smoothed);
        five_words(lesson);
        one_guess(lesson, plain);
        sample_sentences(lesson, smoothed, plain);
        the_cache(lesson, smoothed);
        /// ## Two words for the price of one
        ///
        /// With the cache, a step computes one row, and for it all weights of the model have to be read from
        /// memory. A large model spends its time reading. **Speculative decoding** (Leviathan et al., 2023;
        /// Chen et al., 2023) lets a small, quick model write a few words ahead. The large one then reads
        /// them all in one pass, as in training, keeps the words up to the first that it rejects, and
        /// replaces that one. The text has exactly the distribution of the large model, in fewer passes.
        /// Lesson 19 does it.
        ///
        /// ## Check yourself
        ///
        /// - **What is decoding for?** A model gives a distribution of the next word. Decoding turns many of
        ///   these into one text: greedy and beam search look for a likely one, sampling draws one.
        /// - **What goes in, what comes out?** The newest word of each hypothesis, (B, 1), and the cache; out
        ///   come logits (B, V). The cache holds keys and values (B, H, T, D) for each layer and grows by one
        ///   row per step.
        /// - **What goes wrong without it?** Without a length penalty a beam prefers short sentences; without
        ///   a cut, sampling draws nonsense from the long tail; without a cache, T words cost T²/2 rows.
        ///
        /// ## Read on
        ///
        /// - Wu et al., 2016: *Google's neural machine translation system*, section 7. Beam search with the
        ///   length penalty of this lesson.
        /// - Holtzman et al., 2020: *The curious case of neural text degeneration*. Why the likeliest text is
        ///   bad, and nucleus sampling.
        /// - Stahlberg and Byrne, 2019: *On NMT search errors and model errors: cat got your tongue?* What
        ///   the likeliest translation really is.
        /// - Leviathan, Kalman and Matias, 2023: *Fast inference from transformers via speculative decoding*.
        /// - The notebook `05_temperature`: one GPT, and every knob of this lesson.
        lesson.try_next(
            {{"In after, let `the` be followed by dog and cat with 0.5 each.",
              "The likeliest sentence is now `a dog` (0.24 against 0.20). Greedy finds it, a beam of 2 has "
              "nothing to add, and a claim fails."},
             {"In beam_on_a_sentence, set width to 5.",
              "The tree gets bushier and more hypotheses reach the end; another sentence may be the first on "
              "which greedy and the beam differ."},
             {"In settings, give top-p 0.6 instead of 0.8 (and leave the 3).",
              "Two words reach 0.6, so the third has to go: 3, counted by hand, is wrong now, and a claim "
              "fails."}});
      });
}
