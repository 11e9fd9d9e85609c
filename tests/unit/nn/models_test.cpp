// GPT, BERT and T5: what each may see, the gradients of its heads, and T5's span corruption.
#include <cmath>     // log, sqrt
#include <iterator>  // ssize
#include <set>       // set

#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

TransformerConfig small_gpt(Positions positions = Positions::learned) {
  TransformerConfig config =
      gpt_config({.vocabulary = 7, .d_model = 8, .heads = 2, .layers = 2, .max_length = 16});
  config.positions = positions;
  return config;
}

Bert small_bert(Rng& rng) {
  TransformerConfig config =
      bert_config({.vocabulary = 9, .d_model = 8, .heads = 2, .layers = 2, .max_length = 16});
  config.dropout = 0;
  Bert bert(config, rng);
  return shaken(bert);
}

IntTensor changed_at(const IntTensor& tokens, Index row, Index t) {
  IntTensor changed(tokens.shape(), tokens.values());
  changed(row, t) = (tokens(row, t) + 1) % 7;
  return changed;
}

TEST_CASE("gradients are right through a GPT, with every position scheme" * doctest::skip(!double_build)) {
  const Threads one(1);
  for (const Positions positions : all_positions) {
    CAPTURE(name_of(positions));
    Rng rng(1);
    Gpt gpt(small_gpt(positions), rng);
    const IntTensor tokens = random_ids({2, 5}, 7, 1), next = random_ids({2, 5}, 7, 2);
    check_model_gradients(parameters_of(shaken(gpt)), [&] { return cross_entropy(gpt(tokens), next); });
  }
}

TEST_CASE("no output of a GPT moves when a later token changes, with every position scheme") {
  for (const Positions positions : all_positions)
    for (const Index window : {0, 3}) {
      CAPTURE(name_of(positions));
      TransformerConfig config = small_gpt(positions);
      config.window = window, config.kv_heads = window ? 1 : 2;
      Rng rng(1);
      Gpt gpt(config, rng);
      shaken(gpt);
      const IntTensor tokens = random_ids({2, 6}, 7, 1);
      const Tensor before = gpt(tokens);
      for (Index t = 0; t < 6; ++t) {
        const Tensor after = gpt(changed_at(tokens, 1, t));
        CHECK(same_bits(slice(after, 1, 0, t), slice(before, 1, 0, t)));
        CHECK(max_difference(after[1][t], before[1][t]) > 1e-6);
      }
    }
}

TEST_CASE("padding after a text changes none of a GPT's outputs for it") {
  Rng rng(1);
  Gpt gpt(small_gpt(), rng);
  const IntTensor tokens = random_ids({2, 6}, 7, 1), lengths({2}, {6, 4});
  const Tensor before = gpt({tokens, lengths}), after = gpt({changed_at(tokens, 1, 4), lengths});
  CHECK(same_bits(after[0], before[0]));
  CHECK(same_bits(slice(after[1], 0, 0, 4), slice(before[1], 0, 0, 4)));
}

TEST_CASE("a new GPT is GPT-2's: its first loss is about log V, and its residual stream starts small") {
  const auto deviation = [](const Tensor& x) { return std::sqrt(mean(x * x).item()) / 0.02; };
  for (const Index V : {17, 333}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      Rng rng(seed);
      const Gpt gpt(gpt_config({.vocabulary = V, .d_model = 64, .heads = 4, .layers = 8, .max_length = 33}),
                    rng);
      CHECK(deviation(gpt.token_embedding.table) == doctest::Approx(1).epsilon(0.05));
      CHECK(deviation(gpt.stack.positions.table) == doctest::Approx(1).epsilon(0.05));
      for (const Block& block : gpt.stack.blocks) {
        CHECK(deviation(block.self.query.weight) == doctest::Approx(1).epsilon(0.05));
        CHECK(deviation(block.self.output.weight) == doctest::Approx(0.25).epsilon(0.01));  // √(2 · 8)
        CHECK(deviation(block.feed_forward.second.weight) == doctest::Approx(0.25).epsilon(0.01));
      }
      const IntTensor reads = random_ids({4, 33}, V, seed), writes = random_ids({4, 33}, V, seed + 9);
      CHECK(deviation(gpt.token_embedding(reads)) == doctest::Approx(1).epsilon(0.05));  // no factor √C
      CHECK(cross_entropy(gpt(reads), writes).item() == doctest::Approx(std::log(double(V))).epsilon(0.02));
    }
  }
}

