// Grades exercise 13. The right answers take another way than the solution.
#include "mistakes/13_translator.hpp"  // made from mistakes.diff
#include "lessons/coach/show.hpp"

using namespace attn;
using namespace exercise;
using coach::Cases;
using coach::Question;

namespace oracle {

Dictation dictate(const std::vector<Sentence>& targets) {
  std::vector<std::vector<int>> strips;
  Index T = 1;
  for (const Sentence& words : targets) {
    strips.push_back({bos});
    strips.back().insert(strips.back().end(), words.begin(), words.end());
    strips.back().push_back(eos);
    T = std::max(T, std::ssize(words) + 1);
  }
  const Shape shape{std::ssize(targets), T};
  const std::vector<int> padding(shape.numel(), pad);
  Dictation out{IntTensor(shape, padding), IntTensor(shape, padding)};
  for (Index b = 0; b < std::ssize(strips); ++b)
    for (Index t = 0; t + 1 < std::ssize(strips[b]); ++t)
      out.reads(b, t) = strips[b][t], out.writes(b, t) = strips[b][t + 1];
  return out;
}

Tensor mask_of(const IntTensor& keys, Index queries, bool causal) {
  Tensor mask = zeros({keys.shape()[0], queries, keys.shape()[1]});
  for (Index b = 0; b < mask.size(0); ++b)
    for (Index i = 0; i < queries; ++i)
      for (Index j = 0; j < mask.size(2); ++j) mask(b, i, j) = keys(b, j) != pad && (j <= i || !causal);
  return mask;
}
ThreeMasks three_masks(const IntTensor& source, const IntTensor& reads) {
  const Index S = source.shape()[1], T = reads.shape()[1];
  return {mask_of(source, S, false), mask_of(reads, T, true), mask_of(source, T, false)};
}

Sentence write_greedily(const Model& model, int max_length) {
  Sentence written{bos};
  for (int step = 0; step < max_length; ++step) {
    const std::vector<double> scores = model(written);
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    if (best == eos) break;
    written.push_back(int(best));
  }
  return {written.begin() + 1, written.end()};
}

std::vector<Words> sorted_runs(const Words& words, int n) {
  std::vector<Words> runs;
  for (Index i = 0; i + n <= std::ssize(words); ++i)
    runs.emplace_back(words.begin() + i, words.begin() + i + n);
  std::sort(runs.begin(), runs.end());
  return runs;
}
// Both lists sorted, what they have in common is clipped by itself.
std::pair<int, int> clipped_matches(const Words& output, const Words& reference, int n) {
  const std::vector<Words> ours = sorted_runs(output, n), theirs = sorted_runs(reference, n);
  std::vector<Words> both;
  std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(both));
  return {int(both.size()), int(ours.size())};
}

double corpus_bleu(const std::vector<Words>& outputs, const std::vector<Words>& references) {
  double product = 1, c = 0, r = 0;
  for (int n = 1; n <= 4; ++n) {
    double matches = 0, total = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      matches += clipped_matches(outputs[i], references[i], n).first;
      total += clipped_matches(outputs[i], references[i], n).second;
    }
    if (matches == 0) return 0;
    product *= matches / total;
  }
  for (const Words& words : outputs) c += double(words.size());
  for (const Words& words : references) r += double(words.size());
  return 100 * (c < r ? std::exp(1 - r / c) : 1) * std::pow(product, 0.25);
}

}  // namespace oracle

