// The wrong answers to exercise 18 that the grader knows by name. More of them: mistakes_tiles.hpp
#pragma once

#include "lessons/18_fast_attention/mistakes_tiles.hpp"

namespace exercise {
Tensor window_mask(Index T, Index window, bool causal);
Tensor share_heads(const Tensor& k, Index heads);
Index cache_bytes(Index layers, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index bytes_a_number);
}  // namespace exercise

namespace mistakes {

template <class Sees>
Tensor mask_where(Index T, const Sees& sees) {
  Tensor visible = zeros({T, T});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < T; ++j) visible(i, j) = sees(i, j) ? 1 : 0;
  return visible;
}

inline const coach::Mistakes<decltype(exercise::window_mask)> window_mask = {
    {.name = "window off by one: too wide",
     .why = "`<=` lets w steps back be seen, which is w + 1 tokens: the token itself is one of the w.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(
               T, [=](Index i, Index j) { return std::abs(i - j) <= window && (j <= i || !causal); });
         }},
    {.name = "window off by one: too narrow",
     .why = "Only w − 1 tokens are seen. With a window of 1 a token does not even see itself, and its row of "
            "weights is empty.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(
               T, [=](Index i, Index j) { return std::abs(i - j) < window - 1 && (j <= i || !causal); });
         }},
    {.name = "the future is seen",
     .why = "The window is right, but `causal` hides nothing: a window looks both ways unless it is told not "
            "to.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool) {
           return mask_where(T, [=](Index i, Index j) { return std::abs(i - j) < window; });
         }},
    {.name = "always causal",
     .why = "Later keys are hidden even when `causal` is false. An encoder's window looks both ways.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool) {
           return mask_where(T, [=](Index i, Index j) { return j <= i && i - j < window; });
         }},
    {.name = "no absolute value",
     .why = "i − j is negative for every later key, and so always below the window: to the right the window "
            "has no end.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(T, [=](Index i, Index j) { return i - j < window && (j <= i || !causal); });
         }},
    {.name = "queries and keys swapped",
     .why = "Rows are queries and columns are keys: this is the transpose, where each token sees those "
            "behind it.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(
               T, [=](Index i, Index j) { return std::abs(i - j) < window && (i <= j || !causal); });
         }},
    {.name = "blocks instead of a window",
     .why = "The text is cut into blocks of w that cannot see each other. A sliding window moves along with "
            "the query.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(
               T, [=](Index i, Index j) { return i / window == j / window && (j <= i || !causal); });
         }},
    {.name = "the first keys instead of the nearest",
     .why = "j < w is a place in the text, not a distance: everybody sees the beginning, and nobody what is "
            "near.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(T, [=](Index i, Index j) { return j < window && (j <= i || !causal); });
         }},
    {.name = "0 and 1 swapped",
     .why = "1 is where a key is seen; here it is where it is hidden.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(
               T, [=](Index i, Index j) { return std::abs(i - j) >= window || (j > i && causal); });
         }},
    {.name = "half the window on each side",
     .why = "Without `causal` the window reaches w − 1 steps both ways, not w / 2.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(T, [=](Index i, Index j) {
             return causal ? j <= i && i - j < window : std::abs(i - j) <= window / 2;
           });
         }},
    {.name = "the window ignored",
     .why = "Everything (or, if causal, everything before) is seen, however far away.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index, bool causal) {
           return mask_where(T, [=](Index i, Index j) { return j <= i || !causal; });
         }},
    {.name = "a token that cannot see itself",
     .why = "A token is 0 steps away from itself, and that is less than w.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(
               T, [=](Index i, Index j) { return i != j && std::abs(i - j) < window && (j < i || !causal); });
         }},
    {.name = "or instead of and",
     .why = "A key has to be near and, if causal, not in the future. Either of the two is not enough.",
     .where = "A sliding window",
     .answer =
         [](Index T, Index window, bool causal) {
           return mask_where(
               T, [=](Index i, Index j) { return std::abs(i - j) < window || (causal && j <= i); });
         }},
};

template <class Choose>
Tensor heads_where(const Tensor& k, Index heads, const Choose& choose) {
  Tensor out = empty({heads, k.size(1), k.size(2)});
  for (Index h = 0; h < heads; ++h)
    for (Index j = 0; j < k.size(1); ++j)
      for (Index d = 0; d < k.size(2); ++d) out(h, j, d) = k(choose(h), j, d);
  return out;
}
inline void refuse_uneven(const Tensor& k, Index heads) {
  if (heads % k.size(0) != 0) throw std::invalid_argument("the heads cannot be shared evenly");
}

