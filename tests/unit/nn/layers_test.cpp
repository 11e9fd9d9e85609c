// The small parts of nn/: linear, norm, embedding, feed-forward, dropout in its context, lists of parameters
// and the configuration; and the composed twins of the ops they are fused from.
#include <fmt/core.h>  // format

#include <cmath>  // sqrt

#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

// The value and all gradients of two ways to compute the same, held against each other.
void check_twins(const TensorFunction& fused, const TensorFunction& composed, const std::vector<Tensor>& at) {
  std::vector<Tensor> results[2];
  for (const bool first : {false, true}) {
    std::vector<Tensor> in;
    for (const Tensor& x : at) in.push_back(copy_of(x).requires_grad());
    const Tensor y = first ? fused(in) : composed(in);
    backward(y, random_tensor(y.shape(), 9));
    results[first].push_back(y);
    for (const Tensor& x : in) results[first].push_back(x.grad());
  }
  for (Index i = 0; i < std::ssize(results[0]); ++i) check_close(results[1][i], results[0][i]);
}

TEST_CASE("linear with bias and activation in one node is its composed twin") {
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
        Activation::tanh, Activation::sigmoid})
    check_twins(
        [&](const auto& in) { return linear(in[0], in[1], in[2], activation); },
        [&](const auto& in) { return activate(matmul(in[0], in[1], Transpose::second) + in[2], activation); },
        {random_tensor({3, 5, 7}), random_tensor({17, 7}, 2), random_tensor({17}, 3)});
}

TEST_CASE("layer_norm and rms_norm are their composed twins") {
  const std::vector<Tensor> at{random_tensor({4, 3, 17}), random_tensor({17}, 2), random_tensor({17}, 3)};
  check_twins([](const auto& in) { return layer_norm(in[0], in[1], in[2]); },
              [](const auto& in) {
                const Tensor centred = in[0] - mean(in[0], -1, true);
                return centred / sqrt(mean(centred * centred, -1, true) + real(1e-5)) * in[1] + in[2];
              },
              at);
  check_twins([](const auto& in) { return rms_norm(in[0], in[1]); },
              [](const auto& in) { return in[0] / sqrt(mean(in[0] * in[0], -1, true) + real(1e-5)) * in[1]; },
              {at[0], at[1]});
}

TEST_CASE("cross_entropy is its composed twin, with label smoothing; a smoothing of 0 is none") {
  const Index V = 13;
  const IntTensor targets = random_ids({6}, V, 4);
  const auto plain = [&](const Tensor& logits) {
    const Tensor of_targets =
        from_formula({6, V}, [&](const At& i) { return targets[i[0]] == i[1] ? 1 : 0; });
    return -mean(sum(log_softmax(logits) * of_targets, 1));
  };
  const Tensor logits = random_tensor({6, V});
  for (const real smoothing : {real(0.1), real(0.5)})
    check_twins(
        [&](const auto& in) { return cross_entropy(in[0], targets, {.smoothing = smoothing}); },
        [&](const auto& in) { return plain(in[0]) * (1 - smoothing) - mean(log_softmax(in[0])) * smoothing; },
        {logits});
  check_twins([&](const auto& in) { return cross_entropy(in[0], targets); },
              [&](const auto& in) { return plain(in[0]); }, {logits});
  CHECK(same_bits(cross_entropy(logits, targets, {.smoothing = 0}), cross_entropy(logits, targets)));
}

TEST_CASE("initial weights have the spread they should, and the seed decides them") {
  Rng rng(1), same(1), other(2);
  const Linear layer(200, 100, rng);
  const double bound = std::sqrt(6.0 / 300);
  double sum_of_squares = 0;
  for (const real w : layer.weight.values()) {
    CHECK(std::fabs(w) <= bound);
    sum_of_squares += double{w} * double{w};
  }
  CHECK(sum_of_squares / 20000 == doctest::Approx(bound * bound / 3).epsilon(0.03));
  CHECK(max(layer.bias).item() == 0);
  CHECK(same_bits(Linear(200, 100, same).weight, layer.weight));
  CHECK(!same_bits(Linear(200, 100, other).weight, layer.weight));

  const Linear small(200, 100, rng, true, Initialization::normal);
  CHECK(std::sqrt(mean(small.weight * small.weight).item()) / 0.02 == doctest::Approx(1).epsilon(0.015));
  const Embedding table(200, 100, rng);
  CHECK(std::sqrt(mean(table.table * table.table).item()) == doctest::Approx(0.1).epsilon(0.03));
  CHECK(!Linear(3, 2, rng, false).bias);
}

