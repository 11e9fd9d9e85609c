#include "lessons/13_translator/data.hpp"

#include <algorithm>      // min
#include <iterator>       // ssize
#include <unordered_set>  // unordered_set
#include <utility>        // move

#include "core/error.hpp"
#include "nn/text/bpe.hpp"
#include "nn/text/characters.hpp"
#include "nn/text/toy_languages.hpp"

namespace attn {
namespace {

constexpr Index validation_sentences = 250;

Dataset toy(const Settings& settings) {
  const bool french = settings.pair == "en-fr";
  const Grammar& grammar = french ? english_french() : english_korean();
  const std::uint64_t seed = std::uint64_t(settings.seed);
  Dataset data{.source_language = "English",
               .target_language = french ? "French" : "Korean",
               .train = grammar.generate(settings.pairs, seed, Grammar::Part::training),
               .pairs = settings.pairs,
               .validation = {},
               .test = {},
               .unseen = {},
               .watched = {},
               .dictionary = {},
               .puzzles = {},
               .why_puzzling = {}};
  if (french) {
    data.watched = {"The black horse does not want the small red apples.",
                    "Le cheval noir ne veut pas les petites pommes rouges."};
    data.dictionary = {{"horse", "cheval"}, {"black", "noir"}, {"apples", "pommes"}, {"red", "rouges"}};
    data.puzzles = {"I like the white.", "The king likes the green."};
    data.why_puzzling = "It never leaves out a noun, and without one nobody knows: le, la or les?";
  } else {
    data.watched = {"The teacher bought two red flowers yesterday.",
                    "선생님은 어제 빨간 꽃 두 송이를 샀어요."};
    data.dictionary = {{"yesterday", "어제"}, {"flowers", "꽃"}, {"two", "두"}, {"bought", "샀어요"}};
    data.puzzles = {"The cat is at home.", "The teacher is in the library.", "The doctor has coffee."};
    data.why_puzzling =
        "It says `there is a cat at home`, but never `the cat is at home`; nor does anybody have a drink.";
  }
  const std::vector<Grammar::WordPair> pairs = grammar.held_out();
  for (Index i = 0; i < 3; ++i) {
    const Grammar::WordPair& pair = pairs[std::ssize(pairs) - 1 - i * std::ssize(pairs) / 4];
    data.unseen.push_back("`" + pair.first[0] + "` with `" + pair.second[0] + (i < 2 ? "`," : "`"));
  }
  for (const Pair& pair :
       grammar.generate(validation_sentences + settings.test, seed + 1, Grammar::Part::held_out)) {
    auto& part = std::ssize(data.validation) < validation_sentences ? data.validation : data.test;
    part.push_back({pair.source, {pair.target}});
  }
  return data;
}

// How many distinct sentences could be held out.
Index count_candidates(const std::vector<Pair>& pairs, Index max_words) {
  std::unordered_set<std::string_view> distinct;
  for (const Pair& pair : pairs)
    if (max_words == 0 || std::ssize(split_at_spaces(pair.source)) <= max_words) distinct.insert(pair.source);
  return std::ssize(distinct);
}

// At most a tenth of the sentences is for the test and a twentieth for validation: small corpora work, too.
Dataset corpus(const Settings& settings) {
  const PairFile file = settings.corpus.empty() ? PairFile{settings.source_file, settings.target_file}
                                                : PairFile{settings.corpus};
  const auto corpus = std::make_shared<Corpus>(file, settings.in_memory);
  std::vector<Pair> pairs = corpus->portion(0);
  const Index candidates = count_candidates(pairs, settings.test_words);
  if (candidates < 20)
    fail("{} distinct sentences of at most {} words: too few to hold some out for a test; give at least 20",
         candidates, settings.test_words);
  Split split =
      split_by_source(std::move(pairs), {.test = std::min(settings.test, candidates / 10),
                                         .validation = std::min(validation_sentences, candidates / 20),
                                         .max_words = settings.test_words,
                                         .seed = std::uint64_t(settings.seed)});
  Dataset data{.source_language = "source",
               .target_language = "target",
               .train = std::move(split.train),
               .pairs = corpus->pairs(),
               .validation = std::move(split.validation),
               .test = std::move(split.test),
               .unseen = {},
               .watched = {},
               .dictionary = {},
               .puzzles = {},
               .why_puzzling = {}};
  if (corpus->portions() > 1) {
    for (std::vector<TestSentence>* part : {&data.validation, &data.test}) corpus->hold_out(*part);
    data.portions = corpus;
  }
  for (Index i = 0; i < std::min<Index>(50, std::ssize(data.validation)); ++i)
    data.puzzles.push_back(data.validation[i].source);
  for (const TestSentence& sentence :
       data.validation) {  // one of usual length if there is one, else the last
    data.watched = {sentence.source, sentence.references[0]};
    if (const Index words = std::ssize(split_at_spaces(sentence.source)); words >= 6 && words <= 8) break;
  }
  return data;
}

}  // namespace

Dataset make_dataset(const Settings& settings) {
  return settings.is_toy() ? toy(settings) : corpus(settings);
}

Vocabularies learn_vocabularies(const Settings& settings, const std::vector<Pair>& train) {
  if (settings.vocabulary == "word")
    return {std::make_shared<WordVocabulary>(WordVocabulary::learn(source_lines(train))),
            std::make_shared<WordVocabulary>(WordVocabulary::learn(target_lines(train)))};
  std::vector<std::string> lines = source_lines(train);
  for (const Pair& pair : train) lines.push_back(pair.target);
  const auto joint =
      std::make_shared<BpeVocabulary>(BpeVocabulary::learn(lines, {.merges = settings.merges}));
  return {joint, joint};
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = char(c | 0x20);
  return text;
}

std::vector<std::string> split_sentences(const std::string& line) {
  std::vector<std::string> sentences;
  bool open = false;
  for (const std::string_view chunk : split_at_spaces(line)) {
    if (open)
      sentences.back().append(" ").append(chunk);
    else
      sentences.emplace_back(chunk);
    open = std::string_view(".?!").find(chunk.back()) == std::string_view::npos;
  }
  return sentences;
}

std::string tidy_sentence(const std::string& sentence, const Vocabulary& vocabulary) {
  const auto is_known = [&](const std::string& word) { return vocabulary.id(word) != Vocabulary::unk; };
  const std::string text = normalize_spaces(sentence);
  std::string tidy, word;
  const auto add_word = [&] {
    if (word.empty()) return;
    const std::string lower = lower_case(word), capital = capitalize(lower);
    const bool starts = tidy.empty();
    const std::string &first = starts ? capital : lower, &second = starts ? lower : capital;
    tidy += is_known(first) ? first : is_known(second) ? second : word;  // as it was typed, to complain of
    word.clear();
  };
  for (const Character& c : characters(text)) {
    if (const Kind k = kind(c.code); k == Kind::letter || (c.code == '\'' && !word.empty())) {
      word += c.bytes;
      continue;
    }
    add_word();
    tidy += c.bytes;
  }
  add_word();
  if (!tidy.empty() && std::string_view(".?!").find(tidy.back()) == std::string_view::npos) tidy += '.';
  return tidy;
}

}  // namespace attn
