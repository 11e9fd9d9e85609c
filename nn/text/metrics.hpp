// Metrics: how good are translations? Scores from 0 to 100, the same as sacreBLEU 2 by default.
//
//   bleu(outputs, references).score      references[i]: every right translation of sentence i
//
// BLEU (Papineni et al., 2002): p_n is the share of the output's word n-grams, n = 1 … 4, that occur in a
// reference. An n-gram counts at most as often as in the reference that has it most often ("clipped").
//   BLEU = 100 · min(1, e^(1 − r/c)) · (p₁ p₂ p₃ p₄)^¼
// over the whole corpus, with c the number of words in the outputs and r in the references closest in length.
// Words are cut as in NIST's mteval-v13a. The first p_n of 0 counts as 1/(2 total), the next as 1/(4 total),
// and so on.
// chrF2 (Popović, 2015) compares character n-grams, n = 1 … 6, without spaces, and weights recall twice:
// fairer to languages like Korean, whose words have many endings.
#pragma once

#include <array>        // array
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn {

using References = std::vector<std::vector<std::string>>;

struct Bleu {
  double score = 0;
  std::array<double, 4> precisions{};  // in percent, smoothed
  double brevity_penalty = 0;          // min(1, e^(1 − r/c))
};
Bleu bleu(const std::vector<std::string>& outputs, const References& references);

double chrf(const std::vector<std::string>& outputs, const References& references);

// The percentage of outputs that equal one of their references, letter by letter.
double exact_match(const std::vector<std::string>& outputs, const References& references);

// The words that BLEU compares.
std::vector<std::string> tokenize_13a(std::string_view text);

}  // namespace attn
