/// A network computes with numbers, and text is characters. In between stand two tables: a vocabulary, which
/// cuts text into tokens and gives each a number, and an embedding, which gives each number a vector. Where
/// to cut is a choice:
///
/// - **words**: short sequences, but a new word is unknown;
/// - **bytes**: 256 symbols write any text of any language, but sequences are long (ByT5);
/// - **pieces**: in between, learned from text by byte pair encoding (BPE), as nearly all large models do it.
///
/// Letters for sizes: B batch, T time (tokens in a sequence), V size of the vocabulary, C channels (d_model).
#include <algorithm>  // find, max
#include <cmath>      // fabs, sqrt
#include <iterator>   // ssize
#include <map>        // map

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/text.hpp"  // characters
#include "lessons/support/lesson.hpp"
#include "nn/attention.hpp"  // padding_mask
#include "nn/embedding.hpp"
#include "nn/positions.hpp"  // sinusoidal_table
#include "nn/text/batching.hpp"
#include "nn/text/bpe.hpp"
#include "nn/text/toy_languages.hpp"

using namespace attn;

namespace {

using Ids = std::vector<int>;

// Tokens as they can be seen: [the][␣cat]
std::string shown(const Vocabulary& vocabulary, const Ids& ids) {
  std::string text;
  for (const int id : ids) text += fmt::format("[{}]", vocabulary.label(id));
  return text;
}

std::string listed(const Ids& ids) {
  std::string text;
  for (const int id : ids) text += fmt::format("{}{}", text.empty() ? "" : " ", id);
  return text;
}

/// ## Words
void words_and_bytes(Lesson& lesson) {
  const std::vector<std::string> lines = {"the cat sleeps", "the dog sleeps", "the cat sees the dog"};
  /// The simplest vocabulary: every word of the text gets a number, in the order of its frequency. From three
  /// sentences:
  const WordVocabulary words = WordVocabulary::learn(lines);
  std::vector<std::string> numbers = {"id"}, tokens = {"token"};
  for (int id = 0; id < words.size(); ++id) {
    numbers.push_back(fmt::format("{}", id));
    tokens.push_back(words.label(id));
  }
  lesson.table(numbers, {tokens});
  /// The first four are no words but signs: <pad> fills up short sentences, <bos> and <eos> mark where one
  /// begins and ends, <unk> stands for whatever is not in the list. A sentence is a list of numbers now:
  const Ids known = words.encode("the dog sees the cat"), unknown = words.encode("the zebra sees the cat");
  lesson.print("  the dog sees the cat    ->  {}", listed(known));
  lesson.print("  the zebra sees the cat  ->  {}", listed(unknown));
  lesson.claim(words.decode(known) == "the dog sees the cat" && unknown[1] == Vocabulary::unk,
               "the first comes back as it was; the second as `{}`: the zebra is lost",
               words.decode(unknown));

  /// ## Bytes
  const ByteVocabulary bytes;
  /// A computer stores any text as bytes, 256 different ones. Take them as the vocabulary, and nothing is
  /// ever unknown; no learning is needed, either. That is ByT5's idea. The price is length:
  std::vector<std::vector<std::string>> rows;
  bool all_back = true;
  for (const std::string text : {"zebra", "été", "고양이"}) {
    Index letters = 0;
    for (const Character& character : characters(text)) letters += character.valid;
    const Ids ids = bytes.encode(text);
    all_back = all_back && bytes.decode(ids) == text;
    rows.push_back({text, fmt::format("{}", letters), fmt::format("{}", ids.size()), listed(ids)});
  }
  lesson.table({"text", "letters", "bytes", "ids (byte + 4: the signs come first)"}, rows);
  lesson.claim(all_back, "decode gives every one of them back, Korean too, with {} tokens in all",
               bytes.size());
}

// A word, as the ids of its pieces, and how often it occurs.
struct CountedWord {
  Ids ids;
  Index count;
};
using Neighbours = std::pair<int, int>;
constexpr int first_byte = 4, first_merge = first_byte + 256;

std::vector<CountedWord> count_words(const std::vector<std::string>& lines) {
  std::map<std::string, Index> counts;
  for (const std::string& line : lines)
    for (const std::string_view word : bpe_words(line)) ++counts[std::string(word)];
  std::vector<CountedWord> words;
  for (const auto& [word, count] : counts) {
    words.push_back({{}, count});
    for (const char byte : word) words.back().ids.push_back(first_byte + static_cast<unsigned char>(byte));
  }
  return words;
}

// The pair of neighbours that occurs most often; of several, the one with the smaller ids.
std::pair<Neighbours, Index> most_frequent_pair(const std::vector<CountedWord>& words) {
  std::map<Neighbours, Index> counts;
  for (const CountedWord& word : words)
    for (std::size_t i = 0; i + 1 < word.ids.size(); ++i)
      counts[{word.ids[i], word.ids[i + 1]}] += word.count;
  std::pair<Neighbours, Index> best{{0, 0}, 0};
  for (const auto& entry : counts)
    if (entry.second > best.second) best = entry;
  return best;
}

// Every left, right becomes `merged`, from left to right. A token that was used up is gone: three a's
// are aa and a.
Ids merge(const Ids& ids, Neighbours pair, int merged) {
  Ids out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool here = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
    out.push_back(here ? merged : ids[i]);
    if (here) ++i;
  }
  return out;
}

