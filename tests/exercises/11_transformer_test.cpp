// Grades exercise 11. Where the library has a function, it is the right answer.
#include "mistakes/11_transformer.hpp"  // made from mistakes.diff

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::DecoderWeights;
using exercise::EncoderWeights;
using exercise::FeedForwardWeights;

namespace oracle {

IntTensor shift_targets(const IntTensor& target, int start) {
  IntTensor out(target.shape());
  for (Index b = 0; b < out.shape()[0]; ++b)
    for (Index t = 0; t < out.shape()[1]; ++t) out(b, t) = t > 0 ? target(b, t - 1) : start;
  return out;
}

Tensor visible_keys(Index T, Index S, Index length, bool causal) {
  Tensor seen = zeros({T, S});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < (causal ? std::min(length, i + 1) : length); ++j) seen(i, j) = 1;
  return seen;
}

// norm(x + what x finds in `memory`), norm(x + what the feed-forward network makes of x).
Tensor find(const Tensor& x, const Tensor& memory, const Mask& mask, const exercise::AttentionWeights& w) {
  const auto projected = [](const Tensor& y, const Tensor& matrix) {
    return reshape(matmul(y, matrix), {1, y.size(0), matrix.size(1)});
  };
  const Tensor found =
      attention(projected(x, w.query), projected(memory, w.key), projected(memory, w.value), {.mask = mask});
  return layer_norm(x + matmul(reshape(found, x.shape()), w.output), {}, {});
}
Tensor work(const Tensor& x, const FeedForwardWeights& w) {
  return layer_norm(x + matmul(relu(matmul(x, w.first)), w.second), {}, {});
}

Tensor encoder_layer(const Tensor& x, Index length, const EncoderWeights& w) {
  return work(find(x, x, {.key_lengths = IntTensor({1}, {int(length)})}, w.self), w.feed);
}

Tensor decoder_layer(const Tensor& y, const Tensor& memory, Index source_length, const DecoderWeights& w) {
  const Tensor h = find(y, y, {.causal = true}, w.self);
  return work(find(h, memory, {.key_lengths = IntTensor({1}, {int(source_length)})}, w.cross), w.feed);
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

exercise::AttentionWeights attention_weights(Index C, Rng& rng) {
  exercise::AttentionWeights w;
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
                     {100 + rng.below(50), 15, 5, 30 + rng.below(10), 3},
                     {200000, 12288, 96, 49152, 96}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::count_parameters)> {
             const Index heads = draw.between(1, 16);
             return {draw.count(200000), heads * draw.count(1000), heads, draw.count(50000), draw.count(100)};
           },
           .mistakes = mistakes::count_parameters,
           .notice = "63,082,496 for the base model. The paper prints 65 million: its vocabulary is only "
                     "given as about 37,000."}}};
}
