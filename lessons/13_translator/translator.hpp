// Translator: a model with its two vocabularies, in one file.
//
//   Translator translator = Translator::load("out/13_translator/en-fr.safetensors");
//   translator.translate("The white cat sleeps.")         "Le chat blanc dort."
//   translator.source->unknown("The dodo sleeps.")        {"dodo"}: ask before you translate
//
// The file is a plain .safetensors: the weights by name and, as metadata, the model's configuration and both
// vocabularies, so that whoever has the file needs nothing else.
//
// B rows of a batch, S tokens of a source, T of a target, V of the target's vocabulary.
#pragma once

#include <memory>  // shared_ptr
#include <string>  // string
#include <vector>  // vector

#include "nn/decode.hpp"
#include "nn/text/batching.hpp"
#include "optim/checkpoint.hpp"  // Metadata

namespace attn {

// A batch as the model takes it. What the decoder reads is the target without its last token, what it learns
// to write is the target without its first: at each place, the next token.
struct TranslationBatch {
  IntTensor source, source_lengths;  // (B, S), (B)
  IntTensor reads, read_lengths;     // (B, T), (B): <bos> le chat dort .
  IntTensor writes;                  // (B, T):      le chat dort . <eos>
};
TranslationBatch batch_of(const PairBatch& batch);

struct Search {
  Index beam = 1;  // 1: greedy, many sentences at once
  double length_penalty = 0.6;
};

struct Translator {
  std::shared_ptr<const Vocabulary> source, target;  // one and the same if they are joint
  Transformer model;

  // The sizes of the vocabularies are filled into the configuration.
  Translator(std::shared_ptr<const Vocabulary> source, std::shared_ptr<const Vocabulary> target,
             TransformerConfig config, Rng& rng);

  std::vector<std::string> translate(const std::vector<std::string>& sentences,
                                     const Search& search = {}) const;
  std::string translate(const std::string& sentence, const Search& search = {}) const;
  BeamResult beam(const std::string& sentence, const Search& search) const;

  // The mean cross-entropy over the real tokens of a batch; padding does not count.
  Tensor loss(const TranslationBatch& batch, Context& context, real smoothing = 0) const;
  // The same over many pairs, in batches, without gradients.
  double mean_loss(const std::vector<EncodedPair>& pairs) const;

  // What a sentence has too much: 0, or its number of tokens if the model was not made for so many.
  Index too_long(const std::string& sentence) const;

  Metadata metadata() const;
  static Translator load(const std::string& path);
  // Without weights, to be filled from a checkpoint: the model that this metadata is about.
  static Translator from_metadata(const std::string& path, const Metadata& metadata);
};

}  // namespace attn
