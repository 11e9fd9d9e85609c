#include "lessons/13_translator/evaluation.hpp"

#include <algorithm>  // count, min
#include <iterator>   // ssize

#include "core/text.hpp"  // on_terminal
#include "nn/text/metrics.hpp"
#include "optim/progress.hpp"

namespace attn {

Scores evaluate(Lesson& lesson, const Translator& translator, const Dataset& data, const Search& search) {
  std::vector<std::string> sources;
  References references;
  for (const TestSentence& sentence : data.test) {
    sources.push_back(sentence.source);
    references.push_back(sentence.references);
  }
  Progress progress("testing", std::ssize(sources), on_terminal());
  const std::vector<std::string> outputs = translator.translate(
      sources, {search.beam, search.length_penalty, [&](Index done) { progress.update(done, ""); }});
  progress.clear();
  const Scores scores{bleu(outputs, references).score, chrf(outputs, references),
                      exact_match(outputs, references)};

  const auto is_right = [&](Index i) {
    return std::count(references[i].begin(), references[i].end(), outputs[i]) > 0;
  };
  lesson.say("The first four of {} test sentences:", grouped(std::ssize(outputs)));
  for (Index i = 0; i < std::min<Index>(4, std::ssize(outputs)); ++i)
    lesson.print("  {} {}\n    {}", is_right(i) ? "✓" : "✗", sources[i], outputs[i]);
  Index wrong = 0;
  for (Index i = 4; i < std::ssize(outputs) && wrong < 3; ++i) {
    if (is_right(i)) continue;
    if (wrong++ == 0) lesson.say("Not as expected, for instance:");
    lesson.print("  ✗ {}\n    {}\n    expected: {}", sources[i], outputs[i], references[i][0]);
  }
  lesson.table({"exact matches", "BLEU", "chrF2"},
               {{fmt::format("{:.1f}%", scores.exact), fmt::format("{:.2f}", scores.bleu),
                 fmt::format("{:.2f}", scores.chrf)}});
  if (data.target_language == "Korean")
    lesson.say("A Korean word carries its endings, so here chrF2 is the fairer of the two.");
  return scores;
}

}  // namespace attn