TEST_CASE("BERT sees both sides: every token reaches every state") {
  Rng rng(1);
  const Bert bert = small_bert(rng);
  const IntTensor tokens = random_ids({1, 6}, 7, 1);
  const Tensor before = bert(tokens);
  for (Index t = 0; t < 6; ++t) {
    const Tensor after = bert(changed_at(tokens, 0, t));
    for (Index i = 0; i < 6; ++i) CHECK(max_difference(after[0][i], before[0][i]) > 1e-6);
  }
}

TEST_CASE("BERT's padding changes no real state") {
  Rng rng(1);
  const Bert bert = small_bert(rng);
  const IntTensor tokens = random_ids({2, 6}, 7, 1), lengths({2}, {3, 6});
  const Tensor before = bert({tokens, lengths}), after = bert({changed_at(tokens, 0, 4), lengths});
  CHECK(same_bits(after[1], before[1]));
  CHECK(same_bits(slice(after[0], 0, 0, 3), slice(before[0], 0, 0, 3)));
}

TEST_CASE("gradients are right through BERT and each of its heads" * doctest::skip(!double_build)) {
  const Threads one(1);
  Rng rng(1);
  const Bert bert = small_bert(rng);
  Classifier classifier(8, 3, rng);
  const IntTensor tokens = random_ids({2, 5}, 9, 1), lengths({2}, {5, 3}),
                  segments({2, 5}, {0, 0, 1, 1, 1, 0, 1, 1, 0, 0});
  const IntTensor masked({2, 5}, {-1, 4, -1, -1, 8, -1, 0, -1, -1, -1}),
      tags({2, 5}, {0, 1, 2, 0, 1, 2, 0, 1, -1, -1});
  ParameterList all = parameters_of(bert);
  classifier.parameters(all);
  check_model_gradients(all, [&] {
    const Tensor states = bert({tokens, lengths}, segments);
    return cross_entropy(bert.mlm_logits(states), masked, {.ignore = -1}) +
           cross_entropy(bert.nsp_logits(states), IntTensor({2}, {1, 0})) +
           cross_entropy(classifier.sentence(bert, states), IntTensor({2}, {2, 0})) +
           cross_entropy(classifier.tokens(states), tags, {.ignore = -1});
  });
}

TEST_CASE("BERT's heads follow their formulas, and segments make a difference") {
  Rng rng(1);
  const Bert bert = small_bert(rng);
  const IntTensor tokens = random_ids({2, 5}, 9, 1);
  const Tensor states = bert(tokens);
  CHECK(bert.mlm_logits(states).shape() == Shape{2, 5, 9});
  CHECK(bert.pooled(states).shape() == Shape{2, 8});
  CHECK(bert.nsp_logits(states).shape() == Shape{2, 2});
  check_close(bert.mlm_logits(states), matmul(bert.mlm_norm(gelu(bert.mlm_dense(states))),
                                              bert.token_embedding.table, Transpose::second) +
                                           bert.mlm_bias);
  check_close(bert.pooled(states), tanh(bert.pooler(select(states, 1, 0))));
  const Classifier classifier(8, 3, rng);
  CHECK(classifier.sentence(bert, states).shape() == Shape{2, 3});
  CHECK(classifier.tokens(states).shape() == Shape{2, 5, 3});
  const IntTensor segments({2, 5}, {0, 0, 1, 1, 1, 0, 0, 0, 0, 1});
  CHECK(max_difference(bert(tokens, segments), states) > 1e-3);
}

TEST_CASE("GPT and BERT record their attention maps") {
  Rng rng(1);
  AttentionMaps maps;
  const Context context{.maps = &maps};
  const IntTensor tokens = random_ids({1, 5}, 7, 1);
  const Gpt gpt(small_gpt(Positions::alibi), rng);
  const Tensor logits = gpt(tokens, context);
  small_bert(rng)(tokens, context);
  REQUIRE(maps.size() == 4);
  CHECK(maps[1].name == "decoder");
  CHECK(maps[3].name == "encoder");
  CHECK(maps[3].layer == 1);
  for (const AttentionMap& map : maps) check_close(sum(map.weights, -1), ones({1, 2, 5}));
  CHECK(maps[0].weights(0, 0, 1, 2) == 0);  // the future
  backward(sum(logits * random_tensor(logits.shape())));
  REQUIRE(maps[0].weights.grad());
  CHECK(max(maps[0].weights.grad()).item() > 0);
}

