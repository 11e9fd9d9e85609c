// Solution 13: batches, decoding and a score for a translator.
#pragma once

#include "lessons/13_translator/types.hpp"

namespace exercise {

// Both rows come from one sequence, bos w₁ … w_n eos: reads is all but its last token, writes all
// but its first. So at every place the decoder has read everything before the word it has to write,
// and not that word.
Dictation dictate(const std::vector<Sentence>& targets) {
  std::size_t longest = 0;
  for (const Sentence& words : targets) longest = std::max(longest, words.size());
  const Index B = Index(targets.size()), T = Index(longest) + 1;
  Dictation batch{IntTensor({B, T}), IntTensor({B, T})};
  for (Index b = 0; b < B; ++b) {
    const Sentence& words = targets[b];
    for (Index t = 0; t < T; ++t) {
      const Index n = Index(words.size());
      batch.reads(b, t) = t == 0 ? bos : t <= n ? words[t - 1] : pad;
      batch.writes(b, t) = t < n ? words[t] : t == n ? eos : pad;
    }
  }
  return batch;
}

// A mask is about keys. Only the decoder's also looks at the query, for its place: there
// the future is hidden.
ThreeMasks three_masks(const IntTensor& source, const IntTensor& reads) {
  const Index B = source.shape()[0], S = source.shape()[1], T = reads.shape()[1];
  ThreeMasks masks{zeros({B, S, S}), zeros({B, T, T}), zeros({B, T, S})};
  for (Index b = 0; b < B; ++b) {
    for (Index j = 0; j < S; ++j) {
      const bool real_key = source(b, j) != pad;
      for (Index i = 0; i < S; ++i) masks.encoder(b, i, j) = real_key;
      for (Index i = 0; i < T; ++i) masks.cross(b, i, j) = real_key;
    }
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j <= i; ++j) masks.decoder(b, i, j) = reads(b, j) != pad;
  }
  return masks;
}

// The limit is no detail: a model that has not learned to say eos, or meets a strange
// sentence, would never end.
Sentence write_greedily(const Model& model, int max_length) {
  std::vector<int> written{bos};
  while (int(written.size()) <= max_length) {
    const std::vector<double> scores = model(written);
    const int best = int(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (best == eos) break;
    written.push_back(best);
  }
  return {written.begin() + 1, written.end()};
}

// Count the reference's runs first; then each run of the output uses one of them up.
std::pair<int, int> clipped_matches(const Words& output, const Words& reference, int n) {
  const auto run = [n](const Words& words, int i) { return Words(words.begin() + i, words.begin() + i + n); };
  std::map<Words, int> left;
  for (int i = 0; i + n <= int(reference.size()); ++i) ++left[run(reference, i)];
  int matches = 0, total = 0;
  for (int i = 0; i + n <= int(output.size()); ++i, ++total)
    if (left[run(output, i)]-- > 0) ++matches;
  return {matches, total};
}

// Matches and totals are pooled before dividing, so that long sentences count for more than short ones.
// Precision alone would reward whoever says little; the brevity penalty makes up for the missing recall.
double corpus_bleu(const std::vector<Words>& outputs, const std::vector<Words>& references) {
  double log_sum = 0, c = 0, r = 0;
  for (int n = 1; n <= 4; ++n) {
    double matches = 0, total = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto [m, t] = clipped_matches(outputs[i], references[i], n);
      matches += m;
      total += t;
    }
    if (matches == 0) return 0;
    log_sum += std::log(matches / total);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    c += double(outputs[i].size());
    r += double(references[i].size());
  }
  return 100 * std::min(1.0, std::exp(1 - r / c)) * std::exp(log_sum / 4);
}

}  // namespace exercise
