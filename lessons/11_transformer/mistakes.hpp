// The wrong answers to exercise 11 that the grader knows by name.
#pragma once

#include "lessons/11_transformer/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
IntTensor shift_targets(const IntTensor& target, int start);
Tensor visible_keys(Index T, Index S, Index length, bool causal);
Tensor encoder_layer(const Tensor& x, Index length, const EncoderWeights& w);
Tensor decoder_layer(const Tensor& y, const Tensor& memory, Index source_length, const DecoderWeights& w);
Index count_parameters(Index V, Index C, Index heads, Index F, Index N);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::DecoderWeights;
using exercise::EncoderWeights;
using exercise::feed;
using exercise::look;
using exercise::normalise;

inline const coach::Mistakes<decltype(exercise::shift_targets)> shift_targets = {
    {.name = "no shift",
     .why = "The decoder reads at place t the very word that it has to write there: it learns to copy its "
            "input, its loss is falsely perfect, and it can write nothing.",
     .where = "Shifted targets",
     .answer = [](const IntTensor& target, int) { return target; }},
    {.name = "shifted to the left",
     .why = "At place t stands the word after the one to be written: the decoder would read the future.",
     .where = "Shifted targets",
     .answer =
         [](const IntTensor& target, int start) {
           const Index T = target.shape()[1];
           IntTensor out(target.shape());
           for (Index b = 0; b < target.shape()[0]; ++b)
             for (Index t = 0; t < T; ++t) out(b, t) = t + 1 < T ? target(b, t + 1) : start;
           return out;
         }},
    {.name = "the last token comes around to the front",
     .why = "The first thing the decoder reads is the end of the sentence that it has to write. Before the "
            "first word there is nothing but the start token.",
     .where = "Shifted targets",
     .answer =
         [](const IntTensor& target, int) {
           const Index T = target.shape()[1];
           IntTensor out(target.shape());
           for (Index b = 0; b < target.shape()[0]; ++b)
             for (Index t = 0; t < T; ++t) out(b, t) = target(b, (t + T - 1) % T);
           return out;
         }},
    {.name = "one token too long",
     .why = "The last token of the target is still there: T + 1 tokens are read, T are to be written. What "
            "comes after the last token is never asked.",
     .where = "Shifted targets",
     .answer =
         [](const IntTensor& target, int start) {
           const Index B = target.shape()[0], T = target.shape()[1];
           IntTensor out({B, T + 1});
           for (Index b = 0; b < B; ++b)
             for (Index t = 0; t <= T; ++t) out(b, t) = t == 0 ? start : target(b, t - 1);
           return out;
         }},
    {.name = "the first token overwritten",
     .why = "The start token took the place of the first word, and nothing moved: from place 1 on the "
            "decoder still reads what it has to write.",
     .where = "Shifted targets",
     .answer =
         [](const IntTensor& target, int start) {
           IntTensor out(target.shape(), target.values());
           for (Index b = 0; b < target.shape()[0]; ++b) out(b, 0) = start;
           return out;
         }},
    {.name = "rows run into each other",
     .why = "The table was shifted as one long line: a row now begins with the last token of the row before. "
            "Each sentence has its own start.",
     .where = "Shifted targets",
     .answer =
         [](const IntTensor& target, int start) {
           IntTensor out(target.shape());
           for (Index i = 0; i < target.numel(); ++i) out[i] = i == 0 ? start : target[i - 1];
           return out;
         }},
    {.name = "overwritten while it is read",
     .why = "Moving the tokens to the right in place, from the left, copies the first one everywhere: each "
            "step reads what the step before has just written.",
     .where = "Shifted targets",
     .answer =
         [](const IntTensor& target, int start) {
           IntTensor out(target.shape(), target.values());
           for (Index b = 0; b < target.shape()[0]; ++b) {
             for (Index t = 1; t < target.shape()[1]; ++t) out(b, t) = out(b, t - 1);
             out(b, 0) = start;
           }
           return out;
         }},
    {.name = "1 for the start token",
     .why = "The start token is an argument: it is 1 in the example only.",
     .where = "Shifted targets",
     .answer =
         [](const IntTensor& target, int) {
           IntTensor out(target.shape());
           for (Index b = 0; b < target.shape()[0]; ++b)
             for (Index t = 0; t < target.shape()[1]; ++t) out(b, t) = t == 0 ? 1 : target(b, t - 1);
           return out;
         }},
};

