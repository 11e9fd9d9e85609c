// Exercise 19: what came after 2017, in four small pieces.
//
// N tokens, E experts, V the vocabulary, r LoRA's rank, k the number of drafted tokens. Each function may use
// the ones above it.
//
// Replace every todo(), then: make check-19
#pragma once

#include "lessons/19_today/types.hpp"

namespace exercise {

// LoRA's weights, merged into the matrix that they adapt: W + (alpha / r) B A. W itself is not changed.
//   w (out,in), a (r,in), b (out,r) -> (out,in)
//   merge_lora([[1, 0]], [[1, 2], [0, 1]], [[3, 1]], 4) = [[7, 14]]      (BA = [[3, 7]], times 4 / 2)
Tensor merge_lora(const Tensor& w, const Tensor& a, const Tensor& b, double alpha) {
  todo();  // your answer
}

// Top-1 routing. Row n holds a router's logits for token n, one for each expert. The token goes to the expert
// with the largest logit (the first one, if several are equally large); its weight is the probability of that
// expert, from the softmax of the row. Logits may be as large as ±1000.
//   logits (N,E) -> expert (N), weight (N)
//   route_top1([[0, 1.0986]]) = expert {1}, weight {0.75}
Routing route_top1(const Tensor& logits) {
  todo();  // your answer
}

// The loss that keeps experts equally busy: E Σ_e f_e P_e, where f_e is the fraction of the tokens that go to
// expert e, and P_e the mean probability of expert e over all tokens. It is 1 if all is even.
//   logits (N,E) -> a number
//   balance_loss([[0, 1.0986], [0, 1.0986]]) = 1.5      (f = 0, 1; P = ¼, ¾; 2 · ¾)
double balance_loss(const Tensor& logits) {
  todo();  // your answer
}

// Each row in 8 bits. The scale of a row is its largest |w|, divided by 127; its integers are w / scale,
// rounded to the nearest. A row of zeros has scale 0 and integers 0.
//   w (R,C) -> values (R rows of C), scale (R)
//   quantise_rows([[0.5, -1.27], [0, 0]]) = values {{50, -127}, {0, 0}}, scale {0.01, 0}
Int8Rows quantise_rows(const Tensor& w) {
  todo();  // your answer
}

// Speculative decoding: which tokens to write, of those that a draft model proposed. Proposal i was drawn
// from q[i]; the large model would have drawn it from p[i]. Go through the proposals in order. Proposal x is
// accepted if lots[i] < p[i][x] / q[i][x]. At the first one that is not, write instead a token drawn from
// max(p[i] - q[i], 0), divided by its sum, and stop. If all k are accepted, write one more, drawn from p[k].
// Draw with draw_token(distribution, last). (q[i][x] is above 0, as x was drawn from it.)
//   proposals (k), q (k distributions), p (k + 1), lots (k) -> at least 1 and at most k + 1 tokens
//   accept_draft({0}, {{0.8, 0.2}}, {{0.4, 0.6}, {0, 1}}, {0.4}, 0.9) = {0, 1}   (0.4 < 0.5: accepted)
//   accept_draft({0}, {{0.8, 0.2}}, {{0.4, 0.6}, {0, 1}}, {0.5}, 0.9) = {1}      (rejected: only 1 is left)
std::vector<int> accept_draft(const std::vector<int>& proposals, const std::vector<Distribution>& q,
                              const std::vector<Distribution>& p, const std::vector<double>& lots,
                              double last) {
  todo();  // your answer
}

}  // namespace exercise
