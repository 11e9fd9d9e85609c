// The wrong answers to exercise 13 that the grader knows by name: the half that is about BLEU.
#pragma once

#include "lessons/13_translator/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
std::pair<int, int> clipped_matches(const Words& output, const Words& reference, int n);
double corpus_bleu(const std::vector<Words>& outputs, const std::vector<Words>& references);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::Words;

inline std::map<Words, int> count_runs(const Words& words, int n) {
  std::map<Words, int> counts;
  for (int i = 0; i + n <= int(words.size()); ++i) ++counts[Words(words.begin() + i, words.begin() + i + n)];
  return counts;
}

inline std::pair<int, int> matches(const Words& output, const Words& reference, int n, bool clip = true) {
  std::map<Words, int> allowed = count_runs(reference, n);
  int found = 0, total = 0;
  for (const auto& [run, count] : count_runs(output, n)) {
    total += count;
    if (allowed.count(run)) found += clip ? std::min(count, allowed[run]) : count;
  }
  return {found, total};
}

inline const coach::Mistakes<decltype(exercise::clipped_matches)> clipped_matches = {
    {.name = "no clipping",
     .why = "Every run that stands somewhere in the reference counts, however often it is repeated. \"the "
            "the the the\" would then be a perfect translation, word by word.",
     .where = "How BLEU counts",
     .answer = [](const Words& output, const Words& reference,
                  int n) { return matches(output, reference, n, false); }},
    {.name = "each run counted once",
     .why = "A run that occurs twice in both counts twice. Comparing sets of runs forgets how often each is "
            "there.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           const std::map<Words, int> allowed = count_runs(reference, n), runs = count_runs(output, n);
           int found = 0;
           for (const auto& [run, count] : runs) found += int(allowed.count(run));
           return std::pair<int, int>(found, int(runs.size()));
         }},
    {.name = "matches counted once",
     .why =
         "A run that occurs twice in output and reference counts twice; here it adds only 1 to the matches.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           const std::map<Words, int> allowed = count_runs(reference, n);
           int found = 0;
           for (const auto& [run, count] : count_runs(output, n)) found += int(allowed.count(run));
           return std::pair<int, int>(found, matches(output, reference, n).second);
         }},
    {.name = "the reference's runs as total",
     .why = "That share is recall: how much of the reference was found. BLEU asks for precision, the share "
            "of the output that is right, and has the brevity penalty for the rest.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           return std::pair<int, int>(matches(output, reference, n).first,
                                      matches(reference, output, n).second);
         }},
    {.name = "single words whatever n",
     .why = "Only single words are compared. Runs of n neighbours are what makes word order count.",
     .where = "How BLEU counts",
     .answer = [](const Words& output, const Words& reference,
                  int) { return matches(output, reference, 1); }},
    {.name = "compared place by place",
     .why = "A run counts wherever it stands in the reference. One word more at the beginning must not spoil "
            "all that follows.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           int found = 0, total = 0;
           for (int i = 0; i + n <= int(output.size()); ++i, ++total)
             found += i + n <= int(reference.size()) &&
                      std::equal(output.begin() + i, output.begin() + i + n, reference.begin() + i);
           return std::pair<int, int>(found, total);
         }},
    {.name = "the last run forgotten",
     .why = "A sentence of m words has m − n + 1 runs of n. The loop ends one too early.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           const auto shortened = [](Words words) {
             if (!words.empty()) words.pop_back();
             return words;
           };
           return matches(shortened(output), shortened(reference), n);
         }},
    {.name = "neighbours in any order",
     .why = "\"cat black\" counts as \"black cat\" here. A run has an order: that is the point of runs.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           const auto sorted = [n](const Words& words) {
             std::map<Words, int> counts;
             for (const auto& [run, count] : count_runs(words, n)) {
               Words key = run;
               std::sort(key.begin(), key.end());
               counts[key] += count;
             }
             return counts;
           };
           std::map<Words, int> allowed = sorted(reference);
           int found = 0, total = 0;
           for (const auto& [run, count] : sorted(output))
             found += std::min(count, allowed[run]), total += count;
           return std::pair<int, int>(found, total);
         }},
    {.name = "words glued together",
     .why = "The words of a run were joined without a sign between them: `no where` and `now here` are then "
            "the same run.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           const auto glued = [n](const Words& words) {
             std::map<std::string, int> counts;
             for (const auto& [run, count] : count_runs(words, n)) {
               std::string key;
               for (const std::string& word : run) key += word;
               counts[key] += count;
             }
             return counts;
           };
           std::map<std::string, int> allowed = glued(reference);
           int found = 0, total = 0;
           for (const auto& [run, count] : glued(output))
             found += std::min(count, allowed[run]), total += count;
           return std::pair<int, int>(found, total);
         }},
    {.name = "a negative total",
     .why = "m − n + 1 is right while the output has at least n words. One word has no run of four: 0 of "
            "them, not −2.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           return std::pair<int, int>(matches(output, reference, n).first, int(output.size()) - n + 1);
         }},
    {.name = "runs that do not overlap",
     .why = "The text was cut into pieces of n words. A run begins at every word: the next one a single word "
            "further.",
     .where = "How BLEU counts",
     .answer =
         [](const Words& output, const Words& reference, int n) {
           const auto pieces = [n](const Words& words) {
             std::map<Words, int> counts;
             for (int i = 0; i + n <= int(words.size()); i += n)
               ++counts[Words(words.begin() + i, words.begin() + i + n)];
             return counts;
           };
           std::map<Words, int> allowed = pieces(reference);
           int found = 0, total = 0;
           for (const auto& [run, count] : pieces(output))
             found += std::min(count, allowed[run]), total += count;
           return std::pair<int, int>(found, total);
         }},
};

