// The wrong answers to exercise 14 that the grader knows by name.
#pragma once

#include "lessons/14_decoding/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
double length_score(double log_probability, int length, double alpha);
std::vector<int> search_beam(const Model& model, int width, int max_length, double alpha);
std::vector<double> keep_top_k(const std::vector<double>& probabilities, int k);
std::vector<double> keep_top_p(const std::vector<double>& probabilities, double p);
Tensor cached_step(const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::bos;
using exercise::Cache;
using exercise::eos;
using exercise::HeadWeights;
using exercise::Model;

inline double penalty(double length, double alpha) { return std::pow((5 + length) / 6, alpha); }

inline const coach::Mistakes<decltype(exercise::length_score)> length_score = {
    {.name = "no length normalisation",
     .why = "Each further word costs, so that without the division short sentences always win.",
     .where = "Beam search",
     .answer = [](double log_p, int, double) { return log_p; }},
    {.name = "multiplied instead of divided",
     .why =
         "log P is negative: multiplying makes long sentences even worse. The division is what helps them.",
     .where = "Beam search",
     .answer = [](double log_p, int length, double alpha) { return log_p * penalty(length, alpha); }},
    {.name = "divided by length^α, another convention",
     .why =
         "That is used, too, but it is much stronger for short sentences. Here it is ((5 + length) / 6)^α.",
     .where = "Beam search",
     .answer = [](double log_p, int length,
                  double alpha) { return log_p / std::pow(double(length), alpha); }},
    {.name = "integer division",
     .why = "(5 + length) / 6 of integers is cut off: lengths 1 to 6 all get the same penalty.",
     .where = "Beam search",
     .answer = [](double log_p, int length,
                  double alpha) { return log_p / std::pow((5 + length) / 6, alpha); }},
    {.name = "α as a factor",
     .why = "α is an exponent: with α = 0 the penalty is 1, not 0.",
     .where = "Beam search",
     .answer = [](double log_p, int length, double alpha) { return log_p / ((5.0 + length) / 6 * alpha); }},
    {.name = "only the numerator to the power",
     .why = "The whole fraction (5 + length) / 6 is raised to α.",
     .where = "Beam search",
     .answer = [](double log_p, int length,
                  double alpha) { return log_p / (std::pow(5.0 + length, alpha) / 6); }},
};

// A beam search with a fault to be chosen.
struct Faults {
  bool probabilities = false;  // multiplied, not their logarithms added
  bool drop_finished = false;  // thrown away
  bool stop_at_first = false;  // the first that ends is the answer
  bool finished_take_no_place = false;
  bool finished_go_on = false;
  bool newest_only = false;  // not summed
  bool keep_eos = false, keep_bos = false;
  bool one_each = false;  // the best continuation of each hypothesis only
  bool unfinished_forgotten = false;
};

inline std::vector<int> faulty_beam(const Model& model, int width, int max_length, double alpha,
                                    const Faults& f) {
  struct Hypothesis {
    std::vector<int> words;
    double value;
  };
  const auto score = [&](const Hypothesis& h) {
    return h.value / penalty(double(h.words.size()) - 1, alpha);
  };
  std::vector<Hypothesis> open = {{{bos}, f.probabilities ? 1.0 : 0.0}}, ended;
  for (int step = 0; step < max_length && !open.empty(); ++step) {
    std::vector<Hypothesis> candidates;
    for (const Hypothesis& h : open) {
      const std::vector<double> log_p = model(h.words);
      std::vector<Hypothesis> own;
      for (std::size_t v = 0; v < log_p.size(); ++v) {
        const double value = f.probabilities ? h.value * std::exp(log_p[v])
                             : f.newest_only ? log_p[v]
                                             : h.value + log_p[v];
        own.push_back({h.words, value});
        own.back().words.push_back(static_cast<int>(v));
      }
      std::stable_sort(own.begin(), own.end(),
                       [](const Hypothesis& a, const Hypothesis& b) { return a.value > b.value; });
      if (f.one_each && step > 0) own.resize(1);
      candidates.insert(candidates.end(), own.begin(), own.end());
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Hypothesis& a, const Hypothesis& b) { return a.value > b.value; });
    const std::size_t taken = f.finished_take_no_place || f.drop_finished ? 0 : ended.size();
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(width) - taken));
    open.clear();
    for (const Hypothesis& kept : candidates) {
      const bool end = kept.words.back() == eos && !f.finished_go_on;
      if (end && f.stop_at_first) return {kept.words.begin() + 1, kept.words.end() - 1};
      if (end && f.drop_finished) continue;
      (end ? ended : open).push_back(kept);
    }
  }
  if (!f.unfinished_forgotten || ended.empty()) ended.insert(ended.end(), open.begin(), open.end());
  if (ended.empty()) return {};
  std::vector<int> best =
      std::max_element(ended.begin(), ended.end(), [&](const Hypothesis& a, const Hypothesis& b) {
        return score(a) < score(b);
      })->words;
  if (!f.keep_bos) best.erase(best.begin());
  if (!f.keep_eos && !best.empty() && best.back() == eos) best.pop_back();
  return best;
}

