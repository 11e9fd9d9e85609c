// The wrong answers to exercise 18 that the grader knows by name.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
void absorb_tile(real& largest, real& sum, const std::vector<real>& tile);
Tensor tiled_attend(const Tensor& q, const Tensor& k, const Tensor& v, Index tile);
Tensor window_mask(Index T, Index window, bool causal);
Tensor share_heads(const Tensor& k, Index heads);
Index cache_bytes(Index layers, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index bytes_a_number);
}  // namespace exercise

namespace mistakes {

using namespace attn;

constexpr real infinity = std::numeric_limits<real>::infinity();

inline real largest_of(const std::vector<real>& tile, real largest = -infinity) {
  for (const real score : tile) largest = std::max(largest, score);
  return largest;
}
inline real sum_of(const std::vector<real>& tile, real largest) {
  real sum = 0;
  for (const real score : tile) sum += std::exp(score - largest);
  return sum;
}

inline const coach::Mistakes<decltype(exercise::absorb_tile)> absorb_tile = {
    {.name = "no rescaling of the running sum",
     .why = "The sum so far was measured against the old largest score. When that grows, its terms are too "
            "large by "
            "exp(new − old), and the words read first count too much.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           largest = largest_of(tile, largest);
           sum += sum_of(tile, largest);
         }},
    {.name = "forgetting the running maximum",
     .why = "The largest score of this tile replaces that of all tiles. It may be smaller than what came "
            "before, and "
            "then exp(old − new) grows without bound.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real before = largest;
           largest = largest_of(tile);
           sum = sum * std::exp(before - largest) + sum_of(tile, largest);
         }},
    {.name = "rescaled the wrong way round",
     .why = "The factor is exp(new − old), which is above 1: the old part grows where it should shrink, and "
            "at the "
            "start it is infinite.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real before = largest;
           largest = largest_of(tile, largest);
           sum = sum * std::exp(largest - before) + sum_of(tile, largest);
         }},
    {.name = "the sum of this tile alone",
     .why = "What was summed before is gone: every tile begins at 0. The weights of a row would then sum to "
            "more than "
            "1.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           largest = largest_of(tile, largest);
           sum = sum_of(tile, largest);
         }},
    {.name = "the tile measured against the old maximum",
     .why =
         "The new terms use the largest score from before the tile. The old sum and the new terms then have "
         "different measures, and the first tile, measured against −∞, overflows.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real before = largest;
           largest = largest_of(tile, largest);
           sum = sum * std::exp(before - largest) + sum_of(tile, before);
         }},
    {.name = "rescaled after adding",
     .why =
         "The tile's own terms are shrunk as well, though they are measured against the new maximum already. "
         "Shrink first, then add.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real before = largest;
           largest = largest_of(tile, largest);
           sum = (sum + sum_of(tile, largest)) * std::exp(before - largest);
         }},
    {.name = "the largest score is not stored",
     .why = "The sum is measured against a new maximum, but `largest` still holds the old one: the next tile "
            "will "
            "take the wrong difference.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real now = largest_of(tile, largest);
           sum = sum * std::exp(largest - now) + sum_of(tile, now);
         }},
    {.name = "no maximum in the exponent",
     .why =
         "exp(score) without subtracting the largest score overflows from about 700 on (in float from 88).",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           largest = largest_of(tile, largest);
           sum += sum_of(tile, 0);
         }},
};

// The right answer, with places where it can go wrong.
struct Slips {
  bool shrink_sum = true, shrink_output = true, running_maximum = true, divide = true, scale = true;
  bool whole_tiles = false;     // the short last tile is left out
  bool fresh_rows = true;       // largest and sum begin anew for each query
  bool divide_in_tile = false;  // each tile is a softmax of its own, all are added
  bool first_keys = false;      // every tile reads the values of the first one
};

inline Tensor attend_with_slips(const Tensor& q, const Tensor& k, const Tensor& v, Index tile,
                                const Slips& slips) {
  const Index T = q.size(0), S = k.size(0), D = q.size(1), E = v.size(1);
  Tensor out = zeros({T, E});
  real largest = -infinity, sum = 0;
  for (Index i = 0; i < T; ++i) {
    if (slips.fresh_rows) largest = -infinity, sum = 0;
    for (Index begin = 0; begin < S; begin += tile) {
      if (slips.whole_tiles && begin + tile > S) break;
      std::vector<real> scores;
      for (Index j = begin; j < std::min(begin + tile, S); ++j) {
        real dot = 0;
        for (Index d = 0; d < D; ++d) dot += q(i, d) * k(j, d);
        scores.push_back(slips.scale ? dot / std::sqrt(real(D)) : dot);
      }
      const real before = largest;
      largest = largest_of(scores, slips.running_maximum ? largest : -infinity);
      const real shrink = std::exp(before - largest);
      const real tile_sum = sum_of(scores, largest);
      sum = (slips.shrink_sum ? sum * shrink : sum) + tile_sum;
      for (Index e = 0; e < E; ++e) {
        if (slips.shrink_output) out(i, e) *= shrink;
        for (std::size_t n = 0; n < scores.size(); ++n) {
          const real share = std::exp(scores[n] - largest) / (slips.divide_in_tile ? tile_sum : 1);
          out(i, e) += share * v((slips.first_keys ? 0 : begin) + Index(n), e);
        }
      }
    }
    if (slips.divide)
      for (Index e = 0; e < E; ++e) out(i, e) /= sum;
  }
  return out;
}

