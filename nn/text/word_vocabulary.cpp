#include "nn/text/vocabulary.hpp"

#include <algorithm>      // find, sort
#include <array>          // array
#include <set>            // set
#include <unordered_set>  // unordered_set
#include <utility>        // pair

#include "nn/text/characters.hpp"

// Note [Tokens that remember their spaces]
//
// Cutting "L'homme n'est-il pas ici ?" at its spaces would make "L'homme" a word of its own. So words are cut
// further, in a way that can be undone:
//   - an elided word keeps its apostrophe and joins the next word:               L' homme   n' est
//   - a hyphen starts a word that joins the one before it:                       est -il
//   - closing punctuation joins the word before it, an opening bracket the word after it.
// Text that follows these rules needs no marks. Where it does not, the token carries one: + for "no space
// here although one is usual", _ for "a space here although none is usual", as in French "ici _?". Korean
// particles follow their noun without a space: 고양이를 becomes 고양이 +를.

namespace attn {
namespace {

constexpr char join_mark = '+', space_mark = '_';
bool is_marked(std::string_view token) {
  return token.size() > 1 && (token[0] == join_mark || token[0] == space_mark);
}

std::size_t apostrophe_at(std::string_view text, std::size_t at) {  // its length in bytes; 0: none
  if (text.substr(at, 1) == "'") return 1;
  return text.substr(at, 3) == "’" ? 3 : 0;
}

// French words that lose their last vowel before a vowel.
bool is_elided(std::string_view word) {
  static constexpr std::array<std::string_view, 12> elided = {"l", "j", "n",  "d",     "c",      "s",
                                                              "t", "m", "qu", "jusqu", "lorsqu", "puisqu"};
  if (word.empty() || word.size() > 6) return false;
  std::string lower(word);
  if (lower[0] >= 'A' && lower[0] <= 'Z') lower[0] = static_cast<char>(lower[0] | 0x20);
  return std::find(elided.begin(), elided.end(), lower) != elided.end();
}

// The length of the word that starts at text[at]: letters and digits, with apostrophes between them (isn't).
std::size_t word_length(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size()) {
    const Character c = character_at(text, end);
    const Kind this_kind = kind(c.code);
    if (this_kind == Kind::letter || this_kind == Kind::digit) {
      end += c.bytes.size();
      continue;
    }
    const std::size_t apostrophe = apostrophe_at(text, end);
    if (apostrophe == 0 || end == at) break;
    if (is_elided(text.substr(at, end - at))) return end + apostrophe - at;
    const bool goes_on =
        end + apostrophe < text.size() && kind(character_at(text, end + apostrophe).code) == Kind::letter;
    if (!goes_on) break;
    end += apostrophe;
  }
  return end - at;
}

std::vector<std::string_view> cut(std::string_view chunk) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < chunk.size(); at += pieces.back().size()) {
    std::size_t length = word_length(chunk, at);
    if (length == 0) {
      length = character_at(chunk, at).bytes.size();
      if (chunk[at] == '-' && at > 0) length += word_length(chunk, at + 1);
    }
    pieces.push_back(chunk.substr(at, length));
  }
  return pieces;
}

bool is_one_of(std::string_view token, std::string_view marks) {
  return token.size() == 1 && marks.find(token[0]) != std::string_view::npos;
}

bool joins_next(std::string_view token) {
  if (is_one_of(token, "([{")) return true;
  const std::size_t apostrophe = token.ends_with('\'') ? 1 : token.ends_with("’") ? 3 : 0;
  return apostrophe > 0 && token.size() > apostrophe;
}

bool joins_previous(std::string_view token) {
  return is_one_of(token, ".,!?;:)]}%") || token == "…" || (token.size() > 1 && token[0] == '-');
}

bool usual_space(std::string_view previous, std::string_view token) {
  return !joins_next(previous) && !joins_previous(token);
}

// The endings that are cut off Korean words, longer ones first.
constexpr std::array<std::string_view, 17> particles = {"이에요", "에서", "에게", "예요", "으로", "은",
                                                        "는",     "이",   "가",   "을",   "를",   "과",
                                                        "와",     "에",   "로",   "들",   "도"};

// A word has one or two of them. More are no language, and could nest without end.
constexpr int most_particles = 8;