namespace {

Sentence some_sentence(Index words, Rng& rng) {
  Sentence sentence;
  for (Index i = 0; i < words; ++i) sentence.push_back(3 + int(rng.below(90)));
  return sentence;
}

// Rows of the given lengths, padded to `columns`: a source, which ends with eos, or what a decoder reads,
// which begins with bos.
IntTensor padded(const std::vector<Index>& lengths, Index columns, bool is_source, Rng& rng) {
  IntTensor ids({Index(lengths.size()), columns});
  for (Index b = 0; b < Index(lengths.size()); ++b) {
    const Index length = lengths[std::size_t(b)];
    for (Index t = 0; t < columns; ++t) ids(b, t) = t < length ? 3 + int(rng.below(90)) : pad;
    ids(b, is_source ? length - 1 : 0) = is_source ? eos : bos;
  }
  return ids;
}

// Scores that hang on everything written so far, around `middle`; eos wins where `length` words are written,
// never if that is 0.
Model model_of(std::uint64_t seed, int V, int length, double middle = 0) {
  return [=](const std::vector<int>& written) {
    std::uint64_t hash = seed;
    for (const int token : written) hash = hash * 1000003 + std::uint64_t(token) + 1;
    Rng rng(hash);
    std::vector<double> scores;
    for (int token = 0; token < V; ++token) scores.push_back(middle + (token == eos ? -9 : rng.normal()));
    if (length > 0 && int(written.size()) == length + 1) scores[eos] = middle + 4.5;
    return scores;
  };
}

const Words vocabulary = {"le", "chat", "noir", "mange", "une", "pomme", "rouge", "ici"};

// Few different words, so that runs repeat.
Words some_words(Index count, Rng& rng) {
  Words words;
  for (Index i = 0; i < count; ++i) words.push_back(vocabulary[std::size_t(rng.below(4))]);
  return words;
}

// A reference with one word changed, one left out and two said twice.
Words nearly(Words words, Rng& rng) {
  const auto place = [&] { return words.begin() + rng.below(Index(words.size())); };
  *place() = "ici";
  words.erase(place());
  for (int i = 0; i < 2; ++i) {
    const auto at = place();
    const std::string twice = *at;
    words.insert(at, twice);
  }
  return words;
}

const Words sentence = {"the", "black", "cat", "eats", "a", "small", "red", "apple"};

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "13_translator",
      {Question<decltype(exercise::dictate)>{.name = "dictate",
                                             .answer = exercise::dictate,
                                             .oracle = oracle::dictate,
                                             .arguments = {"targets"},
                                             .cases = [](Rng& rng) -> Cases<decltype(exercise::dictate)> {
                                               return {{{{5, 6}}},
                                                       {{{5, 6}, {7}}},
                                                       {{some_sentence(1, rng), some_sentence(3, rng),
                                                         some_sentence(2, rng)}},
                                                       {{some_sentence(7, rng), some_sentence(4, rng),
                                                         some_sentence(7, rng), some_sentence(1, rng)}}};
                                             },
                                             .draw = [](Draw& draw) -> Case<decltype(exercise::dictate)> {
                                               std::vector<Sentence> targets(std::size_t(draw.size()));
                                               for (Sentence& target : targets)
                                                 target = some_sentence(draw.size(0), draw.rng);
                                               return {targets};
                                             },
                                             .mistakes = mistakes::dictate,
                                             .notice = "One pass through the decoder asks for every next "
                                                       "word at once: a sentence of n words is n + 1 "
                                                       "questions."},
       Question<decltype(exercise::three_masks)>{
           .name = "three_masks",
           .answer = exercise::three_masks,
           .oracle = oracle::three_masks,
           .arguments = {"source", "reads"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::three_masks)> {
             return {{padded({2}, 2, true, rng), padded({2}, 2, false, rng)},
                     {padded({2}, 3, true, rng), padded({2}, 3, false, rng)},
                     {padded({4, 2}, 4, true, rng), padded({2, 3}, 3, false, rng)},
                     {padded({1, 3, 2}, 3, true, rng), padded({5, 2, 4}, 5, false, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::three_masks)> {
             const Index B = draw.size(), S = draw.size(), T = draw.size();
             std::vector<Index> sources, targets;
             for (Index b = 0; b < B; ++b) {
               sources.push_back(draw.between(1, S));
               targets.push_back(draw.between(1, T));
             }
             return {padded(sources, S, true, draw.rng), padded(targets, T, false, draw.rng)};
           },
           .mistakes = mistakes::three_masks,
           .notice = "Two of the three masks are the same columns: the source's padding, seen by two "
                     "kinds of query."},
       Question<decltype(exercise::write_greedily)>{
           .name = "write_greedily",
           .answer = exercise::write_greedily,
           .oracle = oracle::write_greedily,
           .arguments = {"model", "max_length"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::write_greedily)> {
             return {{model_of(rng.bits64(), 5, 2), 10},
                     {model_of(rng.bits64(), 7, 1), 10},
                     {model_of(rng.bits64(), 6, 0), 3},
                     {model_of(rng.bits64(), 17, 6), 9},
                     {model_of(rng.bits64(), 33, 0), 7},
                     {model_of(rng.bits64(), 6, 3, -5), 8},  // all scores are negative
                     {model_of(rng.bits64(), 5, 0), 0}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::write_greedily)> {
             const int length = int(draw.size(0));
             return {model_of(draw.rng.bits64(), int(draw.size(3)), length, draw.one_of<double>({0, 0, -5})),
                     int(draw.between(0, 2 + 2 * length))};
           },
           .mistakes = mistakes::write_greedily,
           .notice =
               "Each new word costs a pass over all words before it; lesson 14 keeps what was computed.",
           .show_answer = highest_scores},
       Question<decltype(exercise::clipped_matches)>{
           .name = "clipped_matches",
           .answer = exercise::clipped_matches,
           .oracle = oracle::clipped_matches,
           .arguments = {"output", "reference", "n"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::clipped_matches)> {
             return {{{"the", "the", "cat"}, {"the", "cat", "sat"}, 1},
                     {{"the", "the", "cat"}, {"the", "cat", "sat"}, 2},
                     {{"cat", "black", "the", "cat"}, {"the", "black", "cat"}, 2},
                     {{"le"}, {"le", "chat"}, 2},
                     {{"le"}, {"le", "chat"}, 4},
                     {{"no", "where"}, {"now", "here"}, 2},
                     {{"a", "b", "a", "b", "a"}, {"b", "a", "b", "a", "c", "c"}, 2},
                     {some_words(9, rng), some_words(7, rng), 2},
                     {some_words(7, rng), some_words(9, rng), 1},
                     {some_words(15, rng), some_words(13, rng), 3}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::clipped_matches)> {
             return {some_words(draw.size(0), draw.rng), some_words(draw.size(0), draw.rng),
                     int(draw.between(1, 4))};
           },
           .mistakes = mistakes::clipped_matches,
           .notice = "Runs of one word measure whether the right words are there, runs of four whether "
                     "they stand in the right order."},
       Question<decltype(exercise::corpus_bleu)>{
           .name = "corpus_bleu",
           .answer = exercise::corpus_bleu,
           .oracle = oracle::corpus_bleu,
           .arguments = {"outputs", "references"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::corpus_bleu)> {
             const Words first = some_words(11, rng), second = some_words(13, rng),
                         third = some_words(9, rng);
             Words longer = sentence;
             longer.insert(longer.end(), {"today", "a"});
             return {
                 {{{"a", "b", "c", "d"}}, {{"a", "b", "c", "d", "e"}}},
                 {{longer}, {sentence}},
                 {{{"the", "black", "cat"}}, {sentence}},
                 {{{"some", "black", "apple", "eats", "cat"}}, {sentence}},
                 {{{"the", "black", "cat", "eats", "a", "red", "apple"}, {"the", "cat"}},
                  {sentence, {"the", "cat", "is", "here"}}},
                 {{nearly(first, rng), sentence, nearly(third, rng)}, {first, sentence, third}},
                 {{nearly(second, rng), {"the", "black", "cat", "eats", "a", "small"}}, {second, sentence}}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::corpus_bleu)> {
             std::vector<Words> outputs, references;
             for (Index i = draw.size(); i > 0; --i) {
               references.push_back(some_words(4 + draw.size(), draw.rng));
               outputs.push_back(draw.rng.below(4) ? nearly(references.back(), draw.rng) : references.back());
               if (draw.rng.below(4) == 0) outputs.back().resize(std::size_t(draw.size()), "ici");
             }
             return {outputs, references};
           },
           .mistakes = mistakes::corpus_bleu,
           .notice = "sacreBLEU's score is this one with several references, a fixed way to cut text "
                     "into words, and a little smoothing where nothing matches."}}};
}
