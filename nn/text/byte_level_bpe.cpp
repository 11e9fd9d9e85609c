// GPT-2's tokenizer: a text is cut into words, each word into bytes, and bytes are merged into pieces.
#include "nn/text/tokenizer.hpp"

#include <utf8proc.h>  // utf8proc_category

#include <array>     // array
#include <iterator>  // ssize
#include <utility>   // pair

#include "core/error.hpp"
#include "core/text.hpp"  // characters

namespace attn {
namespace {

enum class Class { space, letter, number, other };

Class class_of(char32_t code) {
  if ((code >= 9 && code <= 13) || code == ' ' || code == 0x85 || code == 0xA0 || code == 0x1680 ||
      (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
      code == 0x205F || code == 0x3000)
    return Class::space;
  switch (utf8proc_category(utf8proc_int32_t(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Class::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Class::number;
    default:
      return Class::other;
  }
}

// Bytes that are visible in Latin-1 stand for themselves, the others for the characters from U+0100 on.
std::array<char32_t, 256> visible_characters() {
  std::array<char32_t, 256> codes{};
  char32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool visible = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    codes[byte] = visible ? char32_t(byte) : next++;
  }
  return codes;
}

class ByteLevelBpe : public Tokenizer {
 public:
  ByteLevelBpe(Pieces pieces, MergeTable merges) : Tokenizer(std::move(pieces)), merges_(std::move(merges)) {
    for (int byte = 0; byte < 256; ++byte) {
      byte_ids_[byte] = this->pieces().find(std::string(1, static_cast<char>(byte)));
      if (byte_ids_[byte] < 0) fail("tokenizer: its vocabulary has no piece for the byte {}", byte);
    }
  }
  std::string text_of(int id, bool /*first*/) const override { return pieces().list[id]; }

 protected:
  void encode_plain(std::string_view text, std::vector<int>& ids) const override {
    for (const std::string_view word : gpt2_words(text)) {
      std::vector<int> bytes;
      for (const char byte : word) bytes.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
      const std::vector<int> merged = merge_all(bytes, merges_);
      ids.insert(ids.end(), merged.begin(), merged.end());
    }
  }

 private:
  MergeTable merges_;
  std::array<int, 256> byte_ids_{};
};

}  // namespace

std::vector<std::string_view> gpt2_words(std::string_view text) {
  struct Letter {
    std::size_t at;
    char32_t code;
    Class kind;
  };
  std::vector<Letter> letters;
  std::size_t at = 0;
  for (const Character& c : characters(text)) {
    letters.push_back({at, c.code, class_of(c.code)});
    at += c.bytes.size();
  }
  const Index n = std::ssize(letters);
  letters.push_back({at, 0, Class::other});  // the end

  const auto run_from = [&](Index i, Class kind) {  // where the run of this class ends
    while (i < n && letters[i].kind == kind) ++i;
    return i;
  };
  const auto end_of_word = [&](Index i) {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.substr(letters[i].at).starts_with(ending)) return i + std::ssize(ending);
    const Index first = i + (letters[i].code == ' ' && i + 1 < n);
    if (letters[first].kind != Class::space) return run_from(first, letters[first].kind);
    const Index end = run_from(i, Class::space);
    return end < n && end - i > 1 ? end - 1 : end;  // the last space belongs to the word after it
  };
  std::vector<std::string_view> words;
  for (Index i = 0; i < n;) {
    const Index end = end_of_word(i);
    words.push_back(text.substr(letters[i].at, letters[end].at - letters[i].at));
    i = end;
  }
  return words;
}

std::string visible_bytes(std::string_view bytes) {
  static const std::array<char32_t, 256> codes = visible_characters();
  std::string visible;
  for (const char byte : bytes) visible += to_utf8(codes[static_cast<unsigned char>(byte)]);
  return visible;
}

std::string bytes_of_visible(std::string_view piece) {
  static const std::unordered_map<char32_t, char> bytes = [] {
    std::unordered_map<char32_t, char> map;
    const std::array<char32_t, 256> codes = visible_characters();
    for (int byte = 0; byte < 256; ++byte) map[codes[byte]] = static_cast<char>(byte);
    return map;
  }();
  std::string text;
  for (const Character& c : characters(piece)) {
    const auto found = bytes.find(c.code);
    if (found == bytes.end())
      fail("tokenizer: the piece '{:.60}' has a character that stands for no byte", piece);
    text += found->second;
  }
  return text;
}

std::unique_ptr<Tokenizer> byte_level_bpe(Pieces pieces,
                                          const std::vector<std::pair<std::string, std::string>>& merges) {
  MergeTable table;
  for (const auto& [left, right] : merges)
    table.emplace(pair_of(pieces.at(left), pieces.at(right)),
                  RankedMerge{int(table.size()), pieces.at(left + right)});
  return std::make_unique<ByteLevelBpe>(std::move(pieces), std::move(table));
}

}  // namespace attn
