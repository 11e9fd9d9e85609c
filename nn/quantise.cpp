#include "nn/quantise.hpp"

#include "core/pool.hpp"

namespace attn {
namespace {

void quantise(Stack& stack) {
  for (Block& block : stack.blocks) {
    for (MultiHeadAttention* attention : {&block.self, &block.cross})
      for (Linear* layer : {&attention->query, &attention->key, &attention->value, &attention->output})
        layer->quantise();
    for (Linear* layer : {&block.feed_forward.first, &block.feed_forward.gate, &block.feed_forward.second})
      layer->quantise();
  }
}

}  // namespace

void quantise(Gpt& model) {
  model.token_embedding.quantise();
  quantise(model.stack);
  model.projection.quantise();
  trim_pool();
}

void quantise(Bert& model) {
  model.token_embedding.quantise();
  quantise(model.encoder);
  for (Linear* layer : {&model.mlm_dense, &model.pooler, &model.nsp}) layer->quantise();
  trim_pool();
}

void quantise(Transformer& model) {
  model.target_embedding.quantise();
  if (model.config.share_embeddings) model.source_embedding = model.target_embedding;
  model.source_embedding.quantise();
  quantise(model.encoder);
  quantise(model.decoder);
  model.projection.quantise();
  trim_pool();
}

}  // namespace attn
