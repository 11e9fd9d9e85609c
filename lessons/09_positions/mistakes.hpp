// The wrong answers to exercise 09 that the grader knows by name. Here biases; sinusoids and rotations in
// mistakes_waves.hpp.
#pragma once

#include "lessons/09_positions/mistakes_waves.hpp"

namespace mistakes {

inline const coach::Mistakes<decltype(exercise::alibi)> alibi = {
    {.name = "the sign lost",
     .why = "Farther keys get a *bonus* here. ALiBi is a penalty: −m·|i − j|.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           return biases(
               H, T, [H](double h) { return std::pow(2.0, -8 * h / double(H)); }, 1);
         }},
    {.name = "slopes from h = 0",
     .why = "The first slope is 1 here. h counts from 1: with 8 heads the slopes are 1/2, 1/4, … 1/256.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           return biases(H, T, [H](double h) { return std::pow(2.0, -8 * (h - 1) / double(H)); });
         }},
    {.name = "2^(−h) whatever H is",
     .why = "That is right for 8 heads only. The exponent is −8h/H, so that the slopes always end at 1/256.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer = [](Index H, Index T) { return biases(H, T, [](double h) { return std::pow(2.0, -h); }); }},
    {.name = "one slope for all heads",
     .why = "Every head has its own slope, so that some see near and others far.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer = [](Index H,
                  Index T) { return biases(H, T, [H](double) { return std::pow(2.0, -8 / double(H)); }); }},
    {.name = "distance with a sign",
     .why = "−m·(i − j) rewards keys to the right. It is the size of the distance that counts, |i − j|.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           Tensor bias = empty({H, T, T});
           for (Index h = 0; h < H; ++h)
             for (Index i = 0; i < T; ++i)
               for (Index j = 0; j < T; ++j)
                 bias(h, i, j) = -std::pow(2.0, -8.0 * double(h + 1) / double(H)) * double(i - j);
           return bias;
         }},
    {.name = "integer exponent",
     .why = "8 * h / H of integers is rounded down (or 1 / H is 0): the slopes of 16 heads come in equal "
            "pairs. Divide real numbers.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           return biases(H, T, [H](double h) { return std::pow(2.0, -double(8 * Index(h) / H)); });
         }},
    {.name = "squared distance",
     .why = "The penalty is linear in the distance, not quadratic.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           const Tensor bias = biases(H, T, [H](double h) { return std::pow(2.0, -8 * h / double(H)); });
           Tensor out = empty(bias.shape());
           for (Index h = 0; h < H; ++h)
             for (Index i = 0; i < T; ++i)
               for (Index j = 0; j < T; ++j) out(h, i, j) = bias(h, i, j) * double(std::abs(i - j));
           return out;
         }},
    {.name = "slopes in reverse",
     .why = "Head number 0 has h = 1 and the steepest slope.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           return biases(H, T, [H](double h) { return std::pow(2.0, -8 * (double(H) + 1 - h) / double(H)); });
         }},
    {.name = "the future left at 0",
     .why = "Only keys to the left get a penalty here. The bias counts the distance on both sides; hiding "
            "the future is the work of the mask.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           Tensor bias = biases(H, T, [H](double h) { return std::pow(2.0, -8 * h / double(H)); });
           for (Index h = 0; h < H; ++h)
             for (Index i = 0; i < T; ++i)
               for (Index j = i + 1; j < T; ++j) bias(h, i, j) = 0;
           return bias;
         }},
    {.name = "the future hidden, too",
     .why = "−∞ for keys to the right is the causal mask. ALiBi is the distance alone, on both sides.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           Tensor bias = biases(H, T, [H](double h) { return std::pow(2.0, -8 * h / double(H)); });
           for (Index h = 0; h < H; ++h)
             for (Index i = 0; i < T; ++i)
               for (Index j = i + 1; j < T; ++j) bias(h, i, j) = -std::numeric_limits<real>::infinity();
           return bias;
         }},
    {.name = "8/h instead of 8h/H",
     .why = "The exponents are equal steps from 8/H to 8; −8/h makes the first head almost blind and the "
            "last ones nearly alike.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer = [](Index H, Index T) { return biases(H, T, [](double h) { return std::pow(2.0, -8 / h); }); }},
    {.name = "one step too many",
     .why = "A token is 0 steps away from itself: the distance is |i − j|, without + 1.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           Tensor bias = biases(H, T, [H](double h) { return std::pow(2.0, -8 * h / double(H)); });
           for (Index h = 0; h < H; ++h)
             for (Index i = 0; i < T; ++i)
               for (Index j = 0; j < T; ++j) bias(h, i, j) -= std::pow(2.0, -8 * double(h + 1) / double(H));
           return bias;
         }},
    {.name = "^ taken for a power",
     .why = "In C++ ^ is the exclusive or of two integers. Powers are std::pow(2.0, …).",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index H, Index T) {
           return biases(H, T, [H](double h) { return double(Index(2) ^ (-8 * Index(h) / H)); });
         }},
};

// The bucket of n steps among `buckets`, of which `exact` are exact.
inline int bucket_of(Index n, int buckets, int exact, double farthest = 128) {
  if (n < exact) return int(n);
  const double reached = std::log(double(n) / exact) / std::log(farthest / exact);
  return std::min(exact + int(reached * (buckets - exact)), buckets - 1);
}
inline Index past(Index distance) { return std::max<Index>(-distance, 0); }

