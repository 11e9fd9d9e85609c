// The wrong answers to exercise 11 that the grader knows by name: shifted targets and masks.
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

}  // namespace mistakes
