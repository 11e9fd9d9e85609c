#include "lessons/12_training/batches.hpp"

#include <algorithm>  // clamp, max, max_element, min
#include <cmath>      // exp, lround
#include <iterator>   // ssize
#include <numeric>    // accumulate

namespace attn {

std::vector<std::vector<int>> random_sentences(Index count, Rng& rng) {
  std::vector<std::vector<int>> sentences;
  for (Index i = 0; i < count; ++i)
    sentences.emplace_back(std::clamp(std::lround(std::exp(2.7 + 0.6 * rng.normal())), 3L, 50L), 7);
  return sentences;
}

Padding padding_of(const Batches& batches) {
  Padding result{0, 1e9, 0};
  double computed = 0, words = 0;
  for (const std::vector<Index>& lengths : batches) {
    const double real_words = double(std::accumulate(lengths.begin(), lengths.end(), Index(0)));
    computed += double(*std::max_element(lengths.begin(), lengths.end()) * std::ssize(lengths));
    words += real_words;
    result.smallest = std::min(result.smallest, real_words);
    result.largest = std::max(result.largest, real_words);
  }
  result.share = 1 - words / computed;
  return result;
}

}  // namespace attn
