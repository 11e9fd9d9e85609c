// int8 weights: what rounding may do, products in every kernel set against plain loops, and whole models.
#include "core/int8.hpp"

#include <cmath>   // fabs
#include <limits>  // numeric_limits

#include "core/autograd.hpp"
#include "nn/decode.hpp"
#include "nn/quantise.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

TEST_CASE("a quantised weight is within half a scale of the weight, and its largest element is kept") {
  Rng rng(1);
  const Tensor weight = normal({7, 33}, rng);
  for (Index j = 0; j < 33; ++j) weight(3, j) = 0;
  weight(5, 17) = -9;  // the largest of its row
  const Int8Matrix small = quantise(weight);
  const Tensor back = dequantise(small);
  for (Index i = 0; i < 7; ++i)
    for (Index j = 0; j < 33; ++j)
      CHECK(std::fabs(back(i, j) - weight(i, j)) <= small.scales(i) * (0.5 + 1e-4));
  CHECK(small.scales(3) == 0);
  CHECK(dequantise(quantise(full({1, 3}, std::numeric_limits<real>::denorm_min())))(0, 0) == 0);
  CHECK(small.values[5 * 33 + 17] == -127);
  CHECK(back(5, 17) == doctest::Approx(-9));
  weight(2, 4) = std::numeric_limits<real>::quiet_NaN();
  CHECK_THROWS_WITH_AS(quantise(weight), doctest::Contains("(2,4)"), Error);
  CHECK_THROWS_WITH_AS(quantise(ones({4})), doctest::Contains("(4)"), Error);
}

TEST_CASE("linear with int8 weights is linear with those weights as floats, for every kernel set and size") {
  const std::string current = kernels().name;
  for (int set = 0; set < kernel_set_count(); ++set) {
    use_kernels(kernel_set(set).name);
    for (const Index rows : {1, 3, 8, 9, 33})  // up to 8 read the bytes, more multiply floats
      for (const Index in : {1, 7, 17, 64, 1100})
        for (const Index out : {1, 9, 130}) {
          CAPTURE(kernels().name);
          CAPTURE(rows);
          CAPTURE(in);
          CAPTURE(out);
          Rng rng(std::uint64_t(rows * 10000 + in * 10 + out));
          const Tensor x = normal({rows, in}, rng), bias = normal({out}, rng);
          const Int8Matrix weight = quantise(normal({out, in}, rng));
          const Tensor floats = dequantise(weight);
          CHECK(max_difference(linear(x, weight), linear(x, floats)) < 1e-3);
          CHECK(max_difference(linear(x, weight, bias, Activation::gelu),
                               linear(x, floats, bias, Activation::gelu)) < 1e-3);
        }
  }
  use_kernels(current.c_str());
}

TEST_CASE("a quantised layer drops its result as one of floats does") {
  const NoGrad no_grad;
  Rng rng(4);
  Linear layer(17, 33, rng);
  const Tensor x = normal({5, 17}, rng);
  layer.quantise();
  Rng one(6), same(6);
  CHECK(same_bits(layer(x, Activation::relu, {real(0.5), &one}),
                  dropout(layer(x, Activation::relu), real(0.5), same)));
}

TEST_CASE("int8 products have the same bits on 1, 2 and 4 threads") {
  Rng rng(2);
  const Int8Matrix weight = quantise(normal({1000, 130}, rng));
  for (const Index rows : {1, 20}) {
    const Tensor x = normal({rows, 130}, rng);
    std::vector<Tensor> results;
    for (const int count : {1, 2, 4}) {
      const Threads threads(count);
      results.push_back(linear(x, weight));
    }
    CHECK(same_bits(results[0], results[1]));
    CHECK(same_bits(results[0], results[2]));
  }
}

TEST_CASE("an int8 weight refuses gradients and shapes that do not fit") {
  const Int8Matrix weight = quantise(ones({3, 2}));
  CHECK_THROWS_WITH_AS(linear(ones({1, 2}).requires_grad(), weight), doctest::Contains("NoGrad"), Error);
  CHECK_THROWS_WITH_AS(linear(ones({1, 5}), weight), doctest::Contains("(1,5)"), Error);
  CHECK_THROWS_WITH_AS(linear(ones({1, 2}), weight, ones({2})), doctest::Contains("bias (2)"), Error);
  CHECK_THROWS_WITH_AS(embedding(weight, IntTensor({1}, {3})), doctest::Contains("id 3"), Error);
  const Tensor rows = embedding(weight, IntTensor({2}, {2, 0}));
  CHECK(rows.shape() == Shape{2, 2});
  CHECK(max_difference(rows, ones({2, 2})) < 1e-6);
}

// A model with every weight rounded to int8 and back, as floats: what quantise() must compute with.
template <class Model>
Model rounded(const Model& model) {
  for (const Parameter& parameter : parameters_of(model)) {
    const std::string& name = parameter.name;
    if (!name.ends_with("weight") && !name.ends_with("embedding.table")) continue;
    const Tensor back = dequantise(quantise(parameter.tensor));
    std::copy_n(back.data(), back.numel(), parameter.tensor.data());
  }
  return model;
}

TEST_CASE("a quantised model gives the logits of its rounded weights, and can be neither trained nor saved") {
  const NoGrad no_grad;
  Rng rng(3);
  const IntTensor ids = random_ids({1, 6}, 7, 4);
  const auto refuses = [](const auto& model) {
    CHECK_THROWS_WITH_AS(parameters_of(model), doctest::Contains("neither trained nor saved"), Error);
  };
  for (const bool tied : {true, false}) {
    TransformerConfig config = small_config();
    config.tie_embeddings = tied;
    config.feed_forward = {.activation = Activation::silu, .gated = true};
    Gpt gpt(config, rng);
    const Tensor plain = shaken(gpt)(ids).detach(), expected = rounded(gpt)(ids);
    CHECK(max_difference(plain, expected) > 1e-4);
    quantise(gpt);
    CHECK(max_difference(gpt(ids), expected) < 1e-5);
    GptWriter writer(gpt);  // token by token: another way through the same weights
    CHECK(max_difference(writer.next(ids), select(expected, 1, -1)) < 1e-5);
    refuses(gpt);

    config.share_embeddings = tied;
    config.source_vocabulary = 7;
    Transformer transformer(config, rng);
    const Tensor logits = rounded(shaken(transformer))(ids, ids);
    quantise(transformer);
    CHECK(max_difference(transformer(ids, ids), logits) < 1e-5);
    refuses(transformer);
  }
  Bert bert(bert_config({.vocabulary = 7, .d_model = 8, .heads = 2, .max_length = 8}), rng);
  const Tensor logits = rounded(shaken(bert)).mlm_logits(bert(ids));
  quantise(bert);
  CHECK(max_difference(bert.mlm_logits(bert(ids)), logits) < 1e-5);
  refuses(bert);
}

}  // namespace
}  // namespace attn
