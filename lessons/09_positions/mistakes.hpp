// The wrong answers to exercise 09 that the grader knows by name.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
Tensor sinusoids(Index T, Index C);
Tensor rotate_pairs(const Tensor& x);
Tensor rope_attend(const Tensor& q, const Tensor& k, const Tensor& v);
Tensor alibi(Index heads, Index T);
int t5_bucket(Index distance, bool bidirectional);
}  // namespace exercise

namespace mistakes {

using namespace attn;

inline double frequency(double exponent, double base = 10000) { return std::pow(base, -exponent); }

// A table whose element (p, c) is value(p, c).
template <class Value>
Tensor table_of(Index T, Index C, const Value& value) {
  Tensor table = empty({T, C});
  for (Index p = 0; p < T; ++p)
    for (Index c = 0; c < C; ++c) table(p, c) = value(double(p), c);
  return table;
}
inline double wave(Index c, double angle) { return c % 2 == 0 ? std::sin(angle) : std::cos(angle); }

inline const coach::Mistakes<decltype(exercise::sinusoids)> sinusoids = {
    {.name = "i/C instead of 2i/C",
     .why = "The exponent runs only to one half: the slowest clock has a wavelength of about 600 instead of "
            "60,000, and far positions look alike.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(
               T, C, [&](double p, Index c) { return wave(c, p * frequency(double(c / 2) / double(C))); });
         }},
    {.name = "sine and cosine swapped",
     .why = "The even channels are sines, the odd ones cosines: position 0 is 0, 1, 0, 1, …",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             return wave(c + 1, p * frequency(double(c / 2 * 2) / double(C)));
           });
         }},
    {.name = "the other convention: sines first, then cosines",
     .why = "All sines in the first half and all cosines in the second: real models do that, too, and it "
            "works as well. But weights that were trained with one layout must be used with it; asked for is "
            "the paper's.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             const Index i = c % (C / 2);
             return wave(c < C / 2 ? 0 : 1, p * frequency(2.0 * double(i) / double(C)));
           });
         }},
    {.name = "positions from 1",
     .why = "The first position is 0. A table that begins with 1 is shifted by one against every other.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             return wave(c, (p + 1) * frequency(double(c / 2 * 2) / double(C)));
           });
         }},
    {.name = "a frequency for each channel",
     .why = "The exponent uses the channel c itself. The two channels of a pair must share a frequency: only "
            "then is the product of two rows a function of their distance.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C,
                           [&](double p, Index c) { return wave(c, p * frequency(double(c) / double(C))); });
         }},
    {.name = "integer division",
     .why = "2 * i / C of integers is 0 for all i: every pair has the frequency 1. Divide real numbers.",
     .where = "Sines and cosines",
     .answer = [](Index T,
                  Index C) { return table_of(T, C, [&](double p, Index c) { return wave(c, p); }); }},
    {.name = "only sines",
     .why = "With one sine for each frequency, positions half a turn apart are confused, and the products "
            "are no longer a function of distance.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             return std::sin(p * frequency(double(c / 2 * 2) / double(C)));
           });
         }},
    {.name = "frequencies that grow",
     .why = "The sign of the exponent is lost: ω grows to 10000 and a step of one place turns the clock many "
            "times.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             return wave(c, p * frequency(-double(c / 2 * 2) / double(C)));
           });
         }},
    {.name = "1000 for 10000",
     .why = "The base is 10000; with 1000 the slow clocks turn too fast for long texts.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             return wave(c, p * frequency(double(c / 2 * 2) / double(C), 1000));
           });
         }},
    {.name = "the factor 2 twice",
     .why = "The loop went over the even channels, so its i was 2i already, and the exponent became 4i/C: "
            "the clocks slow down twice as fast.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             return wave(c, p * frequency(2 * double(c / 2 * 2) / double(C)));
           });
         }},
    {.name = "pairs counted from 1",
     .why = "i counts from 0: the first clock has ω = 1 and turns by one radian a place.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             return wave(c, p * frequency(double(c / 2 * 2 + 2) / double(C)));
           });
         }},
    {.name = "places divided by T",
     .why = "The place was made a share of the length. Then a place has other numbers in a longer text, and "
            "a step is no longer a step.",
     .where = "Sines and cosines",
     .answer =
         [](Index T, Index C) {
           return table_of(T, C, [&](double p, Index c) {
             return wave(c, p / double(T) * frequency(double(c / 2 * 2) / double(C)));
           });
         }},
};

