// Solution 17: text to text, by holes in the text.
#pragma once

#include "lessons/coach/exercise.hpp"

namespace exercise {

// The bounds matter for short texts: something must be taken out, and something must be left to tell it from.
std::pair<Index, Index> span_counts(Index length, double fraction, double mean_length) {
  const Index taken = std::clamp<Index>(std::lround(double(length) * fraction), 1, length - 1);
  const Index spans = std::clamp<Index>(std::lround(double(taken) / mean_length), 1, length - taken);
  return {taken, spans};
}

// `next` is the first token that has not been dealt with. The closing sentinel is the one after the last
// span's: without it, nothing would say where the last span ends.
std::pair<std::vector<int>, std::vector<int>> corrupt_at(const std::vector<int>& tokens,
                                                         const std::vector<std::pair<Index, Index>>& spans,
                                                         int first_sentinel) {
  std::vector<int> input, target;
  int sentinel = first_sentinel;
  Index next = 0;
  for (const auto& span : spans) {
    input.insert(input.end(), tokens.begin() + next, tokens.begin() + span.first);
    next = span.first + span.second;
    input.push_back(sentinel);
    target.push_back(sentinel++);
    target.insert(target.end(), tokens.begin() + span.first, tokens.begin() + next);
  }
  input.insert(input.end(), tokens.begin() + next, tokens.end());
  target.push_back(sentinel);
  return {input, target};
}

// The sentinel is a name: the span is looked up by it, wherever it stands, and ends at the next sentinel or
// at the end of the target.
std::vector<int> rebuild(const std::vector<int>& input, const std::vector<int>& target, int first_sentinel) {
  std::vector<int> text;
  for (const int token : input) {
    if (token < first_sentinel) {
      text.push_back(token);
      continue;
    }
    auto word = std::find(target.begin(), target.end(), token);
    if (word == target.end()) throw std::invalid_argument("the target has no span for a sentinel");
    for (++word; word != target.end() && *word < first_sentinel; ++word) text.push_back(*word);
  }
  return text;
}

// char is signed on most machines: é would begin with −61 instead of 195.
std::vector<int> byte_ids(const std::string& text) {
  std::vector<int> ids;
  for (const unsigned char byte : text) ids.push_back(byte + 3);
  ids.push_back(1);
  return ids;
}

}  // namespace exercise
