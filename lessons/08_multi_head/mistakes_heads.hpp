// The wrong answers to exercise 08 that the grader knows by name: heads, split and merged.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
Tensor split_heads(const Tensor& x, Index heads);
Tensor merge_heads(const Tensor& x);
Tensor multi_head(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
                  Index heads);
Tensor grouped_query(const Tensor& q, const Tensor& k, const Tensor& v);
Index cache_numbers(Index layers, Index kv_heads, Index head_size, Index tokens);
}  // namespace exercise

namespace mistakes {

using namespace attn;

inline Tensor split_right(const Tensor& x, Index H) {  // (B,T,C) -> (B,H,T,D)
  return permute(reshape(x, {x.size(0), x.size(1), H, x.size(2) / H}), {0, 2, 1, 3});
}
inline Tensor merge_right(const Tensor& x) {  // (B,H,T,D) -> (B,T,C)
  return reshape(permute(x, {0, 2, 1, 3}), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

inline const coach::Mistakes<decltype(exercise::split_heads)> split_heads = {
    {.name = "reshape without transpose",
     .why = "The shape is right, but reshape moves nothing: the numbers of a token lie side by side, so this "
            "cuts the tokens apart instead of their channels.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, Index H) {
           return reshape(x, {x.size(0), H, x.size(1), x.size(2) / H});
         }},
    {.name = "time and heads not swapped",
     .why = "(B,T,H,D) is half of the way: each head has to be a matrix (T,D) of its own, so T and H change "
            "places.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, Index H) {
           return reshape(x, {x.size(0), x.size(1), H, x.size(2) / H});
         }},
    {.name = "channels dealt out in turn",
     .why =
         "Channel c went to head c % H. A head is a block of D neighbours: channel c belongs to head c / D.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, Index H) {
           return permute(reshape(x, {x.size(0), x.size(1), x.size(2) / H, H}), {0, 3, 1, 2});
         }},
    {.name = "heads and their size exchanged",
     .why = "This makes C / H heads of H channels: H is how many heads there are, not how large they are.",
     .where = "Split, attend, join",
     .answer = [](const Tensor& x, Index H) { return split_right(x, x.size(2) / H); }},
    {.name = "transposed inside of the head",
     .why = "(B,H,D,T): each head has its channels as rows. Rows are tokens, columns are channels.",
     .where = "Split, attend, join",
     .answer = [](const Tensor& x, Index H) { return transpose(split_right(x, H)); }},
    {.name = "every head the first",
     .why = "All heads got the first D channels: head h begins at channel h·D.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, Index H) {
           const Index B = x.size(0), T = x.size(1), D = x.size(2) / H;
           return broadcast_to(reshape(slice(x, 2, 0, D), {B, 1, T, D}), {B, H, T, D});
         }},
    {.name = "heads one channel apart",
     .why = "Head h begins at channel h·D, not at channel h: the heads overlap here.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, Index H) {
           const Index D = x.size(2) / H;
           std::vector<Tensor> heads;
           for (Index h = 0; h < H; ++h) heads.push_back(slice(x, 2, h, h + D));
           return stack(heads, 1);
         }},
    {.name = "h·H + d instead of h·D + d",
     .why = "Head h begins D channels after the one before: it is the size of a head, not their number, that "
            "h is multiplied by.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, Index H) {
           const Index D = x.size(2) / H;
           Tensor out = empty({x.size(0), H, x.size(1), D});
           for (Index b = 0; b < x.size(0); ++b)
             for (Index h = 0; h < H; ++h)
               for (Index t = 0; t < x.size(1); ++t)
                 for (Index d = 0; d < D; ++d) out(b, h, t, d) = x(b, t, h * H + d);
           return out;
         }},
};

inline const coach::Mistakes<decltype(exercise::merge_heads)> merge_heads = {
    {.name = "reshape without transpose",
     .why = "The shape is right, but what lies side by side in (B,H,T,D) are the tokens of one head. T and H "
            "have to be swapped back first.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x) {
           return reshape(x, {x.size(0), x.size(2), x.size(1) * x.size(3)});
         }},
    {.name = "concatenated along time",
     .why = "(B,H·T,D): the heads stand below each other as if they were more tokens. They belong side by "
            "side, as channels of the same token.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x) {
           return reshape(x, {x.size(0), x.size(1) * x.size(2), x.size(3)});
         }},
    {.name = "channels dealt out in turn",
     .why = "The channels of the heads alternate. A head is a block: channel d of head h goes to h·D + d.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x) {
           return reshape(permute(x, {0, 2, 3, 1}), {x.size(0), x.size(2), x.size(1) * x.size(3)});
         }},
    {.name = "heads added up",
     .why = "The sum of the heads has D channels, and nobody can tell any more which head found what. They "
            "are put side by side.",
     .where = "Two questions, one look",
     .answer = [](const Tensor& x) { return sum(x, 1); }},
    {.name = "heads averaged",
     .why = "The mean of the heads has D channels, and nobody can tell any more which head found what. They "
            "are put side by side.",
     .where = "Two questions, one look",
     .answer = [](const Tensor& x) { return mean(x, 1); }},
    {.name = "tokens and channels exchanged",
     .why = "(B,D,…): the last axis has to stay last. Swap T and H, not T and D.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x) {
           return reshape(permute(x, {0, 3, 1, 2}), {x.size(0), x.size(2), x.size(1) * x.size(3)});
         }},
};

