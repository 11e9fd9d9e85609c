#include "nn/text/metrics.hpp"

#include <algorithm>  // find, max, min
#include <cmath>      // exp, log
#include <cstdlib>    // abs
#include <iterator>   // ssize

#include "core/error.hpp"
#include "nn/text/characters.hpp"
#include "nn/text/vocabulary.hpp"  // StringMap

namespace attn {
namespace {

void check_sizes(const char* name, const std::vector<std::string>& outputs, const References& references) {
  if (outputs.empty()) fail("{}: no output to score", name);
  if (outputs.size() != references.size())
    fail("{}: {} outputs but references for {}", name, outputs.size(), references.size());
  for (Index i = 0; i < std::ssize(references); ++i)
    if (references[i].empty()) fail("{}: output {} has no reference", name, i);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_point(char c) { return c == '.' || c == ','; }

// One rule of the tokenizer: puts text around and between two neighbours that fit. Pairs do not overlap.
template <class Fits>
std::string rewrite(const std::string& text, Fits fits, std::string_view before, std::string_view between,
                    std::string_view after) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && fits(text[i], text[i + 1])) {
      result.append(before).append(1, text[i]).append(between).append(1, text[i + 1]).append(after);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view input) {
  std::string text(input);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");

  std::string spaced = " ";
  for (const char c : text) {  // every ASCII symbol is a word, except ' - . and ,
    const bool symbol = c > ' ' && c < 0x7F && kind(static_cast<char32_t>(c)) == Kind::symbol;
    if (symbol && c != '\'' && c != '-' && !is_point(c))
      spaced.append(1, ' ').append(1, c).append(1, ' ');
    else
      spaced += c;
  }
  spaced += ' ';
  // A point or comma is a word except between digits; a dash is a word after a digit.
  spaced = rewrite(
      spaced, [](char a, char b) { return !is_digit(a) && is_point(b); }, "", " ", " ");
  spaced = rewrite(
      spaced, [](char a, char b) { return is_point(a) && !is_digit(b); }, " ", " ", "");
  spaced = rewrite(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; }, "", " ", " ");

  std::vector<std::string> words;
  for (const std::string_view word : split_at_spaces(spaced)) words.emplace_back(word);
  return words;
}

namespace {

// How often each run of n units occurs. A unit is a word or a character; none contains U+001F.
StringMap<Index> count_ngrams(const std::vector<std::string>& units, Index n) {
  StringMap<Index> counts;
  for (Index i = 0; i + n <= std::ssize(units); ++i) {
    std::string ngram;
    for (Index j = i; j < i + n; ++j) ngram.append(units[j]).append(1, '\x1F');
    ++counts[std::move(ngram)];
  }
  return counts;
}

Index total(const std::vector<std::string>& units, Index n) {
  return std::max<Index>(0, std::ssize(units) - n + 1);
}

// How many of the output's n-grams are in `allowed`, where each counts at most as often as it does there.
Index clipped_matches(const StringMap<Index>& output, const StringMap<Index>& allowed) {
  Index matches = 0;
  for (const auto& [ngram, count] : output) {
    const auto found = allowed.find(ngram);
    if (found != allowed.end()) matches += std::min(count, found->second);
  }
  return matches;
}

struct BleuCounts {
  std::array<Index, 4> matches{}, totals{};
  Index output_length = 0, reference_length = 0;

  void add(const std::string& output, const std::vector<std::string>& references) {
    const std::vector<std::string> words = tokenize_13a(output);
    const Index length = std::ssize(words);
    std::vector<std::vector<std::string>> reference_words;
    Index closest = -1;
    for (const std::string& reference : references) {
      reference_words.push_back(tokenize_13a(reference));
      const Index other = std::ssize(reference_words.back());
      const Index distance = std::abs(other - length), best = std::abs(closest - length);
      if (closest < 0 || distance < best || (distance == best && other < closest)) closest = other;
    }
    output_length += length;
    reference_length += closest;

    for (Index n = 1; n <= 4; ++n) {
      StringMap<Index> allowed;
      for (const auto& reference : reference_words)
        for (const auto& [ngram, count] : count_ngrams(reference, n))
          allowed[ngram] = std::max(allowed[ngram], count);
      matches[n - 1] += clipped_matches(count_ngrams(words, n), allowed);
      totals[n - 1] += total(words, n);
    }
  }

