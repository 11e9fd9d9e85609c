// What lesson 08 trains: a task that needs two looks, and one attention to solve it with.
//
// A row of symbols, one of which is marked. At every position two things are asked: which symbol stands one
// to the left, and which one is marked? The two stand at different positions, so it takes two looks.
#pragma once

#include <algorithm>  // max_element, min_element
#include <cstdint>    // uint64_t
#include <numeric>    // accumulate
#include <string>     // string
#include <vector>     // vector

#include "nn/attention.hpp"
#include "nn/embedding.hpp"

namespace attn {

constexpr Index length = 10, symbols = 20, channels = 32;

struct Batch {
  IntTensor symbols, left, marked;  // (B, T); the first position is not asked: nothing is on its left
  Tensor marks;                     // (B, T, 1): 1 at the marked position
  std::vector<Index> where;         // (B): the marked position
};
Batch make_batch(Index B, std::uint64_t seed);

// One layer of attention, restricted on purpose: queries and keys are made of the positions alone (where a
// token stands, and its mark), values of the symbols alone, and no feed-forward network follows. So a mixture
// stays a mixture.
struct Layer {
  Index heads, kv_heads;
  Linear query, key, value, output;

  Layer(Index heads, Index kv_heads, Rng& rng)
      : heads(heads),
        kv_heads(kv_heads),
        query(channels, channels, rng),
        key(channels, kv_heads * channels / heads, rng),
        value(channels, kv_heads * channels / heads, rng),
        output(channels, channels, rng) {}
  Tensor operator()(const Tensor& places, const Tensor& states) const {  // (B, T, C), (B, T, C) -> (B, T, C)
    return output(
        attention(query(places), key(places), value(states), {.heads = heads, .kv_heads = kv_heads}));
  }
  Tensor weights(const Tensor& places) const {  // (B, H, T, T)
    const Tensor q = split_heads(query(places), heads), k = split_heads(key(places), kv_heads);
    return scaled_dot_product_attention(q, k, k).weights;
  }
  void parameters(ParameterList& list) const {
    list.add_layer("query", query), list.add_layer("key", key);
    list.add_layer("value", value), list.add_layer("output", output);
  }
};

struct TwoQuestions {
  Embedding symbol;
  Tensor position, mark;  // (T, C), (C)
  std::vector<Layer> layers;
  Linear left, marked;

  TwoQuestions(Index heads, Index kv_heads, int depth, Rng& rng)
      : symbol(symbols, channels, rng),
        position(normal({length, channels}, rng).requires_grad()),
        mark(normal({channels}, rng).requires_grad()),
        left(channels, symbols, rng),
        marked(channels, symbols, rng) {
    for (int i = 0; i < depth; ++i) layers.emplace_back(heads, kv_heads, rng);
  }
  struct Answers {
    Tensor left, marked;  // (B, T, V)
  };
  Tensor places(const Batch& batch) const { return position + batch.marks * mark; }  // (B, T, C)
  Answers operator()(const Batch& batch) const {
    Tensor x = symbol(batch.symbols);  // (B, T, C)
    for (const Layer& layer : layers) x = x + layer(places(batch), x);
    return {left(x), marked(x)};
  }
  void parameters(ParameterList& list) const {
    list.add_layer("symbol", symbol), list.add("position", position), list.add("mark", mark);
    list.add_layers("layer", layers), list.add_layer("left", left), list.add_layer("marked", marked);
  }
};

struct Setting {
  Index heads, kv_heads;
  int depth;
  double rate;  // of learning, at its peak
};
// A setting trained several times: the percentage of positions at which both answers are right, for each.
struct Race {
  std::string name;
  Setting setting;
  std::vector<double> right = {};

  double low() const { return *std::min_element(right.begin(), right.end()); }
  double high() const { return *std::max_element(right.begin(), right.end()); }
  double mean() const { return std::accumulate(right.begin(), right.end(), 0.0) / double(right.size()); }
};

TwoQuestions train_model(const Setting& setting, std::uint64_t seed, Index steps);

// The share of positions at which both answers are right, in rows that were not trained on.
double accuracy(const TwoQuestions& model, std::uint64_t seed);

// How much of its weight each head of the first layer gives to the token on the left, and to the marked one.
struct Habits {
  double left, marked;
};
std::vector<Habits> habits(const TwoQuestions& model, std::uint64_t seed);

}  // namespace attn
