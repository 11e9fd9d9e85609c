// What cannot be is refused with an Error, and nothing is read or written outside: shapes, empty tensors,
// settings that make no sense, values that change between forward and backward.
#include <functional>  // function
#include <limits>      // numeric_limits
#include <string>      // string

#include "nn/decode.hpp"
#include "optim/checkpoint.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Call {
  std::string name;
  std::function<void()> run;
};

void check_all_throw(const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    CAPTURE(call.name);
    CHECK_THROWS_AS(call.run(), Error);
  }
}

TEST_CASE("the product of a shape's sizes is checked wherever it is asked for") {
  const Index large = Index{1} << 32;
  CHECK_THROWS_WITH_AS(zeros({large, large}),
                       "shape: (4294967296,4294967296) has more elements than memory can hold", Error);
  CHECK_THROWS_AS((IntTensor({large, large})), Error);
  CHECK_THROWS_AS((Shape{3, large, large}), Error);
  CHECK_THROWS_AS((Shape{large}.with(0, large).inserted(0, large)), Error);
  CHECK_THROWS_AS(broadcast_to(zeros({1, 1}), {large, large}), Error);
  CHECK_THROWS_AS((Shape{0, large, large}.stride(0)), Error);
  Shape shape{2, 2};
  shape[0] = shape[1] = large;
  CHECK_THROWS_AS(shape.numel(), Error);
  CHECK_THROWS_AS(empty(shape), Error);
  shape[1] = -1;
  CHECK_THROWS_AS(empty(shape), Error);
}

TEST_CASE("an axis outside of a shape is refused, whoever asks for it") {
  Shape shape{2, 3};
  const Shape& fixed = shape;
  for (const int axis : {2, 7, -3, -100}) {
    CAPTURE(axis);
    check_all_throw({{"read", [&] { fixed[axis]; }},
                     {"write", [&] { shape[axis] = 1; }},
                     {"with", [&] { fixed.with(axis, 1); }},
                     {"without", [&] { fixed.without(axis); }},
                     {"stride", [&] { fixed.stride(axis); }}});
  }
  CHECK_THROWS_WITH_AS(fixed.with(7, 1), "shape: axis 7 is outside (2,3), which has 2 axes", Error);
  CHECK_THROWS_AS(fixed.with(0, -1), Error);
  CHECK_THROWS_AS(fixed.inserted(3, 1), Error);
  CHECK_THROWS_AS(fixed.inserted(0, -1), Error);
  CHECK(fixed.inserted(-1, 9) == Shape{2, 3, 9});
  CHECK_THROWS_AS(Shape(fixed.begin(), -1), Error);
}

TEST_CASE("memory that cannot be had is an error that says how much") {
  if (!pool_recycles()) return;  // AddressSanitizer ends the program instead
  CHECK_THROWS_WITH_AS(empty({Index{1} << 45, Index{1} << 12}),
                       doctest::Contains("out of memory: the system refuses"), Error);
  CHECK_THROWS_WITH_AS(empty({Index{1} << 45, Index{1} << 12}),
                       doctest::Contains(double_build ? "(1073741824.0 GiB)" : "(536870912.0 GiB)"), Error);
}

