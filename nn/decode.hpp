// Decoding: how a sentence is chosen, a token at a time.
//
// A `Writer` is a model in the middle of writing: it takes the newest tokens of some sentences (its rows) and
// returns the logits for the next one. It keeps what it has computed in a cache, or, without one, computes
// everything again at each step: the same words, slower.
//
//   TransformerWriter writer(model, source, lengths);
//   std::vector<std::vector<int>> sentences = greedy(writer, {.start = bos, .end = eos});
#pragma once

#include <limits>  // numeric_limits

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

// The decoder of an encoder-decoder, writing one target for each source sentence.
class TransformerWriter : public Writer {
 public:
  TransformerWriter(const Transformer& model, const IntTensor& source, const IntTensor& lengths,
                    bool cached = true);
  Index rows() const override { return memory_.shape()[0]; }
  Tensor next(const IntTensor& tokens) override;
  void reorder(const std::vector<int>& rows) override;

 private:
  const Transformer& model_;
  Tensor memory_;      // (rows, S, C)
  IntTensor lengths_;  // (rows), or empty
  IntTensor written_;  // (rows, T): what came so far, if there is no cache
  bool cached_;
  DecoderCache cache_;
};

// A GPT continuing texts. Once its table of positions is full it goes on with the newest half of the text, as
// positions must stay within the table; other position schemes never end.
class GptWriter : public Writer {
 public:
  GptWriter(const Gpt& model, Index rows, bool cached = true) : model_(model), rows_(rows), cached_(cached) {}
  Index rows() const override { return rows_; }
  Tensor next(const IntTensor& tokens) override;
  void reorder(const std::vector<int>& rows) override;

 private:
  const Gpt& model_;
  Index rows_;
  IntTensor written_;
  bool cached_;
  DecoderCache cache_;
};

struct DecodeOptions {
  int start = 1, end = 2;
  Index max_length = 100;  // tokens written at most, the end included
};

// The likeliest token each time. Sentences may end at different steps; the end token is not part of the
// result.
std::vector<std::vector<int>> greedy(Writer& writer, const DecodeOptions& options);

// Beam search: the `width` best beginnings are kept, by their summed log-probabilities. A hypothesis that
// reaches the end keeps its place in the beam. The result is the one with the best log P / penalty(length),
// where penalty(length) = ((5 + length) / 6)^α; without it, short sentences win because each further token
// costs. With width 1 this is greedy.
struct BeamOptions {
  int start = 1, end = 2;
  Index max_length = 100;
  Index width = 4;
  double length_penalty = 0.6;  // α
};
struct BeamNode {  // a token in the tree of all that was considered
  int parent;      // -1 for the start
  int token;
  double log_probability;  // of the whole beginning
  int depth;
  bool kept;  // made it into the beam
  bool finished;
};
struct Hypothesis {
  std::vector<int> tokens;  // without start and end
  double log_probability;
  double score;  // log_probability / penalty
  int node;      // in the tree
};
struct BeamResult {
  std::vector<Hypothesis> hypotheses;  // best first
  std::vector<BeamNode> tree;
};
// The writer has one row, its sentence; the search gives it as many as it needs.
BeamResult beam_search(Writer& writer, const BeamOptions& options);

// Sampling: logits are divided by the temperature; then only the k likeliest tokens, and of those only the
// likeliest that together reach the probability p (the one that crosses it included), stay in the draw.
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