inline const coach::Mistakes<decltype(exercise::search_beam)> search_beam = {
    {.name = "multiplying probabilities",
     .why = "A product of many probabilities is soon 0, and a probability divided by the penalty punishes "
            "length "
            "instead of excusing it. Logarithms are added.",
     .where = "A wrong first word",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.probabilities = true}); }},
    {.name = "dropping finished hypotheses",
     .why = "What reached eos was thrown away, so the answer is always one that was cut off at max_length.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.drop_finished = true}); }},
    {.name = "no length normalisation",
     .why = "The answer was chosen by log P alone: short sentences have the advantage.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n, double) { return faulty_beam(m, w, n, 0, {}); }},
    {.name = "stopped at the first end",
     .why = "The first hypothesis that ends is the shortest, not the best: the others in the beam may still "
            "win.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.stop_at_first = true}); }},
    {.name = "greedy",
     .why = "Only the best beginning is kept, whatever the width: a wrong first word cannot be taken back.",
     .where = "A wrong first word",
     .answer = [](const Model& m, int, int n, double a) { return faulty_beam(m, 1, n, a, {}); }},
    {.name = "finished hypotheses lose their place",
     .why = "The beam was filled up with others after one had ended: more than `width` hypotheses in all.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.finished_take_no_place = true}); }},
    {.name = "going on behind the end",
     .why = "A hypothesis that ends with eos was extended like any other. After the end there is nothing.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.finished_go_on = true}); }},
    {.name = "only the newest word counts",
     .why = "The log-probability of the beginning was not added: a sentence is as likely as all its words "
            "together.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.newest_only = true}); }},
    {.name = "eos in the answer",
     .why = "eos says that the sentence is over; it is no word of it.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.keep_eos = true}); }},
    {.name = "bos in the answer",
     .why = "bos only starts the model; it is no word of the sentence.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.keep_bos = true}); }},
    {.name = "one continuation for each hypothesis",
     .why = "Each hypothesis goes on with its best word only: k greedy searches side by side. The k best may "
            "all come "
            "from one beginning.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.one_each = true}); }},
    {.name = "unfinished hypotheses forgotten",
     .why = "Those cut off at max_length were left out as soon as one had ended. They are answers, too.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.unfinished_forgotten = true}); }},
};

// The places of the probabilities, likeliest first.
inline std::vector<std::size_t> ranked(const std::vector<double>& p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  return order;
}
inline std::vector<double> normalised(std::vector<double> p) {
  double sum = 0;
  for (const double value : p) sum += value;
  for (double& value : p) value /= sum;
  return p;
}
// What stands at the first `count` of `order`; the others become 0.
inline std::vector<double> only(const std::vector<double>& p, const std::vector<std::size_t>& order,
                                std::size_t count) {
  std::vector<double> kept(p.size(), 0.0);
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) kept[order[i]] = p[order[i]];
  return kept;
}
inline std::vector<double> softened(std::vector<double> p) {
  for (double& value : p) value = std::exp(value);
  return normalised(p);
}

inline const coach::Mistakes<decltype(exercise::keep_top_k)> keep_top_k = {
    {.name = "not divided by the sum",
     .why = "What stays no longer sums to 1: a draw from it may hit nothing.",
     .where = "Drawing lots",
     .answer = [](const std::vector<double>& p, int k) { return only(p, ranked(p), std::size_t(k)); }},
    {.name = "the first k instead of the largest",
     .why = "The first k words of the vocabulary were kept. Sort first, or compare with the k-th largest.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& p, int k) {
           std::vector<double> kept(p.size(), 0.0);
           for (std::size_t i = 0; i < std::min(p.size(), std::size_t(k)); ++i) kept[i] = p[i];
           return normalised(kept);
         }},
    {.name = "the k smallest",
     .why = "Sorted the other way: the least likely words were kept.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& p, int k) {
           std::vector<std::size_t> order = ranked(p);
           std::reverse(order.begin(), order.end());
           return normalised(only(p, order, std::size_t(k)));
         }},
    {.name = "one too many",
     .why = "k + 1 words stayed: the k-th largest is at place k − 1.",
     .where = "Drawing lots",
     .answer = [](const std::vector<double>& p,
                  int k) { return normalised(only(p, ranked(p), std::size_t(k) + 1)); }},
    {.name = "sorted probabilities returned",
     .why = "The order of the words was lost: a probability has to stay at the place of its word.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& p, int k) {
           std::vector<double> kept = normalised(only(p, ranked(p), std::size_t(k)));
           std::sort(kept.rbegin(), kept.rend());
           return kept;
         }},
    {.name = "softmax of probabilities",
     .why = "They were put through exp once more, which makes them nearly equal, and the removed ones (exp 0 "
            "= 1) "
            "come back. They only have to be divided by their sum.",
     .where = "Drawing lots",
     .answer = [](const std::vector<double>& p,
                  int k) { return softened(only(p, ranked(p), std::size_t(k))); }},
    {.name = "equal shares",
     .why = "Each of the k got 1 / k. Their ratios must stay.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& p, int k) {
           return normalised(only(std::vector<double>(p.size(), 1.0), ranked(p), std::size_t(k)));
         }},
};

// How many of the likeliest it takes until their sum is at least p.
inline std::size_t needed(const std::vector<double>& probabilities, double p) {
  std::size_t count = 0;
  double reached = 0;
  for (const std::size_t i : ranked(probabilities)) {
    if (reached >= p) break;
    reached += probabilities[i];
    ++count;
  }
  return count;
}

inline const coach::Mistakes<decltype(exercise::keep_top_p)> keep_top_p = {
    {.name = "the token that crosses p left out",
     .why = "What stays sums to less than p, and when one word alone has more than p, nothing stays at all.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& all, double p) {
           const std::size_t count = needed(all, p);
           return normalised(only(all, ranked(all), count - 1));
         }},
    {.name = "the token that crosses p left out, but never the first",
     .why = "What stays sums to less than p: the word with which p is reached belongs to it.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& all, double p) {
           const std::size_t count = needed(all, p);
           return normalised(only(all, ranked(all), count > 1 ? count - 1 : 1));
         }},
    {.name = "one too many",
     .why = "p was reached, and one more word was kept.",
     .where = "Drawing lots",
     .answer = [](const std::vector<double>& all,
                  double p) { return normalised(only(all, ranked(all), needed(all, p) + 1)); }},
    {.name = "not divided by the sum",
     .why = "What stays no longer sums to 1.",
     .where = "Drawing lots",
     .answer = [](const std::vector<double>& all,
                  double p) { return only(all, ranked(all), needed(all, p)); }},
    {.name = "not sorted",
     .why = "The words were added up in the order of the vocabulary instead of from the likeliest down.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& all, double p) {
           std::vector<double> kept(all.size(), 0.0);
           double reached = 0;
           for (std::size_t i = 0; i < all.size() && reached < p; ++i) reached += kept[i] = all[i];
           return normalised(kept);
         }},
    {.name = "p as a threshold for each word",
     .why = "Words above p stayed, by themselves. It is their sum that has to reach p.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& all, double p) {
           std::vector<double> kept = all;
           for (double& value : kept) value = value >= p ? value : 0;
           return normalised(kept);
         }},
    {.name = "from the least likely up",
     .why = "Sorted the other way: the words at the bottom were collected until they reached p.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& all, double p) {
           std::vector<std::size_t> order = ranked(all);
           std::reverse(order.begin(), order.end());
           std::vector<double> kept(all.size(), 0.0);
           double reached = 0;
           for (const std::size_t i : order)
             if (reached < p) reached += kept[i] = all[i];
           return normalised(kept);
         }},
};

