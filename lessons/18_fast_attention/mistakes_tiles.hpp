// The wrong answers to exercise 18 that the grader knows by name: the part about tiles.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
void absorb_tile(real& largest, real& sum, const std::vector<real>& tile);
Tensor tiled_attend(const Tensor& q, const Tensor& k, const Tensor& v, Index tile);
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
            "large by exp(new − old), and the words read first count too much.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           largest = largest_of(tile, largest);
           sum += sum_of(tile, largest);
         }},
    {.name = "forgetting the running maximum",
     .why = "The largest score of this tile replaces that of all tiles. It may be smaller than what came "
            "before, and then exp(old − new) grows without bound.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real before = largest;
           largest = largest_of(tile);
           sum = sum * std::exp(before - largest) + sum_of(tile, largest);
         }},
    {.name = "rescaled the wrong way round",
     .why = "The factor is exp(new − old), which is above 1: the old part grows where it should shrink, and "
            "at the start it is infinite.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real before = largest;
           largest = largest_of(tile, largest);
           sum = sum * std::exp(largest - before) + sum_of(tile, largest);
         }},
    {.name = "the sum of this tile alone",
     .why = "What was summed before is gone: every tile begins at 0. The weights of a row would then sum to "
            "more than 1.",
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
            "will take the wrong difference.",
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
    {.name = "the maximum begins at 0",
     .why = "If all scores are below 0, 0 is stored as the largest. Begin with the first score, or with −∞.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real before = largest;
           largest = largest_of(tile, std::max<real>(0, largest));
           sum = sum * std::exp(before - largest) + sum_of(tile, largest);
         }},
    {.name = "a tile without a new maximum left out",
     .why = "A tile whose scores are all smaller still has its share in the sum. Only the shrinking can be "
            "left out then.",
     .where = "A softmax that reads its row once",
     .answer =
         [](real& largest, real& sum, const std::vector<real>& tile) {
           const real before = largest;
           largest = largest_of(tile, largest);
           if (largest > before) sum = sum * std::exp(before - largest) + sum_of(tile, largest);
         }},
};

// The right answer, with places where it can go wrong.
struct Slips {
  bool shrink_sum = true, shrink_output = true, running_maximum = true, divide = true, scale = true;
  bool whole_tiles = false;     // the short last tile is left out
  bool fresh_rows = true;       // largest and sum begin anew for each query
  bool divide_in_tile = false;  // each tile is a softmax of its own, all are added
  bool first_keys = false;      // every tile reads the values of the first one
  bool divide_each = false;     // the output is divided after every tile
  bool stale_scores = false;    // a short tile keeps scores of the one before
};

inline Tensor attend_with_slips(const Tensor& q, const Tensor& k, const Tensor& v, Index tile,
                                const Slips& slips) {
  const Index T = q.size(0), S = k.size(0), D = q.size(1), E = v.size(1);
  Tensor out = zeros({T, E});
  real largest = -infinity, sum = 0;
  for (Index i = 0; i < T; ++i) {
    if (slips.fresh_rows) largest = -infinity, sum = 0;
    std::vector<real> before_scores;
    for (Index begin = 0; begin < S; begin += tile) {
      if (slips.whole_tiles && begin + tile > S) break;
      std::vector<real> scores;
      for (Index j = begin; j < std::min(begin + tile, S); ++j) {
        real dot = 0;
        for (Index d = 0; d < D; ++d) dot += q(i, d) * k(j, d);
        scores.push_back(slips.scale ? dot / std::sqrt(real(D)) : dot);
      }
      const std::size_t read = scores.size();
      if (slips.stale_scores && !before_scores.empty())
        scores.insert(scores.end(), before_scores.begin() + std::ptrdiff_t(read), before_scores.end());
      before_scores = scores;
      const real before = largest;
      largest = largest_of(scores, slips.running_maximum ? largest : -infinity);
      const real shrink = std::exp(before - largest);
      const real tile_sum = sum_of(scores, largest);
      sum = (slips.shrink_sum ? sum * shrink : sum) + tile_sum;
      for (Index e = 0; e < E; ++e) {
        if (slips.shrink_output) out(i, e) *= shrink;
        for (std::size_t n = 0; n < read; ++n) {
          const real share = std::exp(scores[n] - largest) / (slips.divide_in_tile ? tile_sum : 1);
          out(i, e) += share * v((slips.first_keys ? 0 : begin) + Index(n), e);
        }
        if (slips.divide_each) out(i, e) /= sum;
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
            "factors, and have to be measured against the same maximum.",
     .where = "A softmax that reads its row once",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.shrink_sum = false}); }},
    {.name = "no rescaling of the output",
     .why = "The sum shrinks when the largest score grows, the output does not. What was read first then "
            "counts more than its share.",
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
            "weighs as much as the best key of all.",
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
     .why = "Each tile is divided by its own sum and the results are added. Tiles do not have equal shares: "
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
            "own and begins at −∞ and 0.",
     .where = "Attention in tiles",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.fresh_rows = false}); }},
    {.name = "the values of the first tile",
     .why = "A key's place in its tile is used as its row of v: every tile hands over the values of the "
            "first one.",
     .where = "Attention in tiles",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.first_keys = true}); }},
    {.name = "divided after each tile",
     .why = "The output is divided by the sum so far, and then goes on as if it had not been. Divide once, "
            "at the end.",
     .where = "Attention in tiles",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
           return attend_with_slips(q, k, v, tile, {.divide = false, .divide_each = true});
         }},
    {.name = "scores of the tile before",
     .why = "The last tile is short, and behind its scores those of the tile before still stand: they are "
            "counted in the sum once more.",
     .where = "Attention in tiles",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v,
                  Index tile) { return attend_with_slips(q, k, v, tile, {.stale_scores = true}); }},
    {.name = "the mean of the tiles",
     .why = "Each tile was given to a softmax of its own and the results were averaged. Tiles do not have "
            "equal shares: they compete within one row.",
     .where = "Attention in tiles",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v, Index tile) {
           const Tensor sum = attend_with_slips(q, k, v, tile,
                                                {.shrink_sum = false,
                                                 .shrink_output = false,
                                                 .running_maximum = false,
                                                 .divide = false,
                                                 .divide_in_tile = true});
           return sum / real((k.size(0) + tile - 1) / tile);
         }},
    {.name = "no maximum in the exponent",
     .why =
         "exp(score) without subtracting the largest score overflows for large scores: ∞ / ∞ is no number.",
     .where = "A softmax that reads its row once",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v, Index) {
           const Tensor shares = exp(matmul(q, k, Transpose::second) / std::sqrt(real(q.size(1))));
           return matmul(shares, v) / sum(shares, -1, true);
         }},
};

}  // namespace mistakes