/// ## Byte pair encoding
void pieces(Lesson& lesson) {
  const std::vector<std::string> lines = {"sing sings singing singer", "ring rings ringing",
                                          "the king sings"};
  /// Start with bytes, then let the text decide: count which two neighbours stand together most often, make
  /// them one new token, and repeat. Merges stay inside of a word, and a space belongs to the word behind it.
  /// From `sing sings singing singer ring rings ringing the king sings`:
  std::vector<CountedWord> words = count_words(lines);
  const BpeVocabulary library = BpeVocabulary::learn(lines, {.merges = 8});
  std::vector<BpeVocabulary::Merge> merges;
  std::vector<std::vector<std::string>> rows;
  for (int n = 0; n < 6; ++n) {
    const auto [pair, count] = most_frequent_pair(words);
    for (CountedWord& word : words) word.ids = merge(word.ids, pair, first_merge + n);
    merges.push_back({pair.first, pair.second});
    const BpeVocabulary so_far({}, merges);
    rows.push_back({fmt::format("{}", n + 1), so_far.label(pair.first) + " + " + so_far.label(pair.second),
                    fmt::format("{}", count), shown(so_far, so_far.encode(" singing")),
                    shown(so_far, so_far.encode(" bring"))});
  }
  lesson.table({"merge", "pair", "times", "singing", "bring, never seen"}, rows);
  bool same = true;
  for (std::size_t n = 0; n < merges.size(); ++n) same = same && merges[n] == library.merges()[n];
  lesson.claim(same, "the library learns the same {} merges", merges.size());
  /// Frequent pieces grow into tokens, rare words stay in pieces, and nothing is unknown, since the bytes are
  /// still there.

  /// ## Overlaps and order
  // a, b are bytes; X = a b was learned first, Y = a a second.
  const int a = first_byte + 'a', b = first_byte + 'b', X = first_merge, Y = first_merge + 1;
  const BpeVocabulary toy({}, {{a, b}, {a, a}});
  const Ids twice = {Y, Y};  // as if both pairs of `aaa` could be merged
  lesson.say(
      "Two things are easy to get wrong. In `aaa` the pair a a occurs at two places that overlap, but the "
      "middle a can be used only once:");
  const Ids merged = merge({a, a, a}, {a, a}, Y);
  lesson.claim(merged == Ids{Y, a} && toy.decode(merged) == "aaa" && toy.decode(twice) == "aaaa",
               "from left to right it is {}; merged at both places it would read `{}`", shown(toy, merged),
               toy.decode(twice));
  /// And merges are applied in the order in which they were learned. Here a + b was learned before a + a. The
  /// first pair from the left would be a + a, but the earlier merge comes first:
  const Ids in_order = toy.encode("aab"), from_left = merge(merge({a, a, b}, {a, a}, Y), {a, b}, X);
  lesson.claim(in_order == Ids{a, X} && toy.decode(from_left) == "aab",
               "`aab` is {} and not {}: the same text, but a model has only ever seen the first",
               shown(toy, in_order), shown(toy, from_left));
}

std::vector<std::string> english_text(Index sentences, std::uint64_t seed) {
  std::vector<std::string> lines = small_stories(sentences / 4, seed);
  for (const Pair& pair : english_french().generate(sentences, seed)) lines.push_back(pair.source);
  return lines;
}

