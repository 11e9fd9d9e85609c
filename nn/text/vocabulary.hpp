// Vocabularies: text to token ids and back, with four sizes of token.
//
//   WordVocabulary::learn(lines)         short sequences, but words can be unknown
//   CharacterVocabulary::learn(lines)    longer ones, few tokens, characters can be unknown
//   ByteVocabulary()                     256 tokens for any text, the longest sequences
//   BpeVocabulary::learn(lines)          bpe.hpp: between words and bytes, also for any text
//
//   std::vector<int> ids = vocabulary.encode("L'homme dort.");
//   std::string text = vocabulary.decode(ids);
//
// Ids 0 to 3 are <pad>, <bos>, <eos> and <unk> everywhere; your own special tokens ("[MASK]",
// "<extra_id_0>") come next. Ordinary text never becomes a special token, even if it spells one:
// `special("[MASK]")` gives its id. `decode` leaves out <pad> and <bos>, stops at <eos> and writes the others
// by name. `save` gives readable text (valid UTF-8), from which `load_vocabulary` makes the same vocabulary.
#pragma once

#include <functional>     // equal_to, hash
#include <memory>         // unique_ptr
#include <string>         // string
#include <string_view>    // string_view
#include <unordered_map>  // unordered_map
#include <vector>         // vector

namespace attn {

// Lets a map with string keys be searched with a string_view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

class Vocabulary {
 public:
  static constexpr int pad = 0, bos = 1, eos = 2, unk = 3;

  virtual ~Vocabulary() = default;
  virtual std::string name() const = 0;  // "word", "character", "byte" or "bpe"
  virtual std::vector<int> encode(std::string_view text) const = 0;
  std::string decode(const std::vector<int>& ids) const;
  // The words or characters that `encode` turns into <unk>, in the order of the text, each once.
  virtual std::vector<std::string> unknown(std::string_view text) const;

  int size() const { return int(tokens_.size()); }
  const std::string& token(int id) const;  // its bytes
  std::string label(int id) const;         // for the screen: spaces and odd bytes made visible
  int id(std::string_view token) const;    // of an ordinary token; unk if there is none
  int special(std::string_view name) const;
  bool is_special(int id) const { return id < special_count_; }

  std::string save() const;

 protected:
  explicit Vocabulary(const std::vector<std::string>& specials);
  Vocabulary(const Vocabulary&) = default;
  Vocabulary& operator=(const Vocabulary&) = default;

  int add(std::string token);
  // Appends token `id` to `text`; `previous` is the id before it, or -1.
  virtual void write(std::string& text, int previous, int id) const;
  virtual void save_tokens(std::string& saved) const;  // one line each

 private:
  std::vector<std::string> tokens_;
  int special_count_ = 0;
  StringMap<int> ids_;  // ordinary tokens only
};

std::unique_ptr<Vocabulary> load_vocabulary(std::string_view saved);

// Words, numbers and punctuation. The round trip is exact if all words are known and one space apart. See
// Note [Tokens that remember their spaces] in word_vocabulary.cpp.
class WordVocabulary : public Vocabulary {
 public:
  static WordVocabulary learn(const std::vector<std::string>& lines,
                              const std::vector<std::string>& specials = {});
  WordVocabulary(const std::vector<std::string>& specials, const std::vector<std::string>& words);

  std::string name() const override { return "word"; }
  std::vector<int> encode(std::string_view text) const override;
  std::vector<std::string> unknown(std::string_view text) const override;

 protected:
  void write(std::string& text, int previous, int id) const override;

 private:
  bool encode_word(std::string_view word, std::vector<int>& ids, int depth = 0) const;
};

// The words of a text as WordVocabulary cuts them, except for Korean particles: these need a vocabulary.
std::vector<std::string> split_words(std::string_view text);

class CharacterVocabulary : public Vocabulary {
 public:
  static CharacterVocabulary learn(const std::vector<std::string>& lines,
                                   const std::vector<std::string>& specials = {});
  CharacterVocabulary(const std::vector<std::string>& specials, const std::vector<std::string>& letters);

  std::string name() const override { return "character"; }
  std::vector<int> encode(std::string_view text) const override;
  std::vector<std::string> unknown(std::string_view text) const override;
};

// As in ByT5: 256 bytes are enough for any text, and nothing is unknown.
class ByteVocabulary : public Vocabulary {
 public:
  explicit ByteVocabulary(const std::vector<std::string>& specials = {});

  std::string name() const override { return "byte"; }
  std::vector<int> encode(std::string_view text) const override;

 protected:
  void save_tokens(std::string&) const override {}
};

}  // namespace attn
