// Grades exercise 14. Where the library has a function, it is the right answer.
#include "mistakes/14_decoding.hpp"  // made from mistakes.diff
#include "lessons/coach/show.hpp"

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::Cache;
using exercise::HeadWeights;
using exercise::Model;

namespace oracle {

double length_score(double log_probability, int length, double alpha) {
  return log_probability * std::pow(6.0 / (5.0 + length), alpha);
}

// The beam is one list. Sorted, those that had ended before come first, then the likeliest.
std::vector<int> search_beam(const Model& model, int width, int max_length, double alpha) {
  struct Hypothesis {
    bool ended;
    double log_p;
    std::vector<int> words;
  };
  std::vector<Hypothesis> beam = {{false, 0, {exercise::bos}}};
  for (int step = 0; step < max_length; ++step) {
    std::vector<Hypothesis> next;
    for (const Hypothesis& h : beam) {
      const bool ended = h.words.back() == exercise::eos;
      if (ended) next.push_back({true, h.log_p, h.words});
      const std::vector<double> more = ended ? std::vector<double>() : model(h.words);
      for (std::size_t v = 0; v < more.size(); ++v) {
        next.push_back({false, h.log_p + more[v], h.words});
        next.back().words.push_back(int(v));
      }
    }
    std::stable_sort(next.begin(), next.end(), [](const Hypothesis& a, const Hypothesis& b) {
      return std::pair(a.ended, a.log_p) > std::pair(b.ended, b.log_p);
    });
    next.resize(std::min(next.size(), std::size_t(width)));
    beam = next;
  }
  const auto score = [&](const Hypothesis& h) {
    return length_score(h.log_p, int(h.words.size()) - 1, alpha);
  };
  std::vector<int> best = std::max_element(beam.begin(), beam.end(), [&](const auto& a, const auto& b) {
                            return score(a) < score(b);
                          })->words;
  best.erase(best.begin());
  std::erase(best, exercise::eos);
  return best;
}

std::vector<double> keep_top_k(const std::vector<double>& probabilities, int k) {
  std::vector<double> kept(probabilities.size(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    int larger = 0;
    for (const double other : probabilities) larger += other > probabilities[i];
    if (larger < k) sum += kept[i] = probabilities[i];
  }
  for (double& value : kept) value /= sum;
  return kept;
}

std::vector<double> keep_top_p(const std::vector<double>& probabilities, double p) {
  std::vector<double> kept(probabilities.size(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    double before = 0;  // of the likelier words: if they reach p already, this one is not needed
    for (const double other : probabilities) before += other > probabilities[i] ? other : 0;
    if (before < p) sum += kept[i] = probabilities[i];
  }
  for (double& value : kept) value /= sum;
  return kept;
}

// The past as the op `attention` sees it: one query, all keys and values.
Tensor cached_step(const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
  const Tensor placed = x + positions[std::ssize(cache.keys)];
  cache.keys.push_back(matmul(placed, w.key));
  cache.values.push_back(matmul(placed, w.value));
  const Tensor found = attention(reshape(matmul(placed, w.query), {1, 1, x.size(0)}),
                                 stack({stack(cache.keys)}), stack({stack(cache.values)}));
  return reshape(found, x.shape());
}

}  // namespace oracle

namespace {

// A language of V words in which what comes next hangs on everything before; `ending` makes eos likelier.
// With `any_first`, token 0 and bos are words like the others and may win.
Model random_model(Index V, double ending, Rng& rng, bool any_first = false) {
  const std::uint64_t seed = rng.bits64();
  return [=](const std::vector<int>& written) {
    std::uint64_t key = seed;
    for (const int word : written)
      key = key * 6364136223846793005ULL + static_cast<std::uint64_t>(word) + 1442695040888963407ULL;
    Rng own(key);
    std::vector<double> scores;
    double sum = 0;
    for (Index v = 0; v < V; ++v) {
      scores.push_back(1.2 * own.normal() + (v == exercise::eos ? ending : v < 2 && !any_first ? -6.0 : 0.0));
      sum += std::exp(scores.back());
    }
    for (double& score : scores) score -= std::log(sum);
    return scores;
  };
}

// The example of the stub, and a language in which every word is so unlikely that products vanish.
Model table_model() {
  return [](const std::vector<int>& written) {
    std::vector<double> p(7, 1e-9);
    if (written.size() == 1) p[3] = 0.6, p[4] = 0.4;
    if (written.size() == 2 && written[1] == 3) p[5] = 0.5, p[6] = 0.49;
    if (written.size() == 2 && written[1] == 4) p[5] = 0.9, p[6] = 0.1;
    if (written.size() > 2) p[2] = 1;
    for (double& value : p) value = std::log(value);
    return p;
  };
}
// A short sentence that is less likely than a long one: P divided by a penalty would choose the short one.
Model long_model() {
  return [](const std::vector<int>& written) {
    std::vector<double> p(7, 1e-9);
    if (written.size() == 1) p[2] = 0.3, p[3] = 0.4, p[4] = 0.2;
    if (written.size() > 1) p[written.size() < 5 ? 3 : 2] = 0.97;
    for (double& value : p) value = std::log(value);
    return p;
  };
}
// A short and a long sentence that are nearly worth the same: how lengths are counted decides.
Model close_model() {
  return [](const std::vector<int>& written) {
    std::vector<double> p(7, 1e-9);
    if (written.size() == 1) p[2] = 0.3, p[3] = 0.4, p[4] = 0.2;
    if (written.size() > 1) p[written.size() < 5 ? 3 : 2] = 0.575;
    for (double& value : p) value = std::log(value);
    return p;
  };
}
// The end comes early and keeps its place, so that of two further words only the wrong one is followed.
Model crowded_model() {
  return [](const std::vector<int>& written) {
    std::vector<double> p(8, 1e-9);
    if (written.size() == 1) {
      p[2] = 0.3, p[3] = 0.5, p[4] = 0.1;
    } else if (written == std::vector<int>{1, 3}) {
      p[5] = 0.6, p[6] = 0.4;
    } else if (written.back() == 6) {
      p[2] = 1;
    } else {
      p[2] = 0.1, p[3] = 0.15, p[4] = 0.14, p[5] = 0.13, p[7] = 0.12;
    }
    for (double& value : p) value = std::log(value);
    return p;
  };
}
Model faint_model() {
  return [](const std::vector<int>& written) {
    std::vector<double> log_p = {-900, -900, -450, -400, -401};
    if (written.size() > 4) log_p[2] = -1;
    if (written.back() == 4) log_p[4] = -300;
    return log_p;
  };
}

std::vector<double> probabilities(Index count, Rng& rng) {
  std::vector<double> p;
  double sum = 0;
  for (Index i = 0; i < count; ++i) p.push_back(std::exp(1.3 * rng.normal())), sum += p.back();
  for (double& value : p) value /= sum;
  return p;
}

HeadWeights head(Index C, Rng& rng) {
  return {coach::tidy({C, C}, rng), coach::tidy({C, C}, rng), coach::tidy({C, C}, rng)};
}
Cache cache_of(Index T, Index C, Rng& rng) {
  Cache cache;
  for (Index t = 0; t < T; ++t)
    cache.keys.push_back(coach::tidy({C}, rng)), cache.values.push_back(coach::tidy({C}, rng));
  return cache;
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "14_decoding",
      {Question<decltype(exercise::length_score)>{
           .name = "length_score",
           .answer = exercise::length_score,
           .oracle = oracle::length_score,
           .arguments = {"log_probability", "length", "alpha"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::length_score)> {
             return {{-6, 7, 1}, {-6, 7, 0}, {-2, 1, 0.6}, {-3.5, 4, 2}, {-1 - rng.uniform(), 11, 0.6}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::length_score)> {
             return {-double(draw.between(1, 200)) / 10, int(draw.size()), double(draw.between(0, 20)) / 10};
           },
           .mistakes = mistakes::length_score,
           .notice = "With length 1 the penalty is 1, whatever α is: that is what the 5 and the 6 are for."},
       Question<decltype(exercise::search_beam)>{
           .name = "search_beam",
           .answer = exercise::search_beam,
           .oracle = oracle::search_beam,
           .arguments = {"model", "width", "max_length", "alpha"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::search_beam)> {
             Cases<decltype(exercise::search_beam)> cases = {
                 {table_model(), 1, 10, 0.6}, {table_model(), 2, 10, 0.6},  {table_model(), 2, 1, 0.6},
                 {long_model(), 2, 8, 2.0},   {crowded_model(), 2, 4, 3.0}, {faint_model(), 3, 7, 0.6},
                 {close_model(), 2, 8, 2.0}};
             for (int i = 0; i < 60; ++i)
               cases.emplace_back(random_model(5 + i % 3, i % 2 ? 0.0 : -0.7, rng), 1 + i % 4, 3 + i % 5,
                                  i % 3 == 0 ? 0.6 : 1.5);
             return cases;
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::search_beam)> {
             return {random_model(draw.size(3), draw.one_of<double>({-0.7, 0, 0.7}), draw.rng, draw.coin()),
                     int(draw.between(1, 4)), int(draw.size()), draw.one_of<double>({0, 0.6, 1, 2})};
           },
           .mistakes = mistakes::search_beam,
           .notice = "With width 1 this is greedy decoding; with width V^T it would be an exhaustive search.",
           .show_answer = likeliest},
       Question<decltype(exercise::keep_top_k)>{
           .name = "keep_top_k",
           .answer = exercise::keep_top_k,
           .oracle = oracle::keep_top_k,
           .arguments = {"probabilities", "k"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::keep_top_k)> {
             return {{{0.15, 0.5, 0.05, 0.3}, 2},
                     {{0.2, 0.7, 0.1}, 1},
                     {probabilities(5, rng), 3},
                     {probabilities(3, rng), 7},
                     {probabilities(11, rng), 4}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::keep_top_k)> {
             const Index n = draw.size();
             return {probabilities(n, draw.rng), int(draw.between(1, n + 1))};
           },
           .mistakes = mistakes::keep_top_k,
           .notice = "k = 1 is greedy. The same k is too many where the model is sure, and too few where it "
                     "is not."},
       Question<decltype(exercise::keep_top_p)>{
           .name = "keep_top_p",
           .answer = exercise::keep_top_p,
           .oracle = oracle::keep_top_p,
           .arguments = {"probabilities", "p"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::keep_top_p)> {
             return {{{0.15, 0.5, 0.05, 0.3}, 0.6},
                     {{0.2, 0.7, 0.1}, 0.6},
                     {probabilities(5, rng), 0.9},
                     {{0.1, 0.2, 0.3, 0.4}, 0.85},
                     {{0.125, 0.25, 0.0625, 0.5, 0.0625 / 2, 0.0625 / 4}, 0.75},  // reached exactly
                     {probabilities(11, rng), 0.75}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::keep_top_p)> {
             return {probabilities(draw.size(), draw.rng), 0.02 + 0.97 * draw.rng.uniform()};
           },
           .mistakes = mistakes::keep_top_p,
           .notice =
               "How many words stay is decided by the model: one where it is sure, many where it is not."},
       Question<decltype(exercise::cached_step)>{
           .name = "cached_step",
           .answer = exercise::cached_step,
           .oracle = oracle::cached_step,
           .arguments = {"x", "positions", "w", "cache"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::cached_step)> {
             return {{tidy({2}, rng), tidy({4, 2}, rng), head(2, rng), Cache{}},
                     {tidy({2}, rng), tidy({4, 2}, rng), head(2, rng), cache_of(1, 2, rng)},
                     {tidy({3}, rng), tidy({6, 3}, rng), head(3, rng), cache_of(3, 3, rng)},
                     {tidy({5}, rng), tidy({9, 5}, rng), head(5, rng), cache_of(7, 5, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::cached_step)> {
             const Index C = draw.size(), T = draw.size(0);
             return {draw.tidy({C}), draw.tidy({T + 1 + draw.size(0), C}), head(C, draw.rng),
                     cache_of(T, C, draw.rng)};
           },
           .mistakes = mistakes::cached_step,
           .notice = "No mask was needed: the cache holds nothing of the future."}}};
}
