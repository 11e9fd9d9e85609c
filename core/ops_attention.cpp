// Attention in one node, tile by tile.
//
// For each head, O = softmax(S) V with S = scale Q Kᵀ + bias, where Q (T, D), K and V (S, D) are slices of
// the inputs: a head is a pointer and a stride, and nothing is permuted. (Of a long sequence, what many tiles
// read is copied once: PackedKeys.) A tile of S is 96 queries by 128 keys and stays in a near cache; the full
// (T, S) matrix never exists.
//
// Note [Online softmax]: the softmax of a row needs its maximum and its sum, but the row arrives in tiles. So
// we keep, for each query, the maximum m and the sum l of exp(s - m) so far, and the output O computed with
// them. When a tile raises the maximum to m', everything so far was too large by exp(m' - m): l and O are
// multiplied by exp(m - m') before the tile's share is added. At the end O / l is exactly the weighted sum.
// (FlashAttention, Dao et al. 2022.)
//
// The backward has m and 1 / l of each query from the forward, so it recomputes the weights of a tile as
// P = exp(S - m) / l, and then
//   dV = Pᵀ dO,   dP = dO Vᵀ,   dS = P (dP - δ) with δ = Σ_d dO O,   dQ = scale dS K,   dK = scale dSᵀ Q.
// δ is what softmax's own Σ_j P_j dP_j comes to, because O = P V.
//
// Where all of a head is one tile, as in short sentences, its weights are few. The forward keeps them, and
// the backward has nothing to recompute.
#include "core/ops.hpp"

#include <algorithm>  // clamp, copy, fill, max, min
#include <cmath>      // sqrt

#include "core/error.hpp"
#include "core/gemm.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

constexpr Index query_tile = 96, key_tile = 128;

// The inputs, sizes and settings of one call, and who sees whom.
struct Attention {
  Tensor q, k, v;
  Index B = 0, T = 0, S = 0, room = 0, H, kv_heads, D = 0;  // k and v have `room` rows, S of them filled
  real scale;
  Mask mask;
  Index bias_batch_step = 0, bias_head_step = 0;  // 0 where batches or heads share the bias
  Dropout dropout;                                // of all weights, as if S were padded_S()

  Attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const AttentionOptions& options);

  Index tile_stride() const { return (std::min(S, key_tile) + 15) / 16 * 16; }
  // Whether a head is one tile, and its weights not more than twice as many as its queries' numbers.
  bool one_tile() const {
    return 0 < T && T <= query_tile && 0 < S && S <= key_tile && S == room && tile_stride() <= 2 * D;
  }
  Index padded_S() const { return (S + 15) / 16 * 16; }

  // The keys that query t of batch b sees: one range, whatever the mask. The last query is aligned
  // with the last key.
  Range visible(Index b, Index t) const {
    const Index position = t + S - T;
    Range keys{0, mask.key_lengths ? mask.key_lengths[b] : S};
    if (mask.causal) keys.end = std::min(keys.end, position + 1);
    if (mask.window > 0) {
      keys.begin = std::max(keys.begin, position - mask.window + 1);
      keys.end = std::min(keys.end, position + mask.window);
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

Attention::Attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                     const AttentionOptions& options)
    : q(queries),
      k(keys),
      v(values),
      H(options.heads),
      kv_heads(options.kv_heads ? options.kv_heads : H),
      mask(options.mask) {
  const auto shapes = [&] {
    return fmt::format("q {} k {} v {}", q.shape().str(), k.shape().str(), v.shape().str());
  };
  if (q.rank() != 3 || k.rank() != 3 || !(k.shape() == v.shape()) || q.shape()[0] != k.shape()[0])
    fail("attention: {}: expected (B,T,C), (B,S,C) and (B,S,C)", shapes());
  if (H < 1 || kv_heads < 1 || q.shape()[2] % H || H % kv_heads)
    fail("attention: {}: {} channels do not divide into {} heads, or those into {} groups", shapes(),
         q.shape()[2], H, kv_heads);
  B = q.shape()[0], T = q.shape()[1], room = k.shape()[1], D = q.shape()[2] / H;
  S = options.keys ? options.keys : room;
  if (S < 0 || S > room) fail("attention: {}: the first {} keys are asked for", shapes(), S);
  if (k.shape()[2] != kv_heads * D)
    fail("attention: {}: keys should have {} heads of {} channels", shapes(), kv_heads, D);
  scale = options.scale != 0 ? options.scale : 1 / std::sqrt(real(D));
  if (!(scale == scale)) fail("attention: the scale is NaN");
  if (mask.window < 0) fail("attention: a window of {}; it is a number of keys, or 0 for all", mask.window);
  if (IntTensor& key_lengths = mask.key_lengths) {
    key_lengths = key_lengths.copy();  // the backward needs them as they are now
    if (!(key_lengths.shape() == Shape{B}))
      fail("attention: key_lengths has shape {}, not ({})", key_lengths.shape().str(), B);
    for (Index b = 0; b < B; ++b)
      if (key_lengths[b] < 0 || key_lengths[b] > S)
        fail("attention: key_lengths[{}] is {}, but there are {} keys", b, key_lengths[b], S);
  }
  if (const Tensor& bias = mask.bias) {
    const Index rank = bias.rank();
    const Index heads = rank >= 3 ? bias.shape()[-3] : 1, batches = rank >= 4 ? bias.shape()[-4] : 1;
    if (rank < 2 || rank > 4 || bias.shape()[-1] != S || bias.shape()[-2] != T ||
        (heads != 1 && heads != H) || (batches != 1 && batches != B))
      fail("attention: bias {} does not fit (B,H,T,S) = ({},{},{},{})", bias.shape().str(), B, H, T, S);
    bias_head_step = heads > 1 ? T * S : 0;
    bias_batch_step = batches > 1 ? heads * T * S : 0;
  }
  if (const real p = options.dropout; p != 0) {
    if (!(p > 0 && p < 1)) fail("attention: a dropout of {} is not a probability below 1", p);
    if (!options.rng) fail("attention: dropout needs a random generator");
    dropout = draw_dropout(p, B * H * T * padded_S(), *options.rng);
  }
}

// One tile: some queries and some keys of head h in batch b.
struct Tile {
  const Attention& call;
  Index b, h;
  Range queries, keys = {0, 0};

  Index rows() const { return queries.end - queries.begin; }
  Index columns() const { return keys.end - keys.begin; }
  Index first_row() const { return (b * call.H + h) * call.T + queries.begin; }  // among those of all heads
  bool first_of_group() const { return h % (call.H / call.kv_heads) == 0; }  // of heads that share their keys
  Index bias_offset(Index t) const {
    return b * call.bias_batch_step + h * call.bias_head_step + t * call.S + keys.begin;
  }

  // The queries' rows of q, the output or a gradient, and the keys' rows of k, v or a gradient: (…, D).
  template <class Number>
  MatrixOf<Number> of_queries(Number* x) const {
    return {x + ((b * call.T + queries.begin) * call.H + h) * call.D, rows(), call.D, call.H * call.D};
  }
  template <class Number>
  MatrixOf<Number> of_keys(Number* x) const {
    const Index kv_head = h / (call.H / call.kv_heads);
    return {x + ((b * call.room + keys.begin) * call.kv_heads + kv_head) * call.D, columns(), call.D,
            call.kv_heads * call.D};
  }
  // The same, side by side in a buffer if there are several tiles of keys: rows of other heads between them
  // would compete for the same lines of the first-level cache.
  ConstMatrix of_queries(const real* x, real* buffer) const {
    const ConstMatrix from = of_queries(x);
    if (call.S <= key_tile) return from;
    for (Index r = 0; r < from.rows; ++r)
      std::copy(from.at(r, 0), from.at(r, from.cols), buffer + r * from.cols);
    return {buffer, from.rows, from.cols};
  }
  // A matrix (rows, columns) in a buffer; up to the stride, its rows are padding.
  Matrix in(real* buffer) const { return {buffer, rows(), columns(), call.tile_stride()}; }

  // scale Q Kᵀ + bias
  Matrix scores(const ConstMatrix& Q, const PackedMatrix& Kt, real* buffer) const {
    const Matrix S = in(buffer);
    gemm(Q, Kt, S, {.alpha = call.scale});
    for (Index r = 0; call.mask.bias && r < S.rows; ++r)
      kernels().add(S.cols, S.at(r, 0), call.mask.bias.data() + bias_offset(queries.begin + r), S.at(r, 0));
    return S;
  }
  // For the kernels, with what each query sees of these keys.
  ScoreTile seen(const Matrix& matrix, Range* ranges) const {
    for (Index r = 0; r < matrix.rows; ++r) {
      const Range all = call.visible(b, queries.begin + r);
      const Index begin = std::clamp<Index>(all.begin - keys.begin, 0, matrix.cols);
      ranges[r] = {begin, std::clamp<Index>(all.end - keys.begin, begin, matrix.cols)};
    }
    return {matrix.rows, matrix.cols, matrix.stride, matrix.data, ranges};
  }

  // What dropout leaves of the weights: in `buffer`, or the weights themselves if there is no dropout.
  Matrix drop(const Matrix& weights, real* buffer) const {
    if (call.dropout.threshold == 0) return weights;
    const Matrix used = in(buffer);
    const auto apply = [&](Index n, Index row, Index position) {
      kernels().dropout(n, call.dropout.from(position), weights.at(row, 0), used.at(row, 0));
    };
    const Index stride = used.stride, padded = call.padded_S(), first = first_row() * padded + keys.begin;
    if (stride == padded)
      apply(used.rows * stride, 0, first);
    else
      for (Index r = 0; r < used.rows; ++r) apply(stride, r, first + r * padded);
    return used;
  }

  // Calls body(tile) for the tiles of these queries, with all the keys that they see.
  template <class Body>
  void for_each_key_tile(const Body& body) const {
    const Range all = call.one_tile() ? Range{0, call.S} : call.visible(b, queries);
    for (Index begin = all.begin / key_tile * key_tile; begin < all.end; begin += key_tile)
      body(Tile{call, b, h, queries, {begin, std::min(begin + key_tile, call.S)}});
  }
};

// The keys or values of a head, or their transposes, as right-hand sides of products. Where several tiles of
// queries meet them, each tile of keys is packed once, into memory of `size`.
struct PackedKeys {
  const real* x;
  bool transposed;
  Index slot;  // the elements of a packed tile; 0 if nothing is packed
  real* memory;

  static Index slot_of(const Attention& call) {
    if (call.T <= query_tile) return 0;
    return std::max(packed_size(call.D, key_tile), packed_size(key_tile, call.D));
  }
  static Index size(const Attention& call) { return (call.S + key_tile - 1) / key_tile * slot_of(call); }

  PackedKeys(const Tile& head, const real* data, bool as_transposed, real* buffer)
      : x(data), transposed(as_transposed), slot(slot_of(head.call)), memory(buffer) {
    if (slot > 0) head.for_each_key_tile([&](const Tile& tile) { pack(matrix(tile), copy(tile)); });
  }
  PackedMatrix operator[](const Tile& tile) const { return {matrix(tile), slot > 0 ? copy(tile) : nullptr}; }
  ConstMatrix matrix(const Tile& tile) const { return transposed ? tile.of_keys(x).T() : tile.of_keys(x); }
  real* copy(const Tile& tile) const { return memory + tile.keys.begin / key_tile * slot; }
};

// Less work than about 100,000 multiplications is not worth a thread.
Index unit_grain(const Attention& call, Index units) {
  const Index work = call.B * call.H * call.T * call.S * call.D / std::max<Index>(1, units);
  return 1 + 100000 / (work + 1);
}

// What the forward leaves for the backward: of every query m and 1 / l, which are 0 and 0 for one that sees
// no key (Note [Online softmax]); or the weights, if a head is one tile.
struct Kept {
  Tensor max, scale, weights;

  explicit Kept(const Attention& call) {
    if (call.one_tile()) {
      weights = empty({call.B * call.H * call.T, call.tile_stride()});
    } else {
      max = empty({call.B * call.H * call.T});
      scale = empty(max.shape());
    }
  }
  real* weights_of(const Tile& tile) const {
    return weights ? weights.data() + tile.first_row() * tile.call.tile_stride() : nullptr;
  }
};

void attend(const Attention& call, Index b, Index h, real* out, const Kept& kept) {
  const Index size = query_tile * call.tile_stride(), keys_size = PackedKeys::size(call);
  Scratch<real> buffers(size + query_tile * call.D + 2 * keys_size);
  real *q_copy = buffers.data() + size, *keys = q_copy + query_tile * call.D;
  const Tile head{call, b, h, {0, call.T}};
  const PackedKeys Kt(head, call.k.data(), true, keys), V(head, call.v.data(), false, keys + keys_size);
  real max[query_tile], sum[query_tile], rescale[query_tile], scale[query_tile];
  Range seen[query_tile];
  const auto invert_sums = [&](Index rows) {
    for (Index r = 0; r < rows; ++r) scale[r] = sum[r] == 0 ? 0 : 1 / sum[r];
  };
  for (Index begin = 0; begin < call.T; begin += query_tile) {
    const Tile rows{call, b, h, {begin, std::min(begin + query_tile, call.T)}};
    const Matrix O = rows.of_queries(out);
    const ConstMatrix Q = rows.of_queries(call.q.data(), q_copy);
    real* const weights = kept.weights_of(rows);
    bool first = true;
    rows.for_each_key_tile([&](const Tile& tile) {
      const Matrix P = tile.scores(Q, Kt[tile], weights ? weights : buffers.data());
      kernels().online_softmax(tile.seen(P, seen), first, {max, sum, rescale});
      if (weights) {
        invert_sums(P.rows);
        kernels().scale_rows(P.rows, P.cols, scale, P.data, P.stride);
      }
      const Matrix used = tile.drop(P, buffers.data());
      if (!first) kernels().scale_rows(O.rows, O.cols, rescale, O.data, O.stride);
      gemm(used, V[tile], O, {.accumulate = !first});  // O += P V
      first = false;
    });
    if (first) std::fill(sum, sum + O.rows, real{0});
    for (Index r = 0; r < O.rows; ++r)
      if (sum[r] == 0) std::fill(O.at(r, 0), O.at(r, O.cols), real{0});  // this query sees no key
    if (weights) continue;
    invert_sums(O.rows);
    kernels().scale_rows(O.rows, O.cols, scale, O.data, O.stride);
    std::copy(scale, scale + O.rows, kept.scale.data() + rows.first_row());
    for (Index r = 0; r < O.rows; ++r) kept.max.data()[rows.first_row() + r] = sum[r] == 0 ? 0 : max[r];
  }
}

// What the forward made, and the gradients: null where none is wanted.
struct Result {
  const real *out, *d_out;
  const Kept& kept;
};
struct Gradients {
  GradTarget v, q, k,
      bias;  // in the order in which they are written: one tensor may be all of the first three
};

void attend_backward(const Attention& call, Index b, Index h, const Result& result,
                     const Gradients& gradients) {
  const Index size = query_tile * call.tile_stride(), keys_size = PackedKeys::size(call);
  Scratch<real> buffers(3 * size + 2 * query_tile * call.D + 3 * keys_size);
  real *q_copy = buffers.data() + 3 * size, *d_out_copy = q_copy + query_tile * call.D,
       *keys = d_out_copy + query_tile * call.D;
  const Tile head{call, b, h, {0, call.T}};
  const PackedKeys K(head, call.k.data(), false, keys), Kt(head, call.k.data(), true, keys + keys_size),
      Vt(head, call.v.data(), true, keys + 2 * keys_size);
  real delta[query_tile];
  Range seen[query_tile];
  for (Index begin = 0; begin < call.T; begin += query_tile) {
    const Tile rows{call, b, h, {begin, std::min(begin + query_tile, call.T)}};
    const ConstMatrix O = rows.of_queries(result.out), Q = rows.of_queries(call.q.data(), q_copy),
                      dO = rows.of_queries(result.d_out, d_out_copy);
    real* const weights = result.kept.weights_of(rows);
    if (!weights) kernels().dot_rows(O.rows, O.cols, {O.data, O.stride}, {dO.data, dO.stride}, delta);
    rows.for_each_key_tile([&](const Tile& tile) {
      const Matrix P = weights ? tile.in(weights) : tile.scores(Q, Kt[tile], buffers.data());
      if (!weights)
        kernels().recompute_weights(tile.seen(P, seen), result.kept.max.data() + tile.first_row(),
                                    result.kept.scale.data() + tile.first_row());
      const Matrix dS = tile.in(buffers.data() + size), used = tile.drop(P, dS.data + size);
      const bool shared = !tile.first_of_group();
      if (const GradTarget dv = gradients.v; dv.data)  // dV = Pᵀ dO
        gemm(used.T(), dO, tile.of_keys(dv.data), {.accumulate = dv.accumulate || shared});
      if (!gradients.q.data && !gradients.k.data && !gradients.bias.data) return;
      gemm(dO, Vt[tile], dS);  // dP, which becomes dS = P (dP - δ), with dropout on dP
      if (weights)
        kernels().dot_rows(dS.rows, dS.cols, {used.data, used.stride}, {dS.data, dS.stride}, delta);
      kernels().scores_backward({dS.rows, dS.cols, dS.stride, dS.data, nullptr},
                                {P.data, used.data, call.dropout.scale}, delta);
      if (const GradTarget dq = gradients.q; dq.data)  // dQ = scale dS K
        gemm(dS, K[tile], tile.of_queries(dq.data), {.accumulate = dq.accumulate, .alpha = call.scale});
      if (const GradTarget dk = gradients.k; dk.data)  // dK = scale dSᵀ Q
        gemm(dS.T(), Q, tile.of_keys(dk.data), {.accumulate = dk.accumulate || shared, .alpha = call.scale});
      for (Index r = 0; gradients.bias.data && r < dS.rows; ++r) {
        real* to = gradients.bias.data + tile.bias_offset(tile.queries.begin + r);
        kernels().add(dS.cols, to, dS.at(r, 0), to);
      }
    });
  }
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const Attention call(q, k, v, options);
  const Kept kept(call);
  const Tensor out = empty(q.shape());
  const Index units = call.B * call.H;
  parallel_for(units, unit_grain(call, units), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) attend(call, i / call.H, i % call.H, out.data(), kept);
  });

  return record(out, "attention", {q, k, v, call.mask.bias}, [call, kept](const Tensor& out) {
    const Result result{out.data(), grad_data(out), kept};
    // One tile writes each gradient, which may already be there; several tiles add to it.
    const auto wanted = [](const Tensor& x, bool once) -> GradTarget {
      if (!x || !x.needs_grad()) return {nullptr, false};
      return once ? grad_target(x) : GradTarget{zeroed_grad(x), true};
    };
    const bool once = call.one_tile();
    const Gradients gradients{wanted(call.v, once), wanted(call.q, once), wanted(call.k, once),
                              wanted(call.mask.bias, false)};
    // A unit owns every number it adds to: heads that share keys, and those that share a bias, stay together.
    const bool shared_batch = gradients.bias.data && call.bias_batch_step == 0;
    const bool shared_heads = gradients.bias.data && call.bias_head_step == 0;
    const Index batches = shared_batch ? call.B : 1, groups = shared_heads ? call.kv_heads : 1;
    const Index heads = groups * (call.H / call.kv_heads);
    const Index across = call.H / heads, units = call.B / std::max<Index>(1, batches) * across;
    parallel_for(units, unit_grain(call, units), [&](Index begin, Index end) {
      for (Index unit = begin; unit < end; ++unit)
        for (Index b = unit / across * batches; b < (unit / across + 1) * batches; ++b)
          for (Index h = unit % across * heads; h < (unit % across + 1) * heads; ++h)
            attend_backward(call, b, h, result, gradients);
    });
  });
}

}  // namespace attn