// 1 where `rule` allows it.
template <class Rule>
Tensor seen_if(Index T, Index S, const Rule& rule) {
  Tensor seen = zeros({T, S});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < S; ++j) seen(i, j) = rule(i, j);
  return seen;
}
inline Tensor everything(Index T, Index S) { return ones({T, S}); }
inline Tensor real_keys(Index T, Index S, Index length) {
  return seen_if(T, S, [=](Index, Index j) { return j < length; });
}
inline Tensor past(Index T, Index S) {
  return seen_if(T, S, [](Index i, Index j) { return j <= i; });
}

inline const coach::Mistakes<decltype(exercise::visible_keys)> visible_keys = {
    {.name = "padding not masked",
     .why = "Keys from `length` on are no words. Whoever sees them lets the length of the batch's longest "
            "sentence change the meaning of the others.",
     .where = "Three attentions, three views",
     .answer = [](Index T, Index S, Index, bool causal) { return causal ? past(T, S) : everything(T, S); }},
    {.name = "always causal",
     .why = "The encoder may look both ways: the whole source is there from the start. Only the decoder's "
            "own words are written one after the other.",
     .where = "Three attentions, three views",
     .answer = [](Index T, Index S, Index length,
                  bool) { return seen_if(T, S, [=](Index i, Index j) { return j < length && j <= i; }); }},
    {.name = "never causal",
     .why = "`causal` has no effect: every query sees the words that it is supposed to guess.",
     .where = "Three attentions, three views",
     .answer = [](Index T, Index S, Index length, bool) { return real_keys(T, S, length); }},
    {.name = "a token that cannot see itself",
     .why = "j < i hides the token's own place; the first query is left with nothing to see. What it has "
            "read itself is no secret.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           return seen_if(T, S, [=](Index i, Index j) { return j < length && (!causal || j < i); });
         }},
    {.name = "query rows hidden instead of key columns",
     .why = "Padding must not be looked at: that hides columns. Hiding rows leaves the padded queries blind "
            "and lets all others see the padding.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           return seen_if(T, S, [=](Index i, Index j) { return i < length && (!causal || j <= i); });
         }},
    {.name = "the other way round: 1 for hidden",
     .why = "Here 1 means seen. Some libraries mark what is hidden instead; mixing the two up shows exactly "
            "the wrong keys.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           return seen_if(T, S, [=](Index i, Index j) { return !(j < length && (!causal || j <= i)); });
         }},
    {.name = "the future seen, the past hidden",
     .why = "j ≥ i lets a word see itself and what comes after: the mask is transposed.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           return seen_if(T, S, [=](Index i, Index j) { return j < length && (!causal || j >= i); });
         }},
    {.name = "one key of padding seen",
     .why = "j ≤ length is one too many: the real keys are 0 … length − 1.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           return seen_if(T, S, [=](Index i, Index j) { return j <= length && (!causal || j <= i); });
         }},
    {.name = "nothing hidden",
     .why = "Everything is visible: padding, and the future.",
     .where = "Three attentions, three views",
     .answer = [](Index T, Index S, Index, bool) { return everything(T, S); }},
    {.name = "a token that sees its successor",
     .why = "Off by one: j ≤ i + 1 shows each token the one that it has to write.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           return seen_if(T, S, [=](Index i, Index j) { return j < length && (!causal || j <= i + 1); });
         }},
    {.name = "padding rows hidden, too",
     .why = "Queries of padding keep their rows: nobody reads what they compute. And in cross-attention the "
            "queries are other words than the keys.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           return seen_if(T, S,
                          [=](Index i, Index j) { return i < length && j < length && (!causal || j <= i); });
         }},
    {.name = "padding forgotten where it is causal",
     .why = "Both rules hold at once: what is not in the future may still be padding.",
     .where = "Three attentions, three views",
     .answer = [](Index T, Index S, Index length,
                  bool causal) { return causal ? past(T, S) : real_keys(T, S, length); }},
    {.name = "the last word hidden",
     .why = "j < length − 1 is one too few: the real keys are 0 … length − 1.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           return seen_if(T, S, [=](Index i, Index j) { return j < length - 1 && (!causal || j <= i); });
         }},
    {.name = "0 and −∞",
     .why = "That is what is added to the scores in the end. Here 1 is seen and 0 hidden.",
     .where = "Three attentions, three views",
     .answer =
         [](Index T, Index S, Index length, bool causal) {
           Tensor seen = seen_if(T, S, [=](Index i, Index j) { return j < length && (!causal || j <= i); });
           for (Index i = 0; i < seen.numel(); ++i)
             seen.data()[i] = seen.data()[i] != 0 ? 0 : -std::numeric_limits<real>::infinity();
           return seen;
         }},
};

