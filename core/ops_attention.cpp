// Attention in one node, tile by tile.
//
// For each head, O = softmax(S) V with S = scale Q Kᵀ + bias, where Q (T, D), K and V (S, D) are slices of
// the inputs: a head is a pointer and a stride, nothing is permuted or copied. A tile of S is 96 queries by
// 128 keys and stays in the first-level cache; the full (T, S) matrix never exists.
//
// Note [Online softmax]: the softmax of a row needs its maximum and its sum, but the row arrives in tiles. So
// we keep, for each query, the maximum m and the sum l of exp(s - m) so far, and the output O computed with
// them. When a tile raises the maximum to m', everything so far was too large by exp(m' - m): l and O are
// multiplied by exp(m - m') before the tile's share is added. At the end O / l is exactly the
// softmax-weighted sum.
//
// The backward has m + log l (one number a query) from the forward, so it gets the weights of a tile again
// as P = exp(S - m - log l), and then
//   dV = Pᵀ dO,   dP = dO Vᵀ,   dS = P (dP - δ) with δ = Σ_d dO O,   dQ = scale dS K,   dK = scale dSᵀ Q.
// δ is what softmax's own Σ_j P_j dP_j comes to, because O = P V.
#include <algorithm>  // fill, max, min
#include <cmath>      // log, sqrt

#include "core/error.hpp"
#include "core/gemm.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"
#include "core/ops.hpp"

namespace attn {
namespace {

constexpr Index query_tile = 96, key_tile = 128;
constexpr real infinity = std::numeric_limits<real>::infinity();

struct Range {
  Index begin, end;
};

// The sizes and settings of one call, and who sees whom.
struct Geometry {
  Index B, T, S, H, kv_heads, D;
  real scale;
  bool causal;
  Index window;
  IntTensor key_lengths;
  Tensor bias;
  Index bias_batch_step = 0, bias_head_step = 0;
  double dropout;
  std::uint64_t key = 0, counter = 0;

  Geometry(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options);

  Index q_stride() const { return H * D; }
  Index kv_stride() const { return kv_heads * D; }
  Index tile_stride() const { return (std::min(S, key_tile) + 15) / 16 * 16; }
  Index padded_S() const { return (S + 15) / 16 * 16; }

  // The keys that query t of batch b sees: one range, whatever the mask. The last query stands beside the
  // last key.
  Range visible(Index b, Index t) const {
    const Index position = t + S - T;
    Range keys{0, key_lengths.numel() ? key_lengths[b] : S};
    if (causal) keys.end = std::min(keys.end, position + 1);
    if (window > 0) {
      keys.begin = std::max(keys.begin, position - window + 1);
      keys.end = std::min(keys.end, position + window);
    }
    keys.end = std::max(keys.begin, keys.end);
    return keys;
  }

