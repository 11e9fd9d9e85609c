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
               .validation = {},
               .test = {},
               .unseen = {},
               .watched = {},
               .dictionary = {}};
  if (french) {
    data.watched = {"The black horse does not want the small red apples.",
                    "Le cheval noir ne veut pas les petites pommes rouges."};
    data.dictionary = {{"horse", "cheval"}, {"black", "noir"}, {"apples", "pommes"}, {"red", "rouges"}};
  } else {
    data.watched = {"The teacher bought two red flowers yesterday.",
                    "선생님은 어제 빨간 꽃 두 송이를 샀어요."};
    data.dictionary = {{"yesterday", "어제"}, {"flowers", "꽃"}, {"two", "두"}, {"bought", "샀어요"}};
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
  std::vector<Pair> pairs = settings.corpus.empty() ? read_aligned(settings.source_file, settings.target_file)
                                                    : read_pairs(settings.corpus);
  const Index candidates = count_candidates(pairs, settings.test_words);
  if (candidates < 20)
    fail("{} distinct sentences of at most {} words: too few to hold some out for a test; give at least 20",
         candidates, settings.test_words);
  Split split =
      split_by_source(std::move(pairs), {.test = std::min(settings.test, candidates / 10),
                                         .validation = std::min(validation_sentences, candidates / 20),
                                         .max_words = settings.test_words,
                                         .seed = std::uint64_t(settings.seed)});
  Dataset data{
      "source", "target", std::move(split.train), std::move(split.validation), std::move(split.test), {},
      {},       {}};
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

std::string tidy_sentence(const std::string& sentence) {
  std::string tidy = capitalize(normalize_spaces(sentence));
  if (!tidy.empty() && tidy.find_last_of(".?!") != tidy.size() - 1) tidy += '.';
  return tidy;
}

}  // namespace attn
