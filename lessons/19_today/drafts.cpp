#include "lessons/19_today/drafts.hpp"

#include <algorithm>  // fill_n, max
#include <iterator>   // ssize

#include "nn/decode.hpp"

namespace attn {
namespace {

std::vector<double> distribution(const Tensor& logits, Index row, double temperature) {
  const Index V = logits.size(1);
  return sampling_distribution(logits.data() + row * V, V, {.temperature = temperature});
}

std::vector<int> from(const std::vector<int>& tokens, Index begin) {
  return {tokens.begin() + begin, tokens.end()};
}

}  // namespace

Written write_alone(const Gpt& model, const std::vector<int>& prompt, Index count, double temperature,
                    Rng& rng) {
  Written result;
  Reader reader(model);
  std::vector<int> text = prompt;
  while (std::ssize(result.tokens) < count) {
    const Tensor logits = reader.read(from(text, reader.length()));  // (n, V)
    ++result.passes;
    text.push_back(draw(distribution(logits, logits.size(0) - 1, temperature), rng));
    result.tokens.push_back(text.back());
  }
  return result;
}

Written write_with_draft(const Gpt& model, const Gpt& draft, const std::vector<int>& prompt, Index count,
                         Index k, double temperature, Rng& rng) {
  Written result;
  Reader large(model), small(draft);
  std::vector<int> text = prompt;  // the large model has read all of it but the last token, or nothing yet
  while (std::ssize(result.tokens) < count) {
    const Index known = std::ssize(text);
    std::vector<std::vector<double>> q, p;
    for (Index i = 0; i < k; ++i) {
      const Tensor logits = small.read(from(text, small.length()));
      q.push_back(distribution(logits, logits.size(0) - 1, temperature));
      text.push_back(draw(q.back(), rng));
    }
    const Tensor logits = large.read(from(text, large.length()));  // (n, V): the last k + 1 are asked about
    ++result.passes;
    for (Index i = 0; i <= k; ++i) p.push_back(distribution(logits, logits.size(0) - 1 - k + i, temperature));

    Piece piece{{}, 0, true};
    for (Index i = 0; i < k && piece.bonus; ++i) {
      const int x = text[known + i];
      if (rng.uniform() < p[i][x] / q[i][x])
        piece.accepted.push_back(x);
      else
        piece.bonus = false;
    }
    const Index n = std::ssize(piece.accepted);
    std::vector<double> next = p[n];
    if (!piece.bonus) {
      double sum = 0;
      for (Index v = 0; v < std::ssize(next); ++v) sum += next[v] = std::max(next[v] - q[n][v], 0.0);
      for (double& share : next) share /= sum;
    }
    piece.last = draw(next, rng);
    text.resize(known + n);
    text.push_back(piece.last);
    large.forget_from(known + n);
    small.forget_from(known + n);
    result.tokens.insert(result.tokens.end(), piece.accepted.begin(), piece.accepted.end());
    result.tokens.push_back(piece.last);
    result.pieces.push_back(piece);
  }
  result.tokens.resize(count);
  return result;
}

std::vector<double> next_distribution(const Gpt& model, const std::vector<int>& text, double temperature) {
  const Tensor logits = Reader(model).read(text);  // (n, V)
  return distribution(logits, logits.size(0) - 1, temperature);
}

DraftPair train_pair(const Course& course, TransformerConfig config, std::uint64_t seed) {
  Rng rng(seed);
  config.window = course.recipe.T;  // so that distances in a long text are those it learned from
  config.decoder_layers = 1;
  Gpt draft = fresh_gpt(config, rng);
  config.decoder_layers = 4, config.d_model *= 2, config.d_ff = 8 * config.d_model / 3;
  Gpt model = fresh_gpt(config, rng);
  train_gpt(draft, course, 12e-3, seed);
  train_gpt(model, course, 8e-3, seed);
  config.d_ff = 2048;
  for (Index i = 0; i < 4; ++i) {
    const Block& block = model.stack.blocks.emplace_back(config, BlockKind::decoder_only, rng, 4 + i);
    for (const Linear* last : {&block.self.output, &block.feed_forward.second})
      std::fill_n(last->weight.data(), last->weight.numel(), real(0));
  }
  return {std::move(draft), std::move(model)};
}

}  // namespace attn