std::vector<viz::Token> boxes(const Vocabulary& vocabulary, const Ids& ids) {
  std::vector<viz::Token> tokens;
  for (std::size_t i = 0; i < ids.size(); ++i)
    tokens.emplace_back(vocabulary.label(ids[i]), ids[i] == Vocabulary::unk ? 3 : int(i % 2),
                        fmt::format("{}", ids[i]));
  return tokens;
}

/// ## One sentence, three ways
void three_ways(Lesson& lesson) {
  const std::vector<std::string> lines = english_text(lesson.fast ? 2000 : 20000, lesson.seed);
  const WordVocabulary words = WordVocabulary::learn(lines);
  const BpeVocabulary all_pieces = BpeVocabulary::learn(lines, {.merges = 4096}),
                      some = all_pieces.with_merges(300);
  const ByteVocabulary bytes;
  const std::string sentence = "The happy gardener found a lamp.";
  lesson.say(
      "Learned from {} lines of simple English, and tried on a sentence with a word that is in none of them:",
      lines.size());
  const Ids by_words = words.encode(sentence), by_pieces = some.encode(sentence),
            by_bytes = bytes.encode(sentence);
  lesson.print("  words   {}", shown(words, by_words));
  lesson.print("  pieces  {}", shown(some, by_pieces));
  lesson.print("  bytes   {}", shown(bytes, by_bytes));
  lesson.claim(words.decode(by_words) != sentence && some.decode(by_pieces) == sentence &&
                   bytes.decode(by_bytes) == sentence && by_words.size() < by_pieces.size() &&
                   by_pieces.size() < by_bytes.size(),
               "{} words, {} pieces, {} bytes; only the words lose something", by_words.size(),
               by_pieces.size(), by_bytes.size());
  const auto detail = [](const Vocabulary& vocabulary, const Ids& ids) {
    return fmt::format("{} tokens of {}", ids.size(), vocabulary.size());
  };
  lesson.picture("three_ways.png",
                 viz::token_rows(
                     {{.name = "words", .detail = detail(words, by_words), .tokens = boxes(words, by_words)},
                      {.name = "pieces", .detail = detail(some, by_pieces), .tokens = boxes(some, by_pieces)},
                      {.name = "bytes", .detail = detail(bytes, by_bytes), .tokens = boxes(bytes, by_bytes)}},
                     {.title = "One sentence, cut three ways"}),
                 "One sentence, cut three ways",
                 "Below each token its number. The word that was never seen is <unk> in the first row and "
                 "takes a few pieces in the second.");

  /// ## Length against vocabulary
  ///
  /// Attention (lesson 06) costs time with the square of the length, and an embedding costs memory with the
  /// size of the vocabulary. More merges buy shorter sequences with a larger table, until words are whole:
  const std::vector<Pair> fresh = english_french().generate(500, lesson.seed + 1);
  const auto mean_length = [&](const Vocabulary& vocabulary) {
    double tokens = 0;
    for (const Pair& pair : fresh) tokens += double(vocabulary.encode(pair.source).size());
    return tokens / double(fresh.size());
  };
  std::vector<double> sizes, lengths;
  std::vector<std::vector<std::string>> rows;
  bool shorter = true;
  const Index learned = std::ssize(all_pieces.merges());
  for (const Index merges : {Index(0), Index(16), Index(64), Index(128), Index(256), learned}) {
    const BpeVocabulary vocabulary = all_pieces.with_merges(merges);
    sizes.push_back(vocabulary.size());
    lengths.push_back(mean_length(vocabulary));
    shorter = shorter && (lengths.size() == 1 || lengths.back() <= lengths[lengths.size() - 2]);
    rows.push_back({fmt::format("{}", merges), fmt::format("{:.0f}", sizes.back()),
                    fmt::format("{:.1f}", lengths.back())});
  }
  lesson.table({"merges", "tokens in the vocabulary", "tokens in a sentence"}, rows);
  const double by_word = mean_length(words);
  lesson.claim(
      shorter && lengths.back() < lengths[0] / 2 && lengths[0] == mean_length(bytes),
      "from bytes ({:.1f} tokens per sentence) to {:.1f}; whole words take {:.1f}, with a vocabulary of {}",
      lengths[0], lengths.back(), by_word, words.size());
  const std::vector<viz::Series> series = {
      {.name = "byte pair encoding", .y = lengths, .x = sizes, .points = true}};
  const viz::ChartOptions chart{.title = "What a larger vocabulary buys",
                                .x_title = "tokens in the vocabulary",
                                .y_title = "tokens in a sentence",
                                .x_high = 1000,
                                .y_low = 0,
                                .y_guides = {{.at = by_word, .label = "whole words"}}};
  lesson.line_chart(series, chart);
  lesson.picture("length.png", viz::line_chart(series, chart), "Length against vocabulary",
                 "The first merges buy most: they are the most frequent pairs. At the left end are bytes, "
                 "at the right pieces are words.");
}