TEST_CASE("an embedding is its row times the root of d_model, and transposed it gives logits") {
  Rng rng(1);
  const Embedding layer(5, 9, rng);
  const IntTensor tokens({1, 2}, {4, 2});
  const Tensor vectors = layer(tokens);  // (1, 2, 9)
  for (Index c = 0; c < 9; ++c) CHECK(vectors(0, 0, c) == doctest::Approx(3 * double{layer.table(4, c)}));
  check_close(layer.logits(vectors), matmul(vectors, layer.table, Transpose::second));
  const Embedding unscaled(5, 9, rng, false);
  CHECK(same_bits(reshape(unscaled(tokens), {2, 9}), take_rows(unscaled.table, {4, 2})));
}

TEST_CASE("feed-forward computes its formula, with any activation, plain and gated") {
  const Tensor x = random_tensor({2, 3, 8});
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::silu})
    for (const bool gated : {false, true}) {
      TransformerConfig config = small_config();
      config.feed_forward = {.activation = activation, .gated = gated};
      Rng rng(1);
      FeedForward layer(config, rng);
      shaken(layer);
      const auto project = [](const Linear& linear, const Tensor& x) {
        return matmul(x, linear.weight, Transpose::second) + linear.bias;
      };
      const Tensor first = project(layer.first, x);
      const Tensor hidden =
          gated ? activate(project(layer.gate, x), activation) * first : activate(first, activation);
      check_close(layer(x), project(layer.second, hidden));
      CHECK(parameters_of(layer).size() == (gated ? 6 : 4));
    }
}

TEST_CASE("dropout acts in training alone, and says when it has no generator") {
  const Tensor x = ones({1000});
  Rng rng(1);
  CHECK(Context{}.drop(x, real(0.5)).is(x));
  CHECK(Context{.training = true, .rng = &rng}.drop(x, 0).is(x));
  const Tensor dropped = Context{.training = true, .rng = &rng}.drop(x, real(0.5));
  CHECK(max(dropped).item() == 2);
  CHECK(mean(dropped).item() == doctest::Approx(1).epsilon(0.1));
  CHECK_THROWS_WITH_AS(Context{.training = true}.drop(x, real(0.5)), doctest::Contains("random generator"),
                       Error);
}

TEST_CASE("a list of parameters has the path of each tensor, and a tied one once") {
  TransformerConfig config = small_config();
  config.vocabulary = config.source_vocabulary;
  config.share_embeddings = true;
  Rng rng(1);
  const Transformer model(config, rng);
  const ParameterList list = parameters_of(model);
  CHECK(list[0].name == "embedding.table");
  CHECK(list[1].name == "encoder.block.0.self.query.weight");
  Index tables = 0, numbers = 0;
  for (const Parameter& parameter : list) {
    tables += parameter.tensor.is(model.target_embedding.table);
    numbers += parameter.tensor.numel();
    CHECK(parameter.tensor.needs_grad());
    for (const Parameter& other : list) CHECK((other.name == parameter.name) == (&other == &parameter));
  }
  CHECK(tables == 1);
  CHECK(list.count() == numbers);
}

