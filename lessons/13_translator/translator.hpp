// Translator: a model with its two vocabularies, in one file.
//
//   Translator translator = Translator::load(Checkpoint("out/13_translator/en-fr.safetensors"));
//   translator.translate("The white cat sleeps.")         "Le chat blanc dort."
//
// The file is a plain .safetensors: the weights by name and, as metadata, the model's configuration and both
// vocabularies. Nothing else is needed to translate.
#pragma once

#include <functional>  // function
#include <memory>      // shared_ptr
#include <string>      // string
#include <vector>      // vector

#include "nn/decode.hpp"
#include "nn/text/batching.hpp"
#include "optim/checkpoint.hpp"  // Metadata

namespace attn {

struct Search {
  Index beam = 1;  // hypotheses kept; 1: greedy, many sentences at once
  double length_penalty = 0.6;
  std::function<void(Index done)> progress = nullptr;  // told how many sentences are translated
};

struct Translator {
  std::shared_ptr<const Vocabulary> source, target;  // the same object if both languages share one
  Transformer model;

  // Fills the sizes of the vocabularies into the configuration.
  Translator(std::shared_ptr<const Vocabulary> source, std::shared_ptr<const Vocabulary> target,
             TransformerConfig config, Rng& rng);

  std::string translate(const std::string& sentence, const Search& search = {}) const;
  std::vector<std::string> translate(const std::vector<std::string>& sentences,
                                     const Search& search = {}) const;

  // The same in two steps, for a caller who wants to see the tokens.
  std::vector<int> encode(const std::string& sentence) const;  // ends with <eos>
  std::vector<std::string> translate_tokens(const std::vector<std::vector<int>>& sentences,
                                            const Search& search = {}) const;
  BeamResult beam(const std::vector<int>& sentence, const Search& search) const;

  // The mean cross-entropy over the real tokens of a batch, without its padding.
  Tensor loss(const Batch& batch, const Context& context = {}, real smoothing = 0) const;
  // The same over many pairs, in batches, without gradients.
  double mean_loss(const std::vector<EncodedPair>& pairs) const;

  Metadata metadata() const;
  static Translator load(Checkpoint file);
  // The model that the metadata of a file describes, with random weights: to be filled from there.
  static Translator described_by(const Checkpoint& file);
};

}  // namespace attn
