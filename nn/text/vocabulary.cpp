#include "nn/text/vocabulary.hpp"

#include <charconv>  // from_chars
#include <set>       // set
#include <utility>   // move

#include "core/error.hpp"
#include "nn/text/bpe.hpp"
#include "nn/text/characters.hpp"

namespace attn {

Vocabulary::Vocabulary(const std::vector<std::string>& specials)
    : tokens_{"<pad>", "<bos>", "<eos>", "<unk>"} {
  std::set<std::string> seen(tokens_.begin(), tokens_.end());
  for (const std::string& special : specials) {
    if (!seen.insert(special).second)
      fail("vocabulary: the special token {:.60} is named twice", printable(special));
    tokens_.push_back(special);
  }
  special_count_ = size();
}

int Vocabulary::add(std::string token) {
  const int id = size();
  ids_.emplace(token, id);  // bpe may spell one text in two ways: `id` finds the first
  tokens_.push_back(std::move(token));
  return id;
}

const std::string& Vocabulary::token(int id) const {
  if (id < 0 || id >= size()) fail("vocabulary: there is no token {}, only 0 to {}", id, size() - 1);
  return tokens_[id];
}

std::string Vocabulary::label(int id) const { return printable(token(id)); }

int Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? unk : found->second;
}

int Vocabulary::special(std::string_view name) const {
  for (int id = 0; id < special_count_; ++id)
    if (token(id) == name) return id;
  fail("vocabulary: there is no special token {}; name it when the vocabulary is made", name);
}

std::string Vocabulary::decode(const std::vector<int>& ids) const {
  std::string text;
  int previous = -1;
  for (const int id : ids) {
    token(id);  // throws if it does not exist
    if (id == eos) break;
    if (id == pad || id == bos) continue;
    write(text, previous, id);
    previous = id;
  }
  return text;
}

void Vocabulary::write(std::string& text, int, int id) const { text += token(id); }

std::vector<std::string> Vocabulary::unknown(std::string_view) const { return {}; }

namespace {

// A token as valid UTF-8 on one line: the backslash, control characters and stray bytes become \5C, \0A, \FF.
std::string escape(std::string_view token) {
  std::string escaped;
  for (const Character& c : characters(token)) {
    if (!c.valid || c.code < 0x20 || c.code == '\\')
      escaped += fmt::format("\\{:02X}", static_cast<unsigned char>(c.bytes[0]));
    else
      escaped += c.bytes;
  }
  return escaped;
}

std::string unescape(std::string_view escaped, int line) {
  std::string token;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\') {
      token += escaped[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = escaped.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc{} || end != digits.data() + 2)
      fail("load_vocabulary: line {}: a backslash needs two hexadecimal digits: {:.60}", line,
           printable(escaped));
    token += static_cast<char>(byte);
    i += 2;
  }
  return token;
}

}  // namespace

std::string Vocabulary::save() const {
  std::string saved = fmt::format("vocabulary {}\n", name());
  for (int id = unk + 1; id < special_count_; ++id) saved += fmt::format("special {}\n", escape(token(id)));
  save_tokens(saved);
  return saved;
}

void Vocabulary::save_tokens(std::string& saved) const {
  for (int id = special_count_; id < size(); ++id) saved += fmt::format("token {}\n", escape(token(id)));
}

std::unique_ptr<Vocabulary> load_vocabulary(std::string_view saved) {
  std::string name;
  std::vector<std::string> specials, tokens;
  std::vector<BpeVocabulary::Merge> merges;
  int line_number = 0;
  while (!saved.empty()) {
    ++line_number;
    const std::size_t end = saved.find('\n');
    const std::string_view line = saved.substr(0, end);
    saved.remove_prefix(end == std::string_view::npos ? saved.size() : end + 1);

    const std::size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space);
    const std::string value =
        space == std::string_view::npos ? "" : unescape(line.substr(space + 1), line_number);
    if (line_number == 1 && key == "vocabulary") {
      name = value;
    } else if (line_number > 1 && key == "special") {
      specials.push_back(value);
    } else if (line_number > 1 && key == "token") {
      tokens.push_back(value);
    } else if (line_number > 1 && key == "merge") {
      BpeVocabulary::Merge merge{};
      const char* last = value.data() + value.size();
      const auto left = std::from_chars(value.data(), last, merge.left);
      const auto right = left.ptr == last ? left : std::from_chars(left.ptr + 1, last, merge.right);
      if (left.ec != std::errc{} || right.ec != std::errc{} || left.ptr == last || right.ptr != last)
        fail("load_vocabulary: line {}: a merge is two ids, not '{:.60}'", line_number, printable(value));
      merges.push_back(merge);
    } else {
      fail("load_vocabulary: line {}: '{:.60}' is not a line of a saved vocabulary", line_number,
           printable(line.substr(0, 60)));
    }
  }
  if (name == "word") return std::make_unique<WordVocabulary>(specials, tokens);
  if (name == "character") return std::make_unique<CharacterVocabulary>(specials, tokens);
  if (name == "byte") return std::make_unique<ByteVocabulary>(specials);
  if (name == "bpe") return std::make_unique<BpeVocabulary>(specials, merges);
  fail("load_vocabulary: '{:.60}' is not a kind of vocabulary: word, character, byte or bpe",
       printable(name));
}

CharacterVocabulary CharacterVocabulary::learn(const std::vector<std::string>& lines,
                                               const std::vector<std::string>& specials) {
  std::set<std::string_view> letters;
  for (const std::string& line : lines)
    for (const Character& c : characters(line)) letters.insert(c.bytes);
  return CharacterVocabulary(specials, {letters.begin(), letters.end()});
}

CharacterVocabulary::CharacterVocabulary(const std::vector<std::string>& specials,
                                         const std::vector<std::string>& letters)
    : Vocabulary(specials) {
  for (const std::string& letter : letters) add(letter);
}

std::vector<int> CharacterVocabulary::encode(std::string_view text) const {
  std::vector<int> ids;
  for (const Character& c : characters(text)) ids.push_back(id(c.bytes));
  return ids;
}

std::vector<std::string> CharacterVocabulary::unknown(std::string_view text) const {
  std::vector<std::string> letters;
  std::set<std::string_view> seen;
  for (const Character& c : characters(text))
    if (id(c.bytes) == unk && seen.insert(c.bytes).second) letters.emplace_back(c.bytes);
  return letters;
}

ByteVocabulary::ByteVocabulary(const std::vector<std::string>& specials) : Vocabulary(specials) {
  for (int byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
}

std::vector<int> ByteVocabulary::encode(std::string_view text) const {
  const int first = size() - 256;
  std::vector<int> ids;
  ids.reserve(text.size());
  for (const char byte : text) ids.push_back(first + static_cast<unsigned char>(byte));
  return ids;
}

}  // namespace attn
