// The fused attention op against its definition (loops, in double) and against its composed twin: the same
// from small ops, with the whole matrix of weights (nn/attention.hpp).
#include <cmath>   // abs
#include <limits>  // numeric_limits

#include "nn/attention.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

struct Sizes {
  Index T, S, H, kv_heads, D;
  Index B = 2;
};

std::vector<Tensor> random_qkv(const Sizes& size) {
  return {random_tensor({size.B, size.T, size.H * size.D}, 1),
          random_tensor({size.B, size.S, size.kv_heads * size.D}, 2),
          random_tensor({size.B, size.S, size.kv_heads * size.D}, 3)};
}

// Every kind of mask, for given sizes.
std::vector<std::pair<const char*, AttentionOptions>> all_masks(const Sizes& size) {
  const AttentionOptions plain{.heads = size.H, .kv_heads = size.kv_heads};
  std::vector<std::pair<const char*, AttentionOptions>> masks(11, {"none", plain});
  const auto set = [&masks](int i, const char* name) -> AttentionOptions& {
    masks[i].first = name;
    return masks[i].second;
  };
  const IntTensor lengths({2}, {int(size.S + 1) / 2, int(size.S)});
  set(1, "causal").mask.causal = true;
  set(2, "lengths").mask.key_lengths = lengths;
  set(3, "window").mask.window = 3;
  Mask& all = set(4, "causal, window and lengths").mask;
  all.causal = true, all.window = 4, all.key_lengths = lengths;
  set(5, "scale").scale = real(0.3);
  set(6, "bias (T,S)").mask.bias = random_tensor({size.T, size.S}, 4);
  set(7, "bias (H,T,S)").mask.bias = random_tensor({size.H, size.T, size.S}, 5);
  set(8, "bias (B,H,T,S)").mask.bias = random_tensor({size.B, size.H, size.T, size.S}, 6);
  set(9, "bias (B,1,T,S)").mask.bias = random_tensor({size.B, 1, size.T, size.S}, 7);
  Mask& both = set(10, "causal with bias (1,H,T,S)").mask;
  both.causal = true, both.bias = random_tensor({1, size.H, size.T, size.S}, 8);
  return masks;
}

bool visible(const Mask& mask, Index b, Index t, Index j, Index T, Index S) {
  const Index distance = t + S - T - j;  // the last query stands beside the last key
  if (mask.key_lengths.numel() && j >= mask.key_lengths[b]) return false;
  if (mask.causal && distance < 0) return false;
  return mask.window == 0 || std::abs(distance) < mask.window;
}

Tensor naive_attention(const std::vector<Tensor>& qkv, const AttentionOptions& options) {
  const Tensor &q = qkv[0], &k = qkv[1], &v = qkv[2];
  const Index T = q.size(1), S = k.size(1), H = options.heads, D = q.size(2) / H,
              group = H / options.kv_heads;
  const double scale = options.scale != 0 ? double{options.scale} : 1 / std::sqrt(double(D));
  return from_formula(q.shape(), [&](const At& at) {
    const Index b = at[0], t = at[1], h = at[2] / D, kv = h / group * D;
    double sum = 0, mixed = 0;
    for (Index j = 0; j < S; ++j) {
      if (!visible(options.mask, b, t, j, T, S)) continue;
      double score = 0;
      for (Index d = 0; d < D; ++d) score += double{q(b, t, h * D + d)} * double{k(b, j, kv + d)};
      score = score * scale + (options.mask.bias ? element(options.mask.bias, {b, h, t, j}) : 0);
      sum += std::exp(score);
      mixed += std::exp(score) * double{v(b, j, kv + at[2] % D)};
    }
    return sum > 0 ? mixed / sum : 0;
  });
}

Tensor composed_attention(const std::vector<Tensor>& qkv, const AttentionOptions& options) {
  const Index B = qkv[0].size(0), T = qkv[0].size(1), S = qkv[1].size(1);
  const auto all_heads = [&](const Tensor& x) {  // (B, S, kv*D) -> (B, H, S, D)
    const Tensor heads = split_heads(x, options.kv_heads);
    std::vector<Tensor> repeated;
    for (Index h = 0; h < options.heads; ++h) {
      const Index kv = h / (options.heads / options.kv_heads);
      repeated.push_back(slice(heads, 1, kv, kv + 1));
    }
    return concat(repeated, 1);
  };
  return merge_heads(scaled_dot_product_attention(split_heads(qkv[0], options.heads), all_heads(qkv[1]),
                                                  all_heads(qkv[2]), mask_bias(options.mask, B, T, S),
                                                  options.scale)
                         .output);
}

