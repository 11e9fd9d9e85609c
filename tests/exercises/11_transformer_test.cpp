// Grades exercise 11. The right answers are plain loops, to be read beside the lesson.
#include "mistakes/11_transformer.hpp"  // made from mistakes.diff

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::AttentionWeights;
using exercise::DecoderWeights;
using exercise::EncoderWeights;
using exercise::FeedForwardWeights;

namespace oracle {

IntTensor shift_targets(const IntTensor& target, int start) {
  const Index B = target.shape()[0], T = target.shape()[1];
  IntTensor out(target.shape());
  for (Index b = 0; b < B; ++b) {
    out(b, 0) = start;
    for (Index t = 1; t < T; ++t) out(b, t) = target(b, t - 1);
  }
  return out;
}

Tensor visible_keys(Index T, Index S, Index length, bool causal) {
  Tensor seen = zeros({T, S});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < length; ++j)
      if (!causal || j <= i) seen(i, j) = 1;
  return seen;
}

Tensor product(const Tensor& a, const Tensor& b) {
  Tensor out = zeros({a.size(0), b.size(1)});
  for (Index i = 0; i < a.size(0); ++i)
    for (Index k = 0; k < a.size(1); ++k)
      for (Index j = 0; j < b.size(1); ++j) out(i, j) += a(i, k) * b(k, j);
  return out;
}

Tensor look_by_loops(const Tensor& asking, const Tensor& answering, const Tensor& seen,
                     const AttentionWeights& w) {
  const Tensor q = product(asking, w.query), k = product(answering, w.key), v = product(answering, w.value);
  Tensor mixed = zeros({q.size(0), v.size(1)});
  for (Index i = 0; i < q.size(0); ++i) {
    std::vector<real> weights(static_cast<std::size_t>(k.size(0)), 0);
    real sum = 0;
    for (Index j = 0; j < k.size(0); ++j) {
      if (seen(i, j) == 0) continue;
      real score = 0;
      for (Index d = 0; d < q.size(1); ++d) score += q(i, d) * k(j, d);
      sum += weights[static_cast<std::size_t>(j)] = std::exp(score / std::sqrt(real(q.size(1))));
    }
    for (Index j = 0; j < k.size(0); ++j)
      for (Index d = 0; d < v.size(1); ++d)
        mixed(i, d) += weights[static_cast<std::size_t>(j)] / sum * v(j, d);
  }
  return product(mixed, w.output);
}

Tensor feed_by_loops(const Tensor& x, const FeedForwardWeights& w) {
  Tensor hidden = product(x, w.first);
  for (Index i = 0; i < hidden.numel(); ++i) hidden.data()[i] = std::max(hidden.data()[i], real(0));
  return product(hidden, w.second);
}

Tensor add_and_norm(const Tensor& x, const Tensor& change) {
  Tensor out = empty(x.shape());
  for (Index i = 0; i < x.size(0); ++i) {
    real mean = 0, variance = 0;
    for (Index c = 0; c < x.size(1); ++c) mean += (x(i, c) + change(i, c)) / real(x.size(1));
    for (Index c = 0; c < x.size(1); ++c)
      variance += std::pow(x(i, c) + change(i, c) - mean, real(2)) / real(x.size(1));
    for (Index c = 0; c < x.size(1); ++c)
      out(i, c) = (x(i, c) + change(i, c) - mean) / std::sqrt(variance + real(1e-5));
  }
  return out;
}

Tensor encoder_layer(const Tensor& x, Index length, const EncoderWeights& w) {
  const Tensor h =
      add_and_norm(x, look_by_loops(x, x, visible_keys(x.size(0), x.size(0), length, false), w.self));
  return add_and_norm(h, feed_by_loops(h, w.feed));
}

Tensor decoder_layer(const Tensor& y, const Tensor& memory, Index source_length, const DecoderWeights& w) {
  const Index T = y.size(0), S = memory.size(0);
  const Tensor h = add_and_norm(y, look_by_loops(y, y, visible_keys(T, T, T, true), w.self));
  const Tensor g =
      add_and_norm(h, look_by_loops(h, memory, visible_keys(T, S, source_length, false), w.cross));
  return add_and_norm(g, feed_by_loops(g, w.feed));
}

Index count_parameters(Index V, Index C, Index, Index F, Index N) {
  Index count = V * C;
  for (Index layer = 0; layer < N; ++layer)
    for (const Index attentions : {1, 2}) {               // encoder, decoder
      count += attentions * (4 * C * C + 4 * C + 2 * C);  // each with its norm
      count += C * F + F + F * C + C + 2 * C;             // and the feed-forward with its own
    }
  return count;
}

}  // namespace oracle

