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
          .scale_embeddings = false,
          .initialization = Initialization::normal};
}

Gpt::Gpt(const TransformerConfig& settings, Rng& rng) : config(settings) {
  config.check();
  token_embedding =
      Embedding(config.vocabulary, config.d_model, rng, config.scale_embeddings, config.initialization);
  stack = Stack(config, BlockKind::decoder_only, rng);
  if (!config.tie_embeddings)
    projection = Linear(config.d_model, config.vocabulary, rng, config.bias, config.initialization);
}

Tensor Gpt::operator()(const Tokens& tokens, const Context& context) const {
  return logits(stack(token_embedding(tokens.ids), {.lengths = tokens.lengths}, context));
}

Tensor Gpt::operator()(const Tokens& newest, DecoderCache& cache) const {
  return logits(stack(token_embedding(newest.ids), {.cache = &cache}));
}

Tensor Gpt::logits(const Tensor& states) const {
  return config.tie_embeddings ? token_embedding.logits(states) : projection(states);
}

void Gpt::parameters(ParameterList& list) const {
  list.add_layer("embedding", token_embedding);
  list.add_layer("decoder", stack);
  if (!config.tie_embeddings) list.add_layer("projection", projection);
}

}  // namespace attn
