// Grades exercise 09. The right answers are plain loops, to be read beside the lesson.
#include "mistakes/09_positions.hpp"  // made from mistakes.diff

using namespace attn;
using coach::Cases;
using coach::Question;
using coach::tidy;

namespace oracle {

// ω_i = 10000^(−2i/C), by its logarithm.
double omega(Index i, Index C) { return std::exp(-2.0 * double(i) * std::log(10000.0) / double(C)); }

Tensor sinusoids(Index T, Index C) {
  Tensor table = empty({T, C});
  for (Index p = 0; p < T; ++p)
    for (Index i = 0; i < C / 2; ++i) {
      table(p, 2 * i) = std::sin(double(p) * omega(i, C));
      table(p, 2 * i + 1) = std::cos(double(p) * omega(i, C));
    }
  return table;
}

Tensor rotate_pairs(const Tensor& x) {
  Tensor out = empty(x.shape());
  for (Index t = 0; t < x.size(0); ++t)
    for (Index i = 0; i < x.size(1) / 2; ++i) {
      const double angle = double(t) * omega(i, x.size(1)), a = x(t, 2 * i), b = x(t, 2 * i + 1);
      out(t, 2 * i) = a * std::cos(angle) - b * std::sin(angle);
      out(t, 2 * i + 1) = a * std::sin(angle) + b * std::cos(angle);
    }
  return out;
}

Tensor rope_attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor turned_q = rotate_pairs(q), turned_k = rotate_pairs(k);
  Tensor out = zeros({q.size(0), v.size(1)});
  for (Index i = 0; i < q.size(0); ++i) {
    std::vector<double> weights;
    double sum = 0;
    for (Index j = 0; j < k.size(0); ++j) {
      double dot = 0;
      for (Index d = 0; d < q.size(1); ++d) dot += turned_q(i, d) * turned_k(j, d);
      weights.push_back(std::exp(dot / std::sqrt(double(q.size(1)))));
      sum += weights.back();
    }
    for (Index j = 0; j < k.size(0); ++j)
      for (Index e = 0; e < v.size(1); ++e) out(i, e) += weights[static_cast<std::size_t>(j)] / sum * v(j, e);
  }
  return out;
}

Tensor alibi(Index heads, Index T) {
  Tensor bias = empty({heads, T, T});
  const double ratio = std::pow(2.0, -8.0 / double(heads));
  double slope = 1;
  for (Index h = 0; h < heads; ++h) {
    slope *= ratio;
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j < T; ++j) bias(h, i, j) = i > j ? -slope * double(i - j) : -slope * double(j - i);
  }
  return bias;
}

int t5_bucket(Index distance, bool bidirectional) {
  if (bidirectional) {
    const int side = distance > 0 ? 16 : 0;
    const Index n = std::abs(distance);
    if (n < 8) return side + int(n);
    return side + std::min(15, 8 + int(8 * std::log(double(n) / 8) / std::log(128.0 / 8)));
  }
  const Index n = distance < 0 ? -distance : 0;
  if (n < 16) return int(n);
  return std::min(31, 16 + int(16 * std::log(double(n) / 16) / std::log(128.0 / 16)));
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
           .notice =
               "Nothing is learned here, and the table never ends: position 100,000 has a row as well."},
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
           .notice = "Row 0 stays as it is, and no row changes its length."},
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
           .notice =
               "Each bucket is one learned number for each head: 32 × H parameters for a whole model."}}};
}
