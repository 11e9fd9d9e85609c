// Evaluation: how good a translator is, on sentences that were kept from its training.
#pragma once

#include "lessons/13_translator/data.hpp"
#include "lessons/13_translator/translator.hpp"
#include "lessons/support/lesson.hpp"

namespace attn {

struct Scores {
  double bleu, chrf;  // see nn/text/metrics.hpp
  double exact;       // percent of translations that equal a reference, letter by letter
};

// Translates the test sentences, prints some of them, right and wrong, and the scores.
Scores evaluate(Lesson& lesson, const Translator& translator, const Dataset& data, const Search& search);

}  // namespace attn
