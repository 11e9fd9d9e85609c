// Corpora: pairs of sentences from files, and their split into training and test.
//
//   std::vector<Pair> pairs = read_pairs("eng-fra.tsv");           source TAB target (TAB anything)
//   std::vector<Pair> pairs = read_aligned("news.en", "news.fr");  line by line
//   Split split = split_by_source(pairs, {.test = 2000});
//
// Lines have at most 1,000,000 bytes, a file 10,000,000 lines. They end with CRLF or LF; a byte order
// mark at the start is fine, and the last line needs no newline. Blank lines are skipped. Every kind of
// space (French text is full of U+00A0 and U+202F) becomes a plain one, so that a model need not learn
// them all. A line without a tab, with an empty side, or with bytes that are not UTF-8 throws an error:
// `file:line: what is wrong`.
#pragma once

#include <cstdint>  // uint64_t
#include <string>   // string
#include <vector>   // vector

#include "core/index.hpp"

namespace attn {

struct Pair {
  std::string source, target;
  bool operator==(const Pair&) const = default;
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

}  // namespace attn
