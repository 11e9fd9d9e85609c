// BERT: an encoder alone. Every token sees both sides, so it cannot generate text, but it reads very well.
//
// It is pre-trained on two tasks: masked language modelling (the MLM head fills in masked tokens) and
// next-sentence prediction (the NSP head says, from the state of the first token, [CLS], whether the second
// sentence followed the first). Then a small head on top is fine-tuned, to classify sentences or tag words.
#pragma once

#include "nn/transformer.hpp"

namespace attn {

struct BertSize {
  Index vocabulary, d_model = 128, heads = 4, layers = 2, max_length = 64;
};
TransformerConfig bert_config(const BertSize& size);

struct Bert {
  TransformerConfig config;
  Embedding token_embedding;
  Tensor segment_table;  // (2, C): first or second sentence
  Stack encoder;
  Linear mlm_dense;  // the MLM head: dense, GELU, norm, then the embedding transposed, plus a bias
  Norm mlm_norm;
  Tensor mlm_bias;     // (V)
  Linear pooler, nsp;  // tanh of a dense layer on [CLS]; is-next or not

  Bert(const TransformerConfig& config, Rng& rng);

  // tokens (B, T), segments (B, T) of 0 and 1 -> states (B, T, C)
  Tensor operator()(const Tokens& tokens, const Context& context = {}) const;
  Tensor operator()(const Tokens& tokens, const IntTensor& segments, const Context& context = {}) const;
  Tensor mlm_logits(const Tensor& states) const;  // (B, T, C) -> (B, T, V)
  Tensor pooled(const Tensor& states) const;      // (B, T, C) -> (B, C), from [CLS]
  Tensor nsp_logits(const Tensor& states) const;  // (B, T, C) -> (B, 2)
  void parameters(ParameterList& list) const;
};

// A head for fine-tuning on K classes: of the sentence, from [CLS] (B, K), or of every token (B, T, K).
struct Classifier {
  Linear layer;
  Classifier(Index d_model, Index classes, Rng& rng) : layer(d_model, classes, rng) {}
  Tensor sentence(const Bert& bert, const Tensor& states) const { return layer(bert.pooled(states)); }
  Tensor tokens(const Tensor& states) const { return layer(states); }
  void parameters(ParameterList& list) const { list.add_layer("classifier", layer); }
};

}  // namespace attn
