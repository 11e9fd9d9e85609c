// The wrong answers to exercise 08 that the grader knows by name. Here grouped queries and the cache; heads,
// split and merged in mistakes_heads.hpp.
#pragma once

#include "lessons/08_multi_head/mistakes_heads.hpp"

namespace mistakes {

inline const coach::Mistakes<decltype(exercise::grouped_query)> grouped_query = {
    {.name = "groups dealt out in turn",
     .why = "Query head h used key/value head h % G. Groups are neighbours: the first H / G query heads "
            "share head 0.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           return grouped(
               q, k, v, [](Index h, Index, Index G) { return h % G; }, root(q.size(2)));
         }},
    {.name = "one key/value head for all",
     .why = "That is multi-query attention, G = 1. Here there are G heads of keys and values, one for each "
            "group.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           return grouped(
               q, k, v, [](Index, Index, Index) { return Index(0); }, root(q.size(2)));
         }},
    {.name = "divided by G instead of by the group's size",
     .why =
         "h / G is the group only if H = G². A group has H / G query heads: head h is in group h / (H / G).",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           return grouped(
               q, k, v, [](Index h, Index, Index G) { return std::min(h / G, G - 1); }, root(q.size(2)));
         }},
    {.name = "groups averaged",
     .why = "The key/value heads were averaged into one. Each group looks through its own.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           const Tensor one_k = mean(k, 0, true), one_v = mean(v, 0, true);
           return grouped(
               q, one_k, one_v, [](Index, Index, Index) { return Index(0); }, root(q.size(2)));
         }},
    {.name = "values of another group",
     .why = "The keys are those of the group, but the values were taken in turn (h % G): what is found and "
            "what is handed over belong to different heads.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           std::vector<Tensor> heads;
           for (Index h = 0; h < q.size(0); ++h)
             heads.push_back(
                 heads_of(q[h], k[right_group(h, q.size(0), k.size(0))], v[h % k.size(0)], root(q.size(2))));
           return stack(heads);
         }},
    {.name = "no scaling",
     .why = "The scores were not divided by √D: for large heads the softmax saturates.",
     .where = "Split, attend, join",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return grouped(q, k, v, right_group, 1); }},
    {.name = "√d_model instead of √d_k",
     .why = "The scores were divided by √(H·D). A score of a head is a sum of D products, so √D is its size.",
     .where = "Split, attend, join",
     .answer = [](const Tensor& q, const Tensor& k,
                  const Tensor& v) { return grouped(q, k, v, right_group, root(q.size(0) * q.size(2))); }},
    {.name = "as many results as key/value heads",
     .why = "Only the first query head of each group was computed. Sharing keys does not mean sharing "
            "queries: all H heads answer.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           std::vector<Tensor> heads;
           for (Index g = 0; g < k.size(0); ++g)
             heads.push_back(heads_of(q[g * (q.size(0) / k.size(0))], k[g], v[g], root(q.size(2))));
           return stack(heads);
         }},
    {.name = "the first values for all",
     .why = "The keys are those of the group, but the values always those of head 0.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           std::vector<Tensor> heads;
           for (Index h = 0; h < q.size(0); ++h)
             heads.push_back(heads_of(q[h], k[right_group(h, q.size(0), k.size(0))], v[0], root(q.size(2))));
           return stack(heads);
         }},
    {.name = "softmax over the queries",
     .why = "Each column of the scores sums to 1 here. It is each query, each row, that shares out its "
            "attention.",
     .where = "Split, attend, join",
     .answer =
         [](const Tensor& q, const Tensor& k, const Tensor& v) {
           std::vector<Tensor> heads;
           for (Index h = 0; h < q.size(0); ++h) {
             const Index g = right_group(h, q.size(0), k.size(0));
             const Tensor scores = matmul(q[h], k[g], Transpose::second) / root(q.size(2));
             heads.push_back(matmul(transpose(softmax(transpose(scores))), v[g]));
           }
           return stack(heads);
         }},
};

inline const coach::Mistakes<decltype(exercise::cache_numbers)> cache_numbers = {
    {.name = "keys without values",
     .why = "Both are kept: a token that is looked at has to hand something over, too.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer = [](Index layers, Index kv_heads, Index head_size,
                  Index tokens) { return layers * kv_heads * head_size * tokens; }},
    {.name = "queries kept as well",
     .why = "A query is used once, when its token is new, and never again: only keys and values are kept.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer = [](Index layers, Index kv_heads, Index head_size,
                  Index tokens) { return 3 * layers * kv_heads * head_size * tokens; }},
    {.name = "only one layer",
     .why = "Every layer has keys and values of its own.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer = [](Index, Index kv_heads, Index head_size,
                  Index tokens) { return 2 * kv_heads * head_size * tokens; }},
    {.name = "the weights kept",
     .why =
         "The attention weights, tokens × tokens for each head, are made new for each token and thrown away.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer = [](Index layers, Index kv_heads, Index,
                  Index tokens) { return layers * kv_heads * tokens * tokens; }},
    {.name = "bytes instead of numbers",
     .why = "Asked for is how many numbers; each takes 4 bytes in float and 2 in float16.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer = [](Index layers, Index kv_heads, Index head_size,
                  Index tokens) { return 8 * layers * kv_heads * head_size * tokens; }},
    {.name = "the heads forgotten",
     .why = "Each key/value head keeps keys and values of its own.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer = [](Index layers, Index, Index head_size,
                  Index tokens) { return 2 * layers * head_size * tokens; }},
    {.name = "the size of a head forgotten",
     .why = "A key is head_size numbers, not one.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer = [](Index layers, Index kv_heads, Index,
                  Index tokens) { return 2 * layers * kv_heads * tokens; }},
    {.name = "one token only",
     .why = "Keys and values of every token are kept: each new token looks at all of them.",
     .where = "Fewer key and value heads: MQA and GQA",
     .answer = [](Index layers, Index kv_heads, Index head_size,
                  Index) { return 2 * layers * kv_heads * head_size; }},
};

}  // namespace mistakes
