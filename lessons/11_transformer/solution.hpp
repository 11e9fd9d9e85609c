// Solution 11: the layers of a Transformer, what it reads, and how large it is.
#pragma once

#include "lessons/11_transformer/types.hpp"

namespace exercise {

// At place t the decoder has read everything before target t, and has to write target t.
IntTensor shift_targets(const IntTensor& target, int start) {
  IntTensor out(target.shape());
  for (Index b = 0; b < target.shape()[0]; ++b)
    for (Index t = 0; t < target.shape()[1]; ++t) out(b, t) = t == 0 ? start : target(b, t - 1);
  return out;
}

// Padding hides columns (keys), causality hides the triangle above the diagonal; both may hold at once.
Tensor visible_keys(Index T, Index S, Index length, bool causal) {
  Tensor seen = zeros({T, S});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < S; ++j) seen(i, j) = j < length && (!causal || j <= i);
  return seen;
}

// The residual of the second sublayer is the output of the first: each sublayer adds to what is there.
Tensor encoder_layer(const Tensor& x, Index length, const EncoderWeights& w) {
  const Tensor seen = visible_keys(x.size(0), x.size(0), length, false);  // (S, S)
  const Tensor h = normalise(x + look(x, x, seen, w.self));               // (S, C)
  return normalise(h + feed(h, w.feed));
}

// The target asks, the source answers: so the map of cross-attention is (T, S), and the result has a row for
// each target word. It is not causal, because the whole source is known from the start.
Tensor decoder_layer(const Tensor& y, const Tensor& memory, Index source_length, const DecoderWeights& w) {
  const Index T = y.size(0), S = memory.size(0);
  const Tensor h = normalise(y + look(y, y, visible_keys(T, T, T, true), w.self));
  const Tensor g = normalise(h + look(h, memory, visible_keys(T, S, source_length, false), w.cross));
  return normalise(g + feed(g, w.feed));
}

// An encoder layer has one attention and two norms, a decoder layer two and three. Heads only cut the same
// matrices into columns.
Index count_parameters(Index V, Index C, Index, Index F, Index N) {
  const Index attention = 4 * (C * C + C), feed_forward = C * F + F + F * C + C, norm = 2 * C;
  const Index encoder = attention + feed_forward + 2 * norm;
  const Index decoder = 2 * attention + feed_forward + 3 * norm;
  return V * C + N * (encoder + decoder);
}

}  // namespace exercise
