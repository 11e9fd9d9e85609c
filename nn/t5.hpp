// T5: an encoder-decoder that treats every task as text in, text out.
//
// The model is the Transformer of nn/transformer.hpp with T5's settings: RMSNorm before each sublayer, no
// biases in the linear layers, instead of positions a learned bias on the scores by distance (shared by all
// layers of a stack), no ÷√d_k, one embedding for source and target.
//
// It is pre-trained by span corruption: spans of the text are removed and each is replaced by a sentinel; the
// decoder writes each sentinel followed by the tokens it replaced, and one more sentinel at the end:
//
//   text     Thank you for inviting me to your party last week
//   input    Thank you <X> me to your party <Y>
//   target   <X> for inviting <Y> last week <Z>
#pragma once

#include "nn/transformer.hpp"

namespace attn {

struct T5Size {
  Index vocabulary, d_model = 128, heads = 4, layers = 2;
};
TransformerConfig t5_config(const T5Size& size);

struct Corrupted {
  std::vector<int> input, target;
};
struct CorruptionOptions {
  double fraction = 0.15;  // of the tokens, to be removed
  double mean_length = 3;  // of a span
  int first_sentinel = 0;  // sentinel i is first_sentinel + i
  Index sentinels = 100;   // how many there are
};
Corrupted corrupt_spans(const std::vector<int>& tokens, const CorruptionOptions& options, Rng& rng);

// The text again, with its spans in place. Throws if input and target do not belong together.
std::vector<int> restore_spans(const Corrupted& corrupted, const CorruptionOptions& options);

}  // namespace attn