TEST_CASE("an empty tensor is an error in every op, not a crash") {
  const Tensor none, x = ones({2, 4}), row = ones({4}), batch = ones({2, 3, 4});
  const IntTensor no_ids, ids({2}, {0, 1});
  Rng rng(1);
  Tensor target;
  CHECK_THROWS_WITH_AS(
      add(x, none),
      "Tensor: this one is empty: nothing was ever assigned to it, so it has no shape and no values", Error);
  check_all_throw({
      {"add", [&] { add(none, x); }},
      {"add", [&] { add(x, none); }},
      {"add none to none", [&] { add(none, none); }},
      {"sub", [&] { sub(none, x); }},
      {"sub", [&] { sub(x, none); }},
      {"mul", [&] { mul(none, x); }},
      {"mul", [&] { mul(x, none); }},
      {"div", [&] { div(none, x); }},
      {"div", [&] { div(x, none); }},
      {"add number", [&] { add(none, 1); }},
      {"mul number", [&] { mul(none, 1); }},
      {"div number", [&] { div(none, 1); }},
      {"number / x", [&] { 1 / none; }},
      {"number - x", [&] { 1 - none; }},
      {"pow", [&] { pow(none, 2); }},
      {"neg", [&] { neg(none); }},
      {"log", [&] { log(none); }},
      {"sqrt", [&] { sqrt(none); }},
      {"exp", [&] { exp(none); }},
      {"tanh", [&] { tanh(none); }},
      {"sigmoid", [&] { sigmoid(none); }},
      {"relu", [&] { relu(none); }},
      {"silu", [&] { silu(none); }},
      {"gelu", [&] { gelu(none); }},
      {"activate", [&] { activate(none, Activation::none); }},
      {"where", [&] { where(none, x, x); }},
      {"where", [&] { where(x, none, x); }},
      {"where", [&] { where(x, x, none); }},
      {"broadcast_to", [&] { broadcast_to(none, {2}); }},
      {"sum", [&] { sum(none); }},
      {"sum axis", [&] { sum(none, 0); }},
      {"mean", [&] { mean(none); }},
      {"mean axis", [&] { mean(none, 0); }},
      {"max", [&] { max(none); }},
      {"max axis", [&] { max(none, 0); }},
      {"argmax", [&] { argmax(none); }},
      {"top_k", [&] { top_k(none, 0); }},
      {"softmax", [&] { softmax(none); }},
      {"log_softmax", [&] { log_softmax(none); }},
      {"reshape", [&] { reshape(none, {1}); }},
      {"reshape -1", [&] { reshape(none, {-1}); }},
      {"transpose", [&] { transpose(none); }},
      {"permute", [&] { permute(none, {}); }},
      {"concat",
       [&] {
         concat({x, none});
       }},
      {"concat", [&] { concat({none}); }},
      {"stack",
       [&] {
         stack({x, none});
       }},
      {"stack", [&] { stack({none}); }},
      {"slice", [&] { slice(none, 0, 0, 0); }},
      {"select", [&] { select(none, 0, 0); }},
      {"split", [&] { split(none, 1); }},
      {"embedding", [&] { embedding(none, ids); }},
      {"embedding", [&] { embedding(x, no_ids); }},
      {"take_rows", [&] { take_rows(none, {}); }},
      {"matmul", [&] { matmul(none, x); }},
      {"matmul", [&] { matmul(x, none); }},
      {"linear", [&] { linear(none, x); }},
      {"linear", [&] { linear(x, none); }},
      {"attention", [&] { attention(none, batch, batch); }},
      {"attention", [&] { attention(batch, none, batch); }},
      {"attention", [&] { attention(batch, batch, none); }},
      {"rope", [&] { rope(none, 1); }},
      {"layer_norm", [&] { layer_norm(none, row, row); }},
      {"rms_norm", [&] { rms_norm(none, row); }},
      {"dropout", [&] { dropout(none, 0, rng); }},
      {"dropout", [&] { dropout(none, real(0.5), rng); }},
      {"cross_entropy", [&] { cross_entropy(none, ids); }},
      {"cross_entropy", [&] { cross_entropy(x, no_ids); }},
      {"backward", [&] { backward(none); }},
      {"backward", [&] { backward(none, x); }},
      {"backward", [&] { backward(x, none); }},
      {"graphviz", [&] { graphviz(none); }},
      {"equal", [&] { equal(none, x); }},
      {"equal", [&] { equal(x, none); }},
      {"max_difference", [&] { max_difference(x, none); }},
      {"shape", [&] { none.shape(); }},
      {"rank", [&] { none.rank(); }},
      {"size", [&] { none.size(0); }},
      {"numel", [&] { none.numel(); }},
      {"data", [&] { none.data(); }},
      {"item", [&] { none.item(); }},
      {"element", [&] { none(0); }},
      {"part", [&] { none[0]; }},
      {"values", [&] { none.values(); }},
      {"requires_grad", [&] { target.requires_grad(); }},
      {"needs_grad", [&] { none.needs_grad(); }},
      {"is_leaf", [&] { none.is_leaf(); }},
      {"retain_grad", [&] { target.retain_grad(); }},
      {"has_grad", [&] { none.has_grad(); }},
      {"grad", [&] { none.grad(); }},
      {"zero_grad", [&] { none.zero_grad(); }},
      {"detach", [&] { none.detach(); }},
      {"move_to_block", [&] { none.move_to_block(x, x, 0); }},
      {"leave_block", [&] { none.leave_block(); }},
      {"in_block", [&] { none.in_block(); }},
      {"ids: shape", [&] { no_ids.shape(); }},
      {"ids: data", [&] { no_ids.data(); }},
      {"ids: number", [&] { no_ids[0]; }},
      {"ids: element", [&] { no_ids(0); }},
      {"ids: values", [&] { no_ids.values(); }},
      {"ids: copy", [&] { no_ids.copy(); }},
  });
  CHECK(none.str() == "(empty tensor)");
  CHECK(no_ids.str() == "(empty tensor)");
}

