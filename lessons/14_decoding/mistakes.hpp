// The wrong answers to exercise 14 that the grader knows by name. More of them: mistakes_beam.hpp
#pragma once

#include "lessons/14_decoding/mistakes_beam.hpp"

namespace exercise {
std::vector<double> keep_top_k(const std::vector<double>& probabilities, int k);
std::vector<double> keep_top_p(const std::vector<double>& probabilities, double p);
Tensor cached_step(const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache);
}  // namespace exercise

namespace mistakes {

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
            "= 1) come back. They only have to be divided by their sum.",
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
    {.name = "divided by k",
     .why = "Divide by the sum of what stays. k is only how many there are.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& p, int k) {
           std::vector<double> kept = only(p, ranked(p), std::size_t(k));
           for (double& value : kept) value /= k;
           return kept;
         }},
    {.name = "one too few",
     .why = "The k-th largest was dropped as well: it is the smallest of those that stay.",
     .where = "Drawing lots",
     .answer = [](const std::vector<double>& p,
                  int k) { return normalised(only(p, ranked(p), std::min(p.size(), std::size_t(k)) - 1)); }},
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
    {.name = "going on though p is reached",
     .why = "Words that reach exactly p are enough. Here the sum has to be more than p before it stops.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& all, double p) {
           std::vector<double> kept(all.size(), 0.0);
           double reached = 0;
           for (const std::size_t i : ranked(all))
             if (reached <= p) reached += kept[i] = all[i];
           return normalised(kept);
         }},
    {.name = "divided by p",
     .why = "What stays has reached p or more. Divide by its sum, or it does not sum to 1.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& all, double p) {
           std::vector<double> kept = only(all, ranked(all), needed(all, p));
           for (double& value : kept) value /= p;
           return kept;
         }},
    {.name = "the share p of the vocabulary",
     .why = "p of the words were kept, counted by heads. It is their probabilities that have to reach p.",
     .where = "Drawing lots",
     .answer =
         [](const std::vector<double>& all, double p) {
           return normalised(only(all, ranked(all), std::size_t(std::ceil(p * double(all.size())))));
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
            "see this one.",
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
    {.name = "a query without the position",
     .why =
         "The query was made of x alone. Key, query and value all come from the word with its place added.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           return step_at(x, y, y, w, cache);
         }},
    {.name = "the matrices transposed",
     .why = "matmul(w.query, x) is the transposed matrix times x. That it runs at all is an accident of the "
            "square shape: here it is x times w.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           return step_at(y, y, y, {transpose(w.query), transpose(w.key), transpose(w.value)}, cache);
         }},
    {.name = "÷ C instead of ÷ √C",
     .why = "The scores are divided by the root of C. By C itself they become too small and all words count "
            "nearly the same.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           step_at(y, y, y, w, cache);
           return attend_to(matmul(y, w.query), cache.keys, cache.values, real(x.size(0)));
         }},
    {.name = "÷ √T instead of ÷ √C",
     .why =
         "The scores are divided by the root of the size of a key, not of the number of words in the cache.",
     .where = "The cache",
     .answer =
         [](const Tensor& x, const Tensor& positions, const HeadWeights& w, Cache& cache) {
           const Tensor y = x + positions[length_of(cache)];
           step_at(y, y, y, w, cache);
           return attend_to(matmul(y, w.query), cache.keys, cache.values, std::sqrt(real(length_of(cache))));
         }},
};

}  // namespace mistakes
