// Byte pair encoding: a vocabulary that is learned by merging.
//
// Start with the 256 bytes. Count which two neighbouring tokens occur together most often, make the pair a
// new token, and repeat: frequent words become one token, rare ones stay in pieces, any bytes can be written.
//
//   BpeVocabulary pieces = BpeVocabulary::learn(lines, {.merges = 8000});
//   pieces.encode("the dogs")          "the", " dog", "s": a space belongs to the word behind it
//   pieces.with_merges(1000)           the same, had learning stopped there
//
// decode(encode(text)) == text for any bytes. Merges stay inside a word, a number or a run of symbols.
// Cost: learning keeps its counts up to date instead of counting again: 8,000 merges of 330,000 sentences
// take half a second. Encoding cuts a word once and remembers it. Threads may share a vocabulary.
#pragma once

#include <cstdint>  // uint64_t
#include <memory>   // shared_ptr

#include "nn/text/vocabulary.hpp"

namespace attn {

class BpeVocabulary : public Vocabulary {
 public:
  struct Options {
    Index merges = 8000;  // the vocabulary has 4 + specials + 256 + merges tokens
    std::vector<std::string> specials = {};
  };
  // Learning ends early when no pair occurs twice. Ties go to the pair with the smaller ids.
  static BpeVocabulary learn(const std::vector<std::string>& lines, const Options& options);
  static BpeVocabulary learn(const std::vector<std::string>& lines) { return learn(lines, Options{}); }

  struct Merge {
    int left, right;
    bool operator==(const Merge&) const = default;
  };
  BpeVocabulary(const std::vector<std::string>& specials, const std::vector<Merge>& merges);

  std::string name() const override { return "bpe"; }
  std::vector<int> encode(std::string_view text) const override;

  const std::vector<Merge>& merges() const { return merges_; }  // in the order they were learned
  int merged_id(Index merge) const { return first_byte_ + 256 + static_cast<int>(merge); }
  BpeVocabulary with_merges(Index count) const;

 protected:
  void save_tokens(std::string& saved) const override;

 private:
  struct Cache;
  std::vector<int> encode_word(std::string_view word) const;

  int first_byte_;
  std::vector<Merge> merges_;
  std::unordered_map<std::uint64_t, int> merged_;  // pair of ids -> id of both together
  std::shared_ptr<Cache> cache_;                   // shared by copies, whose merges are the same
};

// `ids` with every left, right replaced by `merged`, from left to right: an id is used up by the first pair
// it is in.
std::vector<int> merge_pair(const std::vector<int>& ids, int left, int right, int merged);

// The pieces inside which merges happen; put together they are the text.
std::vector<std::string_view> bpe_words(std::string_view text);

}  // namespace attn
