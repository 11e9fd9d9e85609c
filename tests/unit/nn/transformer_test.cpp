// The encoder-decoder in all its settings: gradients through the whole model, masks, and attention maps.
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

struct Setting {
  std::string name;
  TransformerConfig config;
};

// The paper's model with each position scheme, then with each other setting.
std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const Positions positions : all_positions) {
    settings.push_back({name_of(positions), small_config()});
    settings.back().config.positions = positions;
  }
  const auto add = [&settings](const char* name) -> TransformerConfig& {
    settings.push_back({name, small_config()});
    return settings.back().config;
  };
  add("pre-norm").pre_norm = true;
  add("grouped keys").kv_heads = 1;
  add("window").window = 2;
  add("gelu").feed_forward = {.activation = Activation::gelu};
  add("geglu").feed_forward = {.activation = Activation::gelu, .gated = true};
  add("untied").tie_embeddings = false;
  add("normal initialisation").initialization = Initialization::normal;
  TransformerConfig& modern = add("rope, RMSNorm, SwiGLU, no biases");
  modern.positions = Positions::rope, modern.norm = NormKind::rms, modern.pre_norm = true;
  modern.feed_forward = {.activation = Activation::silu, .gated = true};
  modern.bias = false, modern.kv_heads = 1;
  TransformerConfig& t5 = add("T5");
  t5 = t5_config({.vocabulary = 7, .d_model = 8, .heads = 2, .layers = 2});
  t5.dropout = 0;
  return settings;
}

TEST_CASE("the number of parameters is known before a model is built") {
  for (const Setting& setting : all_settings()) {
    CAPTURE(setting.name);
    Rng rng(1);
    CHECK(parameter_count(setting.config) == parameters_of(Transformer(setting.config, rng)).count());
  }
}

// Two pairs of sentences of different lengths, and the loss on them.
struct TwoPairs {
  Tokens source{random_ids({2, 5}, 7, 1), IntTensor({2}, {5, 3})};
  Tokens target{random_ids({2, 4}, 7, 2), IntTensor({2}, {4, 2})};

  Tensor logits(const Transformer& model, const Context& context = {}) const {
    return model(source, target, context);
  }
  Tensor loss(const Transformer& model, const Context& context = {}) const {
    const IntTensor next({2, 4}, {3, 1, 4, 1, 5, 2, -1, -1});
    return cross_entropy(logits(model, context), next, {.smoothing = real(0.1), .ignore = -1});
  }
};

template <class Check>
void with_every_model(const Check& check) {
  const Threads one(1);
  for (const Setting& setting : all_settings()) {
    CAPTURE(setting.name);
    Rng rng(1);
    Transformer model(setting.config, rng);
    check(shaken(model));
  }
}

TEST_CASE("gradients are right through the whole encoder-decoder, in every setting" *
          doctest::skip(!double_build)) {
  with_every_model([](const Transformer& model) {
    check_model_gradients(parameters_of(model), [&] { return TwoPairs().loss(model); });
  });
}

TEST_CASE("gradients are right with dropout, when the random numbers repeat" * doctest::skip(!double_build)) {
  TransformerConfig config = small_config();
  config.dropout = real(0.2);
  Rng rng(1);
  Transformer model(config, rng);
  check_model_gradients(parameters_of(shaken(model)), [&] {
    Rng fixed(2);
    return TwoPairs().loss(model, {.training = true, .rng = &fixed});
  });
}

TEST_CASE("post-norm normalises each sum, pre-norm what goes into each sublayer") {
  for (const bool pre_norm : {false, true}) {
    TransformerConfig config = small_config();
    config.pre_norm = pre_norm;
    Rng rng(1);
    Block block(config, BlockKind::decoder, rng);
    shaken(block);
    const Tensor input = random_tensor({2, 4, 8}), memory = random_tensor({2, 5, 8}, 2);
    const Mask causal{.causal = true};
    const IntTensor lengths({2}, {5, 2});
    Tensor x = input;
    const auto sublayer = [&](const Norm& norm, const TensorFunction& f) {
      x = pre_norm ? x + f({norm(x)}) : norm(x + f({x}));
    };
    sublayer(block.self_norm, [&](const auto& y) { return block.self(y[0], {.mask = causal}); });
    sublayer(block.cross_norm, [&](const auto& y) {
      return block.cross(y[0], {.mask = {.key_lengths = lengths}, .memory = memory});
    });
    sublayer(block.feed_forward_norm, [&](const auto& y) { return block.feed_forward(y[0]); });
    check_close(block(input, {.mask = causal, .memory = {memory, lengths}}), x);
  }
}

TEST_CASE("no output of the decoder moves when a later token changes, in every setting") {
  with_every_model([](const Transformer& model) {
    TwoPairs batch;
    batch.target.lengths = {};
    const Tensor before = batch.logits(model);
    for (Index t = 0; t < 4; ++t) {
      TwoPairs changed = batch;
      changed.target.ids = IntTensor({2, 4}, batch.target.ids.values());
      changed.target.ids(0, t) = (batch.target.ids(0, t) + 1) % 7;
      const Tensor after = changed.logits(model);
      CHECK(same_bits(slice(after, 1, 0, t), slice(before, 1, 0, t)));
      CHECK(max_difference(select(select(after, 0, 0), 0, t), select(select(before, 0, 0), 0, t)) > 1e-6);
      CHECK(same_bits(select(after, 0, 1), select(before, 0, 1)));  // the other sentence does not change
    }
  });
}