inline const coach::Mistakes<decltype(exercise::tiled_attend)> tiled_attend = {
    {.name = "no rescaling of the running sum",
     .why = "The output shrinks when the largest score grows, the sum does not. Both are sums of the same "
            "factors, and "
            "have to be measured against the same maximum.",
     .where = "A softmax that reads its row once",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.shrink_sum = false}); }},
    {.name = "no rescaling of the output",
     .why = "The sum shrinks when the largest score grows, the output does not. What was read first then "
            "counts more "
            "than its share.",
     .where = "A softmax that reads its row once",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.shrink_output = false}); }},
    {.name = "no rescaling at all",
     .why =
         "Neither the sum nor the output shrinks when a tile raises the largest score: terms with different "
         "measures are added up.",
     .where = "A softmax that reads its row once",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
           return attend_with_slips(q, k, v, tile, {.shrink_sum = false, .shrink_output = false});
         }},
    {.name = "forgetting the running maximum",
     .why = "Each tile takes its own largest score and nothing is rescaled: the best key of a dull tile "
            "weighs as much "
            "as the best key of all.",
     .where = "A softmax that reads its row once",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
           return attend_with_slips(q, k, v, tile,
                                    {.shrink_sum = false, .shrink_output = false, .running_maximum = false});
         }},
    {.name = "no division at the end",
     .why = "The output is a sum with factors exp(s − m); only divided by the sum of these factors it is a "
            "mean.",
     .where = "Attention in tiles",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.divide = false}); }},
    {.name = "a softmax for each tile",
     .why = "Each tile is divided by its own sum and the results are averaged or added. Tiles do not have "
            "equal shares: "
            "they compete within one row.",
     .where = "Attention in tiles",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
           return attend_with_slips(q, k, v, tile,
                                    {.shrink_sum = false,
                                     .shrink_output = false,
                                     .running_maximum = false,
                                     .divide = false,
                                     .divide_in_tile = true});
         }},
    {.name = "the last, short tile left out",
     .why = "S need not be a multiple of the tile. The keys behind the last whole tile are never seen.",
     .where = "Attention in tiles",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.whole_tiles = true}); }},
    {.name = "the last tile always whole",
     .why = "The last tile may be shorter than the others: reading `tile` keys leaves the end of k.",
     .where = "Attention in tiles",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
           for (Index j = 0; j < (k.size(0) + tile - 1) / tile * tile; ++j) k(j, 0);
           return attend_with_slips(q, k, v, tile, {});
         }},
    {.name = "no scaling",
     .why = "The scores are not divided by √D. Tiles change how attention is computed, not what it is.",
     .where = "Attention in tiles",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.scale = false}); }},
    {.name = "the state of the query before",
     .why = "The largest score and the sum go on from one query to the next. Every query has a row of its "
            "own and "
            "begins at −∞ and 0.",
     .where = "Attention in tiles",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.fresh_rows = false}); }},
    {.name = "the values of the first tile",
     .why = "A key's place in its tile is used as its row of v: every tile hands over the values of the "
            "first one.",
     .where = "Attention in tiles",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.first_keys = true}); }},
};

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
            "weights is "
            "empty.",
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
            "1, 1, and "
            "weights trained one way are wrong the other way.",
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
            "that. With 4 "
            "and 2 both are 2, which hides it.",
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
};

inline const coach::Mistakes<decltype(exercise::cache_bytes)> cache_bytes = {
    {.name = "keys or values, not both",
     .why = "Every token leaves a key and a value: twice as much.",
     .where = "Fewer keys and values",
     .answer = [](Index layers, Index tokens, Index d_model, Index heads, Index kv_heads,
                  Index bytes) { return layers * tokens * kv_heads * (d_model / heads) * bytes; }},
    {.name = "as many kv heads as heads",
     .why = "All d_model numbers of a token are counted. With grouped queries there are fewer heads of keys "
            "and values, "
            "which is the whole point.",
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
};

}  // namespace mistakes