  // The keys that any of the queries [begin, end) sees.
  Range visible(Index b, Range queries) const {
    Range all{S, 0};
    for (Index t = queries.begin; t < queries.end; ++t) {
      const Range keys = visible(b, t);
      if (keys.begin == keys.end) continue;
      all = {std::min(all.begin, keys.begin), std::max(all.end, keys.end)};
    }
    return all;
  }
};

Geometry::Geometry(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const auto shapes = [&] {
    return fmt::format("q {} k {} v {}", q.shape().str(), k.shape().str(), v.shape().str());
  };
  if (q.rank() != 3 || k.rank() != 3 || !(k.shape() == v.shape()) || q.shape()[0] != k.shape()[0])
    fail("attention: {}: expected (B,T,C), (B,S,C) and (B,S,C)", shapes());
  B = q.shape()[0], T = q.shape()[1], S = k.shape()[1], H = options.heads;
  kv_heads = options.kv_heads ? options.kv_heads : H;
  if (H < 1 || kv_heads < 1 || q.shape()[2] % H || H % kv_heads)
    fail("attention: {}: {} channels do not divide into {} heads, or those into {} groups", shapes(),
         q.shape()[2], H, kv_heads);
  D = q.shape()[2] / H;
  if (k.shape()[2] != kv_heads * D)
    fail("attention: {}: keys should have {} heads of {} channels", shapes(), kv_heads, D);
  scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<real>(D));
  causal = options.mask.causal, window = options.mask.window;
  key_lengths = options.mask.key_lengths, bias = options.mask.bias;
  if (key_lengths.numel() && !(key_lengths.shape() == Shape{B}))
    fail("attention: key_lengths has shape {}, not ({})", key_lengths.shape().str(), B);
  for (Index b = 0; b < key_lengths.numel(); ++b)
    if (key_lengths[b] < 0 || key_lengths[b] > S)
      fail("attention: key_lengths[{}] is {}, but there are {} keys", b, key_lengths[b], S);
  if (bias) {
    const Index rank = bias.rank();
    const Index heads = rank >= 3 ? bias.shape()[-3] : 1, batches = rank >= 4 ? bias.shape()[-4] : 1;
    if (rank < 2 || rank > 4 || bias.shape()[-1] != S || bias.shape()[-2] != T ||
        (heads != 1 && heads != H) || (batches != 1 && batches != B))
      fail("attention: bias {} does not fit (B,H,T,S) = ({},{},{},{})", bias.shape().str(), B, H, T, S);
    bias_head_step = heads > 1 ? T * S : 0;
    bias_batch_step = batches > 1 ? heads * T * S : 0;
  }
  dropout = options.dropout;
  if (!(dropout >= 0 && dropout < 1))
    fail("attention: a dropout of {} is not a probability below 1", dropout);
  if (dropout > 0) {
    if (!options.rng) fail("attention: dropout needs a random generator");
    key = options.rng->key;
    counter = options.rng->reserve(B * H * T * padded_S());
  }
}

// The work on one tile: queries x keys of head h in batch b, in a buffer of the thread's.
struct Tile {
  const Geometry& geometry;
  Index b, h;
  Range queries, keys;

  Index rows() const { return queries.end - queries.begin; }
  Index columns() const { return keys.end - keys.begin; }
  Index stride() const { return geometry.tile_stride(); }

  // Where this tile's rows start in q (and the output), and in k and v.
  Index q_offset() const { return ((b * geometry.T + queries.begin) * geometry.H + h) * geometry.D; }
  Index kv_offset() const {
    const Index kv_head = h / (geometry.H / geometry.kv_heads);
    return ((b * geometry.S + keys.begin) * geometry.kv_heads + kv_head) * geometry.D;
  }
  Index row_offset() const { return (b * geometry.H + h) * geometry.T + queries.begin; }

  // out (rows, stride) = alpha X Yᵀ, X the queries' rows and Y the keys'.
  void product(const real* x, const real* y, real alpha, real* out) const {
    Gemm shape;
    shape.m = rows(), shape.n = columns(), shape.k = geometry.D, shape.alpha = alpha;
    shape.lda = geometry.q_stride(), shape.ldb = geometry.kv_stride(), shape.ldc = stride();
    shape.transpose_b = true;
    gemm_serial(shape, x + q_offset(), y + kv_offset(), out);
  }

  // The queries' rows of `out` (+)= alpha M Y, M (rows, stride).
  void add_to_queries(const real* m, const real* y, real alpha, real* out, bool accumulate) const {
    Gemm shape;
    shape.m = rows(), shape.n = geometry.D, shape.k = columns(), shape.alpha = alpha,
    shape.accumulate = accumulate;
    shape.lda = stride(), shape.ldb = geometry.kv_stride(), shape.ldc = geometry.q_stride();
    gemm_serial(shape, m, y + kv_offset(), out + q_offset());
  }

  // The keys' rows of `out` += alpha Mᵀ X.
  void add_to_keys(const real* m, const real* x, real alpha, real* out) const {
    Gemm shape;
    shape.m = columns(), shape.n = geometry.D, shape.k = rows(), shape.alpha = alpha, shape.accumulate = true;
    shape.lda = stride(), shape.ldb = geometry.q_stride(), shape.ldc = geometry.kv_stride();
    shape.transpose_a = true;
    gemm_serial(shape, m, x + q_offset(), out + kv_offset());
  }