namespace {

AttentionWeights attention_weights(Index C, Rng& rng) {
  AttentionWeights w;
  for (Tensor* matrix : {&w.query, &w.key, &w.value, &w.output}) *matrix = coach::tidy({C, C}, rng);
  return w;
}
FeedForwardWeights feed_weights(Index C, Index F, Rng& rng) {
  return {coach::tidy({C, F}, rng), coach::tidy({F, C}, rng)};
}
EncoderWeights encoder_weights(Index C, Index F, Rng& rng) {
  EncoderWeights w;
  w.self = attention_weights(C, rng);
  w.feed = feed_weights(C, F, rng);
  return w;
}
DecoderWeights decoder_weights(Index C, Index F, Rng& rng) {
  DecoderWeights w;
  w.self = attention_weights(C, rng);
  w.cross = attention_weights(C, rng);
  w.feed = feed_weights(C, F, rng);
  return w;
}
IntTensor tokens(const Shape& shape, Rng& rng) {
  IntTensor out(shape);
  for (Index i = 0; i < out.numel(); ++i) out[i] = static_cast<int>(3 + 10 * i + rng.below(10));
  return out;
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "11_transformer",
      {Question<decltype(exercise::shift_targets)>{
           .name = "shift_targets",
           .answer = exercise::shift_targets,
           .oracle = oracle::shift_targets,
           .arguments = {"target", "start"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::shift_targets)> {
             return {{tokens({1, 3}, rng), 1},
                     {tokens({2, 3}, rng), 1},
                     {tokens({3, 1}, rng), 2},
                     {tokens({3, 5}, rng), 0}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::shift_targets)> {
             return {tokens({draw.size(), draw.size()}, draw.rng), int(draw.rng.below(3))};
           },
           .mistakes = mistakes::shift_targets,
           .notice = "One pass through the decoder now trains T guesses at once: that is teacher forcing "
                     "(lesson 12)."},
       Question<decltype(exercise::visible_keys)>{
           .name = "visible_keys",
           .answer = exercise::visible_keys,
           .oracle = oracle::visible_keys,
           .arguments = {"T", "S", "length", "causal"},
           .cases = [](Rng&) -> Cases<decltype(exercise::visible_keys)> {
             return {{2, 3, 2, false}, {3, 3, 3, true},  {2, 5, 3, false}, {5, 5, 3, true},
                     {7, 4, 4, false}, {5, 3, 1, false}, {2, 4, 4, true},  {4, 2, 2, true}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::visible_keys)> {
             const Index T = draw.size(), S = draw.size();
             return {T, S, draw.between(0, S), draw.coin()};
           },
           .mistakes = mistakes::visible_keys,
           .notice = "The same function serves all three attentions: only its arguments differ."},
       Question<decltype(exercise::encoder_layer)>{
           .name = "encoder_layer",
           .answer = exercise::encoder_layer,
           .oracle = oracle::encoder_layer,
           .arguments = {"x", "length", "w"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::encoder_layer)> {
             return {{tidy({2, 3}, rng), 2, encoder_weights(3, 2, rng)},
                     {tidy({3, 3}, rng), 2, encoder_weights(3, 2, rng)},
                     {normal({5, 6}, rng), 3, encoder_weights(6, 7, rng)},
                     {normal({7, 5}, rng), 7, encoder_weights(5, 3, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::encoder_layer)> {
             const Index S = draw.size(), C = draw.size(2), F = draw.size();
             return {draw.tidy({S, C}), draw.between(1, S), encoder_weights(C, F, draw.rng)};
           },
           .mistakes = mistakes::encoder_layer,
           .notice =
               "The shape did not change, so the output of one layer is the input of the next: N times."},
       Question<decltype(exercise::decoder_layer)>{
           .name = "decoder_layer",
           .answer = exercise::decoder_layer,
           .oracle = oracle::decoder_layer,
           .arguments = {"y", "memory", "source_length", "w"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::decoder_layer)> {
             return {{tidy({2, 3}, rng), tidy({2, 3}, rng), 2, decoder_weights(3, 2, rng)},
                     {tidy({3, 3}, rng), tidy({3, 3}, rng), 3, decoder_weights(3, 2, rng)},
                     {normal({3, 6}, rng), normal({5, 6}, rng), 4, decoder_weights(6, 7, rng)},
                     {normal({7, 5}, rng), normal({3, 5}, rng), 2, decoder_weights(5, 3, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::decoder_layer)> {
             const Index T = draw.size(), S = draw.size(), C = draw.size(2), F = draw.size();
             return {draw.tidy({T, C}), draw.tidy({S, C}), draw.between(1, S),
                     decoder_weights(C, F, draw.rng)};
           },
           .mistakes = mistakes::decoder_layer,
           .notice = "The rows of the result are target words, however long the source is: the source "
                     "only answers."},
       Question<decltype(exercise::count_parameters)>{
           .name = "count_parameters",
           .answer = exercise::count_parameters,
           .oracle = oracle::count_parameters,
           .arguments = {"V", "C", "heads", "F", "N"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::count_parameters)> {
             return {{10, 4, 2, 8, 1},
                     {10, 6, 3, 5, 2},
                     {37000, 512, 8, 2048, 6},
                     {100 + rng.below(50), 15, 5, 30 + rng.below(10), 3}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::count_parameters)> {
             const Index heads = draw.between(1, 16);
             return {draw.count(200000), heads * draw.count(1000), heads, draw.count(50000), draw.count(100)};
           },
           .mistakes = mistakes::count_parameters,
           .notice = "63,082,496 for the base model. The paper prints 65 million: its vocabulary is only "
                     "given as about 37,000."}}};
}
