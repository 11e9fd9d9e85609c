// The wrong answers to exercise 10 that the grader knows by name. Here the wiring and dropout; the norms in
// mistakes_norms.hpp.
#pragma once

#include "lessons/10_blocks/mistakes_norms.hpp"

namespace mistakes {

// Post- and pre-norm around one sublayer.
inline Tensor post(const Tensor& x, const Sublayer& f, const Sublayer& norm) { return norm(x + f(x)); }
inline Tensor pre(const Tensor& x, const Sublayer& f, const Sublayer& norm) { return x + f(norm(x)); }

inline const coach::Mistakes<decltype(exercise::post_norm_block)> post_norm_block = {
    {.name = "pre-norm instead of post-norm",
     .why = "x + f(norm(x)) is what most models do today. The paper normalises the sum: norm(x + f(x)).",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return pre(pre(x, a, n1), f, n2); }},
    {.name = "no residual",
     .why = "norm(f(x)): there is no way around the sublayer, and after a few blocks all tokens are alike.",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return n2(f(n1(a(x)))); }},
    {.name = "the sublayer normalised instead of the sum",
     .why = "x + norm(f(x)): the norm stands off the main path, and x grows from block to block.",
     .where = "Residuals: a way around every layer",
     .answer =
         [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1, const Sublayer& n2) {
           const Tensor y = x + n1(a(x));
           return y + n2(f(y));
         }},
    {.name = "both residuals from the input",
     .why =
         "The second residual has to start from what the first half made, or what attention found is lost.",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return n2(x + f(post(x, a, n1))); }},
    {.name = "the second half reads the input",
     .why = "The feed-forward network was given x instead of what attention had made of it.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return n2(post(x, a, n1) + f(x)); }},
    {.name = "only one norm",
     .why = "The first sum was not normalised: each of the two sublayers has a norm of its own.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer&,
                  const Sublayer& n2) { return post(x + a(x), f, n2); }},
    {.name = "the last norm left out",
     .why = "The second sum was not normalised: under post-norm every block ends with a norm.",
     .where = "The whole block",
     .answer =
         [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1, const Sublayer&) {
           const Tensor y = post(x, a, n1);
           return y + f(y);
         }},
    {.name = "feed-forward before attention",
     .why = "First the tokens look at each other, then each works on what it found.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return post(post(x, f, n1), a, n2); }},
    {.name = "norms exchanged",
     .why = "The first norm belongs to attention and the second to the feed-forward network: each has "
            "learned its own gain.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return post(post(x, a, n2), f, n1); }},
    {.name = "only the first half",
     .why = "The block ends after attention: the feed-forward network and its norm are missing.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer&, const Sublayer& n1,
                  const Sublayer&) { return post(x, a, n1); }},
    {.name = "no second residual",
     .why = "norm(f(x)) in the second half: what attention found goes through the feed-forward network only.",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return n2(f(post(x, a, n1))); }},
    {.name = "both halves side by side",
     .why = "Both sublayers read x, and one norm stands behind the sum. They come one after the other, each "
            "with its own.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer&,
                  const Sublayer& n2) { return n2(x + a(x) + f(x)); }},
    {.name = "the first norm twice",
     .why = "Each of the two sublayers has a norm of its own, with its own gain.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer&) { return post(post(x, a, n1), f, n1); }},
};

inline const coach::Mistakes<decltype(exercise::pre_norm_block)> pre_norm_block = {
    {.name = "residual taken from the normalised input",
     .why = "norm(x) + f(norm(x)): the norm is back on the main path, and the way through the stack is no "
            "longer free.",
     .where = "Residuals: a way around every layer",
     .answer =
         [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1, const Sublayer& n2) {
           const Tensor h = n1(x), y = h + a(h), g = n2(y);
           return g + f(g);
         }},
    {.name = "post-norm instead of pre-norm",
     .why = "norm(x + f(x)) is the paper's. Pre-norm normalises what goes into the sublayer only.",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return post(post(x, a, n1), f, n2); }},
    {.name = "no residual",
     .why = "f(norm(x)): there is no way around the sublayer, and after a few blocks all tokens are alike.",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return f(n2(a(n1(x)))); }},
    {.name = "the norm after the sublayer",
     .why = "x + norm(f(x)): the sublayer reads x as it is, which grows from block to block. The norm comes "
            "before it.",
     .where = "Residuals: a way around every layer",
     .answer =
         [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1, const Sublayer& n2) {
           const Tensor y = x + n1(a(x));
           return y + n2(f(y));
         }},
    {.name = "both halves side by side",
     .why = "Both sublayers read x and their results were added (some models do that to save time). Asked "
            "for is one after the other: feed-forward works on what attention found.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return x + a(n1(x)) + f(n2(x)); }},
    {.name = "both residuals from the input",
     .why =
         "The second residual has to start from what the first half made, or what attention found is lost.",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return x + f(n2(pre(x, a, n1))); }},
    {.name = "the second norm left out",
     .why = "The feed-forward network was given x unnormalised: each of the two sublayers has a norm of its "
            "own.",
     .where = "The whole block",
     .answer =
         [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1, const Sublayer&) {
           const Tensor y = pre(x, a, n1);
           return y + f(y);
         }},
    {.name = "feed-forward before attention",
     .why = "First the tokens look at each other, then each works on what it found.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return pre(pre(x, f, n1), a, n2); }},
    {.name = "one more norm at the end",
     .why = "The result was normalised once more. One such norm stands at the end of the whole stack, not of "
            "each block.",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return n2(pre(pre(x, a, n1), f, n2)); }},
    {.name = "only the first half",
     .why = "The block ends after attention: the feed-forward network and its norm are missing.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer&, const Sublayer& n1,
                  const Sublayer&) { return pre(x, a, n1); }},
    {.name = "no second residual",
     .why = "f(norm(x)) in the second half: what was there before is lost.",
     .where = "Residuals: a way around every layer",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return f(n2(pre(x, a, n1))); }},
    {.name = "the second residual from the normalised input",
     .why = "norm(x) + f(norm(x)) in the second half: the norm is back on the main path.",
     .where = "Residuals: a way around every layer",
     .answer =
         [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1, const Sublayer& n2) {
           const Tensor y = n2(pre(x, a, n1));
           return y + f(y);
         }},
    {.name = "no norms",
     .why = "x + f(x): nothing is normalised, and the sublayers read what grows from block to block.",
     .where = "Residuals: a way around every layer",
     .answer =
         [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer&, const Sublayer&) {
           const Tensor y = x + a(x);
           return y + f(y);
         }},
    {.name = "norms exchanged",
     .why = "The first norm belongs to attention and the second to the feed-forward network: each has "
            "learned its own gain.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer& n2) { return pre(pre(x, a, n2), f, n1); }},
    {.name = "the first norm twice",
     .why = "Each of the two sublayers has a norm of its own, with its own gain.",
     .where = "The whole block",
     .answer = [](const Tensor& x, const Sublayer& a, const Sublayer& f, const Sublayer& n1,
                  const Sublayer&) { return pre(pre(x, a, n1), f, n1); }},
};