inline const coach::Mistakes<decltype(exercise::t5_bucket)> t5_bucket = {
    {.name = "left and right exchanged",
     .why = "Keys to the right, distance > 0, have the upper buckets; here it is the keys to the left.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           return both ? (distance < 0 ? 16 : 0) + bucket_of(std::abs(distance), 16, 8)
                       : bucket_of(past(distance), 32, 16);
         }},
    {.name = "one side for both directions",
     .why = "A key 3 to the left and one 3 to the right share a bucket here: order is lost again. Each sign "
            "has 16.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           return both ? bucket_of(std::abs(distance), 16, 8) : bucket_of(past(distance), 32, 16);
         }},
    {.name = "no bound",
     .why = "Distances beyond 128 went past the last bucket: all of them share it.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const int exact = both ? 8 : 16;
           const Index n = both ? std::abs(distance) : past(distance);
           const int first = both && distance > 0 ? 16 : 0;
           if (n < exact) return first + int(n);
           return first + exact + int(std::log(double(n) / exact) / std::log(128.0 / exact) * exact);
         }},
    {.name = "linear instead of logarithmic",
     .why = "The far buckets have equal widths here. They grow with the distance: the farther, the less a "
            "step matters.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const int exact = both ? 8 : 16;
           const Index n = both ? std::abs(distance) : past(distance);
           const int first = both && distance > 0 ? 16 : 0;
           if (n < exact) return first + int(n);
           return first + int(std::min<Index>(exact + (n - exact) * exact / (128 - exact), 2 * exact - 1));
         }},
    {.name = "the causal case treated as bidirectional",
     .why = "When only the past is visible all 32 buckets serve it: 16 exact and 16 logarithmic.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer = [](Index distance,
                  bool) { return (distance > 0 ? 16 : 0) + bucket_of(std::abs(distance), 16, 8); }},
    {.name = "the future not cut off",
     .why = "In the causal case a key to the right counts as distance 0; here its distance was taken without "
            "the sign.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           return both ? (distance > 0 ? 16 : 0) + bucket_of(std::abs(distance), 16, 8)
                       : bucket_of(std::abs(distance), 32, 16);
         }},
    {.name = "rounded instead of cut off",
     .why = "⌊ ⌋ cuts the decimals off; rounding moves the borders of the buckets.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const int exact = both ? 8 : 16;
           const Index n = both ? std::abs(distance) : past(distance);
           const int first = both && distance > 0 ? 16 : 0;
           if (n < exact) return first + int(n);
           const double reached = std::log(double(n) / exact) / std::log(128.0 / exact);
           return first + int(std::min(exact + std::lround(reached * exact), 2L * exact - 1));
         }},
    {.name = "query − key",
     .why =
         "The distance is key − query: negative for the past. In the causal case this sees the future only.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           return both ? (distance < 0 ? 16 : 0) + bucket_of(std::abs(distance), 16, 8)
                       : bucket_of(past(-distance), 32, 16);
         }},
    {.name = "only exact buckets",
     .why = "Every distance has its own bucket until they run out: beyond 15 nothing could be told apart.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const Index n = both ? std::abs(distance) : past(distance);
           return both ? (distance > 0 ? 16 : 0) + int(std::min<Index>(n, 15)) : int(std::min<Index>(n, 31));
         }},
    {.name = "integer division inside the logarithm",
     .why = "n / 8 of integers is rounded down before the logarithm sees it: distances 8 to 15 all become 1. "
            "Divide real numbers.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const int exact = both ? 8 : 16, first = both && distance > 0 ? 16 : 0;
           const Index n = both ? std::abs(distance) : past(distance);
           if (n < exact) return first + int(n);
           return first + std::min(exact + int(std::log(double(n / exact)) / std::log(128.0 / exact) * exact),
                                   2 * exact - 1);
         }},
    {.name = "distance 0 on the right",
     .why = "The upper buckets are for distance > 0. A token's own key is not to its right.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           return both ? (distance >= 0 ? 16 : 0) + bucket_of(std::abs(distance), 16, 8)
                       : bucket_of(past(distance), 32, 16);
         }},
    {.name = "log 128 for log(128/8)",
     .why = "The logarithm is to run from 0 to 1 between the last exact distance and 128: both are divided "
            "by the number of exact buckets first.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const int exact = both ? 8 : 16, first = both && distance > 0 ? 16 : 0;
           const Index n = both ? std::abs(distance) : past(distance);
           if (n < exact) return first + int(n);
           return first +
                  std::min(exact + int(std::log(double(n) / exact) / std::log(128.0) * exact), 2 * exact - 1);
         }},
    {.name = "far buckets that begin at 0",
     .why = "The far distances fell into the buckets of the near ones: they begin behind the exact buckets.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const int exact = both ? 8 : 16, first = both && distance > 0 ? 16 : 0;
           const Index n = both ? std::abs(distance) : past(distance);
           if (n < exact) return first + int(n);
           return first +
                  std::min(int(std::log(double(n) / exact) / std::log(128.0 / exact) * exact), exact - 1);
         }},
    {.name = "one bucket too many",
     .why = "The last bucket is number 15 of 16, or 31 of 32: buckets count from 0.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const int exact = both ? 8 : 16, first = both && distance > 0 ? 16 : 0;
           const Index n = both ? std::abs(distance) : past(distance);
           if (n < exact) return first + int(n);
           return first + std::min(exact + int(std::log(double(n) / exact) / std::log(128.0 / exact) * exact),
                                   2 * exact);
         }},
    {.name = "rounded up",
     .why = "⌊ ⌋ cuts the decimals off; this rounds them up.",
     .where = "A bias on the scores: T5 and ALiBi",
     .answer =
         [](Index distance, bool both) {
           const int exact = both ? 8 : 16, first = both && distance > 0 ? 16 : 0;
           const Index n = both ? std::abs(distance) : past(distance);
           if (n < exact) return first + int(n);
           return first +
                  std::min(
                      exact + int(std::ceil(std::log(double(n) / exact) / std::log(128.0 / exact) * exact)),
                      2 * exact - 1);
         }},
};

}  // namespace mistakes