inline Tensor heads_of(const Tensor& q, const Tensor& k, const Tensor& v, real divisor) {
  return matmul(softmax(matmul(q, k, Transpose::second) / divisor), v);
}
inline real root(Index n) { return std::sqrt(real(n)); }

inline const coach::Mistakes<decltype(exercise::multi_head)> multi_head = {
    {.name = "√d_model instead of √d_k",
     .why = "The scores were divided by √C. A score of a head is a sum of D = C / H products, so √D is its "
            "size.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           return matmul(merge_right(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                              split_right(matmul(x, w_v), H), root(x.size(2)))),
                         w_o);
         }},
    {.name = "no W_O",
     .why = "The heads are put side by side and left there. Only w_o lets what they found be put together.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor&,
            Index H) {
           return merge_right(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                       split_right(matmul(x, w_v), H), root(x.size(2) / H)));
         }},
    {.name = "only one head",
     .why = "All channels went into one softmax: each token has one set of weights and can ask one question "
            "only.",
     .where = "Two questions, one look",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index) {
           return matmul(heads_of(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v), root(x.size(2))), w_o);
         }},
    {.name = "reshape without transpose",
     .why = "The heads were made and joined by reshape alone: each \"head\" is a piece of some tokens with "
            "all of their channels.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           const Shape cut{x.size(0), H, x.size(1), x.size(2) / H};
           return matmul(reshape(heads_of(reshape(matmul(x, w_q), cut), reshape(matmul(x, w_k), cut),
                                          reshape(matmul(x, w_v), cut), root(x.size(2) / H)),
                                 x.shape()),
                         w_o);
         }},
    {.name = "merged without transpose",
     .why = "The heads were right, but joined by reshape alone: a row of the result mixes several tokens.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           return matmul(reshape(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                          split_right(matmul(x, w_v), H), root(x.size(2) / H)),
                                 x.shape()),
                         w_o);
         }},
    {.name = "no scaling",
     .why = "The scores were not divided by √D: for large heads the softmax saturates.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           return matmul(merge_right(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                              split_right(matmul(x, w_v), H), 1)),
                         w_o);
         }},
    {.name = "W_O transposed",
     .why = "The result was multiplied by w_oᵀ. The matrices are given for x w, as w_q, w_k and w_v are.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           return matmul(merge_right(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                              split_right(matmul(x, w_v), H), root(x.size(2) / H))),
                         w_o, Transpose::second);
         }},
    {.name = "the input split instead of the projections",
     .why = "The heads got pieces of x itself. Each head has projections of its own: split x w_q, x w_k and "
            "x w_v.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor&, const Tensor&, const Tensor&, const Tensor& w_o, Index H) {
           const Tensor h = split_right(x, H);
           return matmul(merge_right(heads_of(h, h, h, root(x.size(2) / H))), w_o);
         }},
    {.name = "divided by √H",
     .why = "√D is the root of the size of a head, not of how many heads there are.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           return matmul(merge_right(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                              split_right(matmul(x, w_v), H), root(H))),
                         w_o);
         }},
    {.name = "queries and keys swapped",
     .why = "w_k made the queries and w_q the keys: \"i looks for j\" became \"j looks for i\".",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           return matmul(merge_right(heads_of(split_right(matmul(x, w_k), H), split_right(matmul(x, w_q), H),
                                              split_right(matmul(x, w_v), H), root(x.size(2) / H))),
                         w_o);
         }},
    {.name = "divided by D instead of √D",
     .why = "The deviation of a sum of D products grows as √D; divided by D the scores are too small, and "
            "all weights nearly alike.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           return matmul(merge_right(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                              split_right(matmul(x, w_v), H), real(x.size(2) / H))),
                         w_o);
         }},
    {.name = "softmax over the queries",
     .why = "Each column of the scores sums to 1 here. It is each query, each row, that shares out its "
            "attention.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           const Tensor scores =
               matmul(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H), Transpose::second) /
               root(x.size(2) / H);
           return matmul(
               merge_right(matmul(transpose(softmax(transpose(scores))), split_right(matmul(x, w_v), H))),
               w_o);
         }},
    {.name = "no softmax",
     .why = "The scores were used as weights: they may be negative and do not sum to 1.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           const Tensor scores =
               matmul(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H), Transpose::second) /
               root(x.size(2) / H);
           return matmul(merge_right(matmul(scores, split_right(matmul(x, w_v), H))), w_o);
         }},
    {.name = "values not projected",
     .why = "The heads hand over pieces of x itself: w_v was not used.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor&, const Tensor& w_o,
            Index H) {
           return matmul(merge_right(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                              split_right(x, H), root(x.size(2) / H))),
                         w_o);
         }},
    {.name = "the input added",
     .why = "x was added to the result: that is the residual, and it belongs to the block around attention "
            "(lesson 10).",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
            Index H) {
           return x +
                  matmul(merge_right(heads_of(split_right(matmul(x, w_q), H), split_right(matmul(x, w_k), H),
                                              split_right(matmul(x, w_v), H), root(x.size(2) / H))),
                         w_o);
         }},
};

// Query head h looks at key/value head which(h, H, G).
template <class Which>
Tensor grouped(const Tensor& q, const Tensor& k, const Tensor& v, const Which& which, real divisor) {
  std::vector<Tensor> heads;
  for (Index h = 0; h < q.size(0); ++h) {
    const Index g = which(h, q.size(0), k.size(0));
    heads.push_back(heads_of(q[h], k[g], v[g], divisor));
  }
  return stack(heads);
}
inline Index right_group(Index h, Index H, Index G) { return h / (H / G); }

}  // namespace mistakes
