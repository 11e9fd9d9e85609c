// What each family calls its layers. A row names a layer, whose weight (or gain, or table) and bias go along,
// or a single parameter. A / stands for a name to which the family's prefix does not apply.
#include "optim/published.hpp"

#include "core/error.hpp"

namespace attn {
namespace {

std::vector<PublishedFamily> families(bool gated) {
  constexpr bool transposed = true;
  const std::string first = gated ? "wi_1" : "wi";  // of T5, which calls its gate wi_0
  return {
      {"gpt2",
       {"", "transformer."},
       {{"embedding", "wte"},
        {"decoder.positions", "wpe"},
        {"decoder.block.#.self_norm", "h.#.ln_1"},
        {"decoder.block.#.self.query", "h.#.attn.c_attn", transposed, 0, 3},
        {"decoder.block.#.self.key", "h.#.attn.c_attn", transposed, 1, 3},
        {"decoder.block.#.self.value", "h.#.attn.c_attn", transposed, 2, 3},
        {"decoder.block.#.self.output", "h.#.attn.c_proj", transposed},
        {"decoder.block.#.feed_forward_norm", "h.#.ln_2"},
        {"decoder.block.#.feed_forward.first", "h.#.mlp.c_fc", transposed},
        {"decoder.block.#.feed_forward.second", "h.#.mlp.c_proj", transposed},
        {"decoder.final_norm", "ln_f"}}},
      {"llama",
       {""},
       {{"embedding", "model.embed_tokens"},
        {"decoder.block.#.self_norm", "model.layers.#.input_layernorm"},
        {"decoder.block.#.self.query", "model.layers.#.self_attn.q_proj"},
        {"decoder.block.#.self.key", "model.layers.#.self_attn.k_proj"},
        {"decoder.block.#.self.value", "model.layers.#.self_attn.v_proj"},
        {"decoder.block.#.self.output", "model.layers.#.self_attn.o_proj"},
        {"decoder.block.#.feed_forward_norm", "model.layers.#.post_attention_layernorm"},
        {"decoder.block.#.feed_forward.gate", "model.layers.#.mlp.gate_proj"},
        {"decoder.block.#.feed_forward.first", "model.layers.#.mlp.up_proj"},
        {"decoder.block.#.feed_forward.second", "model.layers.#.mlp.down_proj"},
        {"decoder.final_norm", "model.norm"},
        {"projection", "lm_head"}}},
      {"bert",
       {"bert.", ""},
       {{"embedding", "embeddings.word_embeddings"},
        {"segments", "embeddings.token_type_embeddings.weight"},
        {"encoder.positions", "embeddings.position_embeddings"},
        {"encoder.embedding_norm", "embeddings.LayerNorm"},
        {"encoder.block.#.self.query", "encoder.layer.#.attention.self.query"},
        {"encoder.block.#.self.key", "encoder.layer.#.attention.self.key"},
        {"encoder.block.#.self.value", "encoder.layer.#.attention.self.value"},
        {"encoder.block.#.self.output", "encoder.layer.#.attention.output.dense"},
        {"encoder.block.#.self_norm", "encoder.layer.#.attention.output.LayerNorm"},
        {"encoder.block.#.feed_forward.first", "encoder.layer.#.intermediate.dense"},
        {"encoder.block.#.feed_forward.second", "encoder.layer.#.output.dense"},
        {"encoder.block.#.feed_forward_norm", "encoder.layer.#.output.LayerNorm"},
        {"pooler", "pooler.dense"},
        {"mlm_dense", "/cls.predictions.transform.dense"},
        {"mlm_norm", "/cls.predictions.transform.LayerNorm"},
        {"mlm_bias", "/cls.predictions.bias"},
        {"nsp", "/cls.seq_relationship"}}},
      {"t5",
       {""},
       {{"embedding", "shared"},
        {"encoder.positions.t5", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias"},
        {"encoder.block.#.self.query", "encoder.block.#.layer.0.SelfAttention.q"},
        {"encoder.block.#.self.key", "encoder.block.#.layer.0.SelfAttention.k"},
        {"encoder.block.#.self.value", "encoder.block.#.layer.0.SelfAttention.v"},
        {"encoder.block.#.self.output", "encoder.block.#.layer.0.SelfAttention.o"},
        {"encoder.block.#.self_norm", "encoder.block.#.layer.0.layer_norm"},
        {"encoder.block.#.feed_forward.first", "encoder.block.#.layer.1.DenseReluDense." + first},
        {"encoder.block.#.feed_forward.gate", "encoder.block.#.layer.1.DenseReluDense.wi_0"},
        {"encoder.block.#.feed_forward.second", "encoder.block.#.layer.1.DenseReluDense.wo"},
        {"encoder.block.#.feed_forward_norm", "encoder.block.#.layer.1.layer_norm"},
        {"encoder.final_norm", "encoder.final_layer_norm"},
        {"decoder.positions.t5", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias"},
        {"decoder.block.#.self.query", "decoder.block.#.layer.0.SelfAttention.q"},
        {"decoder.block.#.self.key", "decoder.block.#.layer.0.SelfAttention.k"},
        {"decoder.block.#.self.value", "decoder.block.#.layer.0.SelfAttention.v"},
        {"decoder.block.#.self.output", "decoder.block.#.layer.0.SelfAttention.o"},
        {"decoder.block.#.self_norm", "decoder.block.#.layer.0.layer_norm"},
        {"decoder.block.#.cross.query", "decoder.block.#.layer.1.EncDecAttention.q"},
        {"decoder.block.#.cross.key", "decoder.block.#.layer.1.EncDecAttention.k"},
        {"decoder.block.#.cross.value", "decoder.block.#.layer.1.EncDecAttention.v"},
        {"decoder.block.#.cross.output", "decoder.block.#.layer.1.EncDecAttention.o"},
        {"decoder.block.#.cross_norm", "decoder.block.#.layer.1.layer_norm"},
        {"decoder.block.#.feed_forward.first", "decoder.block.#.layer.2.DenseReluDense." + first},
        {"decoder.block.#.feed_forward.gate", "decoder.block.#.layer.2.DenseReluDense.wi_0"},
        {"decoder.block.#.feed_forward.second", "decoder.block.#.layer.2.DenseReluDense.wo"},
        {"decoder.block.#.feed_forward_norm", "decoder.block.#.layer.2.layer_norm"},
        {"decoder.final_norm", "decoder.final_layer_norm"},
        {"projection", "lm_head"}}},
  };
}

}  // namespace

PublishedFamily published_family(const std::string& type, bool gated) {
  std::string known;
  for (const PublishedFamily& family : families(gated)) {
    if (type == family.type) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.type);
  }
  fail("config.json: a model of the type '{:.40}'; known here are {}", type, known);
}

}  // namespace attn
