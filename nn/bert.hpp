// BERT: an encoder alone. Every token sees both sides, so it cannot write, but it can read very well.
//
// It is taught by two games: fill in masked tokens (the MLM head), and tell whether the second sentence
// really followed the first (the NSP head, on the first token, [CLS]). Afterwards a small head on top is
// fine-tuned: on [CLS] to classify a sentence, on every token to tag words.
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

  // tokens (B, T), segments (B, T) of 0 and 1 or empty -> states (B, T, C)
  Tensor operator()(const IntTensor& tokens, const IntTensor& lengths, Context& context,
                    const IntTensor& segments = {}) const;
  Tensor mlm_logits(const Tensor& states) const;  // (B, T, C) -> (B, T, V)
  Tensor pooled(const Tensor& states) const;      // (B, T, C) -> (B, C), from [CLS]
  Tensor nsp_logits(const Tensor& states) const;  // (B, T, C) -> (B, 2)
  void parameters(ParameterList& list) const;
};

// A head for fine-tuning: classes from [CLS], or tags for every token.
struct Classifier {
  Linear layer;
  Classifier(Index d_model, Index classes, Rng& rng) : layer(d_model, classes, rng) {}
  Tensor sentence(const Bert& bert, const Tensor& states) const {
    return layer(bert.pooled(states));
  }                                                                    // (B, K)
  Tensor tokens(const Tensor& states) const { return layer(states); }  // (B, T, K)
  void parameters(ParameterList& list) const { list.add_layer("classifier", layer); }
};

}  // namespace attn