/// ## A batch
void a_batch(Lesson& lesson) {
  const std::vector<std::string> lines = {"the cat sleeps", "the dog sees the cat", "the dog"};
  const WordVocabulary words = WordVocabulary::learn(lines);
  std::vector<Ids> sequences;
  for (const std::string& line : lines) {
    sequences.push_back(words.encode(line));
    sequences.back().push_back(Vocabulary::eos);
  }
  /// Sentences differ in length, a tensor is a rectangle. Short ones are filled up with <pad>, and a mask
  /// remembers what is real, so that padding is neither looked at (lesson 07) nor learned from (lesson 12):
  std::size_t longest = 0;
  for (const Ids& sequence : sequences) longest = std::max(longest, sequence.size());
  std::vector<std::vector<std::string>> rows;
  Ids ids, mask;  // (B, T), row after row
  for (const Ids& sequence : sequences) {
    std::string row, real_row;
    for (std::size_t t = 0; t < longest; ++t) {
      const bool is_real = t < sequence.size();
      ids.push_back(is_real ? sequence[t] : Vocabulary::pad);
      mask.push_back(is_real);
      row += fmt::format("{:<7}", words.label(ids.back()));
      real_row += is_real ? "1 " : "0 ";
    }
    rows.push_back({row, real_row});
  }
  lesson.table({"tokens", "mask"}, rows);
  const Tokens batch = pad_batch(sequences);
  const Index B = batch.ids.shape()[0], T = batch.ids.shape()[1];
  const std::vector<real> library_mask = padding_mask(batch.lengths, T).values();
  lesson.claim(batch.ids.values() == ids && Ids(library_mask.begin(), library_mask.end()) == mask,
               "the library's pad_batch gives the same ({},{}) ids and mask", B, T);

  /// Padding is work for nothing. So lines of about the same length go into one batch, and the batches are
  /// shuffled. Stories and single sentences, mixed:
  std::vector<Ids> many;
  const std::vector<std::string> text = english_text(lesson.fast ? 1000 : 4000, lesson.seed);
  const WordVocabulary vocabulary = WordVocabulary::learn(text);
  for (const std::string& line : text) many.push_back(vocabulary.encode(line));
  Rng rng(lesson.seed);
  shuffle(many, rng);
  const auto padding = [&](const std::vector<std::vector<Index>>& plan) {
    double cells = 0, tokens = 0;
    for (const std::vector<Index>& rows_of_batch : plan) {
      std::vector<Ids> chosen;
      for (const Index row : rows_of_batch) chosen.push_back(many[row]);
      const Tokens padded = pad_batch(chosen);
      cells += double(padded.ids.numel());
      for (const int length : padded.lengths.values()) tokens += length;
    }
    return 1 - tokens / cells;
  };
  std::vector<std::vector<Index>> as_they_come;
  for (Index i = 0; i < std::ssize(many); ++i) {
    if (i % 32 == 0) as_they_come.emplace_back();
    as_they_come.back().push_back(i);
  }
  const double unsorted = padding(as_they_come),
               sorted = padding(plan_batches(many, {.sentences = 32, .seed = lesson.seed}));
  lesson.claim(sorted < unsorted / 4,
               "in batches of 32 as they come, {:.0f}% of all tokens are padding; sorted by length, {:.1f}%",
               100 * unsorted, 100 * sorted);
}