inline Tensor encode_with(const Tensor& x, const Tensor& seen, const EncoderWeights& w) {
  const Tensor h = normalise(x + look(x, x, seen, w.self));
  return normalise(h + feed(h, w.feed));
}
inline Tensor source_mask(const Tensor& x, Index length) { return real_keys(x.size(0), x.size(0), length); }

inline const coach::Mistakes<decltype(exercise::encoder_layer)> encoder_layer = {
    {.name = "causal mask on the encoder",
     .why = "The whole source is known before the first word is written, so each of its words may look both "
            "ways. A causal encoder reads `bank` without what follows.",
     .where = "Three attentions, three views",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           return encode_with(
               x, seen_if(x.size(0), x.size(0), [=](Index i, Index j) { return j < length && j <= i; }), w);
         }},
    {.name = "source padding not masked",
     .why = "The words from `length` on are only there to make the batch a rectangle; here they are looked "
            "at like words.",
     .where = "Three attentions, three views",
     .answer = [](const Tensor& x, Index,
                  const EncoderWeights& w) { return encode_with(x, everything(x.size(0), x.size(0)), w); }},
    {.name = "no residuals",
     .why = "Only what the sublayers made is handed on; what came in is lost. The sums are the straight way "
            "through the depth, for the words and for the gradients.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           return normalise(feed(normalise(look(x, x, source_mask(x, length), w.self)), w.feed));
         }},
    {.name = "pre-norm, the other convention",
     .why = "x + f(LN(x)) is what most models do today and trains better when deep, but it is not the "
            "paper's LN(x + f(x)), and weights of one do not fit the other.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           const Tensor n = normalise(x);
           const Tensor h = x + look(n, n, source_mask(x, length), w.self);
           return h + feed(normalise(h), w.feed);
         }},
    {.name = "normalised before the sum",
     .why = "x + LN(f(x)) normalises the change only: the sums grow from layer to layer. The norm is around "
            "the sum.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           const Tensor h = x + normalise(look(x, x, source_mask(x, length), w.self));
           return h + normalise(feed(h, w.feed));
         }},
    {.name = "the second residual from the input",
     .why = "The feed-forward's result is added to x instead of to the result of the first sublayer, which "
            "then goes only through the feed-forward.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           const Tensor h = normalise(x + look(x, x, source_mask(x, length), w.self));
           return normalise(x + feed(h, w.feed));
         }},
    {.name = "no feed-forward",
     .why = "The layer ends after attention, which only averages. The feed-forward is where each word is "
            "worked on.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           return normalise(x + look(x, x, source_mask(x, length), w.self));
         }},
    {.name = "feed-forward first",
     .why = "First the words look at each other, then each works on what it has seen. Here the order is "
            "reversed.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           const Tensor h = normalise(x + feed(x, w.feed));
           return normalise(h + look(h, h, source_mask(x, length), w.self));
         }},
    {.name = "only one norm",
     .why = "The sum after attention is not normalised. Every sublayer has its own norm.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           const Tensor h = x + look(x, x, source_mask(x, length), w.self);
           return normalise(h + feed(h, w.feed));
         }},
    {.name = "no norms",
     .why = "Nothing is normalised: the sums grow with every layer.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           const Tensor h = x + look(x, x, source_mask(x, length), w.self);
           return h + feed(h, w.feed);
         }},
    {.name = "the feed-forward reads the input",
     .why = "The feed-forward was given x instead of what attention had made of it.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           const Tensor h = normalise(x + look(x, x, source_mask(x, length), w.self));
           return normalise(h + feed(x, w.feed));
         }},
    {.name = "the last norm forgotten",
     .why = "The sum after the feed-forward is not normalised. Every sublayer has its own norm.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& x, Index length, const EncoderWeights& w) {
           const Tensor h = normalise(x + look(x, x, source_mask(x, length), w.self));
           return h + feed(h, w.feed);
         }},
    {.name = "the input normalised first",
     .why = "x was normalised before it went in. In the paper's layer a norm stands behind each sum, and "
            "nowhere else.",
     .where = "Two kinds of layer",
     .answer = [](const Tensor& x, Index length,
                  const EncoderWeights& w) { return encode_with(normalise(x), source_mask(x, length), w); }},
};

