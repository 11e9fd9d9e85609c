// Grades exercise 08. Where the library has a function, it is the right answer.
#include "mistakes/08_multi_head.hpp"  // made from mistakes.diff
#include "nn/attention.hpp"            // split_heads, merge_heads
#include "tests/exercises/oracle.hpp"  // attend, share_heads

using namespace attn;
using coach::Cases;
using coach::Question;
using coach::tidy;

namespace oracle {

Tensor split_heads(const Tensor& x, Index heads) { return attn::split_heads(x, heads); }

Tensor merge_heads(const Tensor& x) { return attn::merge_heads(x); }

Tensor multi_head(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o,
                  Index heads) {
  return matmul(attention(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v), {.heads = heads}), w_o);
}

Tensor grouped_query(const Tensor& q, const Tensor& k, const Tensor& v) {
  return attend(q, share_heads(k, q.size(0)), share_heads(v, q.size(0)));
}

Index cache_numbers(Index layers, Index kv_heads, Index head_size, Index tokens) {
  return layers * tokens * (kv_heads * head_size + kv_heads * head_size);
}

}  // namespace oracle

coach::Exercise coach::exercise() {
  return {
      "08_multi_head",
      {Question<decltype(exercise::split_heads)>{
           .name = "split_heads",
           .answer = exercise::split_heads,
           .oracle = oracle::split_heads,
           .arguments = {"x", "heads"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::split_heads)> {
             return {{places({1, 2, 4}), 2}, {places({2, 2, 4}), 2},      {places({1, 3, 6}), 2},
                     {places({2, 3, 6}), 3}, {normal({3, 5, 7}, rng), 1}, {normal({2, 7, 15}, rng), 5}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::split_heads)> {
             const Index B = draw.size(), T = draw.size(), H = draw.size(), D = draw.size();
             return {places({B, T, H * D}), H};
           },
           .mistakes = mistakes::split_heads,
           .notice = "A head is nothing but a range of channels with a softmax of its own.",
           .library = {"attn::split_heads"}},
       Question<decltype(exercise::merge_heads)>{
           .name = "merge_heads",
           .answer = exercise::merge_heads,
           .oracle = oracle::merge_heads,
           .arguments = {"x"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::merge_heads)> {
             return {{places({1, 2, 2, 2})},
                     {places({2, 2, 2, 2})},
                     {places({1, 2, 3, 1})},
                     {normal({2, 3, 5, 2}, rng)},
                     {normal({1, 5, 3, 7}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::merge_heads)> {
             return {places({draw.size(), draw.size(), draw.size(), draw.size()})};
           },
           .mistakes = mistakes::merge_heads,
           .notice = "The fused op of the library never splits nor merges: it finds each head by pointer "
                     "arithmetic.",
           .library = {"attn::merge_heads"}},
       Question<decltype(exercise::multi_head)>{
           .name = "multi_head",
           .answer = exercise::multi_head,
           .oracle = oracle::multi_head,
           .arguments = {"x", "w_q", "w_k", "w_v", "w_o", "heads"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::multi_head)> {
             const auto of = [&](Index B, Index T, Index C, Index H) {
               return std::tuple{normal({B, T, C}, rng), normal({C, C}, rng), normal({C, C}, rng),
                                 normal({C, C}, rng),    normal({C, C}, rng), H};
             };
             return {{tidy({1, 2, 2}, rng), tidy({2, 2}, rng), tidy({2, 2}, rng), tidy({2, 2}, rng),
                      tidy({2, 2}, rng), 2},
                     of(1, 3, 6, 2),
                     of(2, 5, 6, 3),
                     of(1, 4, 4, 2),
                     of(2, 3, 5, 1)};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::multi_head)> {
             const Index B = draw.size(), T = draw.size(), H = draw.between(1, 3), C = H * draw.between(1, 3);
             return {draw.tidy({B, T, C}), draw.tidy({C, C}), draw.tidy({C, C}),
                     draw.tidy({C, C}),    draw.tidy({C, C}), H};
           },
           .mistakes = mistakes::multi_head,
           .notice = "With one head this is exercise 06 and a matrix behind it; the heads cost nearly "
                     "nothing more.",
           .library = {"attention"}},
       Question<decltype(exercise::grouped_query)>{
           .name = "grouped_query",
           .answer = exercise::grouped_query,
           .oracle = oracle::grouped_query,
           .arguments = {"q", "k", "v"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::grouped_query)> {
             return {{tidy({2, 1, 2}, rng), tidy({1, 2, 2}, rng), tidy({1, 2, 1}, rng)},
                     {tidy({4, 1, 2}, rng), tidy({2, 3, 2}, rng), tidy({2, 3, 1}, rng)},
                     {normal({6, 3, 5}, rng), normal({2, 4, 5}, rng), normal({2, 4, 3}, rng)},
                     {normal({6, 5, 3}, rng), normal({3, 7, 3}, rng), normal({3, 7, 3}, rng)},
                     {normal({3, 2, 3}, rng), normal({3, 3, 3}, rng), normal({3, 3, 3}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::grouped_query)> {
             const Index G = draw.between(1, 3), H = G * draw.between(1, 3), T = draw.size(), S = draw.size(),
                         D = draw.size(), E = draw.size();
             return {draw.tidy({H, T, D}), draw.tidy({G, S, D}), draw.tidy({G, S, E})};
           },
           .mistakes = mistakes::grouped_query,
           .notice =
               "G = H is multi-head attention and G = 1 multi-query attention: one formula for all three.",
           .library = {"attention"}},
       Question<decltype(exercise::cache_numbers)>{
           .name = "cache_numbers",
           .answer = exercise::cache_numbers,
           .oracle = oracle::cache_numbers,
           .arguments = {"layers", "kv_heads", "head_size", "tokens"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::cache_numbers)> {
             return {{2, 1, 3, 5}, {6, 8, 64, 1000}, {1, 3, 7, 11}, {5, 2, 10, 1 + rng.below(1000)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::cache_numbers)> {
             return {draw.count(100), draw.count(64), draw.count(256), draw.count(1000000)};
           },
           .mistakes = mistakes::cache_numbers,
           .notice = "It grows with every token that is written: for long texts the cache, not the weights, "
                     "fills the memory."}}};
}
