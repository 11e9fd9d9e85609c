#include "lessons/19_today/models.hpp"

#include <algorithm>  // copy_n, max
#include <cmath>      // fabs, round, sqrt
#include <iterator>   // ssize

#include "core/autograd.hpp"

namespace attn {
namespace {

void multiply(const Tensor& tensor, double factor) {
  for (Index i = 0; i < tensor.numel(); ++i) tensor.data()[i] *= real(factor);
}

}  // namespace

Gpt fresh_gpt(const TransformerConfig& config, Rng& rng) {
  Gpt model(config, rng);
  for (const Linear* layer : matrices_of(model))
    multiply(layer->weight, 1 / (0.02 * std::sqrt(double(layer->weight.size(1)))));
  multiply(model.token_embedding.table, 0.1 / 0.02);
  for (const Parameter& table : parameters_of(model.stack.positions)) multiply(table.tensor, 0.1 / 0.02);
  return model;
}

Gpt copy_of(const Gpt& model) {
  Rng rng(0);
  Gpt copy(model.config, rng);
  const ParameterList from = parameters_of(model), to = parameters_of(copy);
  for (Index i = 0; i < from.size(); ++i)
    std::copy_n(from[i].tensor.data(), from[i].tensor.numel(), to[i].tensor.data());
  return copy;
}

std::vector<Linear*> matrices_of(Gpt& model) {
  std::vector<Linear*> layers;
  for (Block& block : model.stack.blocks)
    for (Linear* layer : {&block.self.query, &block.self.key, &block.self.value, &block.self.output,
                          &block.feed_forward.first, &block.feed_forward.gate, &block.feed_forward.second})
      if (layer->weight) layers.push_back(layer);
  return layers;
}

Tensor rounded(const Tensor& w, int bits, bool by_row) {
  const double steps = double((1 << (bits - 1)) - 1);  // 127 for 8 bits
  double all = 0;
  for (Index i = 0; i < w.numel(); ++i) all = std::max(all, std::fabs(double(w.data()[i])));
  Tensor out = empty(w.shape());
  for (Index r = 0; r < w.size(0); ++r) {
    double largest = 0;
    for (Index c = 0; c < w.size(1); ++c) largest = std::max(largest, std::fabs(double(w(r, c))));
    const double scale = (by_row ? largest : all) / steps;
    for (Index c = 0; c < w.size(1); ++c)
      out(r, c) = scale > 0 ? real(scale * std::round(w(r, c) / scale)) : real(0);
  }
  return out;
}

// A starts at random and B at 0, so that the first pass is the base model's.
Lora::Lora(const Gpt& base, Index rank, real alpha, Rng& rng)
    : model(copy_of(base)), scale(alpha / real(rank)) {
  for (const Parameter& parameter : parameters_of(model)) Tensor(parameter.tensor).requires_grad(false);
  for (Linear* layer : matrices_of(model)) {
    const Index out = layer->weight.size(0), in = layer->weight.size(1);
    adapters.push_back({layer, layer->weight,
                        normal({rank, in}, rng, 0, 1 / std::sqrt(real(in))).requires_grad(),
                        zeros({out, rank}).requires_grad()});
  }
}

void Lora::merge() {
  for (const Adapter& adapter : adapters)
    adapter.layer->weight = adapter.w + matmul(adapter.b, adapter.a) * scale;
}

void Lora::take_out() {
  for (const Adapter& adapter : adapters) adapter.layer->weight = adapter.w;
}

void Lora::parameters(ParameterList& list) const {
  for (Index i = 0; i < std::ssize(adapters); ++i) {
    list.add(std::to_string(i) + ".a", adapters[i].a);
    list.add(std::to_string(i) + ".b", adapters[i].b);
  }
}

Experts::Experts(const TransformerConfig& config, Index count, Rng& rng)
    : router(config.d_model, count, rng, false) {
  for (Index e = 0; e < count; ++e)
    experts.push_back(fresh_gpt(config, rng).stack.blocks[0].feed_forward);  // as any other starts
}

Experts::Result Experts::operator()(const Tensor& x) const {
  const Index N = x.size(0), E = std::ssize(experts);
  const Tensor p = softmax(router(x));  // (N, E)
  Result result{{}, {}, argmax(p).values()};
  Tensor one_hot = zeros({N, E});
  for (Index n = 0; n < N; ++n) one_hot(n, result.chosen[n]) = 1;

  // Each expert reads its own tokens only; their rows then go back to where they came from.
  std::vector<Tensor> parts;
  std::vector<int> row_of(N);
  int rows = 0;
  for (Index e = 0; e < E; ++e) {
    std::vector<int> mine;
    for (Index n = 0; n < N; ++n)
      if (result.chosen[n] == e) mine.push_back(int(n)), row_of[n] = rows++;
    if (!mine.empty()) parts.push_back(experts[e](take_rows(x, mine)));
  }
  result.output = take_rows(concat(parts), row_of) * sum(p * one_hot, 1, true);  // (N, C) · (N, 1)
  result.balance = sum(mean(one_hot, 0) * mean(p, 0)) * real(E);                 // E Σ f_e P_e
  return result;
}

void Experts::parameters(ParameterList& list) const {
  list.add_layer("router", router);
  list.add_layers("expert", experts);
}

ExpertGpt::ExpertGpt(const TransformerConfig& config, Index experts, Rng& rng) : gpt(fresh_gpt(config, rng)) {
  for (Index i = 0; i < config.decoder_layers; ++i) layers.emplace_back(config, experts, rng);
}

ExpertGpt::Result ExpertGpt::operator()(const IntTensor& tokens) const {
  Tensor x = gpt.token_embedding(tokens);  // (B, T, C)
  const Shape flat{x.size(0) * x.size(1), x.size(2)};
  Result result{{}, scalar(0), {}};
  for (Index i = 0; i < std::ssize(layers); ++i) {
    const Block& block = gpt.stack.blocks[i];
    x = x + block.self(block.self_norm(x), {.mask = {.causal = true}});
    const Experts::Result routed = layers[i](reshape(block.feed_forward_norm(x), flat));
    x = x + reshape(routed.output, x.shape());
    result.balance = result.balance + routed.balance / real(layers.size());
    result.chosen.push_back(routed.chosen);
  }
  result.logits = gpt.logits(gpt.stack.final_norm(x));
  return result;
}

void ExpertGpt::parameters(ParameterList& list) const {
  list.add_layer("embedding", gpt.token_embedding);
  for (const Block& block : gpt.stack.blocks) {
    list.add_layer("self", block.self);
    list.add_layer("self_norm", block.self_norm);
    list.add_layer("feed_forward_norm", block.feed_forward_norm);
  }
  list.add_layers("experts", layers);
  list.add_layer("final_norm", gpt.stack.final_norm);
}

Tensor Reader::read(const std::vector<int>& tokens) {
  const NoGrad no_grad;
  return model_(IntTensor({1, std::ssize(tokens)}, tokens), cache_)[0];
}

void Reader::forget_from(Index length) {
  for (DecoderCache::Layer& layer : cache_.layers) layer.self.forget_from(length);
}

}  // namespace attn
