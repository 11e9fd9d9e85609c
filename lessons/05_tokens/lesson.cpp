/// A network computes with numbers (lesson 04), and text is characters. How does one become the other? In
/// two steps. A **vocabulary** cuts the text into pieces, called **tokens**, and gives each kind of piece a
/// number, its *id*. An **embedding** then gives each id a row of numbers, a vector, and these vectors are
/// *learned*: at the end of this lesson you can see words of the same kind move together.
///
/// Where to cut is a choice:
///
/// - **words**: short sequences, but a new word is unknown;
/// - **bytes**: 256 symbols write any text in any language, but sequences are long;
/// - **subwords**: in between, learned from text by *byte pair encoding* (BPE), as in nearly all large
///   models.
///
/// Letters for sizes: B batch, T time (tokens in a sequence), V size of the vocabulary, C channels
/// (d_model, the numbers in a vector).
#include <algorithm>  // max, sort
#include <cmath>      // fabs, sqrt
#include <iterator>   // ssize
#include <map>        // map
#include <numeric>    // iota

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/text.hpp"  // characters
#include "core/viz/graph.hpp"
#include "core/viz/tokens.hpp"
#include "lessons/05_tokens/texts.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/attention.hpp"  // padding_mask
#include "nn/embedding.hpp"
#include "nn/positions.hpp"  // sinusoidal_table
#include "nn/text/batching.hpp"
#include "nn/text/bpe.hpp"
#include "nn/text/toy_languages.hpp"
#include "optim/optimizer.hpp"

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

WordVocabulary first_words() {
  return WordVocabulary::learn({"the cat sleeps", "the dog sleeps", "the cat sees the dog"});
}

