#include "nn/t5.hpp"

#include <algorithm>  // clamp, sort
#include <cmath>      // lround
#include <iterator>   // ssize

#include "core/error.hpp"

namespace attn {
namespace {

// `total` cut into `parts` pieces of at least 1, each way equally likely: chooses cuts among total - 1 gaps.
std::vector<Index> random_pieces(Index total, Index parts, Rng& rng) {
  std::vector<Index> gaps, pieces;
  for (Index i = 1; i < total; ++i) gaps.push_back(i);
  for (Index i = 0; i + 1 < parts; ++i) std::swap(gaps[i], gaps[i + rng.below(total - 1 - i)]);
  gaps.resize(parts - 1);
  std::sort(gaps.begin(), gaps.end());
  Index before = 0;
  for (const Index cut : gaps) pieces.push_back(cut - before), before = cut;
  pieces.push_back(total - before);
  return pieces;
}

}  // namespace

TransformerConfig t5_config(const T5Size& size) {
  return {.source_vocabulary = size.vocabulary,
          .vocabulary = size.vocabulary,
          .d_model = size.d_model,
          .heads = size.heads,
          .encoder_layers = size.layers,
          .decoder_layers = size.layers,
          .d_ff = 4 * size.d_model,
          .positions = Positions::t5,
          .pre_norm = true,
          .norm = NormKind::rms,
          .bias = false,
          .scale_scores = false,
          .share_embeddings = true};
}

Corrupted corrupt_spans(const std::vector<int>& tokens, const CorruptionOptions& options, Rng& rng) {
  const Index length = std::ssize(tokens);
  if (length < 2) fail("corrupt_spans: a text of {} tokens is too short to remove a span", length);
  const Index removed = std::clamp<Index>(std::lround(double(length) * options.fraction), 1, length - 1);
  const Index kept = length - removed;
  Index spans = std::max<Index>(1, std::lround(double(removed) / options.mean_length));
  spans = std::min({spans, removed, kept});
  if (spans + 1 > options.sentinels)
    fail("corrupt_spans: {} spans need more than {} sentinels", spans, options.sentinels);

  // Kept and removed pieces alternate, a kept one first.
  const std::vector<Index> kept_pieces = random_pieces(kept, spans, rng),
                           removed_pieces = random_pieces(removed, spans, rng);
  Corrupted out;
  auto next = tokens.begin();
  for (Index span = 0; span < spans; ++span) {
    const int sentinel = options.first_sentinel + int(span);
    const auto begin = next + kept_pieces[span], end = begin + removed_pieces[span];
    out.input.insert(out.input.end(), next, begin);
    out.input.push_back(sentinel);
    out.target.push_back(sentinel);
    out.target.insert(out.target.end(), begin, end);
    next = end;
  }
  out.target.push_back(options.first_sentinel + int(spans));
  return out;
}

std::vector<int> restore_spans(const Corrupted& corrupted, const CorruptionOptions& options) {
  const auto is_sentinel = [&](int token) {
    return token >= options.first_sentinel && token < options.first_sentinel + options.sentinels;
  };
  std::vector<int> text;
  auto span = corrupted.target.begin();
  const auto end = corrupted.target.end();
  for (const int token : corrupted.input) {
    if (!is_sentinel(token)) {
      text.push_back(token);
      continue;
    }
    if (span == end || *span != token) fail("restore_spans: the target has no span for sentinel {}", token);
    for (++span; span != end && !is_sentinel(*span); ++span) text.push_back(*span);
  }
  if (span == end || span + 1 != end)
    fail("restore_spans: the target does not end with one closing sentinel");
  return text;
}

}  // namespace attn
