// Solution 15: a GPT, from its batches to its text.
#pragma once

#include "lessons/15_gpt/types.hpp"

namespace exercise {

// A window takes T + 1 tokens of the text: the last one is only ever a target.
Windows next_token_windows(const std::vector<int>& text, const std::vector<int>& starts, int T) {
  Windows windows{IntTensor({Index(starts.size()), T}), IntTensor({Index(starts.size()), T})};
  for (std::size_t b = 0; b < starts.size(); ++b) {
    if (starts[b] < 0 || starts[b] + T >= int(text.size()))
      throw std::invalid_argument("next_token_windows: a window leaves the text");
    for (int t = 0; t < T; ++t) {
      windows.reads(b, t) = text[std::size_t(starts[b] + t)];
      windows.writes(b, t) = text[std::size_t(starts[b] + t + 1)];
    }
  }
  return windows;
}

// −log softmax(x)[w] = log Σ exp(x_v) − x_w: no probability is ever computed, so none can be 0.
double next_token_loss(const Tensor& logits, const std::vector<int>& writes) {
  double loss = 0;
  for (Index t = 0; t < logits.size(0); ++t) {
    real largest = logits(t, 0), sum = 0;
    for (Index v = 1; v < logits.size(1); ++v) largest = std::max(largest, logits(t, v));
    for (Index v = 0; v < logits.size(1); ++v) sum += std::exp(logits(t, v) - largest);
    loss += largest + std::log(sum) - logits(t, writes[std::size_t(t)]);
  }
  return loss / double(writes.size());
}

// The embedding is used twice: to turn tokens into vectors, and to ask how much a vector is like each token.
Tensor gpt_logits(const TinyGpt& gpt, const std::vector<int>& tokens) {
  const Index T = Index(tokens.size()), C = gpt.embedding.size(1);
  if (T > gpt.positions.size(0)) throw std::invalid_argument("gpt_logits: more tokens than positions");
  Tensor h = empty({T, C});
  for (Index t = 0; t < T; ++t)
    for (Index c = 0; c < C; ++c) h(t, c) = gpt.embedding(tokens[std::size_t(t)], c) + gpt.positions(t, c);
  for (const Block& block : gpt.blocks) h = block(h);
  return matmul(layer_norm(h, gpt.gain, gpt.bias), gpt.embedding, Transpose::second);
}

// Only the last row is of use: the others speak about tokens that are there already. A key/value cache
// (lesson 14) spares computing them.
std::vector<int> generate(const Model& model, const std::vector<int>& prompt, int count, int limit) {
  std::vector<int> text = prompt;
  for (int step = 0; step < count; ++step) {
    const auto kept = std::min<std::ptrdiff_t>(limit, std::ptrdiff_t(text.size()));
    const Tensor logits = model({text.end() - kept, text.end()});
    const Index last = logits.size(0) - 1;
    int best = 0;
    for (int v = 1; v < int(logits.size(1)); ++v)
      if (logits(last, v) > logits(last, best)) best = v;
    text.push_back(best);
  }
  return text;
}

}  // namespace exercise
