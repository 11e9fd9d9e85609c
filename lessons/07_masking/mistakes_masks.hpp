// The wrong answers to exercise 07 that the grader knows by name: the masks.
#pragma once

#include <functional>  // function

#include "lessons/coach/grading.hpp"

namespace exercise {
Tensor causal_mask(Index T);
Tensor padding_mask(const std::vector<int>& lengths, Index S);
Tensor decoder_mask(const std::vector<int>& lengths, Index T);
Tensor masked_softmax(const Tensor& scores, const Tensor& visible);
std::vector<int> leaking_tokens(const std::function<Tensor(const Tensor&)>& model, const Tensor& x);
}  // namespace exercise

namespace mistakes {

using namespace attn;

// A matrix of 1 where rule(i, j) holds and 0 elsewhere.
template <class Rule>
Tensor mask_where(Index rows, Index columns, const Rule& rule) {
  Tensor mask = empty({rows, columns});
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) mask(i, j) = rule(i, j) ? 1 : 0;
  return mask;
}

inline const coach::Mistakes<decltype(exercise::causal_mask)> causal_mask = {
    {.name = "a token that sees its successor",
     .why = "Off by one: j <= i + 1. The successor is the very token that has to be said, so training finds "
            "a falsely perfect loss and the model learns to copy.",
     .where = "What a leak does to training",
     .answer = [](Index T) { return mask_where(T, T, [](Index i, Index j) { return j <= i + 1; }); }},
    {.name = "a token that cannot see itself",
     .why = "The diagonal is hidden: j < i. A token is no secret to itself, and the first one would see "
            "nothing at all.",
     .where = "Hide, then share out",
     .answer = [](Index T) { return mask_where(T, T, [](Index i, Index j) { return j < i; }); }},
    {.name = "mask transposed",
     .why = "Rows are queries and columns are keys. Here each token sees itself and the future, and not the "
            "past.",
     .where = "Three ways that do not hide",
     .answer = [](Index T) { return mask_where(T, T, [](Index i, Index j) { return j >= i; }); }},
    {.name = "hidden marked instead of visible",
     .why = "1 stands for visible here. This mask has 1 where a key is to be hidden, so that only the future "
            "is seen (other libraries do mark what is hidden: always look).",
     .where = "Hide, then share out",
     .answer = [](Index T) { return mask_where(T, T, [](Index i, Index j) { return j > i; }); }},
    {.name = "only itself",
     .why = "Only the diagonal is visible: then no token learns anything from another.",
     .where = "Hide, then share out",
     .answer = [](Index T) { return mask_where(T, T, [](Index i, Index j) { return i == j; }); }},
    {.name = "-∞ in the mask",
     .why =
         "0 and -∞ are what is added to the scores in the end. The mask itself says what is visible: 1 or 0.",
     .where = "Hide, then share out",
     .answer =
         [](Index T) {
           Tensor mask = zeros({T, T});
           for (Index i = 0; i < T; ++i)
             for (Index j = i + 1; j < T; ++j) mask(i, j) = -std::numeric_limits<real>::infinity();
           return mask;
         }},
    {.name = "only itself and its neighbour",
     .why = "The past reaches back to the first token. This is a window of two.",
     .where = "Hide, then share out",
     .answer =
         [](Index T) { return mask_where(T, T, [](Index i, Index j) { return i == j || i == j + 1; }); }},
    {.name = "nothing hidden",
     .why = "Everything is visible: each token sees the one that it has to say.",
     .where = "What a leak does to training",
     .answer =
         [](Index T) {
           return ones({T, T});
         }},
    {.name = "the last token forgotten",
     .why = "The rows run to T - 2 only: the last token sees nothing, not even itself.",
     .where = "Hide, then share out",
     .answer =
         [](Index T) { return mask_where(T, T, [T](Index i, Index j) { return j <= i && i < T - 1; }); }},
};

inline Index count(const std::vector<int>& lengths) { return static_cast<Index>(lengths.size()); }
inline int at(const std::vector<int>& lengths, Index b) { return lengths[static_cast<std::size_t>(b)]; }

