// Grades exercise 19. The right answers are those of the library's ops, where they can say it.
#include <numeric>  // accumulate

#include "mistakes/19_today.hpp"  // made from mistakes.diff

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::Distribution, exercise::Int8Rows, exercise::Routing;

namespace oracle {

Tensor merge_lora(const Tensor& w, const Tensor& a, const Tensor& b, double alpha) {
  return w + matmul(b, a) * real(alpha / double(a.size(0)));
}

Routing route_top1(const Tensor& logits) {
  const Tensor p = softmax(logits);
  Routing routing{argmax(logits).values(), {}};
  for (Index n = 0; n < p.size(0); ++n) routing.weight.push_back(p(n, routing.expert[n]));
  return routing;
}

double balance_loss(const Tensor& logits) {
  Tensor chosen = zeros(logits.shape());
  const IntTensor best = argmax(logits);
  for (Index n = 0; n < logits.size(0); ++n) chosen(n, best[n]) = 1;
  return double(logits.size(1)) * sum(mean(chosen, 0) * mean(softmax(logits), 0)).item();
}

Int8Rows quantise_rows(const Tensor& w) {
  Int8Rows matrix;
  for (Index r = 0; r < w.size(0); ++r) {
    const std::vector<real> row = w[r].values();
    const auto [low, high] = std::minmax_element(row.begin(), row.end());
    const double scale = std::max(-*low, *high) / 127;
    matrix.scale.push_back(scale);
    matrix.values.emplace_back();
    for (const real weight : row)
      matrix.values.back().push_back(scale == 0 ? 0 : int(std::round(weight / scale)));
  }
  return matrix;
}

// As in the paper: the number of accepted proposals first, then the distribution of the token after them.
std::vector<int> accept_draft(const std::vector<int>& proposals, const std::vector<Distribution>& q,
                              const std::vector<Distribution>& p, const std::vector<double>& lots,
                              double last) {
  std::size_t n = 0;
  while (n < proposals.size() && lots[n] * q[n][proposals[n]] < p[n][proposals[n]]) ++n;
  Distribution next = p[n];
  if (n < proposals.size()) {
    for (std::size_t v = 0; v < next.size(); ++v) next[v] = std::max(next[v] - q[n][v], 0.0);
    const double sum = std::accumulate(next.begin(), next.end(), 0.0);
    for (double& share : next) share /= sum;
  }
  std::vector<int> written(proposals.begin(), proposals.begin() + std::ptrdiff_t(n));
  written.push_back(exercise::draw_token(next, last));
  return written;
}

}  // namespace oracle

