// The wrong answers to exercise 14 that the grader knows by name: the part about beam search.
#pragma once

#include "lessons/14_decoding/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
double length_score(double log_probability, int length, double alpha);
std::vector<int> search_beam(const Model& model, int width, int max_length, double alpha);
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
    {.name = "5 + length / 6",
     .why = "The sum 5 + length is divided by 6, not the length alone: brackets are missing.",
     .where = "Beam search",
     .answer = [](double log_p, int length,
                  double alpha) { return log_p / std::pow(5 + length / 6.0, alpha); }},
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
  int extra_length = 0;           // bos counted as well
  bool eos_not_counted = false;   // in the length
  bool every_end_counts = false;  // also of candidates that are not kept
};

inline std::vector<int> faulty_beam(const Model& model, int width, int max_length, double alpha,
                                    const Faults& f) {
  struct Hypothesis {
    std::vector<int> words;
    double value;
  };
  const auto score = [&](const Hypothesis& h) {
    const int uncounted = f.eos_not_counted && h.words.back() == eos ? 1 : 0;
    return h.value / penalty(double(h.words.size()) - 1 + f.extra_length - uncounted, alpha);
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
    if (f.every_end_counts) {
      const auto open_end = std::stable_partition(candidates.begin(), candidates.end(),
                                                  [](const Hypothesis& h) { return h.words.back() != eos; });
      ended.insert(ended.end(), open_end, candidates.end());
      candidates.erase(open_end, candidates.end());
    }
    const std::size_t taken =
        f.every_end_counts || f.finished_take_no_place || f.drop_finished ? 0 : ended.size();
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
            "length instead of excusing it. Logarithms are added.",
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
            "all come from one beginning.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.one_each = true}); }},
    {.name = "unfinished hypotheses forgotten",
     .why = "Those cut off at max_length were left out as soon as one had ended. They are answers, too.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.unfinished_forgotten = true}); }},
    {.name = "bos counted in the length",
     .why = "The length of a hypothesis is that of its words and eos. bos is in the vector, but the model "
            "never chose it.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.extra_length = 1}); }},
    {.name = "eos not counted in the length",
     .why = "eos was chosen like a word and its log-probability is part of the sum: it counts in the length, "
            "too.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.eos_not_counted = true}); }},
    {.name = "every end counts",
     .why = "Each hypothesis was ended at each step, even if that was one of the worst candidates. An end "
            "has to be among the best to be kept.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n,
                  double a) { return faulty_beam(m, w, n, a, {.every_end_counts = true}); }},
    {.name = "one step too few",
     .why = "There are max_length steps, each of which writes a word: bos is not one of them.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n, double a) { return faulty_beam(m, w, n - 1, a, {}); }},
    {.name = "one step too many",
     .why = "The search went on for max_length + 1 steps.",
     .where = "Beam search",
     .answer = [](const Model& m, int w, int n, double a) { return faulty_beam(m, w, n + 1, a, {}); }},
    {.name = "the model reads only the newest word",
     .why = "The model was asked with the last word alone. What comes next hangs on everything before it.",
     .where = "Beam search",
     .answer =
         [](const Model& m, int w, int n, double a) {
           return faulty_beam([&](const std::vector<int>& words) { return m({words.back()}); }, w, n, a, {});
         }},
};

}  // namespace mistakes