inline const coach::Mistakes<decltype(exercise::share_heads)> share_heads = {
    {.name = "kv heads in turn",
     .why = "h % kv gives the kv heads in turn: 0, 1, 0, 1. Neighbouring query heads share one here, 0, 0, "
            "1, 1, and weights trained one way are wrong the other way.",
     .where = "Fewer keys and values",
     .answer =
         [](const Tensor& k, Index heads) {
           refuse_uneven(k, heads);
           return heads_where(k, heads, [&](Index h) { return h % k.size(0); });
         }},
    {.name = "one head for all",
     .why = "Every query head gets kv head 0: that is multi-query attention. Here each group has a kv head "
            "of its own.",
     .where = "Fewer keys and values",
     .answer =
         [](const Tensor& k, Index heads) {
           refuse_uneven(k, heads);
           return heads_where(k, heads, [](Index) { return Index{0}; });
         }},
    {.name = "divided by the number of kv heads",
     .why = "h / kv is not the number of the group: a group is heads / kv query heads, and h is divided by "
            "that. With 4 and 2 both are 2, which hides it.",
     .where = "Fewer keys and values",
     .answer =
         [](const Tensor& k, Index heads) {
           refuse_uneven(k, heads);
           return heads_where(k, heads, [&](Index h) { return h / k.size(0); });
         }},
    {.name = "uneven groups not refused",
     .why = "5 query heads cannot share 2 kv heads evenly; the contract says to throw instead of guessing.",
     .where = "Fewer keys and values",
     .answer =
         [](const Tensor& k, Index heads) {
           const Index group = std::max<Index>(1, heads / k.size(0));
           return heads_where(k, heads, [&](Index h) { return std::min(h / group, k.size(0) - 1); });
         }},
    {.name = "divided among the heads",
     .why = "The keys were divided by the number of heads that share them. Each head sees them whole.",
     .where = "Fewer keys and values",
     .answer =
         [](const Tensor& k, Index heads) {
           refuse_uneven(k, heads);
           return heads_where(k, heads, [&](Index h) { return h / (heads / k.size(0)); }) /
                  real(heads / k.size(0));
         }},
    {.name = "as many kv heads as heads refused",
     .why = "With one kv head for each head there is nothing to share, and nothing wrong: the keys come back "
            "as they are.",
     .where = "Fewer keys and values",
     .answer =
         [](const Tensor& k, Index heads) {
           refuse_uneven(k, heads);
           if (heads == k.size(0)) throw std::invalid_argument("nothing to share");
           return heads_where(k, heads, [&](Index h) { return h / (heads / k.size(0)); });
         }},
};

inline const coach::Mistakes<decltype(exercise::cache_bytes)> cache_bytes = {
    {.name = "keys or values, not both",
     .why = "Every token leaves a key and a value: twice as much.",
     .where = "Fewer keys and values",
     .answer = [](Index layers, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index bytes) { return layers * tokens * kv_heads * (d_model / heads) * bytes; }},
    {.name = "as many kv heads as heads",
     .why = "All d_model numbers of a token are counted. With grouped queries there are fewer heads of keys "
            "and values, which is the whole point.",
     .where = "Fewer keys and values",
     .answer = [](Index layers, Index tokens, Index d_model, Index, Index,
                  Index bytes) { return 2 * layers * tokens * d_model * bytes; }},
    {.name = "queries kept, too",
     .why = "A query is used once, when its token is written. Only keys and values are asked again later.",
     .where = "Fewer keys and values",
     .answer =
         [](Index layers, Index tokens, Index d_model, Index heads, Index kv_heads, Index bytes) {
           return layers * tokens * (d_model + 2 * kv_heads * (d_model / heads)) * bytes;
         }},
    {.name = "one layer",
     .why = "Each layer has keys and values of its own.",
     .where = "Fewer keys and values",
     .answer = [](Index, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index bytes) { return 2 * tokens * kv_heads * (d_model / heads) * bytes; }},
    {.name = "the square of the tokens",
     .why = "The weights are T × T, but they are not kept. The cache has one entry for each token: it grows "
            "with T.",
     .where = "Fewer keys and values",
     .answer =
         [](Index layers, Index tokens, Index d_model, Index heads, Index kv_heads, Index bytes) {
           return 2 * layers * tokens * tokens * kv_heads * (d_model / heads) * bytes;
         }},
    {.name = "numbers instead of bytes",
     .why = "That many numbers are kept; each takes bytes_a_number bytes.",
     .where = "Fewer keys and values",
     .answer = [](Index layers, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index) { return 2 * layers * tokens * kv_heads * (d_model / heads); }},
    {.name = "d_model numbers in each head",
     .why = "A head has d_model / heads numbers; here each has all of them.",
     .where = "Fewer keys and values",
     .answer = [](Index layers, Index tokens, Index d_model, Index, Index kv_heads,
                  Index bytes) { return 2 * layers * tokens * kv_heads * d_model * bytes; }},
    {.name = "heads of a group instead of kv heads",
     .why = "heads / kv_heads is how many query heads share one. What is kept are the kv heads.",
     .where = "Fewer keys and values",
     .answer =
         [](Index layers, Index tokens, Index d_model, Index heads, Index kv_heads, Index bytes) {
           return 2 * layers * tokens * (heads / kv_heads) * (d_model / heads) * bytes;
         }},
    {.name = "too large for an int",
     .why = "The product does not fit into 32 bits. Sizes of memory are computed with Index, which has 64.",
     .where = "Fewer keys and values",
     .answer =
         [](Index layers, Index tokens, Index d_model, Index heads, Index kv_heads, Index bytes) {
           return Index(
               std::int32_t(std::uint32_t(2 * layers * tokens * kv_heads * (d_model / heads) * bytes)));
         }},
};

}  // namespace mistakes