  Bleu score() const {
    Bleu result;
    const double ratio = double(reference_length) / double(output_length);
    result.brevity_penalty = output_length == 0 ? 0 : std::min(1.0, std::exp(1 - ratio));
    if (matches[0] == 0) return result;  // then no longer n-gram matches either

    double log_sum = 0, smoothing = 1;
    for (Index n = 0; n < 4; ++n) {
      if (totals[n] == 0) return result;  // every output has fewer than n + 1 words
      const double counted = matches[n] > 0 ? double(matches[n]) : 1 / (smoothing *= 2);
      result.precisions[n] = 100 * counted / double(totals[n]);
      log_sum += std::log(result.precisions[n]);
    }
    result.score = result.brevity_penalty * std::exp(log_sum / 4);
    return result;
  }
};

}  // namespace

Bleu bleu(const std::vector<std::string>& outputs, const References& references) {
  check_sizes("bleu", outputs, references);
  BleuCounts counts;
  for (Index i = 0; i < std::ssize(outputs); ++i) counts.add(outputs[i], references[i]);
  return counts.score();
}

namespace {

struct ChrfCounts {
  static constexpr Index orders = 6;
  std::array<Index, orders> matches{}, output{}, reference{};

  double score() const {
    constexpr double beta_squared = 4;
    double precision = 0, recall = 0;
    int used = 0;
    for (Index n = 0; n < orders; ++n) {
      if (output[n] == 0 || reference[n] == 0) continue;
      precision += double(matches[n]) / double(output[n]);
      recall += double(matches[n]) / double(reference[n]);
      ++used;
    }
    if (precision + recall == 0) return 0;
    precision /= used;
    recall /= used;
    return 100 * (1 + beta_squared) * precision * recall / (beta_squared * precision + recall);
  }
};

std::vector<std::string> visible_characters(std::string_view text) {
  std::vector<std::string> letters;
  for (const Character& c : characters(text))
    if (kind(c.code) != Kind::space) letters.emplace_back(c.bytes);
  return letters;
}

ChrfCounts chrf_counts(const std::vector<std::string>& output, const std::string& reference_text) {
  const std::vector<std::string> reference = visible_characters(reference_text);
  ChrfCounts counts;
  for (Index n = 1; n <= ChrfCounts::orders; ++n) {
    counts.matches[n - 1] = clipped_matches(count_ngrams(output, n), count_ngrams(reference, n));
    counts.reference[n - 1] = total(reference, n);
    // An order that the reference is too short for says nothing about the output.
    counts.output[n - 1] = counts.reference[n - 1] > 0 ? total(output, n) : 0;
  }
  return counts;
}

}  // namespace

double chrf(const std::vector<std::string>& outputs, const References& references) {
  check_sizes("chrf", outputs, references);
  ChrfCounts sum;
  for (Index i = 0; i < std::ssize(outputs); ++i) {
    const std::vector<std::string> output = visible_characters(outputs[i]);
    ChrfCounts best;
    double best_score = -1;
    for (const std::string& reference : references[i]) {  // only the best reference counts
      const ChrfCounts counts = chrf_counts(output, reference);
      if (counts.score() <= best_score) continue;
      best = counts;
      best_score = counts.score();
    }
    for (Index n = 0; n < ChrfCounts::orders; ++n) {
      sum.matches[n] += best.matches[n];
      sum.output[n] += best.output[n];
      sum.reference[n] += best.reference[n];
    }
  }
  return sum.score();
}

double exact_match(const std::vector<std::string>& outputs, const References& references) {
  check_sizes("exact_match", outputs, references);
  Index right = 0;
  for (Index i = 0; i < std::ssize(outputs); ++i)
    right += std::find(references[i].begin(), references[i].end(), outputs[i]) != references[i].end();
  return 100 * double(right) / double(outputs.size());
}

}  // namespace attn
