#include "nn/attention.hpp"

#include <algorithm>  // copy_n, min
#include <cmath>      // sqrt
#include <limits>     // numeric_limits

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "nn/positions.hpp"  // rope

namespace attn {
namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();

// Repeats each key/value head for every query head of its group.  (B, kv_heads, S, D) -> (B, H, S, D)
Tensor repeat_heads(const Tensor& x, Index heads) {
  const Index B = x.shape()[0], kv_heads = x.shape()[1], S = x.shape()[2], D = x.shape()[3];
  if (kv_heads == heads) return x;
  const Tensor grouped =
      broadcast_to(reshape(x, {B, kv_heads, 1, S, D}), {B, kv_heads, heads / kv_heads, S, D});
  return reshape(grouped, {B, heads, S, D});
}

}  // namespace

Tensor causal_mask(Index T) {
  const Tensor mask = zeros({T, T});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j <= i; ++j) mask(i, j) = 1;
  return mask;
}

Tensor padding_mask(const IntTensor& lengths, Index S) {
  const Tensor mask = zeros({lengths.shape()[0], 1, 1, S});
  for (Index b = 0; b < lengths.numel(); ++b)
    for (Index j = 0; j < lengths[b]; ++j) mask(b, 0, 0, j) = 1;
  return mask;
}

Tensor bias_of(const Tensor& visible) { return where(visible, scalar(0), scalar(-infinity)); }

Tensor mask_bias(const Mask& mask, Index B, Index T, Index S) {
  Tensor bias = mask.bias;
  if (bias && bias.rank() < 4) bias = reshape(bias, Shape{1, bias.rank() == 3 ? bias.shape()[0] : 1, T, S});
  const auto hide = [&bias](const Tensor& visible) {
    const Tensor hidden = bias_of(visible);
    bias = bias ? bias + hidden : hidden;
  };
  if (mask.causal || mask.window > 0) {
    const Tensor visible = zeros({1, 1, T, S});
    for (Index t = 0; t < T; ++t)
      for (Index j = 0; j < S; ++j) {
        const Index distance = t + S - T - j;  // the last query is aligned with the last key
        const bool near = mask.window == 0 || std::abs(distance) < mask.window;
        visible(0, 0, t, j) = near && (distance >= 0 || !mask.causal);
      }
    hide(visible);
  }
  if (mask.window < 0) fail("mask: a window of {}; it is a number of keys, or 0 for all", mask.window);
  if (mask.key_lengths) {
    if (mask.key_lengths.numel() != B)
      fail("mask: {} key lengths for a batch of {}", mask.key_lengths.numel(), B);
    hide(padding_mask(mask.key_lengths, S));
  }
  return bias;
}

Tensor attention_scores(const Tensor& q, const Tensor& k, const Tensor& bias, real scale) {
  if (scale == 0) scale = 1 / std::sqrt(real(q.size(-1)));
  const Tensor scores = matmul(q, k, Transpose::second) * scale;
  return bias ? scores + bias : scores;
}

AttentionResult scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Tensor& bias, real scale) {
  const Tensor weights = softmax(attention_scores(q, k, bias, scale));  // (B, H, T, S)
  return {matmul(weights, v), weights};                                 // (B, H, T, D)
}

Tensor split_heads(const Tensor& x, Index heads) {
  const Index B = x.shape()[0], T = x.shape()[1], C = x.shape()[2];
  if (C % heads) fail("split_heads: {} channels do not divide into {} heads", C, heads);
  return permute(reshape(x, {B, T, heads, C / heads}), {0, 2, 1, 3});
}

Tensor merge_heads(const Tensor& x) {
  const Index B = x.shape()[0], H = x.shape()[1], T = x.shape()[2], D = x.shape()[3];
  return reshape(permute(x, {0, 2, 1, 3}), {B, T, H * D});
}

Index KeyValueCache::numel() const { return keys_ ? 2 * keys_.size(0) * length_ * keys_.size(2) : 0; }

// Copies the first T rows of each batch of `from` to the rows from `first` on of the same batch of `to`.
static void copy_rows(const Tensor& from, const Tensor& to, Index T, Index first) {
  const Index C = to.size(2);
  for (Index b = 0; b < to.size(0); ++b)
    std::copy_n(from.data() + b * from.size(1) * C, T * C, to.data() + (b * to.size(1) + first) * C);
}

