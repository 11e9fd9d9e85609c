// Byte pair encoding (Sennrich et al., 2016): a vocabulary learned by merging.
//
// Start with the 256 bytes. Find the pair of neighbouring tokens that occurs most often, make it a new token,
// and repeat: frequent words become one token, rare ones stay in pieces, any bytes can be written.
//
//   BpeVocabulary pieces = BpeVocabulary::learn(lines, {.merges = 8000});
//   pieces.encode("the dogs")          "the", " dog", "s": a space belongs to the word after it
//   pieces.with_merges(1000)           as if learning had stopped there
//
// decode(encode(text)) == text for any bytes. Merges stay inside a word, a number or a run of symbols.
// Cost: learning updates its counts instead of counting again: 8,000 merges of 330,000 sentences take half a
// second. Encoding cuts a word once and caches the result. Threads may share a vocabulary.
#pragma once

#include <cstdint>  // uint64_t
#include <memory>   // shared_ptr

#include "core/index.hpp"
#include "nn/text/vocabulary.hpp"

namespace attn {

// A pair of neighbours that becomes one token; the pair with the lowest rank first.
struct RankedMerge {
  int rank, id;
};
using MergeTable = std::unordered_map<std::uint64_t, RankedMerge>;  // by pair_of
inline std::uint64_t pair_of(int left, int right) { return std::uint64_t(left) << 32 | std::uint32_t(right); }
// Merges neighbours, the lowest rank and the leftmost pair first, until no pair is in the table. A heap finds
// the next pair, so a text of n tokens takes n log n steps.
std::vector<int> merge_all(std::vector<int> ids, const MergeTable& merges);

class BpeVocabulary : public Vocabulary {
 public:
  struct Options {
    Index merges = 8000;  // the vocabulary has 4 + specials + 256 + merges tokens
    std::vector<std::string> specials = {};
  };
  // Stops early when no pair occurs twice. Ties go to the pair with the smaller ids.
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
  BpeVocabulary with_merges(Index count) const;

 protected:
  void save_tokens(std::string& saved) const override;

 private:
  struct Cache;

  int first_byte_;
  std::vector<Merge> merges_;
  MergeTable table_;              // ranked by the id of the merged token
  std::shared_ptr<Cache> cache_;  // shared by copies: their merges are the same
};

// `ids` with every pair left, right replaced by `merged`. From left to right: pairs do not overlap.
std::vector<int> merge_pair(const std::vector<int>& ids, int left, int right, int merged);

// The pieces of a text inside which merges happen.
std::vector<std::string_view> bpe_words(std::string_view text);

}  // namespace attn
