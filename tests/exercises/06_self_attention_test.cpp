// Grades exercise 06. The right answers are plain loops, to be read beside the lesson.
#include "mistakes/06_self_attention.hpp"  // made from mistakes.diff

using namespace attn;
using coach::Cases;
using coach::Question;

namespace oracle {

Tensor scores(const Tensor& q, const Tensor& k) {
  Tensor out = zeros({q.size(0), k.size(0)});
  for (Index i = 0; i < q.size(0); ++i)
    for (Index j = 0; j < k.size(0); ++j) {
      for (Index d = 0; d < q.size(1); ++d) out(i, j) += q(i, d) * k(j, d);
      out(i, j) /= std::sqrt(real(q.size(1)));
    }
  return out;
}

Tensor row_softmax(const Tensor& s) {
  Tensor out = empty(s.shape());
  for (Index i = 0; i < s.size(0); ++i) {
    real largest = s(i, 0), sum = 0;
    for (Index j = 0; j < s.size(1); ++j) largest = std::max(largest, s(i, j));
    for (Index j = 0; j < s.size(1); ++j) sum += std::exp(s(i, j) - largest);
    for (Index j = 0; j < s.size(1); ++j) out(i, j) = std::exp(s(i, j) - largest) / sum;
  }
  return out;
}

Tensor product(const Tensor& a, const Tensor& b) {
  Tensor out = zeros({a.size(0), b.size(1)});
  for (Index i = 0; i < a.size(0); ++i)
    for (Index k = 0; k < a.size(1); ++k)
      for (Index j = 0; j < b.size(1); ++j) out(i, j) += a(i, k) * b(k, j);
  return out;
}

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  return product(row_softmax(scores(q, k)), v);
}

Tensor self_attention(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
  return attend(product(x, w_q), product(x, w_k), product(x, w_v));
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
                     {normal({5, 6}, rng), normal({6, 3}, rng), normal({6, 3}, rng), normal({6, 7}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::self_attention)> {
             const Index T = draw.size(), C = draw.size(), D = draw.size(), E = draw.size();
             return {draw.tidy({T, C}), draw.tidy({C, D}), draw.tidy({C, D}), draw.tidy({C, E})};
           },
           .mistakes = mistakes::self_attention,
           .notice =
               "The three matrices are all that self-attention learns; the five steps between them have no "
               "parameters."}}};
}
