// Grades exercise 06. Where the library has a function, it is the right answer.
#include "mistakes/06_self_attention.hpp"  // made from mistakes.diff
#include "tests/exercises/oracle.hpp"      // scores, attend

using namespace attn;
using coach::Cases;
using coach::Question;

namespace oracle {

Tensor row_softmax(const Tensor& s) { return softmax(s); }

Tensor self_attention(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
  return attend(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v));
}

std::pair<Tensor, Tensor> scores_backward(const Tensor& q, const Tensor& k, const Tensor& gradient) {
  return {pulled_back([&](const Tensor& x) { return scores(x, k); }, q, gradient),
          pulled_back([&](const Tensor& x) { return scores(q, x); }, k, gradient)};
}

}  // namespace oracle

coach::Exercise coach::exercise() {
  return {
      "06_self_attention",
      {Question<decltype(exercise::scores)>{
           .name = "scores",
           .answer = exercise::scores,
           .oracle = oracle::scores,
           .arguments = {"q", "k"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::scores)> {
             return {{tidy({1, 2}, rng), tidy({1, 2}, rng)},
                     {tidy({1, 3}, rng), tidy({2, 3}, rng)},
                     {normal({3, 3}, rng), normal({3, 3}, rng)},
                     {normal({5, 7}, rng), normal({6, 7}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::scores)> {
             const Index T = draw.size(), S = draw.size(), D = draw.size();
             return {draw.tidy({T, D}), draw.tidy({S, D})};
           },
           .mistakes = mistakes::scores,
           .notice =
               "Row i says what token i thinks of every key: T × S numbers, the matrix whose size is the "
               "price of attention."},
       Question<decltype(exercise::row_softmax)>{
           .name = "row_softmax",
           .answer = exercise::row_softmax,
           .oracle = oracle::row_softmax,
           .arguments = {"s"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::row_softmax)> {
             return {{tidy({1, 2}, rng)},
                     {tidy({2, 3}, rng)},
                     {normal({5, 3}, rng) * real(3)},
                     {tensor({{1000, 999}, {-1000, -1001}})},
                     {tensor({{-1000, -1001, -1002}, {-1003, -1001, -1002}})},
                     {tensor({{-1000, 1000, 0}, {0, -1000, 1000}})},
                     {normal({4, 7}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::row_softmax)> {
             return {draw.up_to_1000({draw.size(), draw.size()})};
           },
           .mistakes = mistakes::row_softmax,
           .notice = "Adding a constant to a row changes nothing: only differences of scores count.",
           .library = {"softmax"}},
       Question<decltype(exercise::attend)>{
           .name = "attend",
           .answer = exercise::attend,
           .oracle = oracle::attend,
           .arguments = {"q", "k", "v"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::attend)> {
             return {{tidy({1, 2}, rng), tidy({2, 2}, rng), tidy({2, 1}, rng)},
                     {tidy({2, 3}, rng), tidy({3, 3}, rng), tidy({3, 2}, rng)},
                     {normal({3, 3}, rng), normal({3, 3}, rng), normal({3, 3}, rng)},
                     {normal({5, 7}, rng), normal({6, 7}, rng), normal({6, 3}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::attend)> {
             const Index T = draw.size(), S = draw.size(), D = draw.size(), E = draw.size();
             return {draw.tidy({T, D}), draw.tidy({S, D}), draw.tidy({S, E})};
           },
           .mistakes = mistakes::attend,
           .notice = "Nothing here knows the order of the keys: shuffle the rows of k and v together and the "
                     "result stays (lesson 09 is about that).",
           .library = {"attention"}},
       Question<decltype(exercise::self_attention)>{
           .name = "self_attention",
           .answer = exercise::self_attention,
           .oracle = oracle::self_attention,
           .arguments = {"x", "w_q", "w_k", "w_v"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::self_attention)> {
             return {{tidy({2, 2}, rng), tidy({2, 1}, rng), tidy({2, 1}, rng), tidy({2, 1}, rng)},
                     {normal({3, 3}, rng), normal({3, 3}, rng), normal({3, 3}, rng), normal({3, 3}, rng)},
                     {normal({5, 6}, rng), normal({6, 3}, rng), normal({6, 3}, rng), normal({6, 7}, rng)},
                     {tidy({2, 2}, rng), tidy({2, 1}, rng), tidy({2, 1}, rng), tidy({2, 1}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::self_attention)> {
             const Index T = draw.size(), C = draw.size(), D = draw.size(), E = draw.size();
             return {draw.tidy({T, C}), draw.tidy({C, D}), draw.tidy({C, D}), draw.tidy({C, E})};
           },
           .mistakes = mistakes::self_attention,
           .notice =
               "The three matrices are all that self-attention learns; the five steps between them have no "
               "parameters."},
       Question<decltype(exercise::scores_backward)>{
           .name = "scores_backward",
           .answer = exercise::scores_backward,
           .oracle = oracle::scores_backward,
           .arguments = {"q", "k", "gradient"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::scores_backward)> {
             return {{tidy({1, 2}, rng), tidy({1, 2}, rng), tidy({1, 1}, rng)},
                     {tidy({1, 3}, rng), tidy({2, 3}, rng), tidy({1, 2}, rng)},
                     {normal({3, 3}, rng), normal({3, 3}, rng), normal({3, 3}, rng)},
                     {normal({5, 7}, rng), normal({6, 7}, rng), normal({5, 6}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::scores_backward)> {
             const Index T = draw.size(), S = draw.size(), D = draw.size();
             return {draw.tidy({T, D}), draw.tidy({S, D}), draw.tidy({T, S})};
           },
           .mistakes = mistakes::scores_backward,
           .notice =
               "A key learns from the queries that looked at it, and a query from the keys that it saw.",
           .library = {"backward"}}}};
}
