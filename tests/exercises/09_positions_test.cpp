// Grades exercise 09. Where the library has a function, it is the right answer.
#include "mistakes/09_positions.hpp"   // made from mistakes.diff
#include "nn/positions.hpp"            // sinusoidal_table, t5_bucket
#include "tests/exercises/oracle.hpp"  // attend

using namespace attn;
using coach::Cases;
using coach::Question;
using coach::tidy;

namespace oracle {

Tensor sinusoids(Index T, Index C) { return sinusoidal_table(T, C); }

Tensor rotate_pairs(const Tensor& x) {
  return reshape(rope(reshape(x, {1, x.size(0), x.size(1)}), 1), x.shape());
}

Tensor rope_attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  return attend(rotate_pairs(q), rotate_pairs(k), v);
}

// Not the library's, which has other slopes where the heads are no power of two.
Tensor alibi(Index heads, Index T) {
  Tensor bias = empty({heads, T, T});
  const double ratio = std::pow(2.0, -8.0 / double(heads));
  double slope = ratio;
  for (Index h = 0; h < heads; ++h, slope *= ratio)
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j < T; ++j) bias(h, i, j) = -slope * double(std::max(i, j) - std::min(i, j));
  return bias;
}

int t5_bucket(Index distance, bool bidirectional) { return attn::t5_bucket(distance, bidirectional); }

Tensor rotate_back(const Tensor& gradient) {
  return pulled_back([](const Tensor& x) { return rotate_pairs(x); }, zeros(gradient.shape()), gradient);
}

}  // namespace oracle

// The formula meets a whole number there, and on which side of it a machine lands depends on
// how it is written.
Index off_the_edge(Index distance) {
  const Index n = std::abs(distance);
  return n == 16 || n == 32 || n == 64 || n == 128 ? distance + 1 : distance;
}

coach::Exercise coach::exercise() {
  return {
      "09_positions",
      {Question<decltype(exercise::sinusoids)>{
           .name = "sinusoids",
           .answer = exercise::sinusoids,
           .oracle = oracle::sinusoids,
           .arguments = {"T", "C"},
           .cases = [](Rng&) -> Cases<decltype(exercise::sinusoids)> {
             return {{2, 4}, {3, 2}, {5, 6}, {33, 10}, {7, 16}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::sinusoids)> {
             return {draw.size() + draw.size(0), 2 * draw.size()};
           },
           .mistakes = mistakes::sinusoids,
           .notice = "Nothing is learned here, and the table never ends: position 100,000 has a row as well.",
           .library = {"sinusoidal_table"}},
       Question<decltype(exercise::rotate_pairs)>{
           .name = "rotate_pairs",
           .answer = exercise::rotate_pairs,
           .oracle = oracle::rotate_pairs,
           .arguments = {"x"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::rotate_pairs)> {
             return {
                 {tidy({2, 2}, rng)}, {tidy({3, 4}, rng)}, {normal({5, 6}, rng)}, {normal({17, 10}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::rotate_pairs)> {
             return {draw.tidy({draw.size(), 2 * draw.size()})};
           },
           .mistakes = mistakes::rotate_pairs,
           .notice = "Row 0 stays as it is, and no row changes its length.",
           .library = {"rope"}},
       Question<decltype(exercise::rope_attend)>{
           .name = "rope_attend",
           .answer = exercise::rope_attend,
           .oracle = oracle::rope_attend,
           .arguments = {"q", "k", "v"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::rope_attend)> {
             return {{tidy({2, 2}, rng), tidy({2, 2}, rng), tidy({2, 2}, rng)},
                     {tidy({3, 4}, rng), tidy({3, 4}, rng), tidy({3, 2}, rng)},
                     {normal({5, 6}, rng), normal({5, 6}, rng), normal({5, 4}, rng)},
                     {normal({7, 4}, rng), normal({7, 4}, rng), normal({7, 4}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::rope_attend)> {
             const Index T = draw.size(), D = 2 * draw.size(), E = draw.size();
             return {draw.tidy({T, D}), draw.tidy({T, D}), draw.tidy({T, E})};
           },
           .mistakes = mistakes::rope_attend,
           .notice = "Start all positions at 1000 instead of 0 and nothing changes: only distances count."},
       Question<decltype(exercise::alibi)>{
           .name = "alibi",
           .answer = exercise::alibi,
           .oracle = oracle::alibi,
           .arguments = {"heads", "T"},
           .cases = [](Rng&) -> Cases<decltype(exercise::alibi)> {
             return {{2, 2}, {1, 3}, {4, 3}, {8, 5}, {16, 4}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::alibi)> {
             return {Index(1) << draw.between(0, std::min<Index>(draw.scale, 4)), draw.size()};
           },
           .mistakes = mistakes::alibi,
           .notice = "No parameters and no end: that is why it goes on where a table stops."},
       Question<decltype(exercise::t5_bucket)>{
           .name = "t5_bucket",
           .answer = exercise::t5_bucket,
           .oracle = oracle::t5_bucket,
           .arguments = {"distance", "bidirectional"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::t5_bucket)> {
             Cases<decltype(exercise::t5_bucket)> cases = {
                 {-3, true},   {3, true},   {0, true},    {0, false},    {-12, false},
                 {5, false},   {-20, true}, {-20, false}, {50, true},    {-50, false},
                 {-90, false}, {100, true}, {300, true},  {-1000, true}, {-500, false}};
             for (int i = 0; i < 6; ++i) cases.push_back({off_the_edge(rng.below(260) - 130), i % 2 == 0});
             return cases;
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::t5_bucket)> {
             const Index n = draw.count(400, 0);
             return {off_the_edge(draw.coin() ? n : -n), draw.coin()};
           },
           .mistakes = mistakes::t5_bucket,
           .notice = "Each bucket is one learned number for each head: 32 × H parameters for a whole model.",
           .library = {"attn::t5_bucket"}},
       Question<decltype(exercise::rotate_back)>{
           .name = "rotate_back",
           .answer = exercise::rotate_back,
           .oracle = oracle::rotate_back,
           .arguments = {"gradient"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::rotate_back)> {
             return {
                 {tidy({2, 2}, rng)}, {tidy({3, 4}, rng)}, {normal({5, 6}, rng)}, {normal({17, 10}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::rotate_back)> {
             return {draw.tidy({draw.size(), 2 * draw.size()})};
           },
           .mistakes = mistakes::rotate_back,
           .notice = "The gradient keeps its length: however deep the model, no rotation makes "
                     "it vanish or explode.",
           .library = {"backward"}}}};
}