inline const coach::Mistakes<decltype(exercise::padding_mask)> padding_mask = {
    {.name = "one filler too many",
     .why = "j <= length: places count from 0, so a sentence of 3 words has the places 0, 1 and 2.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return mask_where(count(lengths), S, [&](Index b, Index j) { return j <= at(lengths, b); });
         }},
    {.name = "the last word hidden",
     .why = "j < length - 1 cuts one word off: a sentence of 3 words has the places 0, 1 and 2.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return mask_where(count(lengths), S, [&](Index b, Index j) { return j < at(lengths, b) - 1; });
         }},
    {.name = "hidden marked instead of visible",
     .why = "1 stands for visible here. This mask shows the filler and hides the words.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return mask_where(count(lengths), S, [&](Index b, Index j) { return j >= at(lengths, b); });
         }},
    {.name = "words at the end",
     .why = "The words stand at the front and the filler behind them. This mask expects the filler in front.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return mask_where(count(lengths), S, [&](Index b, Index j) { return j >= S - at(lengths, b); });
         }},
    {.name = "the first length for all",
     .why = "Every sentence of the batch has a length of its own: row b needs lengths[b].",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return mask_where(count(lengths), S, [&](Index, Index j) { return j < at(lengths, 0); });
         }},
    {.name = "only one place marked",
     .why = "1 stands only at the last word. Every word of the sentence is visible, not just where it ends.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return mask_where(count(lengths), S, [&](Index b, Index j) { return j == at(lengths, b) - 1; });
         }},
    {.name = "nothing hidden",
     .why = "Everything is visible, the filler, too.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return ones({count(lengths), S});
         }},
    {.name = "the first word hidden",
     .why = "Places count from 0: the loop over the words began at 1.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return mask_where(count(lengths), S,
                             [&](Index b, Index j) { return j > 0 && j < at(lengths, b); });
         }},
    {.name = "the last sentence forgotten",
     .why = "The loop over the sentences ends one too early: nothing of the last one is visible.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index S) {
           return mask_where(count(lengths), S,
                             [&](Index b, Index j) { return b + 1 < count(lengths) && j < at(lengths, b); });
         }},
};

// (B,T,T) from a rule about the length of the sentence, the query and the key.
template <class Rule>
Tensor batch_mask(const std::vector<int>& lengths, Index T, const Rule& rule) {
  Tensor mask = empty({count(lengths), T, T});
  for (Index b = 0; b < count(lengths); ++b)
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j < T; ++j) mask(b, i, j) = rule(Index(at(lengths, b)), i, j) ? 1 : 0;
  return mask;
}

inline const coach::Mistakes<decltype(exercise::decoder_mask)> decoder_mask = {
    {.name = "query rows masked instead of key columns",
     .why = "The length was compared with the query i. Filler must not be looked at, so it is the keys, the "
            "columns, that are hidden; who asks does not matter.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           return batch_mask(lengths, T, [](Index n, Index i, Index j) { return j <= i && i < n; });
         }},
    {.name = "only the padding hidden",
     .why = "The future is visible: without the causal part the model reads the token that it has to say.",
     .where = "What a leak does to training",
     .answer = [](const std::vector<int>& lengths,
                  Index T) { return batch_mask(lengths, T, [](Index n, Index, Index j) { return j < n; }); }},
    {.name = "only the future hidden",
     .why = "Queries behind the end still look at filler. Real words never do so here, but the contract asks "
            "for both, and with filler in front it would matter.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           return batch_mask(lengths, T, [](Index, Index i, Index j) { return j <= i; });
         }},
    {.name = "either mask is enough",
     .why = "The two were joined by \"or\" (or added): a key is visible only if both masks allow it.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           return batch_mask(lengths, T, [](Index n, Index i, Index j) { return j <= i || j < n; });
         }},
    {.name = "causal part transposed",
     .why = "Each token sees the future and not the past: rows are queries, columns are keys.",
     .where = "Three ways that do not hide",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           return batch_mask(lengths, T, [](Index n, Index i, Index j) { return j >= i && j < n; });
         }},
    {.name = "a token that cannot see itself",
     .why = "The diagonal is hidden: j < i. Then the first token sees nothing at all.",
     .where = "Hide, then share out",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           return batch_mask(lengths, T, [](Index n, Index i, Index j) { return j < i && j < n; });
         }},
    {.name = "a token that sees its successor",
     .why = "Off by one: j <= i + 1 shows each token the one that it has to say.",
     .where = "What a leak does to training",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           return batch_mask(lengths, T, [](Index n, Index i, Index j) { return j <= i + 1 && j < n; });
         }},
    {.name = "the masks added",
     .why = "A sum has a 2 where both allow it and a 1 where only one does. Both must: multiply them.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           Tensor mask = empty({count(lengths), T, T});
           for (Index b = 0; b < count(lengths); ++b)
             for (Index i = 0; i < T; ++i)
               for (Index j = 0; j < T; ++j) mask(b, i, j) = (j <= i) + (j < at(lengths, b));
           return mask;
         }},
    {.name = "the first length for all",
     .why = "Every sentence of the batch has a length of its own: lengths[b].",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           return batch_mask(lengths, T,
                             [&](Index, Index i, Index j) { return j <= i && j < at(lengths, 0); });
         }},
    {.name = "one filler too many",
     .why = "j <= length: places count from 0, so a sentence of 3 words has the places 0, 1 and 2.",
     .where = "Padding: hide columns, not rows",
     .answer =
         [](const std::vector<int>& lengths, Index T) {
           return batch_mask(lengths, T, [](Index n, Index i, Index j) { return j <= i && j <= n; });
         }},
};

inline Tensor hide(const Tensor& scores, const Tensor& visible, real value) {
  return where(visible, scores, scalar(value));
}

}  // namespace mistakes