inline Tensor look_back(const Tensor& y, const DecoderWeights& w) {
  return normalise(y + look(y, y, past(y.size(0), y.size(0)), w.self));
}
inline Tensor think(const Tensor& y, const DecoderWeights& w) { return normalise(y + feed(y, w.feed)); }
inline Tensor cross_mask(const Tensor& y, const Tensor& memory, Index length) {
  return real_keys(y.size(0), memory.size(0), length);
}
inline Tensor look_across(const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
  return normalise(y + look(y, memory, cross_mask(y, memory, length), w.cross));
}

inline const coach::Mistakes<decltype(exercise::decoder_layer)> decoder_layer = {
    {.name = "cross-attention with the roles swapped",
     .why = "Here the source asks and the target answers, so that there is a row for each source word. The "
            "decoder asks: its words are the queries, the encoder gives keys and values.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor h = look_back(y, w);
           return think(normalise(h + look(memory, h, cross_mask(h, memory, length), w.cross)), w);
         }},
    {.name = "no causal mask",
     .why = "The decoder's self-attention sees the words that are still to be written: in training it copies "
            "them, and later they are not there.",
     .where = "Three attentions, three views",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor h = normalise(y + look(y, y, everything(y.size(0), y.size(0)), w.self));
           return think(look_across(h, memory, length, w), w);
         }},
    {.name = "source padding not masked",
     .why = "Cross-attention looks at words from `source_length` on, which are padding.",
     .where = "Three attentions, three views",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index, const DecoderWeights& w) {
           return think(look_across(look_back(y, w), memory, memory.size(0), w), w);
         }},
    {.name = "causal mask on the cross-attention",
     .why = "Target word i is kept from the source words after i. But the whole source is known, and the "
            "word wanted may well stand later in it.",
     .where = "Three attentions, three views",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor h = look_back(y, w);
           const Tensor seen =
               seen_if(y.size(0), memory.size(0), [=](Index i, Index j) { return j < length && j <= i; });
           return think(normalise(h + look(h, memory, seen, w.cross)), w);
         }},
    {.name = "no cross-attention",
     .why = "The decoder never looks at the source: it writes well-formed sentences about something else.",
     .where = "Two kinds of layer",
     .answer = [](const Tensor& y, const Tensor&, Index,
                  const DecoderWeights& w) { return think(look_back(y, w), w); }},
    {.name = "cross-attention before self-attention",
     .why = "First the decoder looks back at what is written, then it knows what to ask the source for.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           return think(look_back(look_across(y, memory, length, w), w), w);
         }},
    {.name = "one set of weights for both attentions",
     .why = "Cross-attention used w.self. Looking back and looking at the source are two questions, with "
            "their own matrices.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor h = look_back(y, w);
           return think(normalise(h + look(h, memory, cross_mask(h, memory, length), w.self)), w);
         }},
    {.name = "cross-attention asked by the raw input",
     .why = "The queries come from y instead of from what self-attention made of it: a word asks the source "
            "without knowing what stands before it.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor h = look_back(y, w);
           return think(normalise(h + look(y, memory, cross_mask(y, memory, length), w.cross)), w);
         }},
    {.name = "no residuals",
     .why = "Each sublayer hands on only what it made itself. After cross-attention nothing is left of the "
            "target's own words.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor h = normalise(look(y, y, past(y.size(0), y.size(0)), w.self));
           const Tensor g = normalise(look(h, memory, cross_mask(h, memory, length), w.cross));
           return normalise(feed(g, w.feed));
         }},
    {.name = "no feed-forward",
     .why = "The layer ends after cross-attention. The feed-forward is where each word is worked on.",
     .where = "Two kinds of layer",
     .answer = [](const Tensor& y, const Tensor& memory, Index length,
                  const DecoderWeights& w) { return look_across(look_back(y, w), memory, length, w); }},
    {.name = "pre-norm, the other convention",
     .why = "x + f(LN(x)) is what most models do today, but not the paper's LN(x + f(x)), and weights of one "
            "do not fit the other.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor n = normalise(y), h = y + look(n, n, past(y.size(0), y.size(0)), w.self);
           const Tensor g = h + look(normalise(h), memory, cross_mask(h, memory, length), w.cross);
           return g + feed(normalise(g), w.feed);
         }},
    {.name = "only one norm",
     .why = "Only the last sum is normalised. Each of the three sublayers has its own norm.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor h = y + look(y, y, past(y.size(0), y.size(0)), w.self);
           return think(h + look(h, memory, cross_mask(h, memory, length), w.cross), w);
         }},
    {.name = "the second residual from the input",
     .why = "What cross-attention found is added to y instead of to what self-attention had made of it.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor h = look_back(y, w);
           return think(normalise(y + look(h, memory, cross_mask(h, memory, length), w.cross)), w);
         }},
    {.name = "the two sets of weights exchanged",
     .why = "w.self belongs to the masked self-attention and w.cross to the look at the source.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const DecoderWeights exchanged{w.cross, w.self, w.feed};
           return think(look_across(look_back(y, exchanged), memory, length, exchanged), exchanged);
         }},
    {.name = "the source's length for the target",
     .why = "source_length says how long the source is. It hides keys in the cross-attention; the target has "
            "no padding.",
     .where = "Three attentions, three views",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           const Tensor seen =
               seen_if(y.size(0), y.size(0), [=](Index i, Index j) { return j < length && j <= i; });
           const Tensor h = normalise(y + look(y, y, seen, w.self));
           return think(look_across(h, memory, memory.size(0), w), w);
         }},
    {.name = "both attentions side by side",
     .why = "Both read y, and one norm stands behind the sum. The decoder first looks back, then it knows "
            "what to ask the source for.",
     .where = "Two kinds of layer",
     .answer =
         [](const Tensor& y, const Tensor& memory, Index length, const DecoderWeights& w) {
           return think(normalise(y + look(y, y, past(y.size(0), y.size(0)), w.self) +
                                  look(y, memory, cross_mask(y, memory, length), w.cross)),
                        w);
         }},
};