// Turns pairs (first(i), second(i)) of row t by (t + start) ω_i · direction, where ω_i has the exponent
// factor·i/D.
template <class First, class Second>
Tensor turned(const Tensor& x, const First& first, const Second& second, double factor = 2, double start = 0,
              double direction = 1) {
  const Index D = x.size(1);
  Tensor out = empty(x.shape());
  for (Index t = 0; t < x.size(0); ++t)
    for (Index i = 0; i < D / 2; ++i) {
      const double angle = direction * (double(t) + start) * frequency(factor * double(i) / double(D));
      const real a = x(t, first(i)), b = x(t, second(i));
      out(t, first(i)) = a * std::cos(angle) - b * std::sin(angle);
      out(t, second(i)) = a * std::sin(angle) + b * std::cos(angle);
    }
  return out;
}
inline Index even(Index i) { return 2 * i; }
inline Index odd(Index i) { return 2 * i + 1; }
inline Tensor turn_right(const Tensor& x) { return turned(x, even, odd); }
inline Tensor turn_back(const Tensor& x) { return turned(x, even, odd, 2, 0, -1); }
inline Tensor turn_halves(const Tensor& x) {
  const Index half = x.size(1) / 2;
  return turned(
      x, [](Index i) { return i; }, [half](Index i) { return i + half; });
}

inline const coach::Mistakes<decltype(exercise::rotate_pairs)> rotate_pairs = {
    {.name = "the other convention: pairs (i, i + D/2)",
     .why = "Channel i was paired with i + D/2, as many real models do (LLaMA's, for one). It works as well, "
            "but the weights must match it; asked for are the neighbours (2i, 2i+1) of RoFormer.",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& x) { return turn_halves(x); }},
    {.name = "turned the other way",
     .why = "The sign of the sine is exchanged: this turns by −t·ω. (a cos − b sin, a sin + b cos) turns "
            "forwards.",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& x) { return turn_back(x); }},
    {.name = "positions from 1",
     .why = "Row 0 has the angle 0 and stays as it is. (Between queries and keys the shift would cancel, but "
            "not against a cache that was filled from 0.)",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& x) { return turned(x, even, odd, 2, 1); }},
    {.name = "i/D instead of 2i/D",
     .why = "The exponent runs only to one half: the slow clocks turn too fast.",
     .where = "Sines and cosines",
     .answer = [](const Tensor& x) { return turned(x, even, odd, 1); }},
    {.name = "one angle for all pairs",
     .why = "Every pair was turned by t·ω_0 = t. Each pair has a clock of its own; one alone repeats every 6 "
            "places.",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& x) { return turned(x, even, odd, 0); }},
    {.name = "the new a used for b",
     .why = "a was overwritten before b was computed from it. Keep both old values until both new ones are "
            "there.",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& x) {
           Tensor out = from_values(x.shape(), x.values());
           for (Index t = 0; t < x.size(0); ++t)
             for (Index i = 0; i < x.size(1) / 2; ++i) {
               const double angle = double(t) * frequency(2.0 * double(i) / double(x.size(1)));
               out(t, 2 * i) = out(t, 2 * i) * std::cos(angle) - out(t, 2 * i + 1) * std::sin(angle);
               out(t, 2 * i + 1) = out(t, 2 * i) * std::sin(angle) + out(t, 2 * i + 1) * std::cos(angle);
             }
           return out;
         }},
    {.name = "a reflection instead of a turn",
     .why = "(a cos + b sin, a sin − b cos) is a mirror: two of them do not add their angles up.",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& x) {
           Tensor out = empty(x.shape());
           for (Index t = 0; t < x.size(0); ++t)
             for (Index i = 0; i < x.size(1) / 2; ++i) {
               const double angle = double(t) * frequency(2.0 * double(i) / double(x.size(1)));
               const real a = x(t, 2 * i), b = x(t, 2 * i + 1);
               out(t, 2 * i) = a * std::cos(angle) + b * std::sin(angle);
               out(t, 2 * i + 1) = a * std::sin(angle) - b * std::cos(angle);
             }
           return out;
         }},
    {.name = "sinusoids added",
     .why = "This adds the table of sines and cosines. RoPE adds nothing: it turns what is there.",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& x) {
           return x + table_of(x.size(0), x.size(1), [&](double p, Index c) {
                    return wave(c, p * frequency(double(c / 2 * 2) / double(x.size(1))));
                  });
         }},
    {.name = "the same angle at every place",
     .why = "The angle is t·ω: without t every row is turned alike, and nobody knows where it stands.",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& x) {
           Tensor out = empty(x.shape());
           for (Index t = 0; t < x.size(0); ++t) {
             const Tensor row = turned(slice(x, 0, t, t + 1), even, odd, 2, 1);
             for (Index c = 0; c < x.size(1); ++c) out(t, c) = row(0, c);
           }
           return out;
         }},
    {.name = "each number by itself",
     .why = "One number was multiplied by the cosine and the other by the sine. A turn mixes the two: (a cos "
            "− b sin, a sin + b cos).",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& x) {
           return x * table_of(x.size(0), x.size(1), [&](double p, Index c) {
                    return wave(c + 1, p * frequency(double(c / 2 * 2) / double(x.size(1))));
                  });
         }},
    {.name = "the factor 2 twice",
     .why = "The exponent is 2i/D with D the size of the whole row, not of its half (or with i counted in "
            "steps of 2).",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& x) { return turned(x, even, odd, 4); }},
    {.name = "frequencies that grow",
     .why = "The exponent has lost its minus: the last pairs turn the fastest, thousands of times between "
            "two places.",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& x) { return turned(x, even, odd, -2); }},
};