TEST_CASE("a configuration written as JSON comes back the same, every setting of it") {
  const TransformerConfig config{.source_vocabulary = 31,
                                 .vocabulary = 32,
                                 .d_model = 24,
                                 .heads = 6,
                                 .kv_heads = 2,
                                 .encoder_layers = 3,
                                 .decoder_layers = 4,
                                 .d_ff = 50,
                                 .dropout = real(0.3),
                                 .positions = Positions::rope,
                                 .max_length = 77,
                                 .window = 5,
                                 .pre_norm = true,
                                 .norm = NormKind::rms,
                                 .feed_forward = {.activation = Activation::silu, .gated = true},
                                 .bias = false,
                                 .scale_scores = false,
                                 .tie_embeddings = false,
                                 .share_embeddings = true,
                                 .scale_embeddings = false,
                                 .initialization = Initialization::normal};
  CHECK(config_from_json(to_json(config)) == config);
  const TransformerConfig usual{.vocabulary = 9};
  CHECK(config_from_json(to_json(usual)) == usual);
}

TEST_CASE("a file from before the embedding had a switch means a scaled embedding") {
  std::string text = to_json(gpt_config({.vocabulary = 9}));
  const std::string setting = "\"scale_embeddings\":false,";
  REQUIRE(text.find(setting) != std::string::npos);
  text.erase(text.find(setting), setting.size());
  CHECK(config_from_json(text).scale_embeddings);
}

TEST_CASE("feed-forward networks are stored by name") {
  const std::vector<std::pair<const char*, FeedForwardKind>> named{
      {"relu", {}},
      {"gelu", {.activation = Activation::gelu}},
      {"swiglu", {.activation = Activation::silu, .gated = true}},
      {"geglu", {.activation = Activation::gelu, .gated = true}}};
  for (const auto& entry : named) {
    TransformerConfig config = small_config();
    config.feed_forward = entry.second;
    CHECK(to_json(config).find(fmt::format("\"feed_forward\":\"{}\"", entry.first)) != std::string::npos);
    CHECK(config_from_json(to_json(config)) == config);
  }
  TransformerConfig unnamed = small_config();
  unnamed.feed_forward = {.activation = Activation::tanh, .gated = true};
  CHECK_THROWS_WITH_AS(to_json(unnamed), doctest::Contains("feed_forward: this value has no name"), Error);
}

TEST_CASE("a bad configuration is refused by the name of what is wrong") {
  const std::string good = to_json(small_config());
  const auto refused = [](const std::string& text, const char* message) {
    CHECK_THROWS_WITH_AS(config_from_json(text), doctest::Contains(message), Error);
  };
  const auto with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    REQUIRE(text.find(from) != text.npos);
    return text.replace(text.find(from), from.size(), to);
  };
  refused("[1]", "not a JSON object");
  refused("{", "not a JSON object");
  refused(with("\"d_ff\":12,", ""), "'d_ff' is missing");
  refused(with("\"d_ff\":12", "\"d_ff\":\"twelve\""), "'d_ff' has a value of the wrong kind");
  refused(with("\"d_ff\":12", "\"d_fff\":1,\"d_ff\":12"), "\"d_fff\" is not a setting");
  refused(with("sinusoidal", "circular"),
          "'circular' is not one of none, learned, sinusoidal, t5, alibi, rope");
  refused(with("\"heads\":2", "\"heads\":3"), "d_model 8 does not divide into 3 heads");
  refused(with("\"kv_heads\":0", "\"kv_heads\":3"), "2 heads do not divide into 3 key/value heads");
  refused(with("\"vocabulary\":7", "\"vocabulary\":0"), "vocabulary is 0");
  refused(with("\"max_length\":16", "\"max_length\":4611686018427387904"),
          "max_length is 4611686018427387904; it may be at most 1000000");
  refused(with("\"encoder_layers\":2", "\"encoder_layers\":1000000"),
          "encoder_layers is 1000000; it may be at most 1000");
  refused(with("\"d_model\":8", "\"d_model\":2305843009213693952"), "d_model is 2305843009213693952");
  TransformerConfig odd = small_config();
  odd.d_model = 6;
  odd.check();
  odd.positions = Positions::rope;
  CHECK_THROWS_WITH_AS(odd.check(), "configuration: rope needs an even head size, not 3", Error);
  CHECK(positions_from_name("alibi") == Positions::alibi);
}

}  // namespace
}  // namespace attn