TEST_CASE("an empty tensor is an error in every layer and model, not a crash") {
  Rng rng(1);
  const Tensor none, x = ones({2, 3, 8}), heads = ones({2, 2, 3, 4});
  const IntTensor no_ids, ids({2, 3}, {1, 2, 3, 4, 5, 6});
  const TransformerConfig config = small_config();
  const Transformer transformer(config, rng);
  const Gpt gpt(gpt_config({.vocabulary = 7, .d_model = 8, .heads = 2, .layers = 1, .max_length = 16}), rng);
  const Bert bert(bert_config({.vocabulary = 7, .d_model = 8, .heads = 2, .layers = 1, .max_length = 16}),
                  rng);
  const Classifier classifier(8, 2, rng);
  const Linear unset;
  const Norm norm(NormKind::layer, 8), rms(NormKind::rms, 8);
  const MultiHeadAttention self(config, rng), cross(config, rng, {.cross = true});
  const Block block(config, BlockKind::decoder, rng, 0);
  const PositionScheme positions(config, true, rng);
  const Memory memory{x, {}};
  DecoderCache cache;
  GptWriter writer(gpt);
  TransformerWriter translator(transformer, ids);
  check_all_throw({
      {"Linear", [&] { Linear(8, 8, rng)(none); }},
      {"Linear without weights", [&] { unset(x); }},
      {"Norm", [&] { norm(none); }},
      {"RMSNorm", [&] { rms(none); }},
      {"Embedding", [&] { Embedding(7, 8, rng)(no_ids); }},
      {"Embedding without a table", [&] { Embedding()(ids); }},
      {"Embedding logits", [&] { Embedding(7, 8, rng).logits(none); }},
      {"FeedForward", [&] { FeedForward(config, rng)(none); }},
      {"padding_mask", [&] { padding_mask(no_ids, 3); }},
      {"bias_of", [&] { bias_of(none); }},
      {"scaled_dot_product_attention q", [&] { scaled_dot_product_attention(none, heads, heads); }},
      {"scaled_dot_product_attention k", [&] { scaled_dot_product_attention(heads, none, heads); }},
      {"scaled_dot_product_attention v", [&] { scaled_dot_product_attention(heads, heads, none); }},
      {"split_heads", [&] { split_heads(none, 2); }},
      {"merge_heads", [&] { merge_heads(none); }},
      {"self-attention", [&] { self(none); }},
      {"cross-attention", [&] { cross(none, {.memory = x}); }},
      {"cross-attention without memory", [&] { cross(x); }},
      {"Block", [&] { block(none, {.memory = memory}); }},
      {"Block without memory", [&] { block(x); }},
      {"Stack", [&] { transformer.encoder(none); }},
      {"positions", [&] { positions.add_to(none); }},
      {"Transformer source", [&] { transformer(Tokens(no_ids), ids); }},
      {"Transformer target", [&] { transformer(ids, Tokens(no_ids)); }},
      {"encode", [&] { transformer.encode(Tokens(no_ids)); }},
      {"decode", [&] { transformer.decode(Tokens(no_ids), memory); }},
      {"decode without memory", [&] { transformer.decode(ids, {}); }},
      {"decode with a cache", [&] { transformer.decode(Tokens(no_ids), memory, cache); }},
      {"Transformer logits", [&] { transformer.logits(none); }},
      {"shift_right", [&] { shift_right(no_ids, 1); }},
      {"Gpt", [&] { gpt(Tokens(no_ids)); }},
      {"Gpt with a cache", [&] { gpt(Tokens(no_ids), cache); }},
      {"Gpt logits", [&] { gpt.logits(none); }},
      {"Bert", [&] { bert(Tokens(no_ids)); }},
      {"Bert segments", [&] { bert(ids, no_ids); }},
      {"mlm_logits", [&] { bert.mlm_logits(none); }},
      {"pooled", [&] { bert.pooled(none); }},
      {"nsp_logits", [&] { bert.nsp_logits(none); }},
      {"Classifier sentence", [&] { classifier.sentence(bert, none); }},
      {"Classifier tokens", [&] { classifier.tokens(none); }},
      {"TransformerWriter", [&] { TransformerWriter(transformer, Tokens(no_ids)); }},
      {"TransformerWriter next", [&] { translator.next(no_ids); }},
      {"GptWriter", [&] { writer.next(no_ids); }},
      {"sample", [&] { sample(writer, no_ids, {}, rng); }},
  });
}