inline Index attention_size(Index C) { return 4 * (C * C + C); }
inline Index feed_size(Index C, Index F) { return 2 * C * F + C + F; }

inline const coach::Mistakes<decltype(exercise::count_parameters)> count_parameters = {
    {.name = "the embedding counted three times",
     .why = "Source, target and output use one table: tied weights are learned, and counted, once.",
     .where = "Tied embeddings",
     .answer =
         [](Index V, Index C, Index, Index F, Index N) {
           return 3 * V * C + N * (3 * attention_size(C) + 2 * feed_size(C, F) + 10 * C);
         }},
    {.name = "the embedding counted twice",
     .why =
         "Source and target share one table here, and the output projection is the same table, transposed.",
     .where = "Tied embeddings",
     .answer =
         [](Index V, Index C, Index, Index F, Index N) {
           return 2 * V * C + N * (3 * attention_size(C) + 2 * feed_size(C, F) + 10 * C);
         }},
    {.name = "no biases",
     .why = "Every matrix has a bias, one number for each output. They are few, but they are learned.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (12 * C * C + 4 * C * F + 10 * C); }},
    {.name = "cross-attention forgotten",
     .why =
         "A decoder layer has two attentions, its own and the one that looks at the source, and three norms.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (2 * attention_size(C) + 2 * feed_size(C, F) + 8 * C); }},
    {.name = "attention multiplied by the heads",
     .why = "A head is C / H columns of the same four matrices: more heads cut them finer and add nothing.",
     .where = "63,082,496 numbers",
     .answer =
         [](Index V, Index C, Index heads, Index F, Index N) {
           return V * C + N * (3 * heads * attention_size(C) + 2 * feed_size(C, F) + 10 * C);
         }},
    {.name = "norms forgotten",
     .why = "Each norm learns a gain and a bias for every channel.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (3 * attention_size(C) + 2 * feed_size(C, F)); }},
    {.name = "final norms counted",
     .why = "A norm at the end of each stack belongs to the pre-norm models; post-norm layers end with one "
            "already.",
     .where = "63,082,496 numbers",
     .answer =
         [](Index V, Index C, Index, Index F, Index N) {
           return V * C + N * (3 * attention_size(C) + 2 * feed_size(C, F) + 10 * C) + 4 * C;
         }},
    {.name = "no W_O",
     .why = "An attention has four matrices: queries, keys, values, and the output that mixes the heads.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (9 * (C * C + C) + 2 * feed_size(C, F) + 10 * C); }},
    {.name = "one layer only",
     .why = "Each of the N layers has weights of its own.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index) { return V * C + 3 * attention_size(C) + 2 * feed_size(C, F) + 10 * C; }},
    {.name = "two norms in each layer",
     .why = "A decoder layer has three sublayers and so three norms.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (3 * attention_size(C) + 2 * feed_size(C, F) + 8 * C); }},
    {.name = "norms of one vector",
     .why = "A norm learns two numbers a channel: a gain and a bias.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (3 * attention_size(C) + 2 * feed_size(C, F) + 5 * C); }},
    {.name = "no biases in the feed-forward",
     .why = "Both of its matrices have a bias: F numbers behind the first and C behind the second.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (3 * attention_size(C) + 4 * C * F + 10 * C); }},
    {.name = "no biases in the attention",
     .why = "Each of its four matrices has a bias of C numbers.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (12 * C * C + 2 * feed_size(C, F) + 10 * C); }},
    {.name = "the embedding forgotten",
     .why = "The table of V × C numbers is learned like everything else: here it is nearly a third of the "
            "model.",
     .where = "Tied embeddings",
     .answer = [](Index, Index C, Index, Index F,
                  Index N) { return N * (3 * attention_size(C) + 2 * feed_size(C, F) + 10 * C); }},
    {.name = "the encoder only",
     .why = "N encoder layers and N decoder layers: the decoder's are missing.",
     .where = "63,082,496 numbers",
     .answer = [](Index V, Index C, Index, Index F,
                  Index N) { return V * C + N * (attention_size(C) + feed_size(C, F) + 4 * C); }},
    {.name = "a bias for each word",
     .why = "The output is the embedding, transposed, and nothing is added to it.",
     .where = "Tied embeddings",
     .answer =
         [](Index V, Index C, Index, Index F, Index N) {
           return V * C + V + N * (3 * attention_size(C) + 2 * feed_size(C, F) + 10 * C);
         }},
};

}  // namespace mistakes