TEST_CASE("T5 has RMSNorm, no biases, one table of distances a stack and one embedding") {
  Rng rng(1);
  const Transformer t5(t5_config({.vocabulary = 7, .d_model = 8, .heads = 2, .layers = 2}), rng);
  std::set<std::string> names;
  for (const Parameter& parameter : parameters_of(t5)) {
    names.insert(parameter.name);
    CHECK(parameter.name.find("bias") == std::string::npos);
  }
  CHECK(names.count("embedding.table") == 1);
  CHECK(names.count("encoder.positions.t5.table") == 1);
  CHECK(names.count("decoder.positions.t5.table") == 1);
  CHECK(names.count("decoder.final_norm.gain") == 1);
  CHECK(t5.encoder.blocks[0].self.scale == 1);
}

TEST_CASE("T5's queries start smaller by √d_k, since its scores are not divided by it") {
  const auto deviation = [](const Linear& layer) {
    return std::sqrt(mean(layer.weight * layer.weight).item());
  };
  Rng rng(1);
  TransformerConfig config = t5_config({.vocabulary = 9, .d_model = 64, .heads = 4});
  for (const bool scaled : {false, true}) {
    config.scale_scores = scaled;
    const MultiHeadAttention layer(config, rng);
    CHECK(deviation(layer.query) / deviation(layer.key) == doctest::Approx(scaled ? 1 : 0.25).epsilon(0.02));
  }
}

TEST_CASE("spans are removed, and input and target together have every token") {
  Rng rng(1);
  for (const Index length : {2, 3, 7, 20, 100, 333})
    for (const double fraction : {0.15, 0.5, 0.9}) {
      CAPTURE(length);
      CAPTURE(fraction);
      std::vector<int> text;
      for (Index i = 0; i < length; ++i) text.push_back(int(rng.below(50)));
      const CorruptionOptions options{.fraction = fraction, .first_sentinel = 1000, .sentinels = 200};
      const Corrupted corrupted = corrupt_spans(text, options, rng);
      CHECK(restore_spans(corrupted, options) == text);

      int sentinels = 0, taken = 0;
      for (const int token : corrupted.input)
        if (token >= 1000) CHECK(token == 1000 + sentinels++);  // in order, from the first
      for (const int token : corrupted.target) taken += token < 1000;
      const double wanted = std::round(double(length) * fraction);
      CHECK(taken == int(std::min(std::max(wanted, 1.0), double(length - 1))));
      CHECK(std::ssize(corrupted.input) + std::ssize(corrupted.target) == length + 2 * sentinels + 1);
      CHECK(corrupted.target.back() == 1000 + sentinels);
      if (fraction == 0.15 && length >= 20) CHECK(sentinels == int(std::lround(taken / 3.0)));
    }
}

TEST_CASE("spans fall everywhere and are of many lengths") {
  Rng rng(1);
  std::vector<int> text(20), taken_at(20, 0);
  for (int i = 0; i < 20; ++i) text[i] = i;
  std::set<Index> lengths;
  for (int draw = 0; draw < 300; ++draw) {
    const Corrupted corrupted = corrupt_spans(text, {.fraction = 0.3, .first_sentinel = 100}, rng);
    Index span = 0;
    for (const int token : corrupted.target) {
      if (token < 100)
        ++taken_at[token], ++span;
      else
        lengths.insert(std::exchange(span, 0));
    }
  }
  CHECK(taken_at[0] == 0);  // a text begins with something that is kept
  for (Index i = 1; i < 20; ++i) CHECK(taken_at[i] > 20);
  CHECK(lengths.size() >= 5);
}

TEST_CASE("spans that do not belong together are refused") {
  const CorruptionOptions options{.first_sentinel = 100, .sentinels = 3};
  CHECK(restore_spans({{1, 2, 100, 5, 101, 7}, {100, 3, 4, 101, 6, 102}}, options) ==
        std::vector<int>{1, 2, 3, 4, 5, 6, 7});
  CHECK_THROWS_WITH_AS(restore_spans({{1, 101}, {100, 3, 101}}, options),
                       "restore_spans: the target has no span for sentinel 101", Error);
  CHECK_THROWS_WITH_AS(restore_spans({{1, 100}, {100, 3}}, options), doctest::Contains("closing sentinel"),
                       Error);
  CHECK_THROWS_WITH_AS(restore_spans({{1, 100}, {100, 3, 101, 4}}, options),
                       doctest::Contains("closing sentinel"), Error);
  Rng rng(1);
  CHECK_THROWS_WITH_AS(corrupt_spans({1}, options, rng), doctest::Contains("too short"), Error);
  CHECK_THROWS_WITH_AS(corrupt_spans(std::vector<int>(200, 1), options, rng), doctest::Contains("sentinels"),
                       Error);
}

}  // namespace
}  // namespace attn
