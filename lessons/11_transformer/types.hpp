// What the functions of exercise 11 take, and the three parts that are there already. One head, no biases.
#pragma once

#include "lessons/coach/exercise.hpp"
#include "lessons/coach/value.hpp"

namespace exercise {

struct AttentionWeights {
  Tensor query, key, value, output;  // (C, C) each
};
struct FeedForwardWeights {
  Tensor first, second;  // (C, F), (F, C)
};
struct EncoderWeights {
  AttentionWeights self;
  FeedForwardWeights feed;
};
struct DecoderWeights {
  AttentionWeights self, cross;
  FeedForwardWeights feed;
};

#ifdef ATTN_MINE  // in a milestone these three are made of the learner's own parts: lessons/mine/exports

Tensor look(const Tensor& asking, const Tensor& answering, const Tensor& visible, const AttentionWeights& w);
Tensor feed(const Tensor& x, const FeedForwardWeights& w);
Tensor normalise(const Tensor& x);

#else

// Attention, lessons 06 and 07: the rows of `asking` are the queries, the rows of `answering` give keys and
// values. `visible` has a row for each query and a column for each key: 1 may be seen, 0 not.
//   asking (T,C), answering (S,C), visible (T,S) -> (T,C)
inline Tensor look(const Tensor& asking, const Tensor& answering, const Tensor& visible,
                   const AttentionWeights& w) {
  if (visible.shape() != Shape{asking.size(0), answering.size(0)})
    throw std::invalid_argument("look: `visible` must have a row for each query and a column for each key");
  const Tensor q = matmul(asking, w.query), k = matmul(answering, w.key), v = matmul(answering, w.value);
  const Tensor scores = matmul(q, k, Transpose::second) / std::sqrt(static_cast<real>(q.size(1)));  // (T, S)
  const Tensor hidden = full({1}, -std::numeric_limits<real>::infinity());
  return matmul(matmul(softmax(where(visible, scores, hidden)), v), w.output);
}

// The feed-forward network, each row on its own: max(0, x W1) W2.
inline Tensor feed(const Tensor& x, const FeedForwardWeights& w) {
  return matmul(relu(matmul(x, w.first)), w.second);
}

// LayerNorm of each row, without gain and bias.
inline Tensor normalise(const Tensor& x) { return layer_norm(x, {}, {}); }

#endif

inline auto fields(AttentionWeights& w) {
  return std::tuple{coach::field("query", w.query), coach::field("key", w.key),
                    coach::field("value", w.value), coach::field("output", w.output)};
}
inline auto fields(FeedForwardWeights& w) {
  return std::tuple{coach::field("first", w.first), coach::field("second", w.second)};
}
inline auto fields(EncoderWeights& w) {
  return std::tuple{coach::field("self", w.self), coach::field("feed", w.feed)};
}
inline auto fields(DecoderWeights& w) {
  return std::tuple{coach::field("self", w.self), coach::field("cross", w.cross),
                    coach::field("feed", w.feed)};
}

}  // namespace exercise