// The parts of BLEU, pooled over all sentences.
struct Parts {
  double precisions[4], c = 0, r = 0;
  bool zero = false;
};

inline Parts parts(const std::vector<Words>& outputs, const std::vector<Words>& references,
                   bool clip = true) {
  Parts p{};
  for (int n = 1; n <= 4; ++n) {
    double found = 0, total = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto [m, t] = matches(outputs[i], references[i], n, clip);
      found += m, total += t;
    }
    if (found == 0) p.zero = true;
    p.precisions[n - 1] = found / total;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    p.c += double(outputs[i].size()), p.r += double(references[i].size());
  return p;
}

inline double product(const Parts& p) {
  return p.precisions[0] * p.precisions[1] * p.precisions[2] * p.precisions[3];
}
inline double brevity(const Parts& p) { return std::min(1.0, std::exp(1 - p.r / p.c)); }
inline double right_score(const Parts& p) {
  return p.zero ? 0 : 100 * brevity(p) * std::pow(product(p), 0.25);
}

inline const coach::Mistakes<decltype(exercise::corpus_bleu)> corpus_bleu = {
    {.name = "no brevity penalty",
     .why = "Precision alone rewards whoever says only what is certain: one right word would score 100. "
            "Outputs that are shorter than their references have to pay.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           return p.zero ? 0 : 100 * std::pow(product(p), 0.25);
         }},
    {.name = "no clipping",
     .why = "A word that the reference has once counts as often as the output repeats it.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           return right_score(parts(outputs, references, false));
         }},
    {.name = "long outputs punished",
     .why = "c and r are swapped: this penalty hits outputs that are longer than the reference. Those pay "
            "already, through their precision.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           Parts p = parts(outputs, references);
           std::swap(p.c, p.r);
           return right_score(p);
         }},
    {.name = "a bonus for long outputs",
     .why = "e^(1 − r/c) is above 1 for outputs longer than their references: the penalty is at most 1.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           return p.zero ? 0 : 100 * std::exp(1 - p.r / p.c) * std::pow(product(p), 0.25);
         }},
    {.name = "the mean of the four precisions",
     .why = "The mean of BLEU is geometric: who has no right run of four has no fluent sentence, and a plain "
            "mean would forgive that.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           const double sum = p.precisions[0] + p.precisions[1] + p.precisions[2] + p.precisions[3];
           return p.zero ? 0 : 100 * brevity(p) * sum / 4;
         }},
    {.name = "the fourth root forgotten",
     .why = "The product of four shares is far smaller than any of them; the root makes it their mean.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           return p.zero ? 0 : 100 * brevity(p) * product(p);
         }},
    {.name = "the mean of sentence scores",
     .why = "BLEU is of a corpus: matches and totals are added up over all sentences first. A mean of "
            "sentence scores is another number, and 0 for each sentence without a right run of four.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           double sum = 0;
           for (std::size_t i = 0; i < outputs.size(); ++i)
             sum += right_score(parts({outputs[i]}, {references[i]}));
           return sum / double(outputs.size());
         }},
    {.name = "a share instead of percent",
     .why = "The formula is right, but the score goes from 0 to 100.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           return right_score(parts(outputs, references)) / 100;
         }},
    {.name = "single words only",
     .why = "Only p₁ is used. A bag of the right words in any order would then be perfect.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           return 100 * brevity(p) * p.precisions[0];
         }},
    {.name = "the plain ratio as penalty",
     .why = "The penalty is e^(1 − r/c), not c/r: it falls faster the shorter the output is.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           return p.zero ? 0 : 100 * std::min(1.0, p.c / p.r) * std::pow(product(p), 0.25);
         }},
    {.name = "runs of up to three words",
     .why = "The loop over n ends before 4, and so the fourth root is taken of three factors.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           return 100 * brevity(p) * std::pow(p.precisions[0] * p.precisions[1] * p.precisions[2], 0.25);
         }},
    {.name = "an n without a match passed over",
     .why = "Where no run of n words matches, the factor is 0 and so is the score. Left out, it would count "
            "as perfect.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           double all = 1;
           for (const double precision : p.precisions)
             if (precision > 0) all *= precision;
           return 100 * brevity(p) * std::pow(all, 0.25);
         }},
    {.name = "a penalty for each sentence",
     .why = "The penalty was computed sentence by sentence and averaged. BLEU compares the lengths of the "
            "whole test: a short sentence may make up for a long one.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           double penalty = 0;
           for (std::size_t i = 0; i < outputs.size(); ++i)
             penalty += std::min(1.0, std::exp(1 - double(references[i].size()) / double(outputs[i].size())));
           return p.zero ? 0 : 100 * penalty / double(outputs.size()) * std::pow(product(p), 0.25);
         }},
    {.name = "matches divided as integers",
     .why = "matches / total of two integers is 0 or 1: the decimals are cut off.",
     .where = "How BLEU counts",
     .answer =
         [](const std::vector<Words>& outputs, const std::vector<Words>& references) {
           const Parts p = parts(outputs, references);
           return 100 * brevity(p) * (product(p) == 1 ? 1 : 0);
         }},
};

}  // namespace mistakes
