// Solution 05: how words become vectors.
#pragma once

#include <map>  // map

#include "lessons/05_tokens/types.hpp"
#include "lessons/coach/exercise.hpp"

namespace exercise {

// The map goes through its pairs from the smallest on, and only a larger count replaces the best so far: so a
// tie goes to the pair that came first.
std::pair<int, int> frequent_pair(const Ids& ids) {
  if (ids.size() < 2) throw std::invalid_argument("frequent_pair: no two tokens");
  std::map<std::pair<int, int>, int> counts;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) ++counts[{ids[i], ids[i + 1]}];
  std::pair<int, int> best = counts.begin()->first;
  for (const auto& [pair, count] : counts)
    if (count > counts[best]) best = pair;
  return best;
}

// The index moves on by two after a merge. That is all it takes to use no token twice.
Ids merge_once(const Ids& ids, int left, int right, int merged) {
  Ids out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool pair = i + 1 < ids.size() && ids[i] == left && ids[i + 1] == right;
    out.push_back(pair ? merged : ids[i]);
    if (pair) ++i;
  }
  return out;
}

// Once through the merges is enough: a merge makes a token that only later merges can contain. A char may be
// negative, a byte is not: hence the unsigned char.
Ids bpe_encode(const std::string& text, const Merges& merges) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  for (std::size_t n = 0; n < merges.size(); ++n)
    ids = merge_once(ids, merges[n].first, merges[n].second, 256 + static_cast<int>(n));
  return ids;
}

// The text of every token, made from the texts of its halves: they come earlier in the list.
std::string bpe_decode(const Ids& ids, const Merges& merges) {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.push_back(std::string(1, static_cast<char>(byte)));
  for (const auto& [left, right] : merges) texts.push_back(texts[left] + texts[right]);
  std::string text;
  for (const int id : ids) text += texts[id];
  return text;
}

// The mask comes from the lengths. To compare with `pad` would lose a real token of that number.
PaddedBatch pad_rows(const std::vector<Ids>& sequences, int pad) {
  std::size_t longest = 0;
  for (const Ids& sequence : sequences) longest = std::max(longest, sequence.size());
  const Index B = Index(sequences.size()), T = Index(longest);
  PaddedBatch batch{IntTensor({B, T}), IntTensor({B, T})};
  for (Index i = 0; i < B; ++i)
    for (Index t = 0; t < T; ++t) {
      const bool real_token = t < Index(sequences[i].size());
      batch.ids(i, t) = real_token ? sequences[i][t] : pad;
      batch.mask(i, t) = real_token ? 1 : 0;
    }
  return batch;
}

// The lookup reads a row for each token; its backward adds to a row for each token.
Tensor lookup_backward(const Ids& ids, const Tensor& gradient, Index vocabulary) {
  Tensor out = zeros({vocabulary, gradient.size(1)});
  for (std::size_t t = 0; t < ids.size(); ++t)
    for (Index c = 0; c < gradient.size(1); ++c) out(ids[t], c) += gradient(t, c);
  return out;
}

}  // namespace exercise