/// ## Embedding: a row for each token
void embeddings(Lesson& lesson) {
  const std::vector<std::string> sentence = {"the", "cat", "sees", "the", "dog"};
  const Ids tokens = {4, 5, 6, 4, 7};
  const Index V = 8, C = 3, T = 5;
  Rng rng(lesson.seed);
  Tensor table = normal({V, C}, rng).requires_grad();
  /// A vocabulary gives numbers, but 7 is not more than 5 in any useful sense. So each token gets a vector of
  /// its own, a row of a table (V,C) that is learned like any other weight. `the cat sees the dog` are the
  /// rows 4 5 6 4 7:
  Tensor looked_up = empty({T, C}), one_hot = zeros({T, V});
  for (Index t = 0; t < T; ++t) {
    for (Index c = 0; c < C; ++c) looked_up(t, c) = table(tokens[t], c);
    one_hot(t, tokens[t]) = 1;
  }
  lesson.numbers(looked_up, sentence);
  /// The same as a product: write each token as a row of zeros with a single 1, and multiply by the table.
  /// The 1 picks its row. Nobody computes it so, since V is large and nearly all of it is times 0, but it
  /// shows that a lookup is an ordinary linear layer:
  ///
  /// $$ embedding(ids) = one-hot(ids) · table        (T,V) x (V,C) -> (T,C) $$
  const Tensor vectors = embedding(table, IntTensor({T}, tokens));
  lesson.claim(max_difference(looked_up, vectors) == 0 &&
                   max_difference(matmul(one_hot, table.detach()), vectors) < 1e-6,
               "copying rows, the product with one-hot rows and the library agree");

  /// ## The gradient of a lookup
  const Tensor g =
      tensor({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}, {0, 3, 0}});  // (T, C), what comes back
  backward(vectors, g);
  /// Backwards, each token's gradient goes to its row of the table. `the` stands there twice, so its row gets
  /// two gradients, and they add up (lesson 02). Rows of tokens that did not occur get 0. With (1,0,0) for
  /// the first `the` and (2,0,0) for the second:
  lesson.numbers(slice(table.grad(), 0, 4, 8), {"the", "cat", "sees", "dog"}, {}, 0);
  lesson.claim(table.grad()(4, 0) == 3 && table.grad()(0, 0) == 0,
               "the row of `the` has 1 + 2 = {:.0f}; overwritten, it would be 2", table.grad()(4, 0));

  /// ## The factor √d_model
  ///
  /// The paper multiplies embeddings by √d_model. Its table is also used the other way round, transposed, to
  /// turn vectors back into logits; for logits of a sensible size its entries must be small, about
  /// 1/√d_model. But what goes into the network is added to position vectors with entries of about 0.7
  /// (lesson 09), and next to these a word would be drowned. Measured, as the size (root of the mean square)
  /// of an entry:
  std::vector<std::vector<std::string>> rows;
  double plain = 0, scaled = 0, position = 0, logit = 0;
  const auto size_of = [](const Tensor& x) { return std::sqrt(mean(x * x).item()); };
  const NoGrad no_grad;
  for (const Index channels : {16, 64, 256, 1024}) {
    const Embedding layer(200, channels, rng);
    IntTensor all({200});
    for (Index i = 0; i < 200; ++i) all[i] = int(i);
    plain = size_of(layer.table);
    scaled = size_of(layer(all));
    position = size_of(sinusoidal_table(50, channels));
    logit = size_of(layer.logits(normal({50, channels}, rng)));
    rows.push_back({fmt::format("{}", channels), fmt::format("{:.3f}", plain), fmt::format("{:.3f}", scaled),
                    fmt::format("{:.3f}", position), fmt::format("{:.2f}", logit)});
  }
  lesson.table({"d_model", "table", "table · √d_model", "positions", "logits from the table"}, rows);
  lesson.claim(plain < position / 10 && scaled > position && std::fabs(scaled - 1) < 0.05 &&
                   std::fabs(logit - 1) < 0.1,
               "at d_model = 1024 positions are {:.0f} times larger than plain embeddings, and smaller "
               "than scaled ones",
               position / plain);
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "05_tokens", .question = "How do words become vectors?"}, [](Lesson& lesson) {
        words_and_bytes(lesson);
        pieces(lesson);
        three_ways(lesson);
        a_batch(lesson);
        embeddings(lesson);
        lesson.try_next(
            {{"In pieces, add `bring bring bring` to the lines.",
              "`ring` is merged earlier, and with the sixth merge `bring` has become a token of its own."},
             {"In most_frequent_pair, write >= instead of >.",
              "Ties go to the larger ids: another vocabulary, as good as ours, but no longer the library's."},
             {"In three_ways, change with_merges(300) to with_merges(0).",
              "The pieces are bytes then: the second row looks like the third, and the claim fails."}});
      });
}