TEST_CASE("a writer refuses rows that it does not have") {
  Rng rng(1);
  const Gpt gpt(gpt_config({.vocabulary = 7, .d_model = 8, .heads = 2, .layers = 1, .max_length = 16}), rng);
  GptWriter writer(gpt, 2);
  writer.next(IntTensor({2, 1}, {1, 2}));
  CHECK_THROWS_WITH_AS(writer.next(IntTensor({3, 1}, {1, 2, 3})),
                       "writer: tokens (3,1) for the 2 rows it has written", Error);
  CHECK_THROWS_WITH_AS(writer.reorder({0, 2}), "writer: row 2 of 2 that it has written", Error);
  CHECK_THROWS_AS(writer.reorder({-1}), Error);
}

TEST_CASE("settings that make no sense are refused") {
  const Tensor x = ones({1, 2, 4}), row = ones({4});
  Tensor p = ones({2}).requires_grad();
  ParameterList list;
  list.add("p", p);
  const auto adam = [&](const AdamOptions& options) { return [&, options] { Adam(list, options); }; };
  const auto sgd = [&](const SgdOptions& options) { return [&, options] { Sgd(list, options); }; };
  CHECK_THROWS_WITH_AS(attention(x, x, x, {.mask = {.window = -1}}),
                       "attention: a window of -1; it is a number of keys, or 0 for all", Error);
  CHECK_THROWS_WITH_AS(Adam(list, {.beta2 = 1.5}), "optimizer: a beta2 of 1.5 makes no sense", Error);
  check_all_throw({
      {"attention scale", [&] { attention(x, x, x, {.scale = real(nan)}); }},
      {"mask_bias window", [&] { mask_bias({.window = -1}, 1, 2, 2); }},
      {"rope position", [&] { rope(x, 1, -1); }},
      {"layer_norm epsilon", [&] { layer_norm(x, row, row, real(nan)); }},
      {"rms_norm epsilon", [&] { rms_norm(x, row, -1); }},
      {"beta1 NaN", adam({.beta1 = nan})},
      {"beta1 1", adam({.beta1 = 1})},
      {"beta1 negative", adam({.beta1 = -0.1})},
      {"beta2 NaN", adam({.beta2 = nan})},
      {"epsilon NaN", adam({.epsilon = nan})},
      {"epsilon negative", adam({.epsilon = -1e-8})},
      {"decay NaN", adam({.weight_decay = nan})},
      {"decay negative", adam({.weight_decay = -0.1})},
      {"decay infinite", adam({.weight_decay = infinity})},
      {"momentum NaN", sgd({.momentum = nan})},
      {"momentum 2", sgd({.momentum = 2})},
      {"momentum negative", sgd({.momentum = -0.5})},
      {"sgd decay NaN", sgd({.weight_decay = nan})},
      {"clip NaN", [&] { clip_scale(1, nan); }},
  });
  Adam optimizer(list);
  backward(sum(p));
  for (const double rate : {nan, -1.0, infinity}) {
    CHECK_THROWS_WITH_AS(optimizer.step(rate), doctest::Contains("a learning rate of"), Error);
    CHECK_THROWS_WITH_AS(optimizer.step(1, rate), doctest::Contains("a gradient scale of"), Error);
  }
  CHECK(optimizer.steps == 0);
  CHECK(p.values() == std::vector<real>{1, 1});
}

// A writer whose logits are given.
struct Given : Writer {
  std::vector<real> logits;
  explicit Given(const std::vector<double>& values) : logits(values.begin(), values.end()) {}
  Index rows() const override { return 1; }
  Tensor next(const IntTensor&) override { return from_values({1, std::ssize(logits)}, logits); }
  void reorder(const std::vector<int>&) override {}
};

