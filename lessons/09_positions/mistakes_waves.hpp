// The wrong answers to exercise 09 that the grader knows by name: sinusoids and rotations.
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

}  // namespace mistakes
