// Corpora: pairs of sentences from files, and their division into training and test.
//
//   std::vector<Pair> pairs = read_pairs("eng-fra.tsv");           source TAB target (TAB anything)
//   std::vector<Pair> pairs = read_aligned("news.en", "news.fr");  line by line
//   Split split = split_by_source(pairs, {.test = 2000});
//
// Read: lines of any length, CRLF or LF, a byte order mark at the start, no newline at the end. Blank lines
// are passed over. Every kind of space (thousands of lines of French hold U+00A0 and U+202F) becomes a plain
// one, so that a model need not learn them all; `plain_spaces = false` keeps them.
// Refused: a line without a tab, with an empty side, or with bytes that are not UTF-8. The error says
// `file:line: what is wrong`; with `bad_lines` such lines are passed over and reported instead.
#pragma once

#include <cstdint>  // uint64_t
#include <string>   // string
#include <vector>   // vector

#include "core/shape.hpp"  // Index

namespace attn {

struct Pair {
  std::string source, target;
  bool operator==(const Pair&) const = default;
};

struct ReadOptions {
  bool plain_spaces = true;
  Index max_characters = 0;                       // a longer line is bad; 0: no limit
  std::vector<std::string>* bad_lines = nullptr;  // where bad lines are reported; null: the first one throws
};
std::vector<Pair> read_pairs(const std::string& path, const ReadOptions& options = {});
std::vector<Pair> read_aligned(const std::string& source_path, const std::string& target_path,
                               const ReadOptions& options = {});

std::vector<std::string> source_lines(const std::vector<Pair>& pairs);
std::vector<std::string> target_lines(const std::vector<Pair>& pairs);

// A sentence and every right translation of it.
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
  Index max_words = 0;                // of a source sentence that may be held out; 0: any
  std::uint64_t seed = 0;
};
// All translations of one source sentence land on one side, so that nothing in the test was seen in training.
Split split_by_source(const std::vector<Pair>& pairs, const SplitOptions& options);

}  // namespace attn
