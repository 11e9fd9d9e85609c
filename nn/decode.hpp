// Decoding: how a model chooses a sentence, token by token.
//
// A `Writer` is a model in the middle of writing: it takes the newest tokens of some sentences (its rows) and
// returns the logits for the next one. It caches what it has computed, or, without a cache, recomputes
// everything at each step: the same words, slower.
//
//   TransformerWriter writer(model, source);
//   std::vector<std::vector<int>> sentences = greedy(writer, {.start = bos, .end = eos});
#pragma once

#include "nn/gpt.hpp"
#include "nn/transformer.hpp"

namespace attn {

class Writer {
 public:
  virtual ~Writer() = default;
  virtual Index rows() const = 0;
  virtual Tensor next(const IntTensor& tokens) = 0;        // (rows, n) -> logits (rows, V) after them
  virtual void reorder(const std::vector<int>& rows) = 0;  // row i continues what row rows[i] was
};

struct WriterOptions {
  bool cached = true;
  Context context{};  // of a TransformerWriter's model
};

// The decoder of an encoder-decoder, writing one target for each source sentence.
class TransformerWriter : public Writer {
 public:
  TransformerWriter(const Transformer& model, const Tokens& source, const WriterOptions& options = {});
  Index rows() const override { return memory_.states.size(0); }
  Tensor next(const IntTensor& tokens) override;
  void reorder(const std::vector<int>& rows) override;

 private:
  const Transformer& model_;
  WriterOptions options_;
  Memory memory_;
  IntTensor written_;  // (rows, T): the tokens so far, if there is no cache
  DecoderCache cache_;
};

// A GPT that continues texts. When its table of positions is full, it goes on with the newest half of the
// text: positions must stay within the table. Other position schemes have no limit.
class GptWriter : public Writer {
 public:
  explicit GptWriter(const Gpt& model, Index rows = 1, const WriterOptions& options = {})
      : model_(model), rows_(rows), options_(options) {}
  Index rows() const override { return rows_; }
  Tensor next(const IntTensor& tokens) override;
  void reorder(const std::vector<int>& rows) override;

 private:
  const Gpt& model_;
  Index rows_;
  WriterOptions options_;
  IntTensor written_;  // (rows, T)
  DecoderCache cache_;
};

struct DecodeOptions {
  int start = 1, end = 2;
  Index max_length = 100;  // the most tokens to write, the end included
};

// The likeliest token each time. Sentences may end at different steps. The result is without the end token.
std::vector<std::vector<int>> greedy(Writer& writer, const DecodeOptions& options);

// Beam search: keeps the `width` best beginnings, by their summed log-probabilities. A finished hypothesis
// keeps its place in the beam. The best hypothesis has the highest log P / penalty(length), where
// penalty(length) = ((5 + length) / 6)^α (Wu et al., 2016); without it, short sentences win because every
// further token lowers log P. With width 1 this is greedy.
struct BeamOptions {
  int start = 1, end = 2;
  Index max_length = 100;
  Index width = 4;
  double length_penalty = 0.6;  // α
  std::vector<int> never = {};  // tokens of no sentence (<pad>, <bos>): they get no place in the beam
};
struct BeamNode {     // a token in the tree of all continuations that were considered
  Index parent = -1;  // in the tree; -1 for the start
  int token = 0;
  double log_probability = 0;  // of everything up to this token
  Index depth = 0;
  bool kept = false;  // stayed in the beam
  bool finished = false;
};
struct Hypothesis {
  std::vector<int> tokens;  // without start and end
  double log_probability;
  double score;  // log_probability / penalty
  Index node;    // of its last token, in the tree
};
struct BeamResult {
  std::vector<Hypothesis> hypotheses;  // best first
  std::vector<BeamNode> tree;
};
// The writer starts with one row, its sentence; the search grows it to one row for each open hypothesis.
BeamResult beam_search(Writer& writer, const BeamOptions& options);

// Sampling: logits are divided by the temperature. Then only the k likeliest tokens stay, and of those only
// the likeliest that together reach the probability p (including the one that crosses it).
struct SampleOptions {
  int end = 2;  // -1: never
  Index max_length = 100;
  double temperature = 1;  // 0 means greedy
  Index top_k = 0;         // 0: all
  double top_p = 1;
};
std::vector<double> sampling_distribution(const real* logits, Index vocabulary, const SampleOptions& options);
int draw(const std::vector<double>& distribution, Rng& rng);
// Continues the prompts (rows, T) by up to max_length tokens each.
std::vector<std::vector<int>> sample(Writer& writer, const IntTensor& prompts, const SampleOptions& options,
                                     Rng& rng);

}  // namespace attn
