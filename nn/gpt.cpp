#include "nn/gpt.hpp"

namespace attn {

TransformerConfig gpt_config(const GptSize& size) {
  return {.vocabulary = size.vocabulary,
          .d_model = size.d_model,
          .heads = size.heads,
          .encoder_layers = 0,
          .decoder_layers = size.layers,
          .d_ff = 4 * size.d_model,
          .dropout = 0,
          .positions = Positions::learned,
          .max_length = size.max_length,
          .pre_norm = true,
          .feed_forward = {.activation = Activation::gelu},
          .initialization = Initialization::normal};
}

Gpt::Gpt(const TransformerConfig& settings, Rng& rng) : config(settings) {
  config.check();
  token_embedding = Embedding(config.vocabulary, config.d_model, rng);
  stack = Stack(config, config.decoder_layers, true, false, rng);
  if (!config.tie_embeddings)
    projection = Linear(config.d_model, config.vocabulary, rng, config.bias, config.initialization);
}

Tensor Gpt::operator()(const IntTensor& tokens, Context& context, const IntTensor& lengths,
                       DecoderCache* cache) const {
  const Tensor states = stack(token_embedding(tokens), lengths, context, {}, {}, cache);  // (B, T, C)
  return config.tie_embeddings ? token_embedding.logits(states) : projection(states);     // (B, T, V)
}

void Gpt::parameters(ParameterList& list) const {
  list.add_layer("embedding", token_embedding);
  list.add_layer("decoder", stack);
  if (!config.tie_embeddings) list.add_layer("projection", projection);
}

}  // namespace attn