TEST_CASE("attention follows its definition under every mask") {
  for (const Sizes& size : {Sizes{1, 1, 1, 1, 1}, Sizes{5, 5, 2, 2, 3}, Sizes{3, 7, 2, 1, 4},
                            Sizes{7, 3, 4, 2, 5}, Sizes{17, 33, 3, 3, 2}, Sizes{5, 7, 4, 2, 8}})
    for (const auto& mask : all_masks(size)) {
      const AttentionOptions& options = mask.second;
      INFO(mask.first << " T " << size.T << " S " << size.S);
      const std::vector<Tensor> qkv = random_qkv(size);
      check_close(attention(qkv[0], qkv[1], qkv[2], options), naive_attention(qkv, options));
    }
}

// Tiles are 96 queries by 128 keys: these sizes lie on, before and behind their edges. The last but one is
// just so small that a head is one tile, whose weights are kept.
TEST_CASE("attention is its composed twin, forward and backward, across tiles") {
  const Threads one(1);
  for (const Sizes& size :
       {Sizes{64, 128, 2, 2, 4}, Sizes{65, 129, 2, 1, 3}, Sizes{63, 200, 1, 1, 8}, Sizes{200, 63, 2, 2, 1},
        Sizes{130, 130, 4, 2, 2}, Sizes{1, 200, 4, 1, 16}, Sizes{96, 128, 1, 1, 64}, Sizes{97, 30, 2, 1, 16}})
    for (const auto& mask : all_masks(size)) {
      const AttentionOptions& options = mask.second;
      INFO(mask.first << " T " << size.T << " S " << size.S);
      const Tensor weights = random_tensor({size.B, size.T, size.H * size.D}, 9);
      std::vector<Tensor> results[2];
      for (const bool fused : {false, true}) {
        std::vector<Tensor> in = random_qkv(size);
        AttentionOptions with_bias = options;
        if (options.mask.bias) in.push_back(with_bias.mask.bias = copy_of(options.mask.bias));
        for (Tensor& x : in) x.requires_grad();
        const Tensor out =
            fused ? attention(in[0], in[1], in[2], with_bias) : composed_attention(in, with_bias);
        backward(out, weights);
        results[fused].push_back(out);
        for (const Tensor& x : in) results[fused].push_back(x.grad());
      }
      for (std::size_t i = 0; i < results[0].size(); ++i)
        check_close(results[1][i], results[0][i], double_build ? 1e-12 : 3e-5);
    }
}

// Of the first the forward keeps the weights, since they are few; of the second the backward recomputes them.
constexpr Sizes one_tile{3, 4, 4, 2, 8}, recomputed{3, 4, 2, 1, 3};

TEST_CASE("attention has the gradient of its numbers, the bias included, under every mask") {
  for (const Sizes& size : {one_tile, recomputed})
    for (const auto& mask : all_masks(size)) {
      INFO(mask.first);
      std::vector<Tensor> inputs = random_qkv(size);
      if (mask.second.mask.bias) inputs.push_back(mask.second.mask.bias);
      check_gradients(
          [&](const std::vector<Tensor>& in) {
            AttentionOptions options = mask.second;
            if (in.size() > 3) options.mask.bias = in[3];
            return attention(in[0], in[1], in[2], options);
          },
          inputs);
    }
}

TEST_CASE("attention adds to a gradient that is there") {
  for (const Sizes& size : {one_tile, recomputed})
    check_gradients(
        [&](const auto& in) {
          const AttentionOptions options{.heads = size.H, .kv_heads = size.kv_heads};
          return attention(in[0], in[1], in[2], options) * attention(in[0], in[1], in[2], options);
        },
        random_qkv(size));
}

TEST_CASE("one tensor may be query, key and value, or any two of them") {
  for (const Index channels : {4, 16}) {
    const AttentionOptions options{.heads = 2, .mask = {.causal = true}};
    const std::vector<Tensor> two{random_tensor({2, 3, channels}, 1), random_tensor({2, 3, channels}, 2)};
    check_gradients([&](const auto& in) { return attention(in[0], in[0], in[0], options); }, {two[0]});
    check_gradients([&](const auto& in) { return attention(in[0], in[1], in[1], options); }, two);
    check_gradients([&](const auto& in) { return attention(in[0], in[1], in[0], options); }, two);
    check_gradients([&](const auto& in) { return attention(in[0], in[0], in[1], options); }, two);
  }
}

