// nn/attention.hpp: masks, the plain attention that lessons show, and the layer with its heads.
#include <cmath>     // log
#include <iterator>  // ssize
#include <limits>    // numeric_limits

#include "nn/attention.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

TransformerConfig layer_config() { return {.d_model = 8, .heads = 4, .dropout = 0}; }

// Self-attention with and without maps.
Tensor attend(const MultiHeadAttention& layer, const Tensor& x, const Mask& mask,
              AttentionMaps* maps = nullptr) {
  return layer(x, {.mask = mask}, {.maps = maps});
}

TEST_CASE("masks say 1 where a key is visible, and become 0 and -inf on the scores") {
  check_close(causal_mask(3), tensor({{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}));
  const Tensor padding = padding_mask(IntTensor({2}, {1, 3}), 3);
  CHECK(padding.shape() == Shape{2, 1, 1, 3});
  check_close(reshape(padding, {2, 3}), tensor({{1, 0, 0}, {1, 1, 1}}));
  check_close(bias_of(tensor({1, 0})), tensor({0, -infinity}));
}

TEST_CASE("a mask of several kinds hides what any of them hides and keeps the bias elsewhere") {
  const Index B = 2, T = 3, S = 5;
  const Tensor bias = random_tensor({2, T, S});
  const Tensor all =
      mask_bias({.causal = true, .window = 3, .key_lengths = IntTensor({B}, {2, 5}), .bias = bias}, B, T, S);
  CHECK(all.shape() == Shape{2, 2, 3, 5});
  const Tensor expected = from_formula(all.shape(), [&](const At& at) {
    const Index back = at[2] + S - T - at[3];
    const bool seen = back >= 0 && back < 3 && at[3] < (at[0] == 0 ? 2 : 5);
    return seen ? element(bias, at) : -std::numeric_limits<double>::infinity();
  });
  check_close(all, expected);
  CHECK(!mask_bias({}, B, T, S));
  CHECK_THROWS_WITH_AS(mask_bias({.key_lengths = IntTensor({1}, {2})}, B, T, S),
                       "mask: 1 key lengths for a batch of 2", Error);
}

TEST_CASE("attention on numbers one can follow: scores ln 3 and 0 give weights 3/4 and 1/4") {
  const Tensor q = full({1, 1, 1, 1}, 1), k = zeros({1, 1, 2, 1}), v = zeros({1, 1, 2, 1});
  k.data()[0] = real(std::log(3.0)), v.data()[0] = 8, v.data()[1] = 4;
  const AttentionResult result = scaled_dot_product_attention(q, k, v);
  check_close(reshape(result.weights, {2}), tensor({real(0.75), real(0.25)}));
  check_close(reshape(result.output, {1}), tensor({7}));
}

TEST_CASE("scores are divided by the root of the head size, unless a scale is given") {
  const Tensor q = full({1, 1, 1, 4}, 1), k = zeros({1, 1, 2, 4}), v = zeros({1, 1, 2, 4});
  k.data()[0] = 2;
  const auto first_weight = [&](real scale) {
    return double{scaled_dot_product_attention(q, k, v, {}, scale).weights.data()[0]};
  };
  CHECK(first_weight(0) == doctest::Approx(1 / (1 + std::exp(-1.0))));
  CHECK(first_weight(1) == doctest::Approx(1 / (1 + std::exp(-2.0))));
}

TEST_CASE("heads are split off and merged again without a change") {
  const Tensor x = random_tensor({2, 3, 8}), heads = split_heads(x, 4);
  CHECK(heads.shape() == Shape{2, 4, 3, 2});
  CHECK(heads(1, 2, 0, 1) == x(1, 0, 5));
  CHECK(same_bits(merge_heads(heads), x));
  CHECK_THROWS_WITH_AS(split_heads(x, 3), "split_heads: 8 channels do not divide into 3 heads", Error);
}

// Concat(head_1, …, head_h) W_O, each head from its own rows of the projections.
TEST_CASE("multi-head attention is each head by itself, concatenated and projected") {
  Rng rng(1);
  MultiHeadAttention layer(layer_config(), rng, {.cross = true});
  shaken(layer);
  const Tensor x = random_tensor({2, 5, 8}), memory = random_tensor({2, 3, 8}, 2);
  std::vector<Tensor> heads;
  for (Index h = 0; h < 4; ++h) {
    const auto project = [h](const Linear& all, const Tensor& from) {
      const Tensor part =
          linear(from, slice(all.weight, 0, 2 * h, 2 * h + 2), slice(all.bias, 0, 2 * h, 2 * h + 2));
      return reshape(part, {part.size(0), 1, part.size(1), 2});
    };
    const Tensor head = scaled_dot_product_attention(project(layer.query, x), project(layer.key, memory),
                                                     project(layer.value, memory))
                            .output;
    heads.push_back(reshape(head, {2, 5, 2}));
  }
  check_close(layer(x, {.memory = memory}), layer.output(concat(heads, 2)));
}

TEST_CASE("the plain way and the fused way are equal, forward and backward") {
  for (const Index kv_heads : {4, 2, 1})
    for (const Positions positions : {Positions::none, Positions::rope})
      for (const Index window : {0, 2}) {
        TransformerConfig config = layer_config();
        config.kv_heads = kv_heads, config.positions = positions, config.window = window;
        Rng rng(1);
        MultiHeadAttention layer(config, rng);
        shaken(layer);
        const ParameterList parameters = parameters_of(layer);
        const Mask mask{
            .causal = true, .key_lengths = IntTensor({2}, {3, 6}), .bias = random_tensor({4, 6, 6}, 3)};
        std::vector<Tensor> results[2];
        for (const bool plain : {false, true}) {
          parameters.zero_grad();
          const Tensor x = random_tensor({2, 6, 8}).requires_grad();
          AttentionMaps maps;
          const Tensor y = attend(layer, x, mask, plain ? &maps : nullptr);
          backward(y, random_tensor(y.shape(), 4));
          results[plain] = {y, x.grad()};
          for (const Parameter& parameter : parameters) results[plain].push_back(parameter.tensor.grad());
        }
        INFO("kv_heads " << kv_heads << " window " << window);
        for (Index i = 0; i < std::ssize(results[0]); ++i) check_close(results[0][i], results[1][i]);
      }
}

TEST_CASE("grouped keys and values are those of a full layer whose groups hold copies") {
  TransformerConfig config = layer_config();
  Rng rng(1), other(2);
  MultiHeadAttention full(config, rng);
  config.kv_heads = 2;
  MultiHeadAttention grouped(config, other);
  shaken(full), shaken(grouped);
  CHECK(grouped.key.weight.shape() == Shape{4, 8});
  full.query = grouped.query, full.output = grouped.output;
  const auto copies = [](const Linear& from, const Linear& to) {
    const std::vector<int> rows{0, 1, 0, 1, 2, 3, 2, 3};  // two heads a group, two channels a head
    std::copy_n(take_rows(from.weight, rows).data(), 64, to.weight.data());
    std::copy_n(take_rows(from.bias, rows).data(), 8, to.bias.data());
  };
  copies(grouped.key, full.key), copies(grouped.value, full.value);
  const Tensor x = random_tensor({2, 5, 8});
  for (const bool plain : {false, true}) {
    AttentionMaps maps;
    check_close(attend(grouped, x, {}, plain ? &maps : nullptr),
                attend(full, x, {}, plain ? &maps : nullptr));
  }
}

TEST_CASE("grouped attention with as many groups as heads is multi-head attention") {
  TransformerConfig config = layer_config();
  Rng one(1), two(1);
  const MultiHeadAttention full(config, one);
  config.kv_heads = config.heads;
  const Tensor x = random_tensor({2, 5, 8});
  CHECK(same_bits(attend(full, x, {}), attend(MultiHeadAttention(config, two), x, {})));
}

TEST_CASE("a window as long as the text is no window; a shorter one hides what is far") {
  Rng rng(1);
  MultiHeadAttention layer(layer_config(), rng);
  const Tensor x = random_tensor({2, 5, 8});
  for (const bool causal : {false, true}) {
    const auto with_window = [&](Index window) {
      layer.window = window;
      return attend(layer, x, {.causal = causal});
    };
    const Tensor full = with_window(0);
    CHECK(same_bits(with_window(5), full));
    CHECK(same_bits(with_window(100), full));
    CHECK(max_difference(with_window(4), full) > 1e-4);
  }
}

TEST_CASE("a recorded map carries the label of its layer; rows sum to 1, hidden keys have 0") {
  Rng rng(1);
  const MultiHeadAttention layer(layer_config(), rng, {.name = "reader", .layer = 3});
  AttentionMaps maps;
  attend(layer, random_tensor({2, 5, 8}), {.causal = true, .key_lengths = IntTensor({2}, {5, 3})}, &maps);
  REQUIRE(maps.size() == 1);
  CHECK(maps[0].name == "reader");
  CHECK(maps[0].layer == 3);
  const Tensor& weights = maps[0].weights;
  CHECK(weights.shape() == Shape{2, 4, 5, 5});
  check_close(sum(weights, -1), ones({2, 4, 5}));
  for (Index t = 0; t < 5; ++t)
    for (Index j = 0; j < 5; ++j) CHECK((weights(1, 0, t, j) > 0) == (j <= t && j < 3));
}

TEST_CASE("a probe sees every step, and a head whose weights it sets to 0 adds nothing to the output") {
  Rng rng(1);
  MultiHeadAttention layer(layer_config(), rng, {.name = "reader", .layer = 3});
  const Tensor x = random_tensor({2, 5, 8});
  const Mask mask{.causal = true};
  AttentionSteps seen{};
  const AttentionProbe look = [&](AttentionSteps& steps) { seen = steps; };
  check_close(layer(x, {.mask = mask}, {.probe = &look}), attend(layer, x, mask));
  CHECK(seen.name == "reader");
  CHECK(seen.layer == 3);
  CHECK(seen.q.shape() == Shape{2, 4, 5, 2});
  const AttentionResult result =
      scaled_dot_product_attention(seen.q, seen.k, seen.v, mask_bias(mask, 2, 5, 5), layer.scale);
  CHECK(same_bits(seen.weights, result.weights));
  CHECK(same_bits(softmax(seen.scores), seen.weights));
  CHECK(seen.scores(0, 0, 1, 2) == -std::numeric_limits<real>::infinity());

  const AttentionProbe silence = [](AttentionSteps& steps) {
    const Tensor on = ones({1, 4, 1, 1});
    on(0, 2, 0, 0) = 0;
    steps.weights = steps.weights * on;
  };
  const Tensor without = layer(x, {.mask = mask}, {.probe = &silence});
  for (Index row = 0; row < 8; ++row)  // head 2 is channels 4 and 5 of what the output reads
    layer.output.weight(row, 4) = layer.output.weight(row, 5) = 0;
  check_close(without, attend(layer, x, mask));
}

TEST_CASE("dropout falls on the weights in training, on both ways, and never in evaluation") {
  TransformerConfig config = layer_config();
  config.dropout = real(0.5);
  Rng rng(1);
  const MultiHeadAttention layer(config, rng);
  const Tensor x = random_tensor({2, 5, 8});
  for (const bool plain : {false, true}) {
    AttentionMaps maps;
    const Context evaluation{.maps = plain ? &maps : nullptr},
        training{.training = true, .rng = &rng, .maps = evaluation.maps};
    const auto run = [&](const Context& context) { return layer(x, {}, context); };
    const Tensor clean = run(evaluation);
    CHECK(same_bits(run(evaluation), clean));
    const Tensor noisy = run(training);
    CHECK(max_difference(noisy, clean) > 1e-3);
    CHECK(max_difference(run(training), noisy) > 1e-3);
    if (plain) check_close(sum(maps.back().weights, -1), ones({2, 4, 5}));  // shown before dropout
  }
}

TEST_CASE("token by token with a cache is the same as all at once") {
  for (const Positions positions : {Positions::none, Positions::rope})
    for (const Index window : {0, 2}) {
      TransformerConfig config = layer_config();
      config.positions = positions, config.window = window, config.kv_heads = 2;
      Rng rng(1);
      const MultiHeadAttention layer(config, rng);
      const Tensor x = random_tensor({2, 6, 8}), whole = attend(layer, x, {.causal = true});
      KeyValueCache cache;
      for (const auto& [begin, end] : {std::pair<Index, Index>{0, 2}, {2, 3}, {3, 6}}) {
        const Tensor part = slice(x, 1, begin, end);
        check_close(layer(part, {.mask = {.causal = true}, .cache = &cache}), slice(whole, 1, begin, end));
        CHECK(cache.length() == end);
      }
    }
}

TEST_CASE("a cache moves rarely, and holds the bits of keys and values that were computed at once") {
  const NoGrad no_grad;
  TransformerConfig config = layer_config();
  config.kv_heads = 2, config.positions = Positions::rope;
  Rng rng(1);
  const MultiHeadAttention layer(config, rng);
  const Tensor x = random_tensor({3, 33, 8});
  KeyValueCache cache, whole;
  int moves = 0;
  for (Index t = 0; t < 33; ++t) {
    const real* before = t > 0 ? cache.keys().data() : nullptr;
    layer(slice(x, 1, t, t + 1), {.mask = {.causal = true}, .cache = &cache});
    if (cache.keys().data() != before) ++moves;
  }
  CHECK(moves <= 7);
  layer(x, {.mask = {.causal = true}, .cache = &whole});
  CHECK(cache.numel() == whole.numel());
  CHECK(same_bits(slice(cache.keys(), 1, 0, 33), whole.keys()));
  CHECK(same_bits(slice(cache.values(), 1, 0, 33), whole.values()));
}

TEST_CASE("a cache does not change when a copy of it goes on, and what it forgot is written anew") {
  const NoGrad no_grad;
  const Tensor start = random_tensor({2, 3, 4}), left = random_tensor({2, 1, 4}, 2),
               right = random_tensor({2, 1, 4}, 3);
  KeyValueCache one;
  one.add(start, start);
  one.add(left, left);  // there is room now
  KeyValueCache other = one;
  one.add(left, left);
  other.add(right, right);
  CHECK(same_bits(slice(one.keys(), 1, 3, 5), concat({left, left}, 1)));
  CHECK(same_bits(slice(other.keys(), 1, 3, 5), concat({left, right}, 1)));
  other.forget_from(3);
  CHECK(other.length() == 3);
  other.add(right, left);
  CHECK(same_bits(slice(other.keys(), 1, 0, 4), concat({start, right}, 1)));
  CHECK(same_bits(slice(other.values(), 1, 0, 4), concat({start, left}, 1)));
  other.reorder({1, 0, 0});
  CHECK(same_bits(slice(other.values(), 1, 3, 4), take_rows(left, {1, 0, 0})));
  CHECK_THROWS_WITH_AS(other.add(left, left), doctest::Contains("does not continue"), Error);
}

TEST_CASE("the cache of cross-attention is filled once and then replaces the memory") {
  Rng rng(1);
  const MultiHeadAttention layer(layer_config(), rng, {.cross = true});
  const Tensor x = random_tensor({1, 2, 8}), memory = random_tensor({1, 3, 8}, 2);
  KeyValueCache cache;
  const Tensor first = layer(x, {.memory = memory, .cache = &cache});
  CHECK(cache.length() == 3);
  CHECK(same_bits(layer(x, {.memory = random_tensor({1, 3, 8}, 3), .cache = &cache}), first));
  CHECK(cache.length() == 3);
}

TEST_CASE("cross-attention without a memory is refused, and so is self-attention with one") {
  Rng rng(1);
  const MultiHeadAttention self(layer_config(), rng), cross(layer_config(), rng, {.cross = true});
  const Tensor x = random_tensor({1, 2, 8});
  CHECK_THROWS_WITH_AS(cross(x), "attention: cross-attention needs a memory", Error);
  CHECK_THROWS_WITH_AS(self(x, {.memory = x}), "attention: self-attention takes no memory", Error);
}

}  // namespace
}  // namespace attn