  Index bias_offset(Index t) const {
    return b * geometry.bias_batch_step + h * geometry.bias_head_step + t * geometry.S + keys.begin;
  }

  void scores(const real* q, const real* k, real* out) const {
    product(q, k, geometry.scale, out);
    for (Index r = 0; r < rows(); ++r) {
      real* row = out + r * stride();
      const Index t = queries.begin + r;
      if (geometry.bias) kernels().add(columns(), row, geometry.bias.data() + bias_offset(t), row);
      const Range seen = geometry.visible(b, t);
      const Index begin = std::clamp<Index>(seen.begin - keys.begin, 0, columns());
      const Index end = std::clamp<Index>(seen.end - keys.begin, begin, columns());
      std::fill(row, row + begin, -infinity);
      std::fill(row + end, row + stride(), -infinity);  // the padding, too
    }
  }

  void drop(real* weights) const {
    if (geometry.dropout == 0) return;
    const auto apply = [&](Index n, real* at, Index position) {
      kernels().dropout(n, at, at, static_cast<std::uint32_t>(geometry.dropout * 0x1p32),
                        static_cast<real>(1 / (1 - geometry.dropout)), geometry.key,
                        geometry.counter + static_cast<std::uint64_t>(position), false);
    };
    const Index first = row_offset() * geometry.padded_S() + keys.begin;
    if (stride() == geometry.padded_S()) return apply(rows() * stride(), weights, first);
    for (Index r = 0; r < rows(); ++r)
      apply(stride(), weights + r * stride(), first + r * geometry.padded_S());
  }
};

template <class Body>
void for_each_tile(const Geometry& geometry, Index b, Index h, Range queries, const Body& body) {
  const Range keys = geometry.visible(b, queries);
  for (Index begin = keys.begin / key_tile * key_tile; begin < keys.end; begin += key_tile)
    body(Tile{geometry, b, h, queries, {begin, std::min(begin + key_tile, geometry.S)}});
}

// Work for one thread costs about so many multiplications; less is not worth sharing.
Index unit_grain(const Geometry& geometry, Index units) {
  const Index work =
      geometry.B * geometry.H * geometry.T * geometry.S * geometry.D / std::max<Index>(1, units);
  return 1 + 100000 / (work + 1);
}

void attend(const Geometry& geometry, const real* q, const real* k, const real* v, Index b, Index h,
            real* out, real* log_sum_exp) {
  Scratch<real> scores(query_tile * geometry.tile_stride());
  real max[query_tile], sum[query_tile], rescale[query_tile];
  for (Index begin = 0; begin < geometry.T; begin += query_tile) {
    const Range queries{begin, std::min(begin + query_tile, geometry.T)};
    const Tile whole{geometry, b, h, queries, {0, 0}};
    const Index rows = whole.rows(), stride = geometry.q_stride();
    real* o = out + whole.q_offset();
    std::fill(max, max + rows, -infinity);
    std::fill(sum, sum + rows, real{0});
    bool first = true;
    for_each_tile(geometry, b, h, queries, [&](const Tile& tile) {
      tile.scores(q, k, scores.data());
      kernels().online_softmax(rows, tile.stride(), scores.data(), max, sum, rescale);
      tile.drop(scores.data());
      if (!first)
        for (Index r = 0; r < rows; ++r)
          kernels().scale(geometry.D, rescale[r], o + r * stride, o + r * stride);
      tile.add_to_queries(scores.data(), v, 1, out, !first);
      first = false;
    });
    for (Index r = 0; r < rows; ++r) {
      real* row = o + r * stride;
      const bool blind = sum[r] == 0;  // this query sees no key
      if (blind)
        std::fill(row, row + geometry.D, real{0});
      else
        kernels().scale(geometry.D, 1 / sum[r], row, row);
      // For a blind query the backward's exp(score - inf) is then 0, as it should be.
      log_sum_exp[whole.row_offset() + r] = blind ? infinity : max[r] + std::log(sum[r]);
    }
  }
}

struct Gradients {
  real *q, *k, *v, *bias;  // null where none is wanted
};

void attend_backward(const Geometry& geometry, const real* q, const real* k, const real* v, Index b, Index h,
                     const real* out, const real* d_out, const real* log_sum_exp,
                     const Gradients& gradients) {
  const Index size = query_tile * geometry.tile_stride();
  Scratch<real> buffers(3 * size);
  real *weights = buffers.data(), *d_scores = weights + size, *dropped = d_scores + size, delta[query_tile];
  for (Index begin = 0; begin < geometry.T; begin += query_tile) {
    const Range queries{begin, std::min(begin + query_tile, geometry.T)};
    const Tile whole{geometry, b, h, queries, {0, 0}};
    for (Index r = 0; r < whole.rows(); ++r) {
      const Index row = whole.q_offset() + r * geometry.q_stride();
      delta[r] = kernels().dot(geometry.D, out + row, d_out + row);
    }
    for_each_tile(geometry, b, h, queries, [&](const Tile& tile) {
      const Index rows = tile.rows(), stride = tile.stride();
      tile.scores(q, k, weights);
      kernels().weights_again(rows, stride, weights, log_sum_exp + tile.row_offset());
      if (gradients.v) {
        const real* used = weights;
        if (geometry.dropout > 0) {
          std::copy(weights, weights + rows * stride, dropped);
          tile.drop(dropped);
          used = dropped;
        }
        tile.add_to_keys(used, d_out, 1, gradients.v);
      }
      if (!gradients.q && !gradients.k && !gradients.bias) return;
      tile.product(d_out, v, 1, d_scores);
      for (Index r = 0; r < rows; ++r)  // the padding holds old numbers, and 0 times NaN is NaN
        std::fill(d_scores + r * stride + tile.columns(), d_scores + (r + 1) * stride, real{0});
      tile.drop(d_scores);
      kernels().scores_backward(rows, stride, weights, d_scores, delta);
      if (gradients.q) tile.add_to_queries(d_scores, k, geometry.scale, gradients.q, true);
      if (gradients.k) tile.add_to_keys(d_scores, q, geometry.scale, gradients.k);
      if (gradients.bias)
        for (Index r = 0; r < rows; ++r) {
          real* to = gradients.bias + tile.bias_offset(queries.begin + r);
          kernels().add(tile.columns(), to, d_scores + r * stride, to);
        }
    });
  }
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const Geometry geometry(q, k, v, options);
  const Tensor out = empty(q.shape()), log_sum_exp = empty({geometry.B, geometry.H, geometry.T});
  const Index units = geometry.B * geometry.H;
  parallel_for(units, unit_grain(geometry, units), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      attend(geometry, q.data(), k.data(), v.data(), i / geometry.H, i % geometry.H, out.data(),
             log_sum_exp.data());
  });