TEST_CASE("a query that sees no key gets zeros and passes no gradient on, and no NaN is about") {
  for (const Sizes& size : {Sizes{3, 130, 2, 2, 2}, Sizes{3, 13, 2, 2, 8}}) {
    std::vector<Tensor> in = random_qkv(size);
    for (Tensor& x : in) x.requires_grad();
    const Tensor bias = zeros({size.T, size.S});
    std::fill_n(&bias(1, 0), size.S, -infinity);  // query 1 is blind by the bias
    const IntTensor lengths({2}, {int(size.S), 0});
    const Tensor out =
        attention(in[0], in[1], in[2], {.heads = 2, .mask = {.key_lengths = lengths, .bias = bias}});
    backward(out, random_tensor(out.shape(), 4));
    for (Index b = 0; b < 2; ++b)
      for (Index t = 0; t < 3; ++t)
        for (Index c = 0; c < 2 * size.D; ++c) {
          const bool blind = b == 1 || t == 1;
          CHECK((out(b, t, c) == 0) == blind);
          CHECK((in[0].grad()(b, t, c) == 0) == blind);
        }
    for (const Tensor& x : in)
      for (const real value : x.grad().values()) CHECK(std::isfinite(value));
    for (Index j = 0; j < size.S; ++j) CHECK(in[1].grad()(1, j, 0) == 0);
  }
}

TEST_CASE("a masked key gets no weight and no gradient, whatever stands there") {
  std::vector<Tensor> in = random_qkv({5, 9, 1, 1, 2});
  const AttentionOptions options{.mask = {.key_lengths = IntTensor({2}, {4, 9})}};
  const Tensor before = attention(in[0], in[1], in[2], options);
  for (Index j = 4; j < 9; ++j) in[1](0, j, 0) = 1e4, in[2](0, j, 1) = -1e4;
  for (Tensor& x : in) x.requires_grad();
  const Tensor out = attention(in[0], in[1], in[2], options);
  CHECK(same_bits(before, out));
  backward(out, ones(out.shape()));
  for (Index j = 4; j < 9; ++j) CHECK(in[2].grad()(0, j, 0) == 0);
}

TEST_CASE("keys and values with room for more give the same bits and gradients, whatever the room holds") {
  for (const Sizes& size : {Sizes{1, 7, 4, 2, 5}, Sizes{5, 7, 2, 2, 3}, Sizes{100, 150, 2, 1, 4}}) {
    const std::vector<Tensor> qkv = random_qkv(size);
    const Tensor room = full({size.B, 9, size.kv_heads * size.D}, std::numeric_limits<real>::quiet_NaN());
    for (const auto& mask : all_masks(size)) {
      INFO(mask.first);
      AttentionOptions options = mask.second;
      const auto gradients = [&](const std::vector<Tensor>& inputs) {
        std::vector<Tensor> results;
        for (const Tensor& x : inputs) results.push_back(x.detach().requires_grad());
        const Tensor out = attention(results[0], results[1], results[2], options);
        backward(sum(out * out));
        for (Tensor& x : results) x = slice(x.grad(), 1, 0, &x == &results[0] ? size.T : size.S);
        results.push_back(out.detach());
        return results;
      };
      const std::vector<Tensor> expected = gradients(qkv);
      options.keys = size.S;
      const std::vector<Tensor> found =
          gradients({qkv[0], concat({qkv[1], room}, 1), concat({qkv[2], room}, 1)});
      for (int i = 0; i < 4; ++i) CHECK(same_bits(found[i], expected[i]));
    }
  }
}

TEST_CASE("keys that no query asks for get a gradient of 0") {
  const Tensor k = random_tensor({2, 3, 16}, 1).requires_grad();
  full(k.shape(), 7);  // what the memory held before must not matter
  backward(sum(attention(zeros({2, 0, 16}).requires_grad(), k, k, {.heads = 2})));
  for (const real value : k.grad().values()) CHECK(value == 0);
}

TEST_CASE("scores of any size neither overflow nor vanish") {
  const Tensor q = tensor({{1, 0}, {-1, 0}}), k = tensor({{1000, 0}, {0, 0}, {-1000, 0}}),
               v = tensor({{1, 2}, {3, 4}, {5, 6}});
  const Tensor out = attention(reshape(q, {1, 2, 2}), reshape(k, {1, 3, 2}), reshape(v, {1, 3, 2}));
  check_close(out, reshape(tensor({{1, 2}, {5, 6}}), {1, 2, 2}));
}

// With the identity as values, what comes out are the weights themselves.
TEST_CASE("attention's dropout drops weights at its rate and scales the others, heads and calls apart") {
  const Index T = 70, S = 150;  // across tiles
  const real p = real(0.3);
  const Tensor q = random_tensor({1, T, 2 * S}, 1, -0.1, 0.1), k = random_tensor({1, S, 2 * S}, 2),
               v = zeros({1, S, 2 * S});
  for (Index j = 0; j < S; ++j) v(0, j, j) = v(0, j, S + j) = 1;
  Rng rng(11);
  const Tensor whole = attention(q, k, v, {.heads = 2});
  const Tensor dropped = attention(q, k, v, {.heads = 2, .dropout = p, .rng = &rng});
  const Tensor again = attention(q, k, v, {.heads = 2, .dropout = p, .rng = &rng});
  double zeros_seen = 0, heads_differ = 0, calls_differ = 0;
  for (Index t = 0; t < T; ++t)
    for (Index c = 0; c < 2 * S; ++c) {
      const double before = whole(0, t, c), after = dropped(0, t, c);
      if (after != 0) CHECK(after == doctest::Approx(before / (1 - p)).epsilon(1e-4));
      zeros_seen += after == 0;
      heads_differ += c < S && (after == 0) != (dropped(0, t, S + c) == 0);
      calls_differ += (after == 0) != (again(0, t, c) == 0);
    }
  const double n = double(2 * T * S), deviation = std::sqrt(p * (1 - p) / n);
  CHECK(std::fabs(zeros_seen / n - p) < 4 * deviation);
  // Two independent masks differ at 2 p (1-p) of the places.
  CHECK(std::fabs(heads_differ / (n / 2) - 0.42) < 0.02);
  CHECK(std::fabs(calls_differ / n - 0.42) < 0.02);
}