/// ## Words
///
/// The simplest vocabulary: every word of a text gets an id, the most frequent first. From the three
/// sentences `the cat sleeps`, `the dog sleeps` and `the cat sees the dog`:
void words_and_bytes(Lesson& lesson) {
  const WordVocabulary words = first_words();
  std::vector<std::string> numbers = {"id"}, tokens = {"token"};
  for (int id = 0; id < words.size(); ++id) {
    numbers.push_back(fmt::format("{}", id));
    tokens.push_back(words.label(id));
  }
  lesson.table(numbers, {tokens});

  /// The first four are **special tokens**: <pad> fills up short sentences, <bos> and <eos> mark the
  /// beginning and the end of a sequence, <unk> stands for every word that is not in the list. A sentence
  /// is now a list of ids:
  const Ids known = words.encode("the dog sees the cat"), unknown = words.encode("the zebra sees the cat");
  lesson.print("  the dog sees the cat    ->  {}", listed(known));
  lesson.print("  the zebra sees the cat  ->  {}", listed(unknown));
  lesson.claim(words.decode(known) == "the dog sees the cat" && unknown[1] == Vocabulary::unk,
               "the first comes back as it was; the second as `{}`: the zebra is lost",
               words.decode(unknown));

  /// ## Bytes
  ///
  /// A computer stores any text as bytes, of which there are 256. Take them as the vocabulary, and nothing
  /// is ever unknown; nothing has to be learned, either. The model ByT5 (Xue et al., 2021) works like this.
  /// The price is length: one letter is one to four bytes (UTF-8).
  const ByteVocabulary bytes;
  std::vector<std::vector<std::string>> rows;
  bool all_back = true;
  for (const std::string text : {"zebra", "été", "고양이"}) {
    Index letters = 0;
    for (const Character& character : characters(text)) letters += character.valid;
    const Ids ids = bytes.encode(text);
    all_back = all_back && bytes.decode(ids) == text;
    rows.push_back({text, fmt::format("{}", letters), fmt::format("{}", ids.size()), listed(ids)});
  }
  lesson.table({"text", "letters", "bytes", "ids (byte + 4: special tokens first)"}, rows);
  lesson.claim(all_back, "`decode` gives every one of them back, Korean too, with a vocabulary of {}",
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

// A token and all that it was merged from, down to bytes, each once; returns the number of its node.
int grow(std::vector<viz::GraphNode>& nodes, std::vector<viz::GraphEdge>& edges, std::map<int, int>& node_of,
         const BpeVocabulary& vocabulary, int id) {
  if (const auto known = node_of.find(id); known != node_of.end()) return known->second;
  const int merge = id - first_merge;
  std::vector<int> halves;
  if (merge >= 0)
    for (const int half : {vocabulary.merges()[merge].left, vocabulary.merges()[merge].right})
      halves.push_back(grow(nodes, edges, node_of, vocabulary, half));
  const int here = node_of[id] = int(nodes.size());
  nodes.push_back({.label = vocabulary.label(id),
                   .value = merge < 0 ? "" : fmt::format("merge {}", merge + 1),
                   .color = merge < 0 ? -1 : 0});
  for (const int half : halves) edges.push_back({.from = half, .to = here});
  return here;
}

/// ## Byte pair encoding
///
/// Words lose what is new, bytes make everything long. **Byte pair encoding** (Gage, 1994, to compress data;
/// Sennrich et al., 2016, for translation) lets the text decide. Start with bytes, count which two neighbours
/// occur together most often, make them one new token, and repeat. A merge never crosses from one word to the
/// next, and a space belongs to the word after it (shown as ␣). From `sing sings singing singer ring rings
/// ringing the king is singing`, with what becomes of `singing` and of `bring`, which is not in the text:
void pieces(Lesson& lesson) {
  const std::vector<std::string> lines = {"sing sings singing singer", "ring rings ringing",
                                          "the king is singing"};
  const int count = 6;
  std::vector<CountedWord> words = count_words(lines);
  const BpeVocabulary library = BpeVocabulary::learn(lines, {.merges = count});
  std::vector<BpeVocabulary::Merge> merges;
  lesson.print("  merge  pair         times  singing                       bring");
  for (int n = 0; n < count; ++n) {
    const auto [pair, times] = most_frequent_pair(words);
    for (CountedWord& word : words) word.ids = merge(word.ids, pair, first_merge + n);
    merges.push_back({pair.first, pair.second});
    const BpeVocabulary so_far({}, merges);
    lesson.print("  {:<5}  {}  {:<5}  {}  {}", n + 1,
                 padded(so_far.label(pair.first) + " + " + so_far.label(pair.second), 11), times,
                 padded(shown(so_far, so_far.encode(" singing")), 28),
                 shown(so_far, so_far.encode(" bring")));
  }
  bool same = true;
  for (std::size_t n = 0; n < merges.size(); ++n) same = same && merges[n] == library.merges()[n];
  lesson.claim(same, "the library learns the same {} merges", merges.size());

  /// Frequent pieces grow into tokens, rare words stay in pieces, and nothing is unknown, since the bytes
  /// are still there. Go on until no pair occurs twice: now even ` singing` is one token, and can be taken
  /// apart again:
  const BpeVocabulary grown = BpeVocabulary::learn(lines, {.merges = 20});  // or as many as it finds
  std::vector<viz::GraphNode> nodes;
  std::vector<viz::GraphEdge> edges;
  std::map<int, int> node_of;
  grow(nodes, edges, node_of, grown, grown.encode(" singing")[0]);
  lesson.picture("merges.png", viz::graph(nodes, edges, {.title = "What the token ␣singing is made of"}),
                 "A tree of merges",
                 "From bytes on the left to a whole word on the right. `ing` is used twice here, and other "
                 "words use it, too.");

  /// ## Overlaps and order
  ///
  /// Two things are easy to get wrong. In `aaa` the pair a a occurs at two positions that overlap, but the
  /// middle a can be used only once:
  // a, b are bytes; X = a b was learned first, Y = a a second.
  const int a = first_byte + 'a', b = first_byte + 'b', X = first_merge, Y = first_merge + 1;
  const BpeVocabulary toy({}, {{a, b}, {a, a}});
  const Ids twice = {Y, Y};  // as if both pairs of `aaa` could be merged
  const Ids merged = merge({a, a, a}, {a, a}, Y);
  lesson.claim(merged == Ids{Y, a} && toy.decode(merged) == "aaa" && toy.decode(twice) == "aaaa",
               "from left to right it is {}; merged at both positions it would read `{}`", shown(toy, merged),
               toy.decode(twice));
  /// And merges are applied in the order in which they were learned. Here a + b was learned before a + a.
  /// The first pair from the left would be a + a, but the earlier merge comes first:
  const Ids in_order = toy.encode("aab"), from_left = merge(merge({a, a, b}, {a, a}, Y), {a, b}, X);
  lesson.claim(in_order == Ids{a, X} && toy.decode(from_left) == "aab",
               "`aab` is {} and not {}: the same text, but a model has only ever seen the first",
               shown(toy, in_order), shown(toy, from_left));
}

std::vector<viz::Token> boxes(const Vocabulary& vocabulary, const Ids& ids) {
  std::vector<viz::Token> tokens;
  for (std::size_t i = 0; i < ids.size(); ++i)
    tokens.emplace_back(vocabulary.label(ids[i]), ids[i] == Vocabulary::unk ? 3 : int(i % 2),
                        fmt::format("{}", ids[i]));
  return tokens;
}

/// ## One sentence, three ways
///
/// Subwords pay where words have parts. Here is a text of 48 stems in 12 forms, such as `the painter
/// relocked the unprintable folders`: nonsense, but with the endings of English. Every eighth combination
/// of stem and form never occurs in it, as in real text, where new words are mostly new combinations of old
/// parts.
void three_ways(Lesson& lesson) {
  Rng rng(lesson.seed);
  const std::vector<std::string> lines = inflected_text(lesson.fast ? 3000 : 10000, rng);
  const WordVocabulary words = WordVocabulary::learn(lines);
  const BpeVocabulary all_pieces = BpeVocabulary::learn(lines, {.merges = 4096}),
                      some = all_pieces.with_merges(200);
  const ByteVocabulary bytes;
  const std::string sentence = "the printers replayed the unpaintable folders";
  lesson.say("{} lines are learned. Then a sentence with words that occur in none of them:",
             viz::format_fixed(double(lines.size()), 0));
  const Ids by_words = words.encode(sentence), by_pieces = some.encode(sentence),
            by_bytes = bytes.encode(sentence);
  lesson.print("  words    {}", shown(words, by_words));
  lesson.print("  subwords {}", shown(some, by_pieces));
  lesson.print("  bytes    {} … {} in all", shown(bytes, Ids(by_bytes.begin(), by_bytes.begin() + 12)),
               by_bytes.size());
  lesson.claim(words.decode(by_words) != sentence && some.decode(by_pieces) == sentence &&
                   bytes.decode(by_bytes) == sentence && by_words.size() < by_pieces.size() &&
                   by_pieces.size() < by_bytes.size(),
               "{} words, {} subwords, {} bytes; only the words lose something", by_words.size(),
               by_pieces.size(), by_bytes.size());
  const auto detail = [](const Vocabulary& vocabulary, const Ids& ids) {
    return fmt::format("{} tokens of {}", ids.size(), vocabulary.size());
  };
  lesson.picture(
      "three_ways.png",
      viz::token_rows(
          {{.name = "words", .detail = detail(words, by_words), .tokens = boxes(words, by_words)},
           {.name = "subwords", .detail = detail(some, by_pieces), .tokens = boxes(some, by_pieces)},
           {.name = "bytes", .detail = detail(bytes, by_bytes), .tokens = boxes(bytes, by_bytes)}},
          {.title = "One sentence, cut three ways"}),
      "One sentence, cut three ways",
      "Below each token is its id. Words that were never seen are <unk> in the first row; the second puts "
      "them together from parts that it knows.");

  /// ## Length against vocabulary
  ///
  /// The time that attention takes (lesson 06) grows with the square of the length, the memory of an
  /// embedding with the size of the vocabulary. More merges buy shorter sequences with a larger table. How
  /// many tokens does a word take (with a vocabulary of whole words, one, or <unk>)?
  const std::vector<std::string> seen = inflected_words(false), unseen = inflected_words(true);
  const auto mean_length = [](const Vocabulary& vocabulary, const std::vector<std::string>& list) {
    double tokens = 0;
    for (const std::string& word : list) tokens += double(vocabulary.encode(" " + word).size());
    return tokens / double(list.size());
  };
  Index known = 0;
  for (const std::string& word : unseen) known += words.id(word) != Vocabulary::unk;
  std::vector<double> merge_counts, lengths, unseen_lengths;
  std::vector<std::vector<std::string>> rows;
  for (const Index merges : {Index(0), Index(25), Index(50), Index(100), Index(200), Index(400)}) {
    const BpeVocabulary vocabulary = all_pieces.with_merges(merges);
    merge_counts.push_back(double(merges));
    lengths.push_back(mean_length(vocabulary, seen));
    unseen_lengths.push_back(mean_length(vocabulary, unseen));
    rows.push_back({fmt::format("{} merges", merges), fmt::format("{}", vocabulary.size()),
                    fmt::format("{:.2f}", lengths.back()), fmt::format("{:.2f}", unseen_lengths.back())});
  }
  rows.push_back({"whole words", fmt::format("{}", words.size()), "1", "<unk>"});
  lesson.table({"", "vocabulary", "tokens per word", "per unseen word"}, rows);
  lesson.claim(
      known == 0 && unseen_lengths[4] < 3 && unseen_lengths[0] > 8,
      "whole words know none of the {} unseen words; with 200 merges these take {:.1f} tokens instead "
      "of {:.1f} bytes",
      unseen.size(), unseen_lengths[4], unseen_lengths[0]);
  const std::vector<viz::Series> series = {
      {.name = "words of the text", .y = lengths, .x = merge_counts, .points = true},
      {.name = "words never seen", .y = unseen_lengths, .x = merge_counts, .points = true}};
  const viz::ChartOptions chart{
      .title = "What a larger vocabulary buys",
      .x_title = "merges (tokens beyond the 256 bytes)",
      .y_title = "tokens per word",
      .y_low = 0,
      .y_guides = {{.at = 1, .label = fmt::format("whole words: a vocabulary of {}", words.size())}}};
  lesson.line_chart(series, chart);
  lesson.picture("length.png", viz::line_chart(series, chart), "Length against vocabulary",
                 "The first merges buy most: they are the most frequent pairs. Unseen words gain almost as "
                 "much, because their parts were seen. The last merges make whole frequent words, which help "
                 "them little.");

  /// You will meet two relatives. *WordPiece* (Schuster and Nakajima, 2012; BERT's) merges the pair that is
  /// most frequent *relative to its two halves*, and writes `sing ##ing`, where ## marks a piece that
  /// continues a word. *SentencePiece* (Kudo and Richardson, 2018; T5's and Llama's) is a program that learns
  /// from raw text, where a space is a symbol like any other (▁), so that it also works for languages written
  /// without spaces.
}

/// ## Digits and spaces
///
/// A model never sees letters or digits, only tokens, and that explains some of the odd mistakes of large
/// models. A vocabulary learned from dates, where recent years are frequent:
void surprises(Lesson& lesson) {
  Rng rng(lesson.seed);
  const BpeVocabulary years = BpeVocabulary::learn(text_with_years(3000, rng), {.merges = 60});
  std::vector<std::vector<std::string>> rows;
  std::vector<Index> lengths;
  for (const std::string text : {"2024", "1950", "1234", "12345"}) {
    const Ids ids = years.encode(" " + text);
    lengths.push_back(std::ssize(ids));
    rows.push_back({text, fmt::format("{}", ids.size()), shown(years, ids)});
  }
  lesson.table({"number", "tokens", "as the model sees it"}, rows);
  lesson.claim(
      lengths[0] < lengths[2],
      "2024 is {} token, 1234 is {}: where a number is cut depends on what was frequent, not on place value",
      lengths[0], lengths[2]);

  /// Adding digit by digit is hard for a model that does not see the digits, so newer vocabularies cut
  /// numbers into single digits or groups of three. Spaces and capitals surprise, too:
  const BpeVocabulary plain =
      BpeVocabulary::learn({"the cat sees the cat", "the cat", "the cat"}, {.merges = 20});
  const Ids inside = plain.encode(" cat"), front = plain.encode("cat"), capital = plain.encode(" Cat");
  lesson.claim(
      inside.size() == 1 && front != inside && capital.size() > 1,
      "` cat` is {}, `cat` without a space {}, ` Cat` {}: three spellings that have nothing in common "
      "until the model has learned that they mean the same",
      shown(plain, inside), shown(plain, front), shown(plain, capital));
}

std::vector<std::string> stories_and_sentences(Index sentences, std::uint64_t seed) {
  std::vector<std::string> lines = small_stories(sentences / 4, seed);
  for (const Pair& pair : english_french().generate(sentences, seed)) lines.push_back(pair.source);
  return lines;
}

/// ## A batch
///
/// Sentences differ in length, but a tensor is a rectangle. Short ones are filled up with <pad>, and a
/// **mask** remembers what is real, so that padding is neither looked at (lesson 07) nor learned from
/// (lesson 12):
void a_batch(Lesson& lesson) {
  const std::vector<std::string> lines = {"the cat sleeps", "the dog sees the cat", "the dog"};
  const WordVocabulary words = first_words();
  std::vector<Ids> sequences;
  for (const std::string& line : lines) {
    sequences.push_back(words.encode(line));
    sequences.back().push_back(Vocabulary::eos);
  }
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

  /// Padding is wasted work. So lines of about the same length go into one batch, and the batches are
  /// shuffled. With stories and single sentences, mixed:
  std::vector<Ids> many;
  const std::vector<std::string> text = stories_and_sentences(lesson.fast ? 1000 : 4000, lesson.seed);
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
///
/// An id is a name, not a quantity: 7 is not more than 5 in any useful sense. So each token gets a vector
/// of its own, a row of a table (V, C) that is learned like any other weight. In the vocabulary of the
/// first section, with C = 3 and random numbers to begin with, `the cat sees the dog` looks up these rows:
void embeddings(Lesson& lesson) {
  const std::vector<std::string> sentence = {"the", "cat", "sees", "the", "dog"};
  const Ids tokens = first_words().encode("the cat sees the dog");
  const Index V = first_words().size(), C = 3, T = 5;
  Rng rng(lesson.seed);
  Tensor table = normal({V, C}, rng).requires_grad();
  Tensor looked_up = empty({T, C}), one_hot = zeros({T, V});
  for (Index t = 0; t < T; ++t) {
    for (Index c = 0; c < C; ++c) looked_up(t, c) = table(tokens[t], c);
    one_hot(t, tokens[t]) = 1;
  }
  std::vector<std::string> labels;
  for (Index t = 0; t < T; ++t) labels.push_back(fmt::format("{}, row {}", sentence[t], tokens[t]));
  lesson.numbers(looked_up, labels);

  /// The same as a product: write each token as a *one-hot* row, zeros with a single 1, and multiply by the
  /// table. The 1 picks its row. Nobody computes it this way, since V is large and nearly everything is
  /// multiplied by 0, but it shows that a lookup is an ordinary linear layer:
  ///
  /// $$ embedding(ids) = one-hot(ids) · table        (T,V) x (V,C) -> (T,C) $$
  const Tensor vectors = embedding(table, IntTensor({T}, tokens));
  lesson.claim(max_difference(looked_up, vectors) == 0 &&
                   max_difference(matmul(one_hot, table.detach()), vectors) < 1e-6,
               "copying rows, the product with one-hot rows and the library agree");

  /// ## The gradient of a lookup
  ///
  /// Backwards, each token's gradient goes to its row of the table. `the` occurs twice, so its row gets two
  /// gradients, and they add up (lesson 02). Rows of tokens that did not occur get 0: a step trains only
  /// the words of its batch. With (1,0,0) for the first `the` and (2,0,0) for the second, the gradient of
  /// the table is:
  const Tensor g =
      tensor({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}, {0, 3, 0}});  // (T, C), what comes back
  backward(vectors, g);
  std::vector<std::string> row_names;
  for (int id = 4; id < int(V); ++id) row_names.push_back(first_words().label(id));
  lesson.numbers(slice(table.grad(), 0, 4, V), row_names, {}, 0);
  const Index the = tokens[0];
  lesson.claim(table.grad()(the, 0) == 3 && table.grad()(0, 0) == 0,
               "the row of `the` gets 1 + 2 = {:.0f}; overwritten, it would be 2", table.grad()(the, 0));
}

// Words with their neighbours, two on either side: what the vectors are learned from.
struct Contexts {
  std::vector<Ids> neighbours;  // four ids
  Ids words;                    // the id in the middle
};
Contexts contexts_of(const std::vector<std::string>& lines, const WordVocabulary& vocabulary) {
  Contexts contexts;
  for (const std::string& line : lines) {
    Ids ids = vocabulary.encode(line);
    ids.insert(ids.begin(), 2, Vocabulary::bos);
    ids.insert(ids.end(), 2, Vocabulary::eos);
    for (std::size_t i = 2; i + 2 < ids.size(); ++i) {
      contexts.neighbours.push_back({ids[i - 2], ids[i - 1], ids[i + 1], ids[i + 2]});
      contexts.words.push_back(ids[i]);
    }
  }
  return contexts;
}

// The rows of the table for the words that are shown, each scaled to length 1: (N, C).
Tensor unit_vectors(const Tensor& table, const Ids& ids) {
  const NoGrad no_grad;
  const Tensor rows = take_rows(table, ids);
  return rows / sqrt(sum(rows * rows, 1, true));
}

/// ## Vectors that are learned
///
/// So far the vectors are random. What should they be? "You shall know a word by the company it keeps"
/// (Firth, 1957): words that occur between the same neighbours should have similar vectors. *word2vec*
/// (Mikolov et al., 2013) makes that a task to learn: guess a word from the two words on either side of it.
/// The vectors of the four neighbours are averaged, one linear layer turns the mean into logits for every
/// word, and the loss is the cross-entropy of lesson 04. To guess well, the table has to give similar rows
/// to words that can replace each other. From simple English sentences such as `Her large blue hat is not
/// in the forest.`:
void learned_vectors(Lesson& lesson) {
  std::vector<std::string> lines;
  for (const Pair& pair : english_french().generate(lesson.fast ? 5000 : 20000, lesson.seed))
    lines.push_back(pair.source);
  const WordVocabulary vocabulary = WordVocabulary::learn(lines);
  const Contexts contexts = contexts_of(lines, vocabulary);
  const Index V = vocabulary.size(), C = 16, batch = 256, steps = lesson.fast ? 600 : 2000;
  Rng rng(lesson.seed);
  const Tensor table = normal({V, C}, rng).requires_grad(),
               output = normal({V, C}, rng, 0, 1 / std::sqrt(real(C))).requires_grad();
  ParameterList parameters;
  parameters.add("table", table);
  parameters.add("output", output);
  Adam adam(parameters);

  const std::vector<WordClass> classes = parts_of_speech();
  Ids shown_ids;
  std::vector<std::string> shown_words, class_of;
  for (const WordClass& word_class : classes)
    for (const std::string& word : word_class.words) {
      shown_ids.push_back(vocabulary.id(word));
      shown_words.push_back(word);
      class_of.push_back(word_class.name);
    }
  const Index N = std::ssize(shown_ids);
  // For each shown word the others, the most similar (largest cosine) first.
  const auto neighbours = [&] {
    const Tensor unit = unit_vectors(table, shown_ids), cosine = matmul(unit, unit, Transpose::second);
    std::vector<std::vector<Index>> nearest(N, std::vector<Index>(N));
    for (Index i = 0; i < N; ++i) {
      std::iota(nearest[i].begin(), nearest[i].end(), Index(0));
      std::sort(nearest[i].begin(), nearest[i].end(),
                [&](Index a, Index b) { return cosine(i, a) > cosine(i, b); });
      nearest[i].erase(nearest[i].begin());  // itself
    }
    return nearest;
  };
  const auto same_class = [&](const std::vector<std::vector<Index>>& nearest) {
    double same = 0;
    for (Index i = 0; i < N; ++i) same += class_of[i] == class_of[nearest[i][0]];
    return same / double(N);
  };
  const std::vector<std::vector<Index>> before = neighbours();
  const viz::Image map_before =
      word_map(flattened(unit_vectors(table, shown_ids)), classes, "before: random");
  double first_loss = 0, last_loss = 0;
  for (Index step = 0; step < steps; ++step) {
    IntTensor around({batch, 4}), middle({batch});
    for (Index i = 0; i < batch; ++i) {
      const Index at = rng.below(std::ssize(contexts.words));
      for (Index j = 0; j < 4; ++j) around(i, j) = contexts.neighbours[at][j];
      middle[i] = contexts.words[at];
    }
    const Tensor logits = linear(mean(embedding(table, around), 1), output);  // (batch, V)
    const Tensor loss = cross_entropy(logits, middle);
    backward(loss);
    adam.step(0.02);
    if (step == 0) first_loss = loss.item();
    last_loss = loss.item();
  }
  const std::vector<std::vector<Index>> after = neighbours();
  lesson.say(
      "{} words, {} numbers each, {} positions to learn from, {} steps of Adam on batches of {}. The loss "
      "falls from {:.2f} (log {} = {:.2f} would be a blind guess) to {:.2f}. The words nearest to each, by "
      "the cosine of the angle between their vectors:",
      V, C, viz::format_fixed(double(contexts.words.size()), 0), viz::format_fixed(double(steps), 0), batch,
      first_loss, V, std::log(double(V)), last_loss);
  std::vector<std::vector<std::string>> rows;
  const auto listed_words = [&](const std::vector<Index>& nearest) {
    return shown_words[nearest[0]] + ", " + shown_words[nearest[1]] + ", " + shown_words[nearest[2]];
  };
  for (const std::string word : {"queen", "dogs", "apple", "garden", "sees", "red", "my", "often"}) {
    const Index i = std::find(shown_words.begin(), shown_words.end(), word) - shown_words.begin();
    rows.push_back({word, listed_words(before[i]), listed_words(after[i])});
  }
  lesson.table({"", "before", "after"}, rows);
  const double chance = same_class(before), learned = same_class(after);
  lesson.claim(learned > 0.85 && chance < 0.5,
               "the nearest word is of the same part of speech for {:.0f}% of {} words; before training, for "
               "{:.0f}%",
               100 * learned, N, 100 * chance);
  lesson.picture(
      "vectors.png",
      viz::row({map_before, word_map(flattened(unit_vectors(table, shown_ids)), classes,
                                     fmt::format("after {} steps", viz::format_fixed(double(steps), 0)))}),
      "Word vectors before and after",
      "16 numbers per word, seen from the side from which they differ most (principal component analysis, "
      "PCA). Where words crowd, only some are named. Nobody told the model what a verb is: the colours were "
      "added afterwards.");

  /// Nouns gather with nouns, places such as `garden` apart from the rest; verbs with an object (`see`,
  /// `find`) apart from those without (`sleep`, `swim`); `my` with `your`: words that can take each other's
  /// place. A transformer learns its table in the same way, along with all its other weights.
}

/// ## The factor √d_model
///
/// The transformer (Vaswani et al., 2017) multiplies its embeddings by √d_model. Its table is also used the
/// other way round, transposed, to turn vectors back into logits; for logits of a sensible size its entries
/// must be small, about 1/√d_model. But what goes into the network is added to position vectors with
/// entries of about 0.7 (lesson 09), which would drown such small numbers. Measured, as the size (root mean
/// square) of an entry:
void the_factor(Lesson& lesson) {
  Rng rng(lesson.seed);
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
        surprises(lesson);
        a_batch(lesson);
        embeddings(lesson);
        learned_vectors(lesson);
        the_factor(lesson);
        /// ## Check yourself
        ///
        /// - **What is a vocabulary for, and what an embedding?** The first cuts text into tokens and
        ///   numbers them; the second gives each number a vector that a network can compute with and learn.
        /// - **What goes in, what comes out?** A batch of B texts becomes ids (B, T), padded, with a mask
        ///   (B, T); a table (V, C) turns them into vectors (B, T, C).
        /// - **What goes wrong** with whole words? New ones are <unk>. With bytes? Sequences get long, and
        ///   attention costs T². With merges out of order? The text is cut into tokens that the model has
        ///   never seen together.
        ///
        /// ## Read on
        ///
        /// - Sennrich, Haddow and Birch, 2016: *Neural machine translation of rare words with subword
        ///   units*. BPE.
        /// - Mikolov et al., 2013: *Efficient estimation of word representations in vector space*.
        ///   word2vec.
        /// - Jay Alammar, 2019: *The illustrated word2vec*. The same in pictures.
        /// - Andrej Karpathy, 2024: *minbpe*. The tokenizers of GPT-2 and GPT-4 in a few hundred lines.
        lesson.try_next(
            {{"In pieces, add `bring bring bring` to the lines.",
              "`ring` is merged earlier, and with the sixth merge `bring` is one token."},
             {"In most_frequent_pair, write >= instead of >.",
              "Ties go to the larger ids: another vocabulary, as good as ours, but no longer the library's."},
             {"In learned_vectors, let C be 2.",
              "Still 94% have a nearest word of their own part of speech: two numbers are enough for "
              "that."}});
      });
}