TEST_CASE("the encoder sees both sides: each source word reaches each state and each output") {
  Rng rng(1);
  Transformer model(small_config(), rng);
  shaken(model);
  const TwoPairs batch;
  const Tensor states = model.encode(batch.source.ids).states, outputs = batch.logits(model);
  for (Index s = 0; s < 3; ++s) {
    const TwoPairs changed;
    changed.source.ids(0, s) = (changed.source.ids(0, s) + 1) % 7;
    const Tensor new_states = model.encode(changed.source.ids).states, new_outputs = changed.logits(model);
    for (Index i = 0; i < 5; ++i) CHECK(max_difference(new_states[0][i], states[0][i]) > 1e-6);
    for (Index t = 0; t < 4; ++t) CHECK(max_difference(new_outputs[0][t], outputs[0][t]) > 1e-6);
  }
}

TEST_CASE("the ids in the padding change no real output, in every setting") {
  with_every_model([](const Transformer& model) {
    const TwoPairs batch, changed;
    const Tensor before = batch.logits(model);
    for (Index s = 3; s < 5; ++s) changed.source.ids(1, s) = (batch.source.ids(1, s) + 3) % 7;
    for (Index t = 2; t < 4; ++t) changed.target.ids(1, t) = (batch.target.ids(1, t) + 3) % 7;
    const Tensor after = changed.logits(model);
    CHECK(same_bits(after[0], before[0]));
    CHECK(same_bits(slice(after[1], 0, 0, 2), slice(before[1], 0, 0, 2)));
  });
}

TEST_CASE("a sentence gives the same alone as padded among others, in every setting") {
  with_every_model([](const Transformer& model) {
    const TwoPairs batch;
    const auto second = [](const Tokens& x) {
      return std::vector<int>{&x.ids(1, 0), &x.ids(1, 0) + x.lengths[1]};
    };
    check_close(model(second(batch.source), second(batch.target))[0], slice(batch.logits(model)[1], 0, 0, 2),
                double_build ? 1e-12 : 1e-4);
  });
}

TEST_CASE("every attention map is recorded, with its label and gradient, and recording changes nothing") {
  with_every_model([](const Transformer& model) {
    const ParameterList parameters = parameters_of(model);
    const TwoPairs batch;
    backward(batch.loss(model));
    std::vector<Tensor> gradients;
    for (const Parameter& parameter : parameters) gradients.push_back(copy_of(parameter.tensor.grad()));
    parameters.zero_grad();

    AttentionMaps maps;
    backward(batch.loss(model, {.maps = &maps}));
    const double tolerance = double_build ? 1e-12 : 2e-4;
    for (Index i = 0; i < std::ssize(gradients); ++i)
      check_close(parameters[i].tensor.grad(), gradients[i], tolerance);
    check_close(batch.logits(model, {.maps = &maps}), batch.logits(model), tolerance);

    const std::vector<std::pair<std::string, Index>> expected{{"encoder", 0}, {"encoder", 1}, {"decoder", 0},
                                                              {"cross", 0},   {"decoder", 1}, {"cross", 1}};
    REQUIRE(maps.size() == 2 * expected.size());  // of the loss, then of the logits
    for (Index i = 0; i < std::ssize(expected); ++i) {
      const AttentionMap& map = maps[i];
      CHECK(map.name == expected[i].first);
      CHECK(map.layer == expected[i].second);
      const Index T = map.name == "encoder" ? 5 : 4, S = map.name == "decoder" ? 4 : 5;
      CHECK(map.weights.shape() == Shape{2, 2, T, S});
      Index blind = 0;  // a window can leave the padding with nothing to see
      for (const real total : sum(map.weights, -1).values()) {
        blind += total == 0;
        if (total != 0) CHECK(total == doctest::Approx(1));
      }
      CHECK((blind == 0 || model.config.window > 0));
      REQUIRE(map.weights.grad());
      CHECK(map.weights.grad().shape() == map.weights.shape());
      CHECK(max(map.weights.grad()).item() > 0);
    }
  });
}

TEST_CASE("the residual stream is recorded: each state is the last one and what was added") {
  with_every_model([](const Transformer& model) {
    const TwoPairs batch;
    const Memory memory = model.encode(batch.source);
    ResidualStream stream;
    const Tensor logits = model.decode(batch.target, memory, {.stream = &stream});
    const std::vector<std::pair<std::string, Index>> expected{
        {"embedding", 0}, {"decoder", 0}, {"cross", 0},       {"feed_forward", 0},
        {"decoder", 1},   {"cross", 1},   {"feed_forward", 1}};
    REQUIRE(stream.size() == expected.size());
    for (Index i = 0; i < std::ssize(expected); ++i) {
      CHECK(stream[i].name == expected[i].first);
      CHECK(stream[i].layer == expected[i].second);
      if (i > 0 && model.config.pre_norm)
        check_close(stream[i].state, stream[i - 1].state + stream[i].added, 0);
    }
    const Norm& last = model.decoder.final_norm;
    check_close(model.logits(last.gain ? last(stream.back().state) : stream.back().state), logits, 0);
  });
}