void KeyValueCache::append(Tensor& kept, const Tensor& more) const {
  const Index T = more.size(1);
  if (length_ == 0) {
    kept = more;
  } else if (kept.needs_grad() || more.needs_grad()) {  // what is recorded must not change
    kept = concat({slice(kept, 1, 0, length_), more}, 1);
  } else {
    if (kept.size(0) != more.size(0) || kept.size(2) != more.size(2))
      fail("cache: {} does not continue {}", more.shape().str(), kept.shape().str());
    if (length_ + T > kept.size(1) || kept.is_shared()) {
      const Tensor larger = empty({kept.size(0), 2 * length_ + T, kept.size(2)});
      copy_rows(kept, larger, length_, 0);
      kept = larger;
    }
    copy_rows(more, kept, T, length_);
  }
}

void KeyValueCache::add(const Tensor& keys, const Tensor& values) {
  append(keys_, keys);
  append(values_, values);
  length_ += keys.size(1);
}

void KeyValueCache::forget_from(Index length) { length_ = std::min(length_, length); }

void KeyValueCache::reorder(const std::vector<int>& rows) {
  if (length_ == 0) return;
  keys_ = take_rows(keys_, rows);
  values_ = take_rows(values_, rows);
}

MultiHeadAttention::MultiHeadAttention(const TransformerConfig& config, Rng& rng, const AttentionRole& role)
    : role(role),
      heads(config.heads),
      kv_heads(config.kv_heads ? config.kv_heads : config.heads),
      window(role.cross ? 0 : config.window),
      dropout(config.dropout),
      scale(config.scale_scores ? 1 / std::sqrt(real(config.head_size())) : 1),
      rotates(!role.cross && config.positions == Positions::rope),
      rotation(config.rope) {
  const auto projection = [&](Index size) {
    return Linear(config.d_model, size, rng, config.bias, config.initialization);
  };
  query = projection(config.query_size());
  key = projection(config.kv_size());
  value = projection(config.kv_size());
  output = Linear(config.query_size(), config.d_model, rng, config.bias, config.initialization);
  if (!config.scale_scores && config.initialization != Initialization::none)
    for (Index i = 0; i < query.weight.numel(); ++i)  // T5: the queries start smaller by √d_k instead
      query.weight.data()[i] /= std::sqrt(real(config.head_size()));
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const AttentionInputs& inputs,
                                      const Context& context) const {
  if (role.cross && !inputs.memory) fail("attention: cross-attention needs a memory");
  if (!role.cross && inputs.memory) fail("attention: self-attention takes no memory");
  KeyValueCache fresh, &past = inputs.cache ? *inputs.cache : fresh;
  const Index first = role.cross ? 0 : past.length();  // the position of x's first token
  Tensor q = query(x);                                 // (B, T, H*D)
  if (!role.cross || past.length() == 0) {
    const Tensor& from = role.cross ? inputs.memory : x;
    Tensor k = key(from), v = value(from);  // (B, S, kv)
    if (rotates) k = rope(k, kv_heads, first, rotation);
    past.add(k, v);
  }
  if (rotates) q = rope(q, heads, first, rotation);
  const Index S = past.length();

  Mask mask = inputs.mask;
  if (window != 0) mask.window = window;
  if (!context.maps && !context.probe)
    return output(attention(q, past.keys(), past.values(),
                            {.heads = heads,
                             .kv_heads = kv_heads,
                             .keys = S,
                             .scale = scale,
                             .mask = mask,
                             .dropout = context.training ? dropout : 0,
                             .rng = context.rng}),
                  Activation::none, inputs.dropping);

  const Tensor k = slice(past.keys(), 1, 0, S), v = slice(past.values(), 1, 0, S);  // (B, S, kv)
  const Tensor bias = mask_bias(mask, q.size(0), q.size(1), S);
  AttentionSteps steps{.name = role.name,
                       .layer = role.layer,
                       .q = split_heads(q, heads),
                       .k = repeat_heads(split_heads(k, kv_heads), heads),
                       .v = repeat_heads(split_heads(v, kv_heads), heads),
                       .scores = {},
                       .weights = {}};
  steps.scores = attention_scores(steps.q, steps.k, bias, scale);
  steps.weights = softmax(steps.scores);
  if (context.probe) (*context.probe)(steps);
  if (context.maps) {
    if (steps.weights.needs_grad()) steps.weights.retain_grad();
    context.maps->push_back({role.name, role.layer, steps.weights});
  }
  return output(merge_heads(matmul(context.drop(steps.weights, dropout), steps.v)), Activation::none,
                inputs.dropping);
}

void MultiHeadAttention::parameters(ParameterList& list) const {
  list.add_layer("query", query);
  list.add_layer("key", key);
  list.add_layer("value", value);
  list.add_layer("output", output);
}

}  // namespace attn