inline Tensor attend_plain(const Tensor& q, const Tensor& k, const Tensor& v) {
  return matmul(softmax(matmul(q, k, Transpose::second) / std::sqrt(real(q.size(1)))), v);
}

inline const coach::Mistakes<decltype(exercise::rope_attend)> rope_attend = {
    {.name = "RoPE applied to V",
     .why = "The values were turned, too. What a token hands over must not depend on where it stood; only "
            "the look, q and k, has to know.",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return attend_plain(turn_right(q), turn_right(k), turn_right(v)); }},
    {.name = "q and k turned in opposite directions",
     .why = "Then the angles add up, and the product depends on m + n instead of n − m.",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return attend_plain(turn_right(q), turn_back(k), v); }},
    {.name = "only the queries turned",
     .why = "With k as it is, the product depends on the place of the query and not on the distance: both "
            "are turned.",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return attend_plain(turn_right(q), k, v); }},
    {.name = "only the keys turned",
     .why = "With q as it is, the product depends on the place of the key and not on the distance: both are "
            "turned.",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return attend_plain(q, turn_right(k), v); }},
    {.name = "nothing turned",
     .why = "This is plain attention: it does not know where the tokens stand.",
     .where = "One bag of words",
     .answer = [](const Tensor& q, const Tensor& k, const Tensor& v) { return attend_plain(q, k, v); }},
    {.name = "no scaling",
     .why = "The scores were not divided by √D. (T5 does leave it out; RoPE does not.)",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           return matmul(softmax(matmul(turn_right(q), turn_right(k), Transpose::second)), v);
         }},
    {.name = "the other convention: pairs (i, i + D/2)",
     .why = "Channel i was paired with i + D/2, as many real models do. The weights must match the "
            "convention; asked for are the neighbours (2i, 2i+1).",
     .where = "RoPE: turn, do not add",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return attend_plain(turn_halves(q), turn_halves(k), v); }},
    {.name = "the result turned, too",
     .why =
         "What comes out was turned by the place of the query. Only the look, q and k, has to know places.",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           const Tensor out = attend_plain(turn_right(q), turn_right(k), v);
           return turn_right(out);
         }},
    {.name = "divided by D instead of √D",
     .why = "The deviation of a sum of D products grows as √D, and so it is divided by that.",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           return matmul(softmax(matmul(turn_right(q), turn_right(k), Transpose::second) / real(q.size(1))),
                         v);
         }},
    {.name = "no softmax",
     .why = "The scores were used as weights: they may be negative and do not sum to 1.",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           return matmul(matmul(turn_right(q), turn_right(k), Transpose::second) / std::sqrt(real(q.size(1))),
                         v);
         }},
    {.name = "a causal mask",
     .why = "The future was hidden. Here is no mask: every query sees every key.",
     .where = "RoPE: turn, do not add",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           Tensor scores =
               matmul(turn_right(q), turn_right(k), Transpose::second) / std::sqrt(real(q.size(1)));
           for (Index i = 0; i < scores.size(0); ++i)
             for (Index j = i + 1; j < scores.size(1); ++j)
               scores(i, j) = -std::numeric_limits<real>::infinity();
           return matmul(softmax(scores), v);
         }},
};

// slope(h) · |i − j|, h from 1.
template <class Slope>
Tensor biases(Index H, Index T, const Slope& slope, double sign = -1) {
  Tensor bias = empty({H, T, T});
  for (Index h = 0; h < H; ++h)
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j < T; ++j) bias(h, i, j) = sign * slope(double(h + 1)) * double(std::abs(i - j));
  return bias;
}

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
