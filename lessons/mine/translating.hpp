// The toy translator of lesson 13, small enough for parts: its sentences, its batches and how it translates.
#pragma once

#include "lessons/13_translator/data.hpp"
#include "lessons/13_translator/translator.hpp"
#include "lessons/mine/model.hpp"

namespace attn::mine {

struct TranslatorTask {
  Settings settings;
  Dataset data;
  Vocabularies vocabularies;
  std::vector<EncodedPair> pairs;  // source … <eos>, <bos> target … <eos>
  double rate = 0.6;               // a factor on the paper's schedule
  Index warmup = 100;

  TranslatorTask(std::uint64_t seed, bool fast);
  Index steps() const { return settings.steps; }
  Translator new_translator() const;
  const std::vector<Index>& rows_of(Index step) const;  // the pairs of a batch

 private:
  mutable std::vector<std::vector<Index>> plan_;  // the batches of an epoch
  mutable Index planned_epoch_ = -1;
};

// Trains by the library. Returns the losses.
std::vector<double> train_by_library(const TranslatorTask& task, const Translator& translator, Index steps);

// Trains by parts: pad_rows and dictate make the batches, three_masks hides what is to be hidden.
void train_by_parts(const Parts& parts, const TranslatorTask& task, const Translator& translator,
                    std::vector<double>& losses);

// The scores of the next word of one translation, as exercises 13 and 14 ask for them.
class PartsWriter {
 public:
  PartsWriter(const Parts& parts, const Translator& translator, const std::vector<int>& source);
  std::vector<double> scores(const std::vector<int>& written) const;
  std::vector<double> log_probabilities(const std::vector<int>& written) const;  // by row_softmax

 private:
  const Parts& parts_;
  const Translator& translator_;
  IntTensor source_;  // (1, S)
  Tensor memory_;     // (1, S, C)
};

}  // namespace attn::mine
