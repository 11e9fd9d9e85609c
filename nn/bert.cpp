#include "nn/bert.hpp"

namespace attn {

TransformerConfig bert_config(const BertSize& size) {
  return {.vocabulary = size.vocabulary,
          .d_model = size.d_model,
          .heads = size.heads,
          .encoder_layers = size.layers,
          .decoder_layers = 0,
          .d_ff = 4 * size.d_model,
          .positions = Positions::learned,
          .max_length = size.max_length,
          .feed_forward = {.activation = Activation::gelu}};
}

Bert::Bert(const TransformerConfig& settings, Rng& rng) : config(settings) {
  config.check();
  token_embedding =
      Embedding(config.vocabulary, config.d_model, rng, config.scale_embeddings, config.initialization);
  segment_table = initial_table({2, config.d_model}, rng, real(0.1), config.initialization);
  encoder = Stack(config, BlockKind::encoder, rng);
  encoder.embedding_norm = Norm(config);
  const auto dense = [&](Index out) { return Linear(config.d_model, out, rng, true, config.initialization); };
  mlm_dense = dense(config.d_model);
  mlm_norm = Norm(config);
  mlm_bias = zeros({config.vocabulary}).requires_grad();
  pooler = dense(config.d_model);
  nsp = dense(2);
}

Tensor Bert::operator()(const Tokens& tokens, const Context& context) const {
  return encoder(token_embedding(tokens.ids), {.lengths = tokens.lengths}, context);
}

Tensor Bert::operator()(const Tokens& tokens, const IntTensor& segments, const Context& context) const {
  const Tensor x = token_embedding(tokens.ids) + embedding(segment_table, segments);  // (B, T, C)
  return encoder(x, {.lengths = tokens.lengths}, context);
}

Tensor Bert::mlm_logits(const Tensor& states) const {
  const Tensor hidden = mlm_norm(mlm_dense(states, Activation::gelu));  // (B, T, C)
  return token_embedding.logits(hidden, mlm_bias);                      // (B, T, V)
}

Tensor Bert::pooled(const Tensor& states) const { return pooler(select(states, 1, 0), Activation::tanh); }

Tensor Bert::nsp_logits(const Tensor& states) const { return nsp(pooled(states)); }

void Bert::parameters(ParameterList& list) const {
  list.add_layer("embedding", token_embedding);
  list.add("segments", segment_table);
  list.add_layer("encoder", encoder);
  list.add_layer("mlm_dense", mlm_dense);
  list.add_layer("mlm_norm", mlm_norm);
  list.add("mlm_bias", mlm_bias);
  list.add_layer("pooler", pooler);
  list.add_layer("nsp", nsp);
}

}  // namespace attn
