// The wrong answers to exercise 06 that the grader knows by name.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
Tensor scores(const Tensor& q, const Tensor& k);
Tensor row_softmax(const Tensor& s);
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v);
Tensor self_attention(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v);
}  // namespace exercise

namespace mistakes {

using namespace attn;

inline real root(const Tensor& x, int axis) { return std::sqrt(real(x.size(axis))); }
inline Tensor dots(const Tensor& q, const Tensor& k) { return matmul(q, k, Transpose::second); }

inline const coach::Mistakes<decltype(exercise::scores)> scores = {
    {.name = "no scaling",
     .why = "The products are not divided by √D. Their variance grows as D, so that for large D the softmax "
            "puts "
            "nearly all weight on one key and its gradient vanishes.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k) { return dots(q, k); }},
    {.name = "divided by D instead of √D",
     .why = "The variance of a sum of D products grows as D, its deviation as √D. Dividing by D makes the "
            "scores "
            "ever smaller, and the attention of every token nearly uniform.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k) { return dots(q, k) / real(q.size(1)); }},
    {.name = "multiplied by √D",
     .why = "The scaling is there to make large products smaller; this makes them larger still.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k) { return dots(q, k) * root(q, 1); }},
    {.name = "scaled by the number of keys",
     .why =
         "A score is a sum over the D components of two vectors. How many keys there are has no part in it.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k) { return dots(q, k) / root(k, 0); }},
    {.name = "integer division",
     .why =
         "1 / D with an integer D is 0 in C++ (for D > 1), so every score became 0. Divide by a real number.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k) { return dots(q, k) * real(1 / q.size(1)); }},
    {.name = "K not transposed",
     .why = "This multiplies row i of q with column j of k. Both hold one token in each row, so it is row i "
            "with row "
            "j; that it runs at all is an accident of square sizes.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& q, const Tensor& k) {
           Tensor out = zeros({q.size(0), k.size(0)});
           for (Index i = 0; i < q.size(0); ++i)
             for (Index j = 0; j < k.size(0); ++j)
               for (Index d = 0; d < q.size(1); ++d) out(i, j) += q(i, d) * k(d, j);
           return out / root(q, 1);
         }},
    {.name = "queries and keys swapped",
     .why = "Rows are queries and columns are keys: this is the transpose, how much key i likes query j. The "
            "softmax "
            "would then share out the wrong thing.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k) { return dots(k, q) / root(q, 1); }},
    {.name = "a sum that is never reset",
     .why =
         "Each score starts from the one before it: the running sum has to begin at 0 again for every pair.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& q, const Tensor& k) {
           Tensor out = empty({q.size(0), k.size(0)});
           real dot = 0;
           for (Index i = 0; i < q.size(0); ++i)
             for (Index j = 0; j < k.size(0); ++j) {
               for (Index d = 0; d < q.size(1); ++d) dot += q(i, d) * k(j, d);
               out(i, j) = dot / root(q, 1);
             }
           return out;
         }},
    {.name = "scaled by the number of queries",
     .why = "A score is a sum over the D components of two vectors. How many queries there are has no part "
            "in it.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k) { return dots(q, k) / root(q, 0); }},
    {.name = "an integer sum",
     .why = "`auto dot = 0` or `int dot = 0` is an integer: each addition cuts off the decimals. Write real "
            "dot = 0.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& q, const Tensor& k) {
           Tensor out = empty({q.size(0), k.size(0)});
           for (Index i = 0; i < q.size(0); ++i)
             for (Index j = 0; j < k.size(0); ++j) {
               int dot = 0;
               for (Index d = 0; d < q.size(1); ++d) dot += q(i, d) * k(j, d);
               out(i, j) = dot / root(q, 1);
             }
           return out;
         }},
};

// exp(s - shift) divided by its row sums.
inline Tensor shifted_softmax(const Tensor& s, const Tensor& shift) {
  const Tensor e = exp(s - shift);
  return e / sum(e, -1, true);
}

inline const coach::Mistakes<decltype(exercise::row_softmax)> row_softmax = {
    {.name = "softmax over the queries",
     .why = "The columns sum to 1 here. Each query has one unit of attention to share among the keys, so it "
            "is the "
            "rows that must.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return transpose(softmax(transpose(s))); }},
    {.name = "one softmax for the whole matrix",
     .why =
         "All elements together sum to 1. Each query has its own unit of attention: every row must sum to 1.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return reshape(softmax(reshape(s, {s.numel()})), s.shape()); }},
    {.name = "no exponential",
     .why = "Scores divided by their sum are no weights: scores may be negative, and then so are these, or "
            "the sum "
            "is near 0.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return s / sum(s, -1, true); }},
    {.name = "not normalised",
     .why = "The exponentials are there, but they do not sum to 1: divide each by the sum of its row.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return exp(s - max(s, -1, true)); }},
    {.name = "no maximum subtracted",
     .why =
         "exp(1000) is infinite and infinity over infinity is NaN. Subtracting the row's largest score first "
         "changes no weight and keeps every exponential at most 1.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return shifted_softmax(s, scalar(0)); }},
    {.name = "one maximum for all rows",
     .why = "In a row far below the largest score of the matrix every exponential is 0, and 0/0 is NaN. Each "
            "row "
            "needs its own maximum.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return shifted_softmax(s, max(s)); }},
    {.name = "a maximum that starts at 0",
     .why = "In a row of large negative scores 0 is none of them: every exponential is 0 then, and 0/0 is "
            "NaN. Start "
            "from the row's first score.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return shifted_softmax(s, relu(max(s, -1, true))); }},
    {.name = "a sum that is never reset",
     .why =
         "Each row is divided by its own sum plus those of the rows above it: begin at 0 again in every row.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& s) {
           Tensor out = exp(s - max(s, -1, true));
           real sum = 0;
           for (Index i = 0; i < s.size(0); ++i) {
             for (Index j = 0; j < s.size(1); ++j) sum += out(i, j);
             for (Index j = 0; j < s.size(1); ++j) out(i, j) /= sum;
           }
           return out;
         }},
    {.name = "the mean subtracted instead of the maximum",
     .why = "Any constant leaves the weights as they are on paper, but in a row with one very large score "
            "exp still "
            "overflows. Only the maximum keeps every exponent at most 0.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return shifted_softmax(s, mean(s, -1, true)); }},
    {.name = "the smallest score subtracted",
     .why = "That makes every exponent positive: where scores lie far apart exp overflows. Subtract the "
            "largest.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return shifted_softmax(s, -max(-s, -1, true)); }},
    {.name = "sign flipped",
     .why = "exp(maximum − score) gives the most weight to the lowest score.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& s) { return shifted_softmax(-s, -max(s, -1, true)); }},
};

inline const coach::Mistakes<decltype(exercise::attend)> attend = {
    {.name = "no scaling",
     .why = "The scores are not divided by √D: for large D the softmax puts nearly all weight on one key.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(softmax(dots(q, k)), v); }},
    {.name = "divided by D instead of √D",
     .why = "The deviation of a sum of D products grows as √D. Dividing by D (or by √D twice: scores has "
            "done it once) "
            "makes the attention nearly uniform.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(softmax(dots(q, k) / real(q.size(1))), v); }},
    {.name = "scaled by the size of the values",
     .why = "The scores are products of queries and keys, so D counts, the size of those. Values may have "
            "another "
            "size E and take no part in the scores.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(softmax(dots(q, k) / root(v, 1)), v); }},
    {.name = "scaled after the softmax",
     .why = "Dividing the weights makes each row sum to 1/√D instead of 1, and the softmax has already "
            "saturated by "
            "then. The scores are what must be divided.",
     .where = "Why ÷ √d_k?",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(softmax(dots(q, k)) / root(q, 1), v); }},
    {.name = "no softmax",
     .why =
         "The raw scores are used as weights: they may be negative and do not sum to 1, so the result is no "
         "average of the values.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(dots(q, k) / root(q, 1), v); }},
    {.name = "softmax over the queries",
     .why = "Here each key shares itself out among the queries. It is each query that shares its attention "
            "among the "
            "keys: rows, not columns, sum to 1.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(transpose(softmax(dots(k, q) / root(q, 1))), v); }},
    {.name = "K not transposed",
     .why =
         "Row i of q meets column j of k. Both hold one token in each row, so it must be row i with row j.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(softmax(matmul(q, k) / root(q, 1)), v); }},
    {.name = "weights transposed",
     .why = "Token i collects here what the others give to it: weight (j,i) instead of (i,j). The weights of "
            "its own "
            "row belong to query i.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(softmax(dots(q, k) / root(q, 1)), v, Transpose::first); }},
    {.name = "keys handed over instead of values",
     .why = "The weights average the keys. A key only says what a token offers; what it hands over is its "
            "value.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor&) { return matmul(softmax(dots(q, k) / root(q, 1)), k); }},
    {.name = "only the best key",
     .why = "Each query takes the value of its highest score alone. Attention averages: every key has a say, "
            "and "
            "that is what lets a gradient reach all of them.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return take_rows(v, argmax(dots(q, k)).values()); }},
    {.name = "softmax twice",
     .why = "The weights of a first softmax all lie between 0 and 1: a second one makes them nearly equal.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return matmul(softmax(softmax(dots(q, k) / root(q, 1))), v); }},
    {.name = "softmax of the result",
     .why = "The softmax belongs between scores and values. Values may be anything, negative too, and so may "
            "their "
            "average.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return softmax(matmul(dots(q, k) / root(q, 1), v)); }},
};

inline Tensor attend_with(const Tensor& q, const Tensor& k, const Tensor& v, real divisor) {
  return matmul(softmax(dots(q, k) / divisor), v);
}

// All that scores() reads of keys that are wider than the queries.
inline Tensor first_columns(const Tensor& x, Index count) {
  return slice(x, 1, 0, std::min(count, x.size(1)));
}

inline const coach::Mistakes<decltype(exercise::self_attention)> self_attention = {
    {.name = "queries and keys swapped",
     .why = "w_k made the queries and w_q the keys: \"i looks for j\" became \"j looks for i\", and the "
            "attention map "
            "is transposed before its softmax.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
           return attend_with(matmul(x, w_k), matmul(x, w_q), matmul(x, w_v), root(w_q, 1));
         }},
    {.name = "one matrix for queries and keys",
     .why = "With q = k every token likes itself best and \"i looks for j\" always equals \"j looks for i\". "
            "Two "
            "matrices let a verb look for its subject without the reverse.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor&, const Tensor& w_v) {
           return attend_with(matmul(x, w_q), matmul(x, w_q), matmul(x, w_v), root(w_q, 1));
         }},
    {.name = "values not projected",
     .why = "The weights average the input itself. What a token hands over is its value x w_v, of size E.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& x, const Tensor& w_q, const Tensor& w_k,
                  const Tensor&) { return attend_with(matmul(x, w_q), matmul(x, w_k), x, root(w_q, 1)); }},
    {.name = "scaled by √C instead of √D",
     .why = "The scores are sums over the D components of queries and keys, whatever the size C of the input "
            "was.",
     .where = "Why ÷ √d_k?",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
           return attend_with(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v), root(x, 1));
         }},
    {.name = "no scaling",
     .why = "The scores are not divided by √D: for large D the softmax puts nearly all weight on one key.",
     .where = "Why ÷ √d_k?",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
           return attend_with(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v), 1);
         }},
    {.name = "matrices transposed",
     .why = "This is x wᵀ. The matrices are given as (C, D): column d of w says what component d is made of.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
           return attend_with(dots(x, w_q), dots(x, w_k), dots(x, w_v), root(w_q, 1));
         }},
    {.name = "only the average",
     .why = "Every token gets the plain mean of all values, whatever it looks for: queries and keys take no "
            "part.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& x, const Tensor&, const Tensor&, const Tensor& w_v) {
           return broadcast_to(mean(matmul(x, w_v), 0, true), {x.size(0), w_v.size(1)});
         }},
    {.name = "keys and values exchanged",
     .why = "w_v made the keys and w_k the values. What a token offers to be found by is one thing, what it "
            "hands over another.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
           return attend_with(matmul(x, w_q), first_columns(matmul(x, w_v), w_q.size(1)), matmul(x, w_k),
                              root(w_q, 1));
         }},
    {.name = "keys not projected",
     .why =
         "The input itself serves as keys. What a token offers is x w_k, of the same size D as the queries.",
     .where = "Six words, five steps",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor&, const Tensor& w_v) {
           return attend_with(matmul(x, w_q), first_columns(x, w_q.size(1)), matmul(x, w_v), root(w_q, 1));
         }},
    {.name = "nothing projected",
     .why = "The input is used as queries, keys and values. Without the three matrices there is nothing to "
            "learn, and "
            "every token likes itself best.",
     .where = "Six words, five steps",
     .answer = [](const Tensor& x, const Tensor&, const Tensor&,
                  const Tensor&) { return attend_with(x, x, x, root(x, 1)); }},
};

}  // namespace mistakes
