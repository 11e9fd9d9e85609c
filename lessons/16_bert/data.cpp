#include "lessons/16_bert/data.hpp"

#include <algorithm>  // find
#include <cctype>     // tolower
#include <iterator>   // ssize

#include "nn/text/toy_languages.hpp"

namespace attn {
namespace {

std::string plain_word(std::string word) {
  if (word != "I") word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
  return word;
}

std::vector<LabelledSentence> plain_opinions(Index count, std::uint64_t seed, Grammar::Part part) {
  std::vector<LabelledSentence> plain;
  for (const LabelledSentence& sentence : labelled_sentences(3 * count, seed, part))
    if (std::find(sentence.words.begin(), sentence.words.end(), "not") == sentence.words.end() &&
        std::ssize(plain) < count)
      plain.push_back(sentence);
  return plain;
}

}  // namespace

Words Words::learn(const std::vector<std::vector<std::string>>& sentences) {
  std::vector<std::string> words;
  for (const auto& sentence : sentences)
    for (const std::string& word : sentence)
      if (std::find(words.begin(), words.end(), plain_word(word)) == words.end())
        words.push_back(plain_word(word));
  return {WordVocabulary({"[CLS]", "[SEP]", "[MASK]"}, words)};
}

std::vector<int> Words::encode(const std::vector<std::string>& words) const {
  std::vector<int> ids{cls};
  for (const std::string& word : words) ids.push_back(vocabulary.id(plain_word(word)));
  ids.push_back(sep);
  return ids;
}

int Words::random_word(Rng& rng) const {
  const int first = mask + 1;  // ordinary words come after the special ones
  return first + int(rng.below(vocabulary.size() - first));
}

Data load_opinions(Index training_count, Index test_count, std::uint64_t seed) {
  const auto training = plain_opinions(training_count, seed, Grammar::Part::training);
  const auto test = plain_opinions(test_count, seed + 1, Grammar::Part::held_out);
  std::vector<std::vector<std::string>> all;
  for (const auto* part : {&training, &test})
    for (const LabelledSentence& sentence : *part) all.push_back(sentence.words);
  Data data{Words::learn(all), {}, {}, {}};
  const auto tag_id = [&](const std::string& tag) {
    const auto found = std::find(data.tag_names.begin(), data.tag_names.end(), tag);
    if (found != data.tag_names.end()) return int(found - data.tag_names.begin());
    data.tag_names.push_back(tag);
    return int(data.tag_names.size()) - 1;
  };
  const auto convert = [&](const std::vector<LabelledSentence>& from, std::vector<Example>& to) {
    for (const LabelledSentence& sentence : from) {
      Example example{data.words.encode(sentence.words), {not_asked}, sentence.positive ? 1 : 0};
      for (const std::string& tag : sentence.tags) example.tags.push_back(tag_id(tag));
      example.tags.push_back(not_asked);
      to.push_back(example);
    }
  };
  convert(training, data.training);
  convert(test, data.test);
  return data;
}

Stories load_stories(Index count, std::uint64_t seed) {
  std::vector<std::vector<std::vector<std::string>>> stories;
  std::vector<std::vector<std::string>> all;
  for (const std::string& text : small_stories(count, seed)) {
    stories.push_back({{}});
    for (const std::string& word : split_words(text)) {
      if (stories.back().back().size() && stories.back().back().back() == ".") stories.back().push_back({});
      stories.back().back().push_back(word);
    }
    all.insert(all.end(), stories.back().begin(), stories.back().end());
  }
  Stories out{Words::learn(all), {}};
  for (const auto& story : stories) {
    out.stories.push_back({});
    for (const auto& sentence : story) out.stories.back().push_back(out.words.encode(sentence));
  }
  return out;
}

Tokens tokens_of(const std::vector<const Example*>& examples) {
  std::vector<std::vector<int>> rows;
  for (const Example* example : examples) rows.push_back(example->ids);
  return pad_batch(rows);
}

IntTensor labels_of(const std::vector<const Example*>& examples) {
  std::vector<int> labels;
  for (const Example* example : examples) labels.push_back(example->label);
  return {{std::ssize(labels)}, labels};
}

IntTensor tags_of(const std::vector<const Example*>& examples) {
  std::vector<std::vector<int>> rows;
  for (const Example* example : examples) rows.push_back(example->tags);
  return pad_batch(rows, not_asked).ids;
}

std::vector<const Example*> pick(const std::vector<Example>& examples, Index count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<const Example*> chosen;
  for (Index i = 0; i < count; ++i) chosen.push_back(&examples[rng.below(std::ssize(examples))]);
  return chosen;
}

std::vector<const Example*> all_of(const std::vector<Example>& examples) {
  std::vector<const Example*> all;
  for (const Example& example : examples) all.push_back(&example);
  return all;
}

PairInput draw_pairs(const Stories& pairs, Index B, Index first, Index end, Rng& rng) {
  const auto any_story = [&] { return first + rng.below(end - first); };
  std::vector<std::vector<int>> rows, segments;
  std::vector<int> labels;
  for (Index b = 0; b < B; ++b) {
    const Index story = any_story();
    const bool follows = rng.uniform() < 0.5;
    Index other = story;
    while (!follows && other == story) other = any_story();
    const auto& sentences = pairs.stories[other];
    const Index place = follows ? 1 : rng.below(std::ssize(sentences));
    const std::vector<int>& second = sentences[std::min(place, std::ssize(sentences) - 1)];
    std::vector<int> row = pairs.stories[story][0], segment;  // both sentences have [CLS] and [SEP]
    row.insert(row.end(), second.begin() + 1, second.end());  // one [CLS] is enough
    int separators = 0;                                       // a word's segment is how many stand before it
    for (const int token : row) segment.push_back(separators), separators += token == pairs.words.sep;
    rows.push_back(row), segments.push_back(segment), labels.push_back(follows ? 1 : 0);
  }
  return {pad_batch(rows), pad_batch(segments).ids, IntTensor({B}, labels)};
}

}  // namespace attn