  return record(
      out, "attention", {q, k, v, geometry.bias}, [q, k, v, geometry, log_sum_exp](const Tensor& out) {
        const Gradients gradients{zeroed_grad(q), zeroed_grad(k), zeroed_grad(v), zeroed_grad(geometry.bias)};
        // A unit owns every number it adds to: heads that share keys, and those that share a bias, stay
        // together.
        const bool shared_batch = gradients.bias && geometry.bias_batch_step == 0;
        const bool shared_heads = gradients.bias && geometry.bias_head_step == 0;
        const Index batches = shared_batch ? geometry.B : 1, groups = shared_heads ? geometry.kv_heads : 1;
        const Index heads = groups * (geometry.H / geometry.kv_heads);
        const Index across = geometry.H / heads, units = geometry.B / std::max<Index>(1, batches) * across;
        parallel_for(units, unit_grain(geometry, units), [&](Index begin, Index end) {
          for (Index unit = begin; unit < end; ++unit)
            for (Index b = unit / across * batches; b < (unit / across + 1) * batches; ++b)
              for (Index h = unit % across * heads; h < (unit % across + 1) * heads; ++h)
                attend_backward(geometry, q.data(), k.data(), v.data(), b, h, out.data(), grad_data(out),
                                log_sum_exp.data(), gradients);
        });
      });
}

}  // namespace attn