TEST_CASE("logits that make no distribution are refused, however a token is chosen") {
  Rng rng(1);
  const std::vector<std::vector<double>> unusable{
      {0, nan, 1}, {nan, 0, 0}, {nan, nan, nan}, {-infinity, -infinity, -infinity}, {0, infinity, 1}};
  for (const std::vector<double>& logits : unusable) {
    Given writer(logits);
    const IntTensor prompt({1, 1}, {1});
    check_all_throw({
        {"distribution", [&] { sampling_distribution(writer.logits.data(), 3, {}); }},
        {"at temperature 0", [&] { sampling_distribution(writer.logits.data(), 3, {.temperature = 0}); }},
        {"sample", [&] { sample(writer, prompt, {}, rng); }},
        {"greedy", [&] { greedy(writer, {}); }},
        {"beam search", [&] { beam_search(writer, {}); }},
    });
  }
  Given masked({-infinity, 0, -infinity});
  CHECK(greedy(masked, {.end = 0, .max_length = 2})[0] == std::vector<int>{1, 1});
  CHECK_THROWS_WITH_AS(sampling_distribution(Given({0, nan}).logits.data(), 2, {}),
                       "sampling: logit 1 is NaN: the model is broken", Error);
  CHECK_THROWS_AS(sampling_distribution(masked.logits.data(), 3, {.temperature = nan}), Error);
}

TEST_CASE("values that change between forward and backward are noticed, where the gradient needs them") {
  if (!watches_values) return;
  Tensor x = random_tensor({3}).requires_grad(), w = random_tensor({3}, 2).requires_grad();
  Tensor constant = random_tensor({3}, 3);
  const auto after_changing = [](const Tensor& tensor, const Tensor& loss) {
    tensor.data()[1] += 1;
    backward(loss);
  };
  CHECK_THROWS_WITH_AS(
      after_changing(x, sum(x * w)),
      "backward: the gradient of mul needs the values of (3), but they were changed after it was computed",
      Error);
  const Tensor y = exp(x), hidden = x * w;
  const Tensor matrix = random_tensor({3, 3}, 4);
  check_all_throw({
      {"an output", [&] { after_changing(y, sum(y)); }},
      {"a constant", [&] { after_changing(constant, sum(x * constant)); }},
      {"a matrix", [&] { after_changing(matrix, sum(matmul(matrix, x))); }},
      {"an inner tensor", [&] { after_changing(hidden, sum(hidden * hidden)); }},
      {"through a reshape",
       [&] {
         after_changing(x, sum(pow(reshape(x, {3, 1}), 2)));
       }},
      {"a condition", [&] { after_changing(constant, sum(where(constant, x, w))); }},
      {"softmax",
       [&] {
         const Tensor p = softmax(x);
         after_changing(p, sum(p * w));
       }},
      {"layer_norm", [&] { after_changing(x, sum(layer_norm(x, w, {}) * constant)); }},
      {"cross_entropy", [&] { after_changing(x, cross_entropy(x, IntTensor({}, {1}))); }},
  });
  // No gradient of these needs the values.
  after_changing(x, sum(x + w));
  after_changing(x, sum(reshape(x, {3, 1})));
  after_changing(x, mean(slice(x, 0, 1, 3)));
  // And a change before the forward or after the backward is none.
  x.data()[0] = 7;
  backward(sum(x * w));
  x.data()[0] = 8;
  backward(sum(x * w));
}

TEST_CASE("ids, targets and lengths may change after the forward: the op has its own copy") {
  Tensor table = random_tensor({4, 2}).requires_grad();
  const IntTensor ids({2}, {1, 3});
  const Tensor looked_up = embedding(table, ids);
  ids[0] = 1000000;
  backward(sum(looked_up));
  CHECK(table.grad().values() == std::vector<real>{0, 0, 1, 1, 0, 0, 1, 1});

  Tensor logits = zeros({1, 2}).requires_grad();
  const IntTensor targets({1}, {1});
  const Tensor loss = cross_entropy(logits, targets);
  targets[0] = -1000000;
  backward(loss);
  CHECK(logits.grad().values() == std::vector<real>{0.5, -0.5});

  Tensor q = random_tensor({1, 2, 2}).requires_grad();
  const IntTensor lengths({1}, {1});
  const Tensor seen = attention(q, q, q, {.mask = {.key_lengths = lengths}});
  lengths[0] = 1000000;
  backward(sum(seen));
  CHECK(q.grad()(0, 1, 0) == 0);
}

}  // namespace
}  // namespace attn
