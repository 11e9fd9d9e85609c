// Solution 19: what came after 2017, in four small pieces.
#pragma once

#include "lessons/19_today/types.hpp"

namespace exercise {

// The update has the shape of W but only r (out + in) numbers of its own. Merged, it costs nothing more. With
// alpha / r the update stays about as large when another rank is tried.
Tensor merge_lora(const Tensor& w, const Tensor& a, const Tensor& b, double alpha) {
  const Index out = w.size(0), in = w.size(1), r = a.size(0);
  const double scale = alpha / double(r);
  Tensor merged = empty({out, in});
  for (Index o = 0; o < out; ++o)
    for (Index i = 0; i < in; ++i) {
      double update = 0;
      for (Index k = 0; k < r; ++k) update += b(o, k) * a(k, i);
      merged(o, i) = w(o, i) + scale * update;
    }
  return merged;
}

// The choice itself has no gradient. The weight has one: it is how the router learns.
Routing route_top1(const Tensor& logits) {
  Routing routing;
  for (Index n = 0; n < logits.size(0); ++n) {
    Index best = 0;
    for (Index e = 1; e < logits.size(1); ++e)
      if (logits(n, e) > logits(n, best)) best = e;
    double sum = 0;
    for (Index e = 0; e < logits.size(1); ++e) sum += std::exp(logits(n, e) - logits(n, best));
    routing.expert.push_back(int(best));
    routing.weight.push_back(1 / sum);  // exp of the largest logit less itself, over the sum
  }
  return routing;
}

// f counts, so it has no gradient; through P the loss lowers the probability of whatever is too busy.
double balance_loss(const Tensor& logits) {
  const Index N = logits.size(0), E = logits.size(1);
  const Routing routing = route_top1(logits);
  const Tensor p = softmax(logits);  // (N, E)
  double loss = 0;
  for (Index e = 0; e < E; ++e) {
    double tokens = 0, probability = 0;
    for (Index n = 0; n < N; ++n) {
      tokens += routing.expert[std::size_t(n)] == e;
      probability += p(n, e);
    }
    loss += (tokens / double(N)) * (probability / double(N));
  }
  return double(E) * loss;
}

// A row with large weights does not make the others coarse: each has a step of its own.
Int8Rows quantise_rows(const Tensor& w) {
  Int8Rows matrix;
  for (Index r = 0; r < w.size(0); ++r) {
    double largest = 0;
    for (Index c = 0; c < w.size(1); ++c) largest = std::max(largest, double(std::fabs(w(r, c))));
    const double scale = largest / 127;
    std::vector<int> row;
    for (Index c = 0; c < w.size(1); ++c) row.push_back(scale > 0 ? int(std::round(w(r, c) / scale)) : 0);
    matrix.values.push_back(row);
    matrix.scale.push_back(scale);
  }
  return matrix;
}

// What the draft proposes too often is thinned out to p; what it proposes too rarely, p - q, comes from the
// rejections. Together that is exactly p.
std::vector<int> accept_draft(const std::vector<int>& proposals, const std::vector<Distribution>& q,
                              const std::vector<Distribution>& p, const std::vector<double>& lots,
                              double last) {
  std::vector<int> written;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const std::size_t x = std::size_t(proposals[i]);
    if (lots[i] < p[i][x] / q[i][x]) {
      written.push_back(proposals[i]);
      continue;
    }
    Distribution rest(p[i].size());
    double sum = 0;
    for (std::size_t v = 0; v < rest.size(); ++v) sum += rest[v] = std::max(p[i][v] - q[i][v], 0.0);
    for (double& share : rest) share /= sum;
    written.push_back(draw_token(rest, last));
    return written;
  }
  written.push_back(draw_token(p[proposals.size()], last));
  return written;
}

}  // namespace exercise