TEST_CASE("attention's backward has the dropout mask of its forward") {
  const auto dropping = [](const auto& in) {
    Rng rng(3);
    return attention(in[0], in[1], in[2],
                     {.heads = 2, .mask = {.causal = true}, .dropout = real(0.4), .rng = &rng});
  };
  check_gradients(dropping, random_qkv({3, 5, 2, 2, 2}));
  check_gradients(dropping, random_qkv({3, 5, 2, 2, 9}));
  check_gradients(dropping, random_qkv({2, 131, 2, 2, 1}));
}

TEST_CASE("attention has the same bits on 1, 2 and 4 threads, forward and backward, with dropout") {
  const std::pair<Sizes, int> cases[] = {{{65, 70, 4, 2, 8, 4}, 2},
                                         {{65, 70, 4, 2, 8, 4}, 3},
                                         {{12, 12, 4, 2, 8, 64}, 2},
                                         {{12, 12, 4, 2, 8, 64}, 3}};
  for (const auto& [size, bias_rank] : cases) {
    const Shape bias = bias_rank == 2 ? Shape{size.T, size.S} : Shape{size.H, size.T, size.S};
    std::vector<Tensor> first;
    for (const int count : {1, 2, 4}) {
      const Threads threads(count);
      std::vector<Tensor> in = random_qkv(size);
      in.push_back(random_tensor(bias, 4));
      for (Tensor& x : in) x.requires_grad();
      Rng rng(8);
      const Tensor out =
          attention(in[0], in[1], in[2],
                    {.heads = 4, .kv_heads = 2, .mask = {.bias = in[3]}, .dropout = real(0.1), .rng = &rng});
      backward(out, random_tensor(out.shape(), 5));
      std::vector<Tensor> results{out};
      for (const Tensor& x : in) results.push_back(x.grad());
      if (first.empty()) first = results;
      for (std::size_t i = 0; i < results.size(); ++i) CHECK(same_bits(results[i], first[i]));
    }
  }
}

TEST_CASE("attention's extra memory is below a tenth of that of the composed ops") {
  const Threads one(1);
  std::int64_t peak[2];
  for (const bool fused : {false, true}) {
    std::vector<Tensor> in = random_qkv({512, 512, 2, 2, 4, 1});
    for (Tensor& x : in) x.requires_grad();
    const std::int64_t before = pool_statistics().bytes_in_use;
    reset_pool_peak();
    const AttentionOptions options{.heads = 2, .kv_heads = 2};
    backward(sum(fused ? attention(in[0], in[1], in[2], options) : composed_attention(in, options)));
    peak[fused] = pool_statistics().peak_bytes - before;
  }
  CHECK(peak[1] * 10 < peak[0]);
}

TEST_CASE("attention refuses what does not fit, naming the shapes") {
  const Tensor q = zeros({2, 3, 4}), k = zeros({2, 5, 4});
  const auto refused = [](const std::string& message, const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttentionOptions& options) {
    CHECK_THROWS_WITH_AS(attention(q, k, v, options), doctest::Contains(message.c_str()), Error);
  };
  refused("q (2,3,4) k (2,5,4) v (2,4,4)", q, k, zeros({2, 4, 4}), {});
  refused("4 channels do not divide into 3 heads", q, k, k, {.heads = 3});
  refused("keys should have 1 heads of 2 channels", q, k, k, {.heads = 2, .kv_heads = 1});
  refused("key_lengths has shape (3)", q, k, k, {.mask = {.key_lengths = IntTensor({3}, {1, 1, 1})}});
  refused("key_lengths[1] is 6", q, k, k, {.mask = {.key_lengths = IntTensor({2}, {1, 6})}});
  refused("bias (3,4) does not fit", q, k, k, {.mask = {.bias = zeros({3, 4})}});
  refused("dropout of 1", q, k, k, {.dropout = 1});
  refused("needs a random generator", q, k, k, {.dropout = real(0.5)});
}

}  // namespace
}  // namespace attn
