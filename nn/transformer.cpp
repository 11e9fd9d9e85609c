#include "nn/transformer.hpp"

#include "core/error.hpp"

namespace attn {
void DecoderCache::reorder(const std::vector<int>& rows) {
  for (std::vector<KeyValueCache>* caches : {&self, &cross})
    for (KeyValueCache& cache : *caches)
      if (cache.keys) cache.keys = take_rows(cache.keys, rows), cache.values = take_rows(cache.values, rows);
}

Block::Block(const TransformerConfig& config, bool causal, bool has_cross, Rng& rng)
    : pre_norm(config.pre_norm),
      causal(causal),
      has_cross(has_cross),
      dropout(config.dropout),
      self(config, true, rng) {
  if (has_cross) {
    cross = MultiHeadAttention(config, false, rng);
    cross_norm = Norm(config.norm, config.d_model);
  }
  feed_forward = FeedForward(config, rng);
  self_norm = Norm(config.norm, config.d_model);
  feed_forward_norm = Norm(config.norm, config.d_model);
}

// A sublayer and the way around it. The sum goes straight through the depth of the model, and so does its
// gradient.
template <class Sublayer>
Tensor Block::residual(const Tensor& x, const Norm& norm, Context& context, const Sublayer& sublayer) const {
  if (pre_norm) return x + context.drop(sublayer(norm(x)), dropout);
  return norm(x + context.drop(sublayer(x), dropout));
}

Tensor Block::operator()(const Tensor& input, const Mask& mask, const Tensor& memory, const Mask& memory_mask,
                         Context& context, int layer, KeyValueCache* self_cache,
                         KeyValueCache* cross_cache) const {
  Tensor x = residual(input, self_norm, context, [&](const Tensor& y) {
    return self(y, y, mask, context, causal ? "decoder" : "encoder", layer, self_cache);
  });
  if (has_cross)
    x = residual(x, cross_norm, context, [&](const Tensor& y) {
      return cross(y, memory, memory_mask, context, "cross", layer, cross_cache);
    });
  return residual(x, feed_forward_norm, context, [&](const Tensor& y) { return feed_forward(y, context); });
}

void Block::parameters(ParameterList& list) const {
  list.add_layer("self", self);
  list.add_layer("self_norm", self_norm);
  if (has_cross) {
    list.add_layer("cross", cross);
    list.add_layer("cross_norm", cross_norm);
  }
  list.add_layer("feed_forward", feed_forward);
  list.add_layer("feed_forward_norm", feed_forward_norm);
}

Stack::Stack(const TransformerConfig& config, Index layers, bool causal, bool has_cross, Rng& rng)
    : causal(causal), positions(config, !causal, rng), dropout(config.dropout) {
  for (Index i = 0; i < layers; ++i) blocks.emplace_back(config, causal, has_cross, rng);
  if (config.pre_norm) final_norm = Norm(config.norm, config.d_model);
}

Tensor Stack::operator()(const Tensor& embeddings, const IntTensor& lengths, Context& context,
                         const Tensor& memory, const IntTensor& memory_lengths, DecoderCache* cache) const {
  const Index T = embeddings.shape()[1], first = cache ? cache->length() : 0;
  if (cache && cache->self.empty()) {
    cache->self.resize(blocks.size());
    cache->cross.resize(blocks.size(), KeyValueCache{.frozen = true});
  }
  const Mask mask{.causal = causal, .key_lengths = lengths, .bias = positions.bias(T, first + T, first)};
  const Mask memory_mask{.key_lengths = memory_lengths};
  Tensor x = positions.add_to(embeddings, first);  // (B, T, C)
  if (embedding_norm.gain) x = embedding_norm(x);
  x = context.drop(x, dropout);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    x = blocks[i](x, mask, memory, memory_mask, context, static_cast<int>(i),
                  cache ? &cache->self[i] : nullptr, cache && memory ? &cache->cross[i] : nullptr);
  return final_norm.gain ? final_norm(x) : x;
}

void Stack::parameters(ParameterList& list) const {
  list.add_layer("positions", positions);
  list.add_layer("embedding_norm", embedding_norm);
  list.add_layers("block", blocks);
  list.add_layer("final_norm", final_norm);
}

Transformer::Transformer(const TransformerConfig& settings, Rng& rng) : config(settings) {
  config.check();
  if (config.share_embeddings && config.source_vocabulary != config.vocabulary)
    fail("transformer: one shared embedding needs one vocabulary, but there are {} and {} tokens",
         config.source_vocabulary, config.vocabulary);
  if (config.source_vocabulary < 1)
    fail("transformer: source_vocabulary is {}; it must be at least 1", config.source_vocabulary);
  target_embedding = Embedding(config.vocabulary, config.d_model, rng);
  source_embedding =
      config.share_embeddings ? target_embedding : Embedding(config.source_vocabulary, config.d_model, rng);
  encoder = Stack(config, config.encoder_layers, false, false, rng);
  decoder = Stack(config, config.decoder_layers, true, true, rng);
  if (!config.tie_embeddings)
    projection = Linear(config.d_model, config.vocabulary, rng, config.bias, config.initialization);
}

Tensor Transformer::encode(const IntTensor& source, const IntTensor& lengths, Context& context) const {
  return encoder(source_embedding(source), lengths, context);
}

Tensor Transformer::decode(const IntTensor& target, const IntTensor& target_lengths, const Tensor& memory,
                           const IntTensor& source_lengths, Context& context, DecoderCache* cache) const {
  const Tensor states =
      decoder(target_embedding(target), target_lengths, context, memory, source_lengths, cache);
  return config.tie_embeddings ? target_embedding.logits(states) : projection(states);  // (B, T, V)
}

Tensor Transformer::operator()(const IntTensor& source, const IntTensor& source_lengths,
                               const IntTensor& target, const IntTensor& target_lengths,
                               Context& context) const {
  return decode(target, target_lengths, encode(source, source_lengths, context), source_lengths, context);
}

void Transformer::parameters(ParameterList& list) const {
  list.add_layer(config.share_embeddings ? "embedding" : "target_embedding", target_embedding);
  list.add_layer("source_embedding", source_embedding);
  list.add_layer("encoder", encoder);
  list.add_layer("decoder", decoder);
  if (!config.tie_embeddings) list.add_layer("projection", projection);
}

IntTensor shift_right(const IntTensor& target, int start) {
  if (target.shape().rank() != 2) fail("shift_right: {} is not (B,T)", target.shape().str());
  const Index B = target.shape()[0], T = target.shape()[1];
  IntTensor shifted(target.shape());
  for (Index b = 0; b < B; ++b)
    for (Index t = 0; t < T; ++t) shifted[b * T + t] = t == 0 ? start : target[b * T + t - 1];
  return shifted;
}

std::vector<PartCount> count_by_part(const ParameterList& list, int depth) {
  std::vector<PartCount> parts;
  for (const Parameter& parameter : list) {
    std::size_t end = 0;
    for (int i = 0; i < depth && end != std::string::npos; ++i) end = parameter.name.find('.', end + 1);
    const std::string part = parameter.name.substr(0, end);
    if (parts.empty() || parts.back().part != part) parts.push_back({part, 0});
    parts.back().count += parameter.tensor.numel();
  }
  return parts;
}

}  // namespace attn