namespace {

// Nearest integers; where a weight lies in the middle of two, or so near that rounding decides, either.
bool nearest(const Int8Rows& matrix, const Tensor& w) {
  const Int8Rows ours = oracle::quantise_rows(w);
  if (matrix.values.size() != ours.values.size() || matrix.scale.size() != ours.scale.size()) return false;
  for (Index r = 0; r < w.size(0); ++r) {
    const double scale = ours.scale[r];
    if (!(std::fabs(matrix.scale[r] - scale) <= 1e-5 * scale)) return false;
    if (matrix.values[r].size() != ours.values[r].size()) return false;
    for (Index c = 0; c < w.size(1); ++c) {
      const int value = matrix.values[r][c];
      if (scale == 0 ? value != 0 : std::fabs(w(r, c) / scale - value) > 0.5 + 1e-9) return false;
    }
  }
  return true;
}

// Ten tenths, thrown at V tokens.
Distribution tenths(Index V, Rng& rng) {
  Distribution p(V, 0.0);
  for (int i = 0; i < 10; ++i) p[rng.below(V)] += 0.1;
  return p;
}

using DraftCase = Cases<decltype(exercise::accept_draft)>::value_type;

// k proposals over V tokens, each drawn from its q.
DraftCase drafted(Index k, Index V, Rng& rng) {
  DraftCase drawn;
  auto& [proposals, q, p, lots, last] = drawn;
  for (Index i = 0; i < k; ++i) {
    q.push_back(tenths(V, rng));
    p.push_back(rng.below(3) ? tenths(V, rng) : q.back());  // every third time the draft is perfect
    proposals.push_back(exercise::draw_token(q.back(), rng.uniform()));
    lots.push_back(double(rng.below(97)) / 97);  // never on a ratio of tenths but 0
  }
  p.push_back(tenths(V, rng));
  last = (double(rng.below(97)) + 0.37) / 97;  // nor here
  return drawn;
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "19_today",
      {Question<decltype(exercise::merge_lora)>{
           .name = "merge_lora",
           .answer = exercise::merge_lora,
           .oracle = oracle::merge_lora,
           .arguments = {"w", "a", "b", "alpha"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::merge_lora)> {
             return {{tidy({1, 2}, rng), tidy({2, 2}, rng), tidy({1, 2}, rng), 4.0},
                     {tidy({2, 3}, rng), tidy({1, 3}, rng), tidy({2, 1}, rng), 2.0},
                     {tidy({3, 3}, rng), tidy({2, 3}, rng), tidy({3, 2}, rng), 3.0},
                     {tidy({3, 5}, rng), tidy({4, 5}, rng), tidy({3, 4}, rng), 1.0},
                     {normal({7, 4}, rng), normal({3, 4}, rng), normal({7, 3}, rng), 16.0}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::merge_lora)> {
             const Index out = draw.size(), in = draw.size(), r = draw.size();
             return {draw.tidy({out, in}), draw.tidy({r, in}), draw.tidy({out, r}),
                     double(draw.between(1, 16)) / 2};
           },
           .mistakes = mistakes::merge_lora,
           .notice = "Subtract the same product and the model is what it was: adapters can be changed in a "
                     "moment.",
           .library = {"matmul"}},
       Question<decltype(exercise::route_top1)>{
           .name = "route_top1",
           .answer = exercise::route_top1,
           .oracle = oracle::route_top1,
           .arguments = {"logits"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::route_top1)> {
             return {{tidy({1, 2}, rng)},
                     {tidy({2, 3}, rng)},
                     {tensor({{1, 1}, {0, 0}})},
                     {tidy({3, 1}, rng)},
                     {tensor({{1000, 999}, {-1000, -1001}, {-1000, 1000}})},
                     {normal({7, 5}, rng) * real(2)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::route_top1)> {
             const Index N = draw.size(), E = draw.size();
             return {draw.up_to_1000({N, E})};
           },
           .mistakes = mistakes::route_top1,
           .notice = "E times the parameters, and yet each token pays for one expert."},
       Question<decltype(exercise::balance_loss)>{
           .name = "balance_loss",
           .answer = exercise::balance_loss,
           .oracle = oracle::balance_loss,
           .arguments = {"logits"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::balance_loss)> {
             return {{tidy({1, 2}, rng)}, {tidy({2, 2}, rng)},
                     {tidy({3, 1}, rng)}, {tensor({{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 0}})},
                     {tidy({4, 3}, rng)}, {normal({11, 5}, rng) * real(2)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::balance_loss)> {
             const Index N = draw.size(), E = draw.size();
             return {draw.up_to_1000({N, E})};
           },
           .mistakes = mistakes::balance_loss,
           .notice = "Trained with a little of it (a hundredth, say), the router keeps all experts in use."},
       Question<decltype(exercise::quantise_rows)>{
           .name = "quantise_rows",
           .answer = exercise::quantise_rows,
           .oracle = oracle::quantise_rows,
           .arguments = {"w"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::quantise_rows)> {
             return {{tensor({{real(0.5), real(-1.27)}})},
                     {tidy({1, 3}, rng)},
                     {tidy({2, 3}, rng) * reshape(tensor({1, 20}), {2, 1})},
                     {tensor({{0, 0, 0}, {1, 2, 3}})},
                     {tensor({{-5, 1}, {1, -2}, {3, -1}})},
                     {tidy({3, 1}, rng)},
                     {normal({5, 7}, rng) * reshape(tensor({1, 3, real(0.1), 10, 1}), {5, 1})}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::quantise_rows)> {
             const Index R = draw.size(), C = draw.size();
             Tensor w = draw.up_to_1000({R, C});
             if (draw.rng.below(3) == 0)  // a row of zeros
               for (Index c = 0; c < C; ++c) w(R - 1, c) = 0;
             return {w};
           },
           .accepts = [](const Int8Rows& matrix, const Tensor& w) { return nearest(matrix, w); },
           .mistakes = mistakes::quantise_rows,
           .notice = "No weight has moved by more than half a step of its row."},
       Question<decltype(exercise::accept_draft)>{
           .name = "accept_draft",
           .answer = exercise::accept_draft,
           .oracle = oracle::accept_draft,
           .arguments = {"proposals", "q", "p", "lots", "last"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::accept_draft)> {
             return {{{0}, {{0.8, 0.2}}, {{0.4, 0.6}, {0, 1}}, {0.4}, 0.9},
                     {{0}, {{0.8, 0.2}}, {{0.4, 0.6}, {1, 0}}, {0.6}, 0.3},
                     {{1}, {{0.5, 0.5}}, {{0.7, 0.3}, {0.2, 0.8}}, {0.5}, 0.4},
                     {{0}, {{0.6, 0.2, 0.2}}, {{0.1, 0.4, 0.5}, {0.3, 0.3, 0.4}}, {0.9}, 0.5},
                     {{0}, {{0.6, 0.2, 0.2}}, {{0.3, 0.4, 0.3}, {0.2, 0.5, 0.3}}, {0.9}, 0.25},
                     {{2, 0},
                      {{0.1, 0.1, 0.8}, {0.5, 0.5, 0}},
                      {{0.3, 0.5, 0.2}, {1, 0, 0}, {0, 1, 0}},
                      {0.2, 0.5},
                      0.7},
                     {{}, {}, {{0.5, 0.5}}, {}, 0.7},
                     drafted(2, 3, rng),
                     drafted(3, 4, rng),
                     drafted(3, 5, rng),
                     drafted(4, 3, rng),
                     drafted(5, 7, rng)};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::accept_draft)> {
             return drafted(draw.size(0), draw.size(2), draw.rng);
           },
           .mistakes = mistakes::accept_draft,
           .notice = "What is written has exactly the large model's distribution, whoever made the draft."}}};
}
