#include "lessons/14_decoding/model.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // max_element, sort
#include <cmath>      // exp, log
#include <iterator>   // ssize
#include <numeric>    // accumulate

#include "core/autograd.hpp"
#include "nn/text/batching.hpp"
#include "nn/text/toy_languages.hpp"
#include "optim/trainer.hpp"

namespace attn {

Translator train_translator(const Lesson& lesson, double smoothing) {
  const std::vector<Pair> pairs = english_french().generate(3000, lesson.seed, Grammar::Part::training);
  Translator t;
  t.test = english_french().generate(30, lesson.seed + 1, Grammar::Part::training);
  t.english = std::make_unique<WordVocabulary>(WordVocabulary::learn(source_lines(pairs)));
  t.french = std::make_unique<WordVocabulary>(WordVocabulary::learn(target_lines(pairs)));
  Rng rng(lesson.seed), noise(lesson.seed + 2);
  t.model = std::make_unique<Transformer>(TransformerConfig{.source_vocabulary = t.english->size(),
                                                            .vocabulary = t.french->size(),
                                                            .d_model = 64,
                                                            .heads = 4,
                                                            .encoder_layers = 1,
                                                            .decoder_layers = 1,
                                                            .d_ff = 128,
                                                            .dropout = real(0.05),
                                                            .pre_norm = true},
                                          rng);
  const std::vector<EncodedPair> encoded = encode_pairs(pairs, *t.english, *t.french);
  std::vector<std::vector<Index>> plan;
  const Index steps = lesson.fast ? 150 : 450;
  for (std::uint64_t epoch = 0; std::ssize(plan) < steps; ++epoch)
    for (const std::vector<Index>& rows :
         plan_batches(encoded, {.sentences = 32, .seed = lesson.seed + epoch}))
      plan.push_back(rows);
  Adam adam(parameters_of(*t.model), paper_adam());
  const Context training{.training = true, .rng = &noise};
  train(adam, {.steps = steps, .schedule = {.peak = 3e-3, .warmup = 20}, .label = "English to French"},
        {.loss = [&](Index step) {
          const Batch batch = make_batch(encoded, plan[step]);
          const Tensor logits = (*t.model)(batch.source, batch.decoder_input, training);
          return StepLoss{
              cross_entropy(logits, batch.targets, {.smoothing = real(smoothing), .ignore = Vocabulary::pad}),
              batch.targets.numel()};
        }});
  return t;
}

std::vector<int> source_of(const Translator& t, const std::string& text) {
  std::vector<int> ids = t.english->encode(text);
  ids.push_back(eos);
  return ids;
}

double log_probability(const Translator& t, const std::vector<int>& source, std::vector<int> tokens) {
  TransformerWriter writer(*t.model, source);
  double total = 0;
  int newest = bos;
  tokens.push_back(eos);
  for (const int token : tokens) {
    total += log_softmax(writer.next({{1, 1}, {newest}}))(0, token);
    newest = token;
  }
  return total;
}

BeamResult beams(const Translator& t, const std::vector<int>& source, Index width, double alpha) {
  TransformerWriter writer(*t.model, source);
  return beam_search(writer, {.start = bos,
                              .end = eos,
                              .max_length = longest,
                              .width = width,
                              .length_penalty = alpha,
                              .never = {pad, bos}});  // else they would take up places in the beam
}

std::vector<int> greedy_of(const Translator& t, const std::vector<int>& source) {
  TransformerWriter writer(*t.model, source);
  return greedy(writer, {.start = bos, .end = eos, .max_length = longest})[0];
}

std::vector<double> reshaped(const std::vector<real>& logits, const Setting& setting) {
  std::vector<double> p = sampling_distribution(logits.data(), std::ssize(logits), setting.options);
  const double least = setting.min_p * *std::max_element(p.begin(), p.end());
  double kept = 0;
  for (double& value : p) kept += value = value < least ? 0 : value;
  for (double& value : p) value /= kept;
  return p;
}

double words_in_play(const std::vector<double>& distribution) {
  double entropy = 0;
  for (const double p : distribution)
    if (p > 0) entropy -= p * std::log(p);
  return std::exp(entropy);
}

std::vector<Guess> guesses(const Translator& t, Index sentences) {
  std::vector<Guess> all;
  for (Index i = 0; i < sentences; ++i) {
    TransformerWriter asking(*t.model, source_of(t, t.test[i].source));
    const std::vector<int> right = t.french->encode(t.test[i].target);
    int newest = bos;
    for (Index at = 0; at < std::ssize(right); ++at) {
      const std::string begun = t.french->decode({right.begin(), right.begin() + at});
      all.push_back(
          {fmt::format("{} → {} …", t.test[i].source, begun), asking.next({{1, 1}, {newest}}).values()});
      newest = right[at];
    }
  }
  return all;
}

Tail tail_of(const Translator& t, Index sentences) {
  const std::vector<Guess> all = guesses(t, sentences);
  double mass = 0, log_clean = 0;
  for (const Guess& guess : all) {
    std::vector<double> p = reshaped(guess.logits, {});
    std::sort(p.rbegin(), p.rend());
    const double tail = std::accumulate(p.begin() + 5, p.end(), 0.0);
    mass += tail / double(all.size()), log_clean += std::log(1 - tail);
  }
  return {mass, std::exp(log_clean / double(sentences))};
}

}  // namespace attn
