// The wrong answers to exercise 11 that the grader knows by name. Here the layers and their size; shifted
// targets and masks in mistakes_masks.hpp.
#pragma once

#include "lessons/11_transformer/mistakes_masks.hpp"

namespace mistakes {

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