// x with each element multiplied by factor(u) of its lot.
template <class Factor>
Tensor multiplied(const Tensor& x, const Tensor& u, const Factor& factor) {
  Tensor out = empty(x.shape());
  for (Index t = 0; t < x.size(0); ++t)
    for (Index c = 0; c < x.size(1); ++c) out(t, c) = x(t, c) * factor(u(t, c));
  return out;
}

inline const coach::Mistakes<decltype(exercise::drop_out)> drop_out = {
    {.name = "no 1/(1 − p)",
     .why = "What stays was not scaled: in training the next layer sees sums that are smaller by 1 − p than "
            "in evaluation.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) { return !training || lot >= p ? real(1) : real(0); });
         }},
    {.name = "alive in evaluation",
     .why = "Numbers are dropped in evaluation, too: the same question then gets another answer each time.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool) {
           return multiplied(x, u, [&](real lot) { return lot >= p ? 1 / (1 - p) : real(0); });
         }},
    {.name = "only in evaluation",
     .why = "The switch is the wrong way round: numbers are dropped when `training` is false.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) {
             return training ? real(1) : lot >= p ? 1 / (1 - p) : real(0);
           });
         }},
    {.name = "dropped with probability 1 − p",
     .why = "Elements with u < p were kept and the others dropped: with p = 0.1 nine tenths are gone.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) {
             return !training ? real(1) : lot < p ? 1 / (1 - p) : real(0);
           });
         }},
    {.name = "dropped where u > p",
     .why = "The comparison is the wrong way round: with p = 0.1 nine tenths are gone.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) {
             return !training ? real(1) : lot > p ? real(0) : 1 / (1 - p);
           });
         }},
    {.name = "scaled by 1/p",
     .why = "A share of 1 − p stays, so it is 1 − p that has to be made up for.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) {
             return !training ? real(1) : lot >= p ? 1 / p : real(0);
           });
         }},
    {.name = "multiplied by 1 − p",
     .why = "The numbers that stay have to grow, not shrink: divide by 1 − p.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) {
             return !training ? real(1) : lot >= p ? 1 - p : real(0);
           });
         }},
    {.name = "the other convention: scaled in evaluation",
     .why = "Nothing is scaled in training and everything multiplied by 1 − p in evaluation: that is how "
            "dropout was first described, and on average the same. Today it is scaled in training, so that "
            "evaluation is left alone.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) {
             return !training ? 1 - p : lot >= p ? real(1) : real(0);
           });
         }},
    {.name = "scaled in evaluation as well",
     .why = "In evaluation nothing is missing, so nothing has to be made up for.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) { return !training || lot >= p ? 1 / (1 - p) : real(0); });
         }},
    {.name = "whole tokens dropped",
     .why = "One lot was used for all channels of a token. Each element has a lot of its own.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           Tensor out = empty(x.shape());
           for (Index t = 0; t < x.size(0); ++t)
             for (Index c = 0; c < x.size(1); ++c)
               out(t, c) = !training ? x(t, c) : u(t, 0) < p ? 0 : x(t, c) / (1 - p);
           return out;
         }},
    {.name = "dropped at u = p, too",
     .why = "u < p drops a share of p, because u can be 0 but never 1. With u <= p, p = 0 would drop what it "
            "must not.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) {
             return !training ? real(1) : lot > p ? 1 / (1 - p) : real(0);
           });
         }},
    {.name = "scaled, and nothing dropped",
     .why = "Everything became larger: the elements with u < p have to be 0.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real) { return training ? 1 / (1 - p) : real(1); });
         }},
    {.name = "zeros in evaluation",
     .why = "Nothing is handed on when `training` is false. In evaluation x goes through as it is.",
     .where = "Dropout: in training only",
     .answer =
         [](const Tensor& x, const Tensor& u, real p, bool training) {
           return multiplied(x, u, [&](real lot) { return training && lot >= p ? 1 / (1 - p) : real(0); });
         }},
};

}  // namespace mistakes
