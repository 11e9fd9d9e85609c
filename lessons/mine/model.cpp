#include "lessons/mine/model.hpp"

#include <cmath>  // sqrt

#include "core/error.hpp"
#include "core/ops.hpp"

namespace attn::mine {
namespace {

Tensor embed(const Parts& parts, const Embedding& embedding, const IntTensor& ids) {
  return look_up(parts, embedding.table, ids) * std::sqrt(real(embedding.table.size(1)));
}

Sublayer norm_by(const Parts& parts, const Norm& layer) {
  return [&](const Tensor& x) { return norm(parts, x, layer.gain, layer.bias); };
}

Tensor block(const Parts& parts, const Tensor& x, const Sublayer& first, const Sublayer& second,
             const Sublayer& first_norm, const Sublayer& second_norm) {
  const Tensor y = parts.pre_norm_block(x, first, second, first_norm, second_norm);
  check_result(parts.pre_norm_block, y, x.shape());
  check_gradient_flows(parts.pre_norm_block, x, y);
  return y;
}

Tensor* keep(std::vector<Tensor>* maps) { return maps ? &maps->emplace_back() : nullptr; }

// (1,S,C), (1,C) … of sentence b.
Tensor sentence(const Tensor& x, Index b) { return select(x, 0, b); }

Tensor with_positions(const Parts& parts, const Tensor& x) {
  const NoGrad no_grad;
  const Tensor table = parts.sinusoids(x.size(1), x.size(2));
  check_result(parts.sinusoids, table, {x.size(1), x.size(2)});
  return table.detach();
}

// Sentence by sentence, each through all layers; then side by side again.
template <class Through>
Tensor each_sentence(const Tensor& x, const Through& through) {
  std::vector<Tensor> done;
  for (Index b = 0; b < x.size(0); ++b) done.push_back(through(sentence(x, b), b));
  return stack(done);
}

LayerParts parts_of(const Parts& parts, const Block& block, std::vector<Tensor>* cross_maps) {
  const auto by = [&parts](const MultiHeadAttention& layer, std::vector<Tensor>* maps) {
    return [&parts, &layer, maps](const Tensor& asking, const Tensor& answering, const Tensor& visible) {
      const auto batch_of_one = [](const Tensor& x) { return reshape(x, {1, x.size(0), x.size(1)}); };
      if (visible.shape() != Shape{asking.size(0), answering.size(0)})
        fail("look: {} is not a row for each query and a column for each key", visible.shape().str());
      const Tensor out =
          look(parts, layer, batch_of_one(asking), batch_of_one(answering), visible, keep(maps));
      return reshape(out, asking.shape());
    };
  };
  const Index C = block.self_norm.gain.size(0);
  const Tensor one = ones({C}), zero = zeros({C});
  return {by(block.self, nullptr), by(block.cross, cross_maps),
          [&](const Tensor& x) { return feed(parts, block.feed_forward, x); },
          [&parts, one, zero](const Tensor& x) { return norm(parts, x, one, zero); }};
}

}  // namespace

Tensor look(const Parts& parts, const MultiHeadAttention& layer, const Tensor& asking,
            const Tensor& answering, const Tensor& visible, Tensor* weights) {
  const auto heads = [&](const Tensor& x) {  // one head is the matrix itself
    return layer.heads == 1 ? reshape(x, {x.size(0), 1, x.size(1), x.size(2)})
                            : split_heads(parts, x, layer.heads);
  };
  Tensor q = heads(linear(parts, asking, layer.query));   // (B, H, T, D)
  Tensor k = heads(linear(parts, answering, layer.key));  // (B, H, S, D)
  const Tensor v = heads(linear(parts, answering, layer.value));
  if (layer.rotates) q = rotate(parts, q), k = rotate(parts, k);
  const Attended attended = attend(parts, q, k, v, visible);
  if (weights) *weights = attended.weights;
  const Tensor merged =
      layer.heads == 1 ? reshape(attended.output, asking.shape()) : merge_heads(parts, attended.output);
  return linear(parts, merged, layer.output);
}

Tensor feed(const Parts& parts, const FeedForward& layer, const Tensor& x) {
  return linear(parts, relu(parts, linear(parts, x, layer.first)), layer.second);
}

Tensor encode(const Parts& parts, const Transformer& model, const IntTensor& source, const Tensor& visible,
              Maps* maps) {
  Tensor x = embed(parts, model.source_embedding, source);
  for (const Block& layer : model.encoder.blocks)
    x = block(
        parts, x,
        [&](const Tensor& y) {
          return look(parts, layer.self, y, y, visible, keep(maps ? &maps->encoder : nullptr));
        },
        [&](const Tensor& y) { return feed(parts, layer.feed_forward, y); }, norm_by(parts, layer.self_norm),
        norm_by(parts, layer.feed_forward_norm));
  return norm_by(parts, model.encoder.final_norm)(x);
}

Tensor decode(const Parts& parts, const Transformer& model, const IntTensor& reads, const Tensor& memory,
              const Tensor& visible, const Tensor& visible_source, Maps* maps) {
  Tensor x = embed(parts, model.target_embedding, reads);
  const Sublayer nothing = [](const Tensor&y) { return zeros(y.shape()); },
                 itself = [](const Tensor&y) { return y; };
  for (const Block& layer : model.decoder.blocks) {
    x = block(
        parts, x,
        [&](const Tensor& y) {
          return look(parts, layer.self, y, y, visible, keep(maps ? &maps->decoder : nullptr));
        },
        [&](const Tensor& y) {
          return look(parts, layer.cross, y, memory, visible_source, keep(maps ? &maps->cross : nullptr));
        },
        norm_by(parts, layer.self_norm), norm_by(parts, layer.cross_norm));
    x = block(
        parts, x, [&](const Tensor& y) { return feed(parts, layer.feed_forward, y); }, nothing,
        norm_by(parts, layer.feed_forward_norm), itself);
  }
  return linear(parts, norm_by(parts, model.decoder.final_norm)(x), model.target_embedding.table);
}

Tensor encode_by_layers(const Parts& parts, const Transformer& model, const IntTensor& source,
                        const IntTensor& lengths) {
  const Tensor x = embed(parts, model.source_embedding, source);  // (B, S, C)
  const Tensor placed = x + with_positions(parts, x);
  return each_sentence(placed, [&](Tensor y, Index b) {
    for (const Block& layer : model.encoder.blocks) {
      const Tensor before = y;
      y = parts.encoder_layer(y, lengths[b], parts_of(parts, layer, nullptr));
      check_result(parts.encoder_layer, y, before.shape());
      check_gradient_flows(parts.encoder_layer, before, y);
    }
    return y;
  });
}

Tensor decode_by_layers(const Parts& parts, const Transformer& model, const IntTensor& reads,
                        const Tensor& memory, const IntTensor& lengths, Maps* maps) {
  const Tensor x = embed(parts, model.target_embedding, reads);  // (B, T, C)
  const Tensor placed = x + with_positions(parts, x);
  const Tensor states = each_sentence(placed, [&](Tensor y, Index b) {
    for (const Block& layer : model.decoder.blocks) {
      const Tensor before = y;
      y = parts.decoder_layer(y, sentence(memory, b), lengths[b],
                              parts_of(parts, layer, maps ? &maps->cross : nullptr));
      check_result(parts.decoder_layer, y, before.shape());
      check_gradient_flows(parts.decoder_layer, before, y);
    }
    return y;
  });
  return linear(parts, states, model.target_embedding.table);
}

Tensor gpt_block(const Parts& parts, const Block& layer, const Tensor& x, const Tensor& visible,
                 Tensor* weights) {
  return block(
      parts, x, [&](const Tensor& y) { return look(parts, layer.self, y, y, visible, weights); },
      [&](const Tensor& y) { return feed(parts, layer.feed_forward, y); }, norm_by(parts, layer.self_norm),
      norm_by(parts, layer.feed_forward_norm));
}

void freeze_norms(const Transformer& model) {
  const auto freeze = [](Norm norm) {
    if (!norm.gain) return;
    norm.gain.requires_grad(false);
    norm.bias.requires_grad(false);
  };
  for (const Stack* stack : {&model.encoder, &model.decoder})
    for (const Block& layer : stack->blocks)
      for (const Norm* each : {&layer.self_norm, &layer.cross_norm, &layer.feed_forward_norm}) freeze(*each);
}

}  // namespace attn::mine
