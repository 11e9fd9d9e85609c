// Corpora: pairs of sentences from files, and their split into training and test.
//
//   std::vector<Pair> pairs = read_pairs("eng-fra.tsv");           source TAB target (TAB anything)
//   std::vector<Pair> pairs = read_aligned("news.en", "news.fr");  line by line
//   Split split = split_by_source(pairs, {.test = 2000});
//   Corpus corpus({"crawl.tsv"}, 300'000);                         any size: a portion at a time in memory
//
// Lines have at most 1,000,000 bytes, a file 10,000,000 lines. They end with CRLF or LF; a byte order
// mark at the start is fine, and the last line needs no newline. Blank lines are skipped. Every kind of
// space (French text is full of U+00A0 and U+202F) becomes a plain one, so that a model need not learn
// them all. A line without a tab, with an empty side, or with bytes that are not UTF-8 throws an error:
// `file:line: what is wrong`.
#pragma once

#include <cstdint>        // uint64_t
#include <functional>     // function
#include <string>         // string
#include <unordered_set>  // unordered_set
#include <vector>         // vector

#include "core/index.hpp"

namespace attn {

struct Pair {
  std::string source, target;
  bool operator==(const Pair&) const = default;
};

// One file with tabs, or two that go together line by line.
struct PairFile {
  std::string path, target_path = {};
  void for_each(const std::function<void(Pair)>& use) const;  // in their order; an error if there is none
};
std::vector<Pair> read_pairs(const std::string& path);
std::vector<Pair> read_aligned(const std::string& source_path, const std::string& target_path);

std::vector<std::string> source_lines(const std::vector<Pair>& pairs);
std::vector<std::string> target_lines(const std::vector<Pair>& pairs);

// A sentence and all its right translations.
struct TestSentence {
  std::string source;
  std::vector<std::string> references;
};
struct Split {
  std::vector<Pair> train;
  std::vector<TestSentence> validation, test;
};
struct SplitOptions {
  Index test = 1000, validation = 0;  // distinct source sentences
  Index max_words = 0;                // hold out only source sentences of at most this many; 0: any
  std::uint64_t seed = 0;
};
// All translations of a source sentence are on the same side: nothing in the test was seen in training.
Split split_by_source(std::vector<Pair> pairs, const SplitOptions& options);

// A corpus of which one portion at a time is in memory, so that memory does not grow with the file.
//
// A small corpus is one portion. A larger one is divided at random into portions of about `in_memory` pairs,
// each of which is gathered from the whole file when it is asked for: files are often sorted.
//
//   Corpus corpus({path}, 300'000);
//   Split split = split_by_source(corpus.portion(0), {.test = 2000});
//   corpus.hold_out(split.test);             from now on no portion has these sentences
class Corpus {
 public:
  Corpus(PairFile file, Index in_memory);  // reads it once: errors are found now

  Index pairs() const { return pairs_; }
  Index portions() const { return portions_; }
  std::vector<Pair> portion(Index number) const;
  // Gives the sentences, which are from portion 0, all the translations that other portions have.
  void hold_out(std::vector<TestSentence>& sentences);

 private:
  Index portion_of(Index pair) const;  // by its number in the file

  PairFile file_;
  Index pairs_ = 0, portions_ = 1;
  std::vector<Pair> all_;  // if there is one portion only: some files, like pipes, cannot be read twice
  std::unordered_set<std::string> held_out_;
};

}  // namespace attn
