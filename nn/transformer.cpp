#include "nn/transformer.hpp"

#include <cmath>     // sqrt
#include <iterator>  // ssize

#include "core/error.hpp"

namespace attn {

void DecoderCache::reorder(const std::vector<int>& rows) {
  for (Layer& layer : layers)
    for (KeyValueCache* cache : {&layer.self, &layer.cross}) cache->reorder(rows);
}

Block::Block(const TransformerConfig& config, BlockKind kind, Rng& rng, Index layer)
    : kind(kind),
      pre_norm(config.pre_norm),
      dropout(config.dropout),
      self(config, rng, {.name = kind == BlockKind::encoder ? "encoder" : "decoder", .layer = layer}) {
  if (kind == BlockKind::decoder) {
    cross = MultiHeadAttention(config, rng, {.name = "cross", .layer = layer, .cross = true});
    cross_norm = Norm(config);
  }
  feed_forward = FeedForward(config, rng);
  self_norm = Norm(config);
  feed_forward_norm = Norm(config);
}

// A sublayer with a residual connection around it: the sum passes straight through the whole depth of the
// model, and so does its gradient. The sublayer drops its own result.
template <class Sublayer>
Tensor Block::residual(const char* name, const Tensor& x, const Norm& norm, const Context& context,
                       const Sublayer& sublayer) const {
  const Tensor added = sublayer(pre_norm ? norm(x) : x, context.dropping(dropout));
  const Tensor state = pre_norm ? x + added : norm(x + added);
  if (context.stream) context.stream->push_back({name, self.role.layer, added, state});
  return state;
}

Tensor Block::operator()(const Tensor& input, const BlockInputs& inputs, const Context& context) const {
  DecoderCache::Layer* cache = inputs.cache;
  Tensor x =
      residual(self.role.name, input, self_norm, context, [&](const Tensor& y, const Dropping& dropping) {
        return self(y, {.mask = inputs.mask, .cache = cache ? &cache->self : nullptr, .dropping = dropping},
                    context);
      });
  if (kind == BlockKind::decoder)
    x = residual(cross.role.name, x, cross_norm, context, [&](const Tensor& y, const Dropping& dropping) {
      return cross(y,
                   {.mask = {.key_lengths = inputs.memory.lengths},
                    .memory = inputs.memory.states,
                    .cache = cache ? &cache->cross : nullptr,
                    .dropping = dropping},
                   context);
    });
  return residual(
      "feed_forward", x, feed_forward_norm, context,
      [&](const Tensor& y, const Dropping& dropping) { return feed_forward(y, context, dropping); });
}

void Block::parameters(ParameterList& list) const {
  list.add_layer("self", self);
  list.add_layer("self_norm", self_norm);
  if (kind == BlockKind::decoder) {
    list.add_layer("cross", cross);
    list.add_layer("cross_norm", cross_norm);
  }
  list.add_layer("feed_forward", feed_forward);
  list.add_layer("feed_forward_norm", feed_forward_norm);
}

Stack::Stack(const TransformerConfig& config, BlockKind kind, Rng& rng)
    : kind(kind),
      positions(config, kind == BlockKind::encoder, rng),
      causal(kind != BlockKind::encoder),
      dropout(config.dropout) {
  const Index layers = kind == BlockKind::encoder ? config.encoder_layers : config.decoder_layers;
  for (Index i = 0; i < layers; ++i) blocks.emplace_back(config, kind, rng, i);
  if (!config.pre_norm) return;
  final_norm = Norm(config);
  if (config.initialization == Initialization::normal) shrink_residuals();
}

// With pre-norm every sublayer adds to one sum, which nothing normalises on the way. A sum of n independent
// terms has √n times the deviation of one, so each term starts √n smaller (GPT-2: 1/√(2 layers)).
void Stack::shrink_residuals() {
  const Index sublayers = std::ssize(blocks) * (kind == BlockKind::decoder ? 3 : 2);
  for (const Block& block : blocks)
    for (const Linear* last : {&block.self.output, &block.cross.output, &block.feed_forward.second})
      if (last->weight)
        for (Index i = 0; i < last->weight.numel(); ++i) last->weight.data()[i] /= std::sqrt(real(sublayers));
}

Tensor Stack::operator()(const Tensor& embeddings, const StackInputs& inputs, const Context& context) const {
  DecoderCache* cache = inputs.cache;
  const Index T = embeddings.size(1), first = cache ? cache->length() : 0;
  if (cache) cache->layers.resize(blocks.size());
  const Mask mask{
      .causal = causal, .key_lengths = inputs.lengths, .bias = positions.bias(T, first + T, first)};
  Tensor x = positions.add_to(embeddings, first);  // (B, T, C)
  if (embedding_norm.gain) x = embedding_norm(x);
  x = context.drop(x, dropout);
  if (context.stream) context.stream->push_back({"embedding", 0, x, x});
  for (Index i = 0; i < std::ssize(blocks); ++i)
    x = blocks[i](x, {.mask = mask, .memory = inputs.memory, .cache = cache ? &cache->layers[i] : nullptr},
                  context);
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
  target_embedding =
      Embedding(config.vocabulary, config.d_model, rng, config.scale_embeddings, config.initialization);
  source_embedding = config.share_embeddings ? target_embedding
                                             : Embedding(config.source_vocabulary, config.d_model, rng,
                                                         config.scale_embeddings, config.initialization);
  encoder = Stack(config, BlockKind::encoder, rng);
  decoder = Stack(config, BlockKind::decoder, rng);
  if (!config.tie_embeddings)
    projection = Linear(config.d_model, config.vocabulary, rng, config.bias, config.initialization);
}

Tensor Transformer::operator()(const Tokens& source, const Tokens& target, const Context& context) const {
  return decode(target, encode(source, context), context);
}

Memory Transformer::encode(const Tokens& source, const Context& context) const {
  return {encoder(source_embedding(source.ids), {.lengths = source.lengths}, context), source.lengths};
}

Tensor Transformer::decode(const Tokens& target, const Memory& memory, const Context& context) const {
  return logits(
      decoder(target_embedding(target.ids), {.lengths = target.lengths, .memory = memory}, context));
}

Tensor Transformer::decode(const Tokens& newest, const Memory& memory, DecoderCache& cache,
                           const Context& context) const {
  return logits(decoder(target_embedding(newest.ids), {.memory = memory, .cache = &cache}, context));
}

Tensor Transformer::logits(const Tensor& states) const {
  if (!config.tie_embeddings) return projection(states);
  return target_embedding.logits(config.scale_logits ? states / std::sqrt(real(config.d_model)) : states);
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
  const Index T = target.shape()[1];
  IntTensor shifted(target.shape());
  for (Index i = 0; i < target.numel(); ++i) shifted[i] = i % T == 0 ? start : target[i - 1];
  return shifted;
}

Index parameter_count(const TransformerConfig& config) {
  config.check();
  const Index C = config.d_model, V = config.vocabulary;
  const auto linear = [&](Index in, Index out) { return (in + config.bias) * out; };
  const Index norm = config.norm == NormKind::layer ? 2 * C : C;
  const Index inner = config.query_size();
  const Index attention = linear(C, inner) + linear(inner, C) + 2 * linear(C, config.kv_size());
  const Index feed_forward =
      (config.feed_forward.gated ? 2 : 1) * linear(C, config.d_ff) + linear(config.d_ff, C);
  const Index positions = config.positions == Positions::learned ? config.max_length * C
                          : config.positions == Positions::t5    ? config.t5_buckets * config.heads
                                                                 : 0;
  return (config.share_embeddings ? V : V + config.source_vocabulary) * C +
         config.encoder_layers * (attention + feed_forward + 2 * norm) +
         config.decoder_layers * (2 * attention + feed_forward + 3 * norm) +
         2 * (positions + (config.pre_norm ? norm : 0)) + (config.tie_embeddings ? 0 : linear(C, V));
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