// 고양이 must not become 고양 +이. So an ending is cut off only if the rest also occurs with another ending,
// or with none.
class ParticleCutter {
 public:
  explicit ParticleCutter(const StringMap<Index>& words) {
    for (const auto& [word, count] : words) {
      endings_[word].insert("");
      for (const std::string_view particle : particles)
        if (word.size() > particle.size() && word.ends_with(particle))
          endings_[word.substr(0, word.size() - particle.size())].insert(particle);
    }
  }

  void cut(std::string_view word, Index count, StringMap<Index>& tokens, int depth = 0) const {
    for (const std::string_view particle : particles) {
      if (depth == most_particles || !word.ends_with(particle)) continue;
      const std::string_view stem = word.substr(0, word.size() - particle.size());
      const auto found = endings_.find(stem);
      if (found == endings_.end() || found->second.size() < 2) continue;
      tokens[join_mark + std::string(particle)] += count;
      return cut(stem, count, tokens, depth + 1);
    }
    tokens[std::string(word)] += count;
  }

 private:
  StringMap<std::set<std::string_view>> endings_;
};

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> tokens;
  std::string_view previous;
  for (const std::string_view chunk : split_at_spaces(text)) {
    bool space = true;
    for (const std::string_view piece : cut(chunk)) {
      std::string token;
      if (!previous.empty() && space != usual_space(previous, piece)) token = space ? space_mark : join_mark;
      tokens.push_back(token.append(piece));
      previous = piece;
      space = false;
    }
  }
  return tokens;
}

WordVocabulary WordVocabulary::learn(const std::vector<std::string>& lines,
                                     const std::vector<std::string>& specials) {
  StringMap<Index> words, tokens;
  for (const std::string& line : lines)
    for (std::string& word : split_words(line)) ++words[std::move(word)];
  const ParticleCutter cutter(words);
  for (const auto& [word, count] : words) cutter.cut(word, count, tokens);

  std::vector<std::pair<Index, std::string>> sorted;
  for (const auto& [token, count] : tokens) sorted.emplace_back(-count, token);
  std::sort(sorted.begin(), sorted.end());  // the most frequent first, then by spelling
  WordVocabulary vocabulary(specials, {});
  for (const auto& [count, token] : sorted) vocabulary.add(token);
  return vocabulary;
}

WordVocabulary::WordVocabulary(const std::vector<std::string>& specials,
                               const std::vector<std::string>& words)
    : Vocabulary(specials) {
  for (const std::string& word : words) add(word);
}

// Appends the ids of a word, or of its stem and particles; false if it is unknown both ways.
bool WordVocabulary::encode_word(std::string_view word, std::vector<int>& ids, int depth) const {
  const int whole = id(word);
  if (whole != unk) {
    ids.push_back(whole);
    return true;
  }
  for (const std::string_view particle : particles) {
    if (depth == most_particles || word.size() <= particle.size() || !word.ends_with(particle)) continue;
    const int ending = id(join_mark + std::string(particle));
    if (ending == unk || !encode_word(word.substr(0, word.size() - particle.size()), ids, depth + 1))
      continue;
    ids.push_back(ending);
    return true;
  }
  return false;
}

std::vector<int> WordVocabulary::encode(std::string_view text) const {
  std::vector<int> ids;
  for (const std::string& word : split_words(text))
    if (!encode_word(word, ids)) ids.push_back(unk);
  return ids;
}

std::vector<std::string> WordVocabulary::unknown(std::string_view text) const {
  std::vector<std::string> words;
  std::unordered_set<std::string> seen;
  std::vector<int> ids;
  for (const std::string& token : split_words(text)) {
    const std::string word = is_marked(token) ? token.substr(1) : token;
    if (!encode_word(token, ids) && seen.insert(word).second) words.push_back(word);
  }
  return words;
}

void WordVocabulary::write(std::string& text, int previous, int id) const {
  std::string_view word = token(id);
  bool space = previous >= 0;
  if (is_marked(word)) {
    space = space && word[0] == space_mark;
    word.remove_prefix(1);
  } else if (space) {
    std::string_view before = token(previous);
    if (is_marked(before)) before.remove_prefix(1);
    space = usual_space(before, word);
  }
  if (space) text += ' ';
  text += word;
}

}  // namespace attn
