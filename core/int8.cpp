#include "core/int8.hpp"

#include <algorithm>  // max, min
#include <cmath>      // fabs, isfinite

#include "core/error.hpp"
#include "core/gemm.hpp"
#include "core/kernels/gemm_kernels.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

void dequantise_row(const Int8Matrix& weight, Index row, real* out) {
  const std::int8_t* q = weight.values.get() + row * weight.cols;
  const real scale = weight.scales.data()[row];
  for (Index j = 0; j < weight.cols; ++j) out[j] = scale * real(q[j]);
}

}  // namespace

Int8Matrix quantise(const Tensor& weight) {
  if (weight.rank() != 2) fail("quantise: the weight has shape {}, not (rows,cols)", weight.shape().str());
  const Index rows = weight.size(0), cols = weight.size(1);
  const auto bytes = std::size_t(rows * cols);
  const std::shared_ptr<std::int8_t[]> values(static_cast<std::int8_t*>(pool_allocate(bytes)),
                                              [bytes](std::int8_t* block) { pool_release(block, bytes); });
  const Tensor scales = empty({rows});
  for (Index i = 0; i < rows; ++i) {
    const real* w = weight.data() + i * cols;
    real largest = 0;
    for (Index j = 0; j < cols; ++j) {
      if (!std::isfinite(w[j])) fail("quantise: element ({},{}) of the weight is {}", i, j, w[j]);
      largest = std::max(largest, std::fabs(w[j]));
    }
    const bool zero = largest < real(1e-30);  // or so small that 127 / largest might overflow
    const real scale = zero ? 0 : largest / 127, inverse = zero ? 0 : 127 / largest;
    scales.data()[i] = scale;
    for (Index j = 0; j < cols; ++j) {
      const real q = w[j] * inverse;
      values[i * cols + j] = std::int8_t(q + (q < 0 ? real(-0.5) : real(0.5)));  // to the nearest
    }
  }
  return {rows, cols, values, scales};
}

Tensor dequantise(const Int8Matrix& quantised) {
  const Tensor out = empty({quantised.rows, quantised.cols});
  for (Index i = 0; i < quantised.rows; ++i) dequantise_row(quantised, i, out.data() + i * quantised.cols);
  return out;
}

Tensor linear(const Tensor& x, const Int8Matrix& weight, const Tensor& bias, Activation activation) {
  const Index out = weight.rows, in = weight.cols;
  if (x.rank() == 0 || x.size(-1) != in)
    fail("linear: x {} does not fit the int8 weight ({},{}), which is (out,in)", x.shape().str(), out, in);
  if (bias && !(bias.shape() == Shape{out}))
    fail("linear: the bias {} does not fit the int8 weight ({},{})", bias.shape().str(), out, in);
  if (grad_enabled() && (x.needs_grad() || (bias && bias.needs_grad())))
    fail("linear: an int8 weight has no gradient: it is for inference, under a NoGrad");
  const Index rows = x.shape().with(-1, 1).numel();
  const Tensor y = empty(x.shape().with(-1, out));
  const real* const biases = bias ? bias.data() : nullptr;

  const ConstMatrix X{x.data(), rows, in};
  const auto finish = [&](Index begin, Index end) {
    if (activation == Activation::none) return;
    for (real* row = y.data() + begin; row < y.data() + rows * out; row += out)
      kernels().activate(activation, end - begin, row, row);
  };

  // Few rows of x read the bytes as they are. For many it pays to turn a block of the weight back into reals
  // and multiply those. Each column of y is a sum of its own: any split among threads gives the same bits.
  constexpr Index few = 8, block = 64, shared_reads = 200'000;
  if (rows <= few) {
    const Index parts = out * in > shared_reads ? thread_count() : 1;
    parallel_for(out, (out + parts - 1) / parts, [&](Index begin, Index end) {
      kernels().gemm->int8_dot(X, {weight.values.get() + begin * in, in, end - begin, in, true},
                               weight.scales.data() + begin, biases ? biases + begin : nullptr,
                               {y.data() + begin, rows, end - begin, out});
      finish(begin, end);
    });
  } else {
    parallel_for(out, block, [&](Index begin, Index end) {
      Scratch<real> reals(block * in);
      for (Index j = begin; j < end; j += block) {
        const Index n = std::min(block, end - j);
        for (Index i = 0; i < n; ++i) dequantise_row(weight, j + i, reals.data() + i * in);
        gemm(X, ConstMatrix{reals.data(), n, in}.T(), Matrix{y.data() + j, rows, n, out},
             {.bias = biases ? biases + j : nullptr});
        finish(j, j + n);
      }
    });
  }
  return y;
}

Tensor embedding(const Int8Matrix& table, const IntTensor& ids) {
  const Tensor out = empty(ids.shape().inserted(ids.shape().rank(), table.cols));  // (..., C)
  for (Index i = 0; i < ids.numel(); ++i) {
    if (ids[i] < 0 || ids[i] >= table.rows)
      fail("embedding: id {} (number {} of {}) is outside the table ({},{})", ids[i], i, ids.shape().str(),
           table.rows, table.cols);
    dequantise_row(table, ids[i], out.data() + i * table.cols);
  }
  return out;
}

}  // namespace attn
