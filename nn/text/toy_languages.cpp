#include "nn/text/toy_languages.hpp"

#include "nn/text/characters.hpp"  // split_at_spaces
#include "nn/text/vocabulary.hpp"  // split_words

namespace attn {
namespace {

const Grammar& story_grammar() {
  static const Grammar grammar("small_stories.grammar",
#include "nn/text/small_stories.grammar"
  );
  return grammar;
}

const Grammar& opinion_grammar() {
  static const Grammar grammar("opinions.grammar",
#include "nn/text/opinions.grammar"
  );
  return grammar;
}

}  // namespace

const Grammar& english_french() {
  static const Grammar grammar("english_french.grammar",
#include "nn/text/english_french.grammar"
  );
  return grammar;
}

const Grammar& english_korean() {
  static const Grammar grammar("english_korean.grammar",
#include "nn/text/english_korean.grammar"
  );
  return grammar;
}

std::vector<std::string> small_stories(Index count, std::uint64_t seed) {
  return source_lines(story_grammar().generate(count, seed));
}

std::vector<LabelledSentence> labelled_sentences(Index count, std::uint64_t seed, Grammar::Part part) {
  std::vector<LabelledSentence> sentences;
  for (const Pair& pair : opinion_grammar().generate(count, seed, part)) {
    const auto answer = split_at_spaces(pair.target);
    sentences.push_back(
        {pair.source, answer[0] == "POSITIVE", split_words(pair.source), {answer.begin() + 1, answer.end()}});
  }
  return sentences;
}

}  // namespace attn