inline Tensor attend_to(const Tensor& q, const std::vector<Tensor>& keys, const std::vector<Tensor>& values,
                        real divisor) {
  return matmul(softmax(matmul(stack(keys), q) / divisor), stack(values));
}
inline real root(const Tensor& x) { return std::sqrt(real(x.size(0))); }
// The right step, but for the place of the new word and what its parts are made of.
inline Tensor step_at(const Tensor& for_query, const Tensor& for_key, const Tensor& for_value,
                      const HeadWeights& w, Cache& cache) {
  cache.keys.push_back(matmul(for_key, w.key));
  cache.values.push_back(matmul(for_value, w.value));
  return attend_to(matmul(for_query, w.query), cache.keys, cache.values, root(for_query));
}
inline Index length_of(const Cache& cache) { return static_cast<Index>(cache.keys.size()); }

inline const coach::Mistakes<decltype(exercise::cached_step)> cached_step = {
    {.name = "positions restarting in the cache",
     .why =
         "Every new word was put at place 0: for the model they all stand at the beginning. Its place is the "
         "number of words before it.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[0];
           return step_at(y, y, y, w, cache);
         }},
    {.name = "positions one too far",
     .why = "The place was counted after the word had been appended, or from 1. With T words before it, it "
            "is T.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache) + 1];
           return step_at(y, y, y, w, cache);
         }},
    {.name = "no positions",
     .why = "Without its place the word is part of a bag of words.",
     .where = "The cache",
     .answer = [](const Tensor& x, const Tensor&, const HeadWeights& w,
                  Cache& cache) { return step_at(x, x, x, w, cache); }},
    {.name = "a word that cannot see itself",
     .why = "The attention was computed before key and value were appended. A word sees itself.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           const Cache before = cache;
           const Tensor all = step_at(y, y, y, w, cache);
           return before.keys.empty() ? zeros(x.shape())
                                      : attend_to(matmul(y, w.query), before.keys, before.values, root(x));
         }},
    {.name = "nothing stored",
     .why = "The result is right this once, but key and value are not in the cache: the next word will not "
            "see this "
            "one.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           Cache copy = cache;
           return step_at(y, y, y, w, copy);
         }},
    {.name = "only the newest word",
     .why = "The query looked at its own key alone. The words in the cache are there to be seen.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           step_at(y, y, y, w, cache);
           return matmul(y, w.value);
         }},
    {.name = "the past overwritten",
     .why = "The cache holds only the newest word afterwards: key and value are appended, not assigned.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           cache = {};
           return step_at(y, y, y, w, cache);
         }},
    {.name = "no scaling",
     .why = "The scores were not divided by √C.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           step_at(y, y, y, w, cache);
           return attend_to(matmul(y, w.query), cache.keys, cache.values, 1);
         }},
    {.name = "values without the position",
     .why =
         "The value was made of x alone. Key, query and value all come from the word with its place added.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           return step_at(y, y, x, w, cache);
         }},
    {.name = "keys and values exchanged",
     .why = "What was made with w.value went to the keys and the other way round.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           return step_at(y, y, y, {w.query, w.value, w.key}, cache);
         }},
};

}  // namespace mistakes
