#include "lessons/15_gpt/text.hpp"

#include <cctype>    // ispunct
#include <iterator>  // ssize
#include <set>       // set
#include <vector>    // erase_if

#include "core/atomic_file.hpp"  // read_file
#include "core/error.hpp"
#include "core/rng.hpp"
#include "core/viz/text.hpp"  // shorten
#include "nn/text/characters.hpp"
#include "nn/text/toy_languages.hpp"

namespace attn {
namespace {

std::string read_text(const std::string& path) {
  const std::string text = read_file(path);
  if (const std::size_t bad = first_invalid_byte(text); bad != std::string::npos)
    fail("--text {}: byte {} is not UTF-8; save the file as UTF-8 text", path, bad);
  if (text.size() < 2000)
    fail("--text {}: {} bytes are too few to learn from; give at least 2000", path, text.size());
  return text;
}

}  // namespace

Text load_text(const std::string& path, Index stories, std::uint64_t seed) {
  std::string all = path.empty() ? "" : read_text(path);
  if (path.empty())
    for (const std::string& story : small_stories(stories, seed)) all += story + "\n";
  Text text{CharacterVocabulary::learn({all}), {}, {}, {}, "Anna had a ", !path.empty()};
  const std::vector<int> ids = text.vocabulary.encode(all);
  const auto cut = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() * 9 / 10);
  text.training.assign(ids.begin(), cut);
  text.unseen.assign(cut, ids.end());
  text.training_text = text.vocabulary.decode(text.training);
  if (text.is_own) text.prompt = text.vocabulary.decode({text.unseen.begin(), text.unseen.begin() + 10});
  return text;
}

Windows window_at(const std::vector<int>& text, Index start, Index T) {
  const auto first = text.begin() + start;
  return {IntTensor({1, T}, {first, first + T}), IntTensor({1, T}, {first + 1, first + 1 + T})};
}

Windows random_windows(const std::vector<int>& text, Index B, Index T, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<int> reads, writes;
  for (Index b = 0; b < B; ++b) {
    const Windows one = window_at(text, rng.below(std::ssize(text) - T), T);
    reads.insert(reads.end(), one.reads.data(), one.reads.data() + T);
    writes.insert(writes.end(), one.writes.data(), one.writes.data() + T);
  }
  return {IntTensor({B, T}, reads), IntTensor({B, T}, writes)};
}

std::string one_line(const std::string& text) {
  std::string line, short_words;
  for (const char c : text) line += c == '\n' ? std::string(" / ") : std::string(1, c);
  for (const std::string_view word : split_at_spaces(line)) {
    if (!short_words.empty()) short_words += ' ';
    short_words += viz::shorten(word, 400);
  }
  return short_words;
}

double known_words(const std::string& written, const Text& text) {
  const std::vector<std::string> known = split_words(text.training_text);
  std::vector<std::string> words = split_words(written);
  std::erase_if(words,
                [](const std::string& word) { return std::ispunct(static_cast<unsigned char>(word[0])); });
  const std::set<std::string> set(known.begin(), known.end());
  double right = 0;
  const Index whole = words.size() > 1 ? std::ssize(words) - 1 : std::ssize(words);
  for (Index i = 0; i < whole; ++i) right += set.count(words[i]) ? 1 : 0;
  return whole ? right / double(whole) : 0;
}

}  // namespace attn