TEST_CASE("with its causal mask off a decoder sees the future") {
  Rng rng(1);
  Transformer model(small_config(), rng);
  const TwoPairs batch;
  TwoPairs changed;
  changed.target.ids(0, 3) = (batch.target.ids(0, 3) + 3) % 7;
  const auto first = [&](const TwoPairs& pairs) { return slice(pairs.logits(model)[0], 0, 0, 3); };
  CHECK(same_bits(first(batch), first(changed)));
  model.decoder.causal = false;
  CHECK(max_difference(first(batch), first(changed)) > 1e-4);
}

TEST_CASE("training drops, evaluation does not, and the generator decides what") {
  TransformerConfig config = small_config();
  config.dropout = real(0.1);
  Rng rng(1);
  const Transformer model(config, rng);
  const auto loss = [&](bool training, std::uint64_t seed) {
    Rng generator(seed);
    return TwoPairs().loss(model, {.training = training, .rng = &generator});
  };
  CHECK(same_bits(loss(true, 1), loss(true, 1)));
  CHECK(!same_bits(loss(true, 1), loss(true, 2)));
  CHECK(!same_bits(loss(true, 1), loss(false, 1)));
  CHECK(same_bits(loss(false, 1), loss(false, 2)));
}

// 37,000 · 512 for the embedding; six encoder layers of attention (4 · 512² + 4 · 512), feed-forward
// (2 · 512 · 2048 + 2048 + 512) and two norms (4 · 512); six decoder layers with one more attention and norm.
TEST_CASE("the base model has 63,082,496 parameters" * doctest::skip(double_build)) {
  const std::vector<PartCount> parts = [] {
    Rng rng(1);
    const Transformer base({.source_vocabulary = 37000,
                            .vocabulary = 37000,
                            .share_embeddings = true,
                            .initialization = Initialization::none},
                           rng);
    return count_by_part(parameters_of(base), 3);
  }();
  Index total = 0;
  for (const PartCount& part : parts) total += part.count;
  CHECK(total == 63082496);
  REQUIRE(parts.size() == 13);
  CHECK(parts[0].part == "embedding.table");
  CHECK(parts[0].count == 18944000);
  CHECK(parts[1].part == "encoder.block.0");
  CHECK(parts[1].count == 3152384);
  CHECK(parts[12].part == "decoder.block.5");
  CHECK(parts[12].count == 4204032);
}

TEST_CASE("parameters are counted by part") {
  TransformerConfig config = small_config();
  config.encoder_layers = config.decoder_layers = 1;
  Rng rng(1);
  const std::vector<PartCount> parts = count_by_part(parameters_of(Transformer(config, rng)));
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].part == "target_embedding");
  CHECK(parts[0].count == 7 * 8);
  CHECK(parts[1].count == 9 * 8);
  const Index attention = 4 * (8 * 8 + 8), feed_forward = 2 * 8 * 12 + 12 + 8, norm = 2 * 8;
  CHECK(parts[2].part == "encoder");
  CHECK(parts[2].count == attention + feed_forward + 2 * norm);
  CHECK(parts[3].count == 2 * attention + feed_forward + 3 * norm);
}

TEST_CASE("tied and shared embeddings are one tensor, others are not") {
  TransformerConfig config = small_config();
  Rng rng(1);
  const Index tied = parameters_of(Transformer(config, rng)).count();
  config.tie_embeddings = false;
  CHECK(parameters_of(Transformer(config, rng)).count() == tied + 7 * 8 + 7);
  config = small_config();
  config.share_embeddings = true;
  CHECK_THROWS_WITH_AS(Transformer(config, rng), doctest::Contains("there are 9 and 7 tokens"), Error);
  config.source_vocabulary = 7;
  const Transformer shared(config, rng);
  CHECK(shared.source_embedding.table.is(shared.target_embedding.table));
  CHECK(parameters_of(shared).count() == tied - 9 * 8);
}

TEST_CASE("pre-norm has one more norm at the end of each stack") {
  TransformerConfig config = small_config();
  Rng rng(1);
  const Index post = parameters_of(Transformer(config, rng)).count();
  config.pre_norm = true;
  CHECK(parameters_of(Transformer(config, rng)).count() == post + 2 * 2 * 8);
}

TEST_CASE("the decoder reads the target one step late") {
  const IntTensor shifted = shift_right(IntTensor({2, 3}, {4, 5, 6, 7, 8, 9}), 1);
  CHECK(shifted.values() == std::vector<int>{1, 4, 5, 1, 7, 8});
  CHECK_THROWS_WITH_AS(shift_right(IntTensor({3}, {1, 2, 3}), 1), "shift_right: (3) is not (B,T)", Error);
}

}  // namespace
}  // namespace attn
